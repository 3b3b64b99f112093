"""All detectors together: what each observes, when it raises, and that no batch changes anything of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.alerts.rule import CALIBRATION, Limit, Rule
from monitor.checkpoint.tree import separate
from monitor.detection import (
    calibration,
    clopper_pearson_lower,
    mean_ceiling,
    mean_floor,
    proportion_floor,
)
from monitor.events.spec import ModelSpec
from monitor.watch import ranking
from monitor.watch.matured import Matured
from monitor.watch.watch import Sighting, Watch
from tests.support.tasks import SPECS
from tests.support.watch_oracle import crossings, events_of, observation, partial_auc
from tests.support.watching import events

EVERY = 20
"""So small a threshold that detectors raise and clear often."""

COSTS: dict[str, Any] = {
    "binary": (5.0, 1.0),
    "logits": (5.0, 1.0),
    "multiclass": ((0.0, 1.0, 2.0, 4.0), (1.0, 0.0, 1.0, 1.0), (3.0, 1.0, 0.0, 1.0), (1.0, 1.0, 1.0, 0.0)),
    "multilabel": (2.0, 3.0),
    "label logits": (2.0, 3.0),
}


def rule(name: str, metric: str, **options) -> Rule:
    options = {"false_alarm_every": EVERY, "model": "m"} | options
    number = options.pop("number", 0.5)
    options.setdefault("limit", Limit("number", number))
    return Rule(name, metric=metric if metric == CALIBRATION else f"classifier_{metric}", **options)


def rules_of(spec: ModelSpec, costs: Any) -> list[Rule]:
    """Rules about every metric that a task has, with limits near what random events have."""
    c = spec.classes[-1]
    multiclass = spec.task == "multiclass"
    share = 0.25 if multiclass else 0.5
    whole = {"multiclass": 0.9, "multilabel": 0.35, "binary": 0.35}[spec.task]
    rules = [
        rule("recall", "recall", class_=c, number=0.2 if multiclass else 0.33),
        rule("precision", "precision", class_=c, number=share - 0.05),
        rule("specificity", "specificity", class_=c, number=0.75),
        rule("npv", "npv", class_=c, number=0.55 if not multiclass else 0.75),
        rule("accuracy", "accuracy", number=0.2 if spec.task != "binary" else 0.35),
        rule("brier", "brier_score", class_="", side="ceiling", labels={"subset": "all"}, number=whole),
        rule("cost", "expected_cost", side="ceiling", number=1.0 if multiclass else 3.3)
        if spec.task != "binary"
        else rule("cost", "expected_cost", class_=c, side="ceiling", number=1.8),
        rule("calibration", CALIBRATION, class_=c),
        rule("panes", "accuracy", number=0.2 if spec.task != "binary" else 0.35, observation=3),
        rule(
            "brier panes",
            "brier_score",
            class_=c,
            side="ceiling",
            labels={"subset": "all"},
            number=0.33,
            observation=4,
        ),
    ]
    errors = {"positive": 0.6, "negative": 0.1} if multiclass else {"positive": 0.33, "negative": 0.33}
    rules += [
        rule(
            f"brier {subset}",
            "brier_score",
            class_=c,
            side="ceiling",
            labels={"subset": subset},
            number=number,
        )
        for subset, number in errors.items()
    ]
    if spec.task == "multilabel":
        rules.append(rule("cost of one", "expected_cost", class_=c, side="ceiling", number=1.1))
    return rules


def make(spec: ModelSpec, rules: list[Rule], costs: Any = None, **options) -> Watch:
    options = {
        "baselines": {},
        "champions": lambda model: None,
        "segment_name": lambda model, key, code: f"v{code}",
    } | options
    return Watch(rules, {"m": spec, "*": replace(spec, name="*")}, costs={"m": costs, "*": costs}, **options)


def cut(found: dict, bounds: list[int]) -> list[dict]:
    """Cut events at times: what is released together."""
    batches = []
    for low, high in zip([-1, *bounds], [*bounds, 10**9], strict=True):
        batch = {}
        for version, each in found.items():
            index = (each.columns.timestamp > low) & (each.columns.timestamp <= high)
            if index.any():
                batch[version] = each.select(index)
        batches.append(batch)
    return batches


def consume(watch: Watch, batches: list[dict]) -> list[Sighting]:
    return [sighting for batch in batches for sighting in watch.consume(batch)]


def scale(of: Rule, spec: ModelSpec, costs: Any) -> float:
    if of.metric == "classifier_brier_score":
        return 2.0 if spec.task == "multiclass" and not of.class_ else 1.0
    if of.metric == "classifier_expected_cost":
        greatest = max(max(row) if isinstance(row, tuple) else row for row in costs)
        return greatest * (len(spec.classes) if spec.task == "multilabel" and not of.class_ else 1)
    return 1.0


def procedure(of: Rule, spec: ModelSpec, costs: Any):
    if of.metric == CALIBRATION:
        return calibration(of.shift, of.slope, of.threshold)
    assert of.limit.number is not None
    limit = of.limit.number / scale(of, spec, costs)
    if of.side == "ceiling":
        return mean_ceiling(limit, of.threshold)
    return proportion_floor(limit, of.threshold)


@pytest.mark.parametrize("task", SPECS)
def test_every_metric_is_observed_as_it_is_defined(task: str) -> None:
    spec, costs = SPECS[task], COSTS[task]
    rules = rules_of(spec, costs)
    whole = events(spec, 1500, 5)
    watch = make(spec, rules, costs)
    sightings = watch.consume({("m", "1"): whole})
    in_order = list(events_of(whole))
    looks = {look.key.alert: look for look in watch.looks()}
    assert set(looks) == {each.name for each in rules}
    for each in rules:
        found = [(e, observation(each, spec, each.class_, costs, e)) for e in in_order]
        found = [(e, x) for e, x in found if x is not None]
        n = each.observation
        of_rule = scale(each, spec, costs)
        panes = [found[i : i + n] for i in range(0, len(found) - n + 1, n)]
        fed = [
            pane[0][1] if each.metric == CALIBRATION else sum(x for _, x in pane) / n / of_rule
            for pane in panes
        ]
        expected = crossings(procedure(each, spec, costs), fed)
        mine = [s for s in sightings if s.rule is each]
        assert [(s.firing, s.moment.position) for s in mine] == [
            (firing, panes[i][-1][0].position) for i, firing, _ in expected
        ], each.name
        # The stream is long enough to tell; random labels clear no calibration.
        assert len(expected) >= (1 if each.metric == CALIBRATION else 2), each.name
        begun = -1
        for s, (i, _, statistic) in zip(mine, expected, strict=True):
            assert s.evidence.statistic == pytest.approx(statistic, rel=1e-5)
            assert 0 < s.evidence.support <= (i - begun) * n  # nothing from before the last sighting
            begun = i
            assert s.moment.timestamp == panes[i][-1][0].timestamp
            assert s.moment.recorded == s.moment.timestamp + 7
        assert watch.observations[each.name] == len(fed)
        look = looks[each.name]
        assert look.last == found[-1][0].timestamp
        assert look.firing == (mine[-1].firing if mine else False)
        if not look.firing and each.metric != CALIBRATION:
            newest = [x for pane in panes[-1000:] for _, x in pane]
            assert look.evidence.support == len(newest)
            assert look.evidence.value == pytest.approx(sum(newest) / len(newest), abs=1e-8)


@pytest.mark.parametrize("task", ["binary", "logits", "multiclass", "label logits"])
@pytest.mark.parametrize("max_fpr", [None, 0.4])
def test_positives_are_ranked_among_past_negatives(task: str, max_fpr, monkeypatch) -> None:
    monkeypatch.setattr(ranking, "REFERENCE", 70)
    spec = SPECS[task]
    c = spec.classes[-1]
    each = (
        rule("auc", "roc_auc", class_=c, number=0.5)
        if max_fpr is None
        else rule("auc", "partial_roc_auc", class_=c, number=0.2, labels={"max_fpr": repr(max_fpr)})
    )
    whole = events(spec, 1200, 3)
    watch = make(spec, [each])
    sightings = []
    for i, batch in enumerate(cut({("m", "1"): whole}, [3, 40, 41, 90, 300, 900])):
        sightings += watch.consume(batch)
        if i == 0:
            [look] = watch.looks()
            assert (look.ready, look.reason) == (False, "too_few_past_negatives")
            assert look.evidence.undefined == look.reason
    found = partial_auc(spec, c, max_fpr or 1.0, 70, list(events_of(whole)))
    expected = crossings(mean_floor(each.limit.number, each.threshold), [x for _, x in found])
    assert len(expected) >= 2
    assert [(s.firing, s.moment.position) for s in sightings] == [
        (firing, found[i][0].position) for i, firing, _ in expected
    ]
    [look] = watch.looks()
    assert look.ready
    assert watch.observations["auc"] == len(found)


def some_rules(spec: ModelSpec) -> list[Rule]:
    c = spec.classes[-1]
    return [
        *rules_of(spec, None)[:1],
        rule("all classes", "recall", class_="*", number=0.3, matches=100, false_alarm_every=1),
        rule("segments", "accuracy", segment="x=*", number=0.3, matches=100, false_alarm_every=1),
        rule("one segment", "accuracy", segment="y=v1", number=0.3),
        rule("panes", "accuracy", number=0.3, observation=7),
        rule("brier", "brier_score", class_="", side="ceiling", labels={"subset": "all"}, number=0.4),
        rule("calibration", CALIBRATION, class_=c, shift=0.0, slope=1.0),
        rule("auc", "roc_auc", class_=c, number=0.5),
        rule("champion", "accuracy", limit=Limit("champion", margin=0.01)),
        rule(
            "champion's classes",
            "precision",
            class_="*",
            limit=Limit("champion"),
            matches=4,
            false_alarm_every=5,
        ),
    ]


@settings(max_examples=25, deadline=None)
@given(
    task=st.sampled_from(["binary", "multiclass", "label logits"]),
    seed=st.integers(0, 1000),
    bounds=st.lists(st.integers(0, 400), max_size=12, unique=True).map(sorted),
    resumed=st.integers(0, 2**12),
    ids=st.sampled_from([0, 60]),
)
def test_no_batch_and_no_restart_changes_anything(task, seed, bounds, resumed, ids) -> None:
    spec = SPECS[task]
    rules = some_rules(spec)
    found = {
        ("m", "1"): events(spec, 300, seed, spread=400, ids=ids),
        ("m", "2"): events(spec, 300, seed + 1, spread=400, ids=ids),
        ("m", "3"): events(spec, 40, seed + 2, spread=400),
    }
    for i, each in enumerate(found.values()):
        each.columns.position[:] += i << 48
    options = {"champions": lambda model: "1"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "REFERENCE", 50)
        one = make(spec, rules, **options)
        expected = one.consume(found)
        watch = make(spec, rules, **options)
        got = []
        for i, batch in enumerate(cut(found, bounds)):
            if resumed >> i & 1:
                tree = copy.deepcopy(watch.tree())
                separate(tree)  # as a checkpoint takes it
                watch = make(spec, rules, **options)
                watch.resume(tree)
            got += watch.consume(dict(reversed(batch.items())))
    assert sorted(got, key=repr) == sorted(expected, key=repr)
    assert [(s.moment.timestamp, s.moment.position) for s in got] == [
        (s.moment.timestamp, s.moment.position) for s in expected
    ]
    assert sorted(watch.looks(), key=repr) == sorted(one.looks(), key=repr)
    assert (watch.refused, watch.observations) == (one.refused, one.observations)


def test_something_is_seen_in_that_property() -> None:
    spec = SPECS["binary"]
    found = {("m", str(v)): events(spec, 300, v, spread=400, ids=60) for v in (1, 2)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "REFERENCE", 50)
        watch = make(spec, some_rules(spec), champions=lambda model: "1")
        seen = {sighting.key.alert for sighting in watch.consume(found)}
    assert len(seen) >= 7


SPEC = SPECS["binary"]


def drop(n: int, wrong: slice, seed: int = 0, **options) -> Matured:
    """Return labeled positives and negatives that are decided rightly, but positives not where `wrong`."""
    whole = events(SPEC, n, seed, **options)
    rng = np.random.default_rng(seed)
    whole.columns.label[:] = rng.integers(0, 2, n)
    whole.columns.decision[:] = whole.columns.label
    bad = np.zeros(n, bool)
    bad[wrong] = True
    miss = bad & (whole.columns.label == 1) & (rng.random(n) < 0.8)
    whole.columns.decision[miss] = 0
    return whole


def test_a_sighting_says_why() -> None:
    each = rule("recall", "recall", class_="b", number=0.8, false_alarm_every=1000)
    watch = make(SPEC, [each], costs=(10.0, 1.0))
    whole = drop(3000, slice(1000, 2000))
    raised, cleared = watch.consume({("m", "1"): whole})
    label, decision = whole.columns.label, whole.columns.decision
    assert raised.firing and not cleared.firing
    at = int(np.flatnonzero(whole.columns.position == raised.moment.position)[0])
    positives = np.flatnonzero(label[: at + 1] == 1)
    onset = positives[positives >= 1000][decision[positives[positives >= 1000]] == 0][0]
    evidence = raised.evidence
    since = positives[positives >= onset]
    hits = int(decision[since].sum())
    assert evidence.support == len(since)
    assert evidence.value == hits / len(since)
    assert evidence.lower is not None and evidence.upper is not None
    assert evidence.lower <= evidence.value < evidence.upper < 0.8
    assert (evidence.method, evidence.limit, evidence.threshold) == ("wilson", 0.8, 1000.0)
    assert evidence.statistic is not None and evidence.statistic >= 1000
    assert evidence.beyond == pytest.approx(len(since) - hits - 0.2 * len(since))
    assert evidence.cost_beyond == pytest.approx(10 * evidence.beyond)
    # The episode counts from the onset to the event that cleared it; the value is that since the recovery.
    end = int(np.flatnonzero(whole.columns.position == cleared.moment.position)[0])
    episode = np.flatnonzero(label[: end + 1] == 1)
    episode = episode[episode >= onset]
    misses = int((decision[episode] == 0).sum())
    assert cleared.evidence.beyond == pytest.approx(misses - 0.2 * len(episode))
    assert cleared.evidence.value == 1.0
    assert end > 2000


def test_while_it_fires_it_counts_from_the_onset() -> None:
    each = rule("recall", "recall", class_="b", number=0.8, false_alarm_every=1000)
    watch = make(SPEC, [each])
    whole = drop(6000, slice(1000, None))
    batches = cut({("m", "1"): whole}, [1500, 1600, 4000])
    [raised] = consume(watch, batches)
    [look] = watch.looks()
    assert look.firing
    later = (whole.columns.label == 1) & (whole.columns.position > raised.moment.position)
    assert look.evidence.support == raised.evidence.support + later.sum() > 1000
    assert look.evidence.statistic is not None and look.evidence.statistic < 1000


def test_calibration_names_what_is_wrong() -> None:
    whole = events(SPEC, 4000, 1)
    rng = np.random.default_rng(1)
    p = rng.uniform(0.05, 0.95, 4000)
    whole.columns.score[:, 0] = p
    logit = np.log(p / (1 - p)) + np.where(np.arange(4000) < 2000, 0, 1.0)
    whole.columns.label[:] = rng.random(4000) < 1 / (1 + np.exp(-logit))
    watch = make(SPEC, [rule("drift", CALIBRATION, class_="b", false_alarm_every=10_000)])
    [raised] = watch.consume({("m", "1"): whole})
    assert raised.evidence.component == "up"
    assert raised.evidence.value is not None and 0.1 < raised.evidence.value < 0.3
    assert raised.evidence.limit is None
    assert raised.moment.timestamp > 2000


class StoredBaseline:
    last_event = 1000

    def __init__(self, bound: float | None = None) -> None:
        self._bound = bound

    def groups(self, class_: str):
        assert class_ == "b"
        scores = np.linspace(0.05, 0.95, 19)
        return scores, np.rint(scores * 400).astype(np.int64), np.full(19, 400)

    def bound(self, family: str, class_: str, labels, side: str) -> float | None:
        assert (family, class_, side) == ("classifier_recall", "b", "floor")
        return self._bound


def test_a_baseline_gives_limit_and_beginning() -> None:
    limit = Limit("baseline", name="reference", margin=0.05)
    each = rule("recall", "recall", class_="b", limit=limit, false_alarm_every=1000)
    lower = clopper_pearson_lower(90, 100)
    watch = make(SPEC, [each], baselines={"reference": StoredBaseline(lower)})
    [raised, _] = watch.consume({("m", "1"): drop(5000, slice(200, 3000), spread=5000)})
    assert raised.evidence.limit == lower - 0.05
    assert raised.moment.timestamp > 1000
    assert watch.observations["recall"] < 2200


def test_the_map_of_a_baseline_says_what_probabilities_mean() -> None:
    each = rule("drift", CALIBRATION, class_="b", baseline="reference", false_alarm_every=100)
    watch = make(SPEC, [each], baselines={"reference": StoredBaseline()})
    watch.consume({("m", "1"): events(SPEC, 3000, 1)})
    labeled = watch.observations["drift"]
    assert 1200 < labeled < 1600  # of 2,000 events after the baseline's last one, some unlabeled or unscored


BELOW_ALL = Limit("baseline", name="r", margin=0.1)


@pytest.mark.parametrize(
    ("each", "options", "reason"),
    [
        (rule("a", "recall", class_="b", limit=Limit("baseline", name="r")), {}, "baseline_without_bound"),
        (rule("a", "recall", class_="b", limit=BELOW_ALL), {"bound": 0.05}, "limit_out_of_range"),
        (rule("a", "accuracy", limit=Limit("champion")), {}, "champion_unknown"),
        (rule("a", "expected_cost", class_="b", side="ceiling"), {}, "no_costs"),
    ],
)  # fmt: skip
def test_what_cannot_judge_says_why(each: Rule, options: dict, reason: str) -> None:
    watch = make(SPEC, [each], baselines={"r": StoredBaseline(**options)})
    assert watch.consume({("m", "1"): events(SPEC, 20, 1)}) == []
    [look] = watch.looks()
    assert (look.ready, look.reason, look.evidence.undefined, look.firing) == (False, reason, reason, False)
    other = make(SPEC, [each], baselines={"r": StoredBaseline(**options)})
    other.resume(watch.tree())
    assert list(other.looks()) == [look]


def test_before_the_first_observation_there_is_no_value() -> None:
    whole = drop(20, slice(0))
    whole.columns.label[:] = 0
    watch = make(SPEC, [rule("recall", "recall", class_="b")])
    watch.consume({("m", "1"): whole})
    [look] = watch.looks()
    assert look.ready and look.evidence.undefined == "no_observations"
    assert look.last == whole.columns.timestamp[0]


def test_wildcards_are_expanded_over_what_there_is() -> None:
    rules = [
        rule("classes", "recall", model="*", class_="*", matches=100),
        rule("segment", "accuracy", segment="x=*", matches=100),
        rule("scored", "brier_score", class_="*", side="ceiling", matches=100, labels={"subset": "all"}),
        rule("absent", "recall", class_="unknown"),
        rule("no key", "accuracy", segment="z=*"),
    ]
    watch = make(SPEC, rules)
    watch.consume({("m", "1"): events(SPEC, 50, 1), ("other", "7"): events(SPEC, 50, 2)})
    keys = {(k.alert, k.model, k.version, k.segment, k.class_) for k in (look.key for look in watch.looks())}
    assert keys == {
        *(("classes", m, v, "", c) for m, v in (("m", "1"), ("other", "7")) for c in ("a", "b")),
        *(("segment", "m", "1", f"x=v{i}", "") for i in (1, 2)),
        ("scored", "m", "1", "", "b"),
    }
    assert all(look.key.window == "" for look in watch.looks())


def test_a_detector_of_a_segment_sees_its_events_alone() -> None:
    whole = events(SPEC, 800, 4)
    of_segment = rule("s", "accuracy", segment="y=v2", number=0.35)
    watch = make(SPEC, [of_segment])
    sightings = consume(watch, cut({("m", "1"): whole}, [50, 51, 400]))
    mine = list(events_of(whole, (1, 2)))
    found = [(e, observation(of_segment, SPEC, "", None, e)) for e in mine if e.true is not None]
    expected = crossings(proportion_floor(0.35, EVERY), [x for _, x in found])
    assert [s.moment.position for s in sightings] == [found[i][0].position for i, *_ in expected]
    assert expected


@pytest.mark.parametrize("bounds", [[], [4], [4, 9, 30]])
def test_matches_beyond_the_limit_are_refused_and_counted(bounds: list[int]) -> None:
    each = rule("r", "recall", model="*", class_="*", matches=3)
    names = [("m", "1"), ("m", "2"), ("other", "1"), ("another", "1")]
    found = {name: events(SPEC, 40, 1) for name in names}
    for i, matured in enumerate(found.values()):
        matured.columns.timestamp[:] += 5 * (i % 3)  # "another" comes with the first, after it in the log
        matured.columns.position[:] += i << 48
    watch = make(SPEC, [each])
    consume(watch, cut(found, bounds))
    assert [(k.model, k.version, k.class_) for k in (look.key for look in watch.looks())] == [
        ("m", "1", "a"),
        ("m", "1", "b"),
        ("another", "1", "a"),
        ("m", "2", "a"),  # another version of what has its place
        ("m", "2", "b"),
    ]
    assert watch.refused == 3
    resumed = make(SPEC, [each])
    resumed.resume(watch.tree())
    assert resumed.refused == 3
    watch.forget("another", "1")
    assert watch.refused == 2
    watch.consume({("other", "1"): found["other", "1"]})  # a place is free: for who comes next
    assert watch.refused == 1
    assert len(list(watch.looks())) == 5


def test_which_version_came_first_does_not_depend_on_how_long_labels_take() -> None:
    each = rule("r", "accuracy", model="*", matches=1)
    late, early = events(SPEC, 5, 1), events(SPEC, 5, 2)
    late.columns.timestamp[:] += 100
    maturity = {"slow": 1000, "fast": 0}.__getitem__
    watch = make(SPEC, [each], maturity=maturity)
    watch.consume({("slow", "1"): early, ("fast", "1"): late})
    [look] = watch.looks()
    assert look.key.model == "fast"


def test_a_new_version_begins_anew_and_a_forgotten_one_is_gone() -> None:
    each = rule("recall", "recall", class_="b", number=0.8, false_alarm_every=1000)
    watch = make(SPEC, [each])
    [raised] = watch.consume({("m", "1"): drop(400, slice(0, None))})
    assert raised.key.version == "1"
    watch.consume({("m", "2"): drop(20, slice(0))})
    assert {look.key.version: look.firing for look in watch.looks()} == {"1": True, "2": False}
    watch.forget("m", "1")
    assert [look.key.version for look in watch.looks()] == ["2"]
    watch.consume({("m", "1"): drop(20, slice(0))})
    assert {look.key.version: look.firing for look in watch.looks()} == {"1": False, "2": False}


def test_changed_rules_begin_anew_and_others_go_on() -> None:
    rules = [rule("a", "recall", class_="b", number=0.8), rule("b", "accuracy", number=0.8)]
    watch = make(SPEC, rules)
    watch.consume({("m", "1"): drop(300, slice(0, None))})
    tree = watch.tree()
    told = replace(rules[0], severity="page", actions=("x",))
    changed = make(SPEC, [told, replace(rules[1], limit=Limit("number", 0.79))])
    changed.resume(tree)
    [look] = changed.looks()
    assert look.key.alert == "a" and look.rule is told
    assert changed.observations == {"a": watch.observations["a"]}


def test_what_is_held_against_something_else_goes_on_firing_until_that_clears_it() -> None:
    each = rule("recall", "recall", class_="b", limit=Limit("baseline", name="r"), false_alarm_every=1000)
    after = {"last_event": -1}
    old, new = StoredBaseline(0.8), StoredBaseline(0.7)
    for stored in (old, new):
        stored.__dict__.update(after)
    watch = make(SPEC, [each], baselines={"r": old})
    watch.consume({("m", "1"): drop(300, slice(0, None))})
    resumed = make(SPEC, [each], baselines={"r": new})
    resumed.resume(watch.tree())
    [look] = resumed.looks()
    assert look.firing and look.evidence.undefined == "no_observations"
    good = drop(600, slice(0))
    good.columns.timestamp[:] += 300
    [cleared] = resumed.consume({("m", "1"): good})
    assert not cleared.firing and cleared.evidence.limit == 0.7


def damages(tree: dict) -> Any:
    pack = tree["detectors"][0]
    for name in ("wealth", "newest", "sums"):
        for value in (pack[name][:-1], pack[name].astype(np.float32), None):
            yield {**tree, "detectors": [{**pack, name: value}]}
    for name, bad in (
        ("wealth", -1.0),
        ("wealth", np.inf),
        ("newest", -1),
        ("newest", 2 << 30),
        ("sums", -1),
    ):
        array = pack[name].copy()
        array.flat[0] = bad
        yield {**tree, "detectors": [{**pack, name: array}]}
    for i in range(len(pack["rows"][0])):
        for bad in (None, -1.5, "x", -3):
            row = list(pack["rows"][0])
            if type(row[i]) is type(bad) and not (isinstance(bad, int) and i > 9):
                continue
            row[i] = bad
            yield {**tree, "detectors": [{**pack, "rows": [row, *pack["rows"][1:]]}]}
    yield {**tree, "detectors": [{**pack, "rows": pack["rows"][:-1]}]}
    yield {**tree, "detectors": [pack, pack]}
    for key in tree:
        yield {name: value for name, value in tree.items() if name != key}
        yield {**tree, key: 3}
    yield {**tree, "refused": [["a", "b"]]}
    yield {**tree, "champions": {"m": 3}}
    yield {**tree, "observations": {"a": -1}}
    comparisons = tree["comparisons"]
    for name in ("turns", "version", "identity", "timestamp", "units"):
        yield {**tree, "comparisons": {**comparisons, name: comparisons[name][:-1]}}
    for name, bad in (("turns", -1), ("version", 9), ("units", -1)):
        array = comparisons[name].copy()
        array[0] = bad
        yield {**tree, "comparisons": {**comparisons, name: array}}
    [pairing] = comparisons["pairings"]
    for change in ({"champion": "9"}, {"of": ["c", "m", "", ""][:3]}, {"waiting": 1}, {"sides": []}):
        yield {**tree, "comparisons": {**comparisons, "pairings": [{**pairing, **change}]}}
    side = pairing["sides"][0]
    for i, bad in ((0, "unknown"), (1, 3), (2, -1), (4, 9999)):
        sides = [[*side[:i], bad, *side[i + 1 :]], *pairing["sides"][1:]]
        yield {**tree, "comparisons": {**comparisons, "pairings": [{**pairing, "sides": sides}]}}


def damaged_subject() -> Watch:
    rules = [rule("a", "accuracy", number=0.3), rule("c", "accuracy", limit=Limit("champion"))]
    return make(SPEC, rules, champions=lambda model: "1")


def test_damage_is_refused() -> None:
    watch = damaged_subject()
    found = {("m", str(v)): events(SPEC, 60, v, ids=500 if v < 3 else 0) for v in (1, 2, 3)}
    watch.consume(found)
    tree = watch.tree()
    damaged_subject().resume(copy.deepcopy(tree))
    every = list(damages(tree))
    assert len(every) > 70
    for i, damaged in enumerate(every):
        with pytest.raises(ValueError):
            damaged_subject().resume(copy.deepcopy(damaged))
            pytest.fail(f"damage {i} was not noticed")
