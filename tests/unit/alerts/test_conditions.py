"""Which alerts a report has by the rules, and what each is held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from monitor.alerts.alert import Key
from monitor.alerts.conditions import needed_families, readings
from monitor.alerts.rule import Limit, Rule
from monitor.alerts.track import Reading
from monitor.report import IntervalValue, Report
from tests.support.reports import empty_window, example, report, window_report

RECALL = Rule(
    "Low", "fraud", "classifier_recall", class_="fraud", window="last_10k", condition="interval",
    limit=Limit("number", 0.8), matches=100,
)  # fmt: skip
OLD, NEW = "2026-11-01", "2026-12-01"


@dataclass
class World:
    """A context that knows what it is told."""

    bound: float | None = None
    champions: Mapping[str, str] = field(default_factory=dict)
    prevalences: Mapping[str, float] = field(default_factory=dict)

    def baseline(self, rule: Rule, key: Key) -> float | None:
        return self.bound

    def champion(self, model: str) -> str | None:
        return self.champions.get(model)

    def references(self, model: str) -> Mapping[str, float]:
        return self.prevalences


def read(rule: Rule, of: Report | None = None, world: World | None = None) -> dict[Key, Reading]:
    found, refused = readings([rule], of or example(), world or World())
    assert refused == 0
    assert [key for _, key, _ in found] == sorted(key for _, key, _ in found)
    return {key: reading for _, key, reading in found}


def only(rule: Rule, of: Report | None = None, world: World | None = None) -> Reading:
    (reading,) = read(rule, of, world).values()
    return reading


ONE = report(window_report())


def test_a_reading_is_the_value_with_its_interval_and_support() -> None:
    reading = only(RECALL, ONE)
    evidence = reading.evidence
    assert evidence.value == pytest.approx(169 / 202)
    assert evidence.lower == pytest.approx(0.779, abs=1e-3)
    assert evidence.upper == pytest.approx(0.881, abs=1e-3)
    assert (evidence.method, evidence.limit, evidence.support) == ("wilson", 0.8, 202)
    assert reading.complete
    assert reading.label_coverage == pytest.approx(10_000 / 10_250)


def test_every_version_is_read_and_a_value_may_be_undefined() -> None:
    found = read(RECALL)
    assert [key.version for key in found] == [OLD, NEW]
    newer = found[Key("Low", "fraud", NEW, "last_10k", "", "fraud")]
    assert (newer.undefined, newer.complete, newer.evidence.value) == ("no_positives", False, None)
    nothing = only(RECALL, report(empty_window()))
    assert nothing.label_coverage is None


@pytest.mark.parametrize(
    "changes, keys",
    [
        ({"model": "*", "class_": "*"}, 2 * [("fraud", "", "fraud"), ("fraud", "", "legit")]
         + [("iris", "", "setosa"), ("iris", "", "versicolor"), ("iris", "", "virginica")]),
        ({"segment": "region=*"}, [("fraud", "region=eu", "fraud")]),
        ({"segment": "region=eu"}, [("fraud", "region=eu", "fraud")]),
        ({"segment": "region=e*"}, []),
        ({"class_": "nobody"}, []),
        ({"window": "1h"}, []),
        ({"metric": "classifier_accuracy", "class_": ""}, 2 * [("fraud", "", "")]),
        ({"metric": "classifier_accuracy", "class_": "*"}, []),
        ({"metric": "classifier_brier_score", "labels": {"subset": "all"}}, 2 * [("fraud", "", "fraud")]),
        ({"metric": "classifier_brier_score"}, []),
        ({"condition": "sequential"}, []),
    ],
)  # fmt: skip
def test_wildcards_and_labels(changes: dict[str, Any], keys: list[tuple[str, str, str]]) -> None:
    found = read(replace(RECALL, **changes))
    assert [(key.model, key.segment, key.class_) for key in found] == keys


def test_a_wildcard_is_about_one_segment_key() -> None:
    of = report(window_report(segment="region=eu"), window_report(segment="regional=yes"))
    (key,) = read(replace(RECALL, segment="region=*"), of)
    assert key.segment == "region=eu"


def test_matches_beyond_the_most_are_refused_whatever_the_versions() -> None:
    rule = replace(RECALL, model="*", class_="*", matches=3)
    found, refused = readings([rule, rule], example(), World())
    assert refused == 2 * 2
    assert {key[3:] + key[1:2] for _, key, _ in found} == {
        ("last_10k", "", "fraud", "fraud"),
        ("last_10k", "", "legit", "fraud"),
        ("last_10k", "", "setosa", "iris"),
    }
    assert len(found) == 2 * 5


def test_the_bootstrap_where_it_is_asked_for() -> None:
    values = ONE.windows[0].values
    place = next(i for i, v in enumerate(values) if (v.name, v.labels) == (RECALL.metric, {"class": "fraud"}))
    both = values[place]._replace(intervals=(IntervalValue("bootstrap", 0.7, 0.9), *values[place].intervals))
    with_both = report(replace(ONE.windows[0], values=(*values[:place], both, *values[place + 1 :])))
    assert only(RECALL, with_both).evidence.method == "wilson"
    assert only(replace(RECALL, method="bootstrap"), with_both).evidence.lower == 0.7
    assert only(replace(RECALL, method="bootstrap"), ONE).evidence.lower is None


def test_a_baseline_by_its_bound_and_the_margin() -> None:
    rule = replace(RECALL, limit=Limit("baseline", name="reference", margin=0.02))
    assert only(rule, ONE, World(bound=0.8)).evidence.limit == pytest.approx(0.78)
    ceiling = replace(rule, side="ceiling")
    assert only(ceiling, ONE, World(bound=0.8)).evidence.limit == pytest.approx(0.82)
    assert only(rule, ONE).unknown == "baseline reference has no bound for this value"


def compared(condition: Any = "interval", side: Any = "floor", **names: str) -> Rule:
    kind: Any = names.pop("kind", "version")
    return replace(RECALL, condition=condition, side=side, limit=Limit(kind, margin=0.01, **names))


BOTH = report(window_report(), window_report(version=NEW, confusion=((960, 30, 0), (30, 70, 0))))


@pytest.mark.parametrize(
    "condition, side, bound",
    [("interval", "floor", "lower"), ("interval", "ceiling", "upper"), ("value", "floor", "value")],
)
def test_another_version_by_its_bound_towards_the_bad_side(condition: Any, side: Any, bound: str) -> None:
    theirs = only(RECALL, ONE).evidence
    reading = only(compared(condition, side, name=OLD), BOTH)
    margin = -0.01 if side == "floor" else 0.01
    assert reading.evidence.value == 0.7
    assert reading.evidence.limit == pytest.approx(getattr(theirs, bound) + margin)


def test_the_champion_is_not_compared_with_itself() -> None:
    rule = compared(kind="champion")
    (key,) = read(rule, BOTH, World(champions={"fraud": OLD}))
    assert key.version == NEW
    unknown = read(rule, BOTH)
    assert [reading.unknown for reading in unknown.values()] == ["the champion version is not known"] * 2


def test_another_window_of_the_same_version() -> None:
    both = report(window_report(), window_report(window="30d", confusion=((9700, 100, 0), (10, 190, 0))))
    reading = only(compared(kind="window", name="30d"), both)
    assert reading.evidence.limit == pytest.approx(0.91044 - 0.01, abs=1e-4)
    assert only(compared(kind="window", name="7d"), both).unknown == "window 7d has no such value"


@pytest.mark.parametrize(
    "other, unknown",
    [
        (window_report(complete=False), "the window of version 2026-11-01 is not complete yet"),
        (window_report(confusion=((90, 0, 0), (1, 9, 0))), "has a support of 10, below min_support"),
        (window_report(segment="region=eu"), "version 2026-11-01 has no such value"),
    ],
)
def test_what_the_other_version_cannot_say(other: Any, unknown: str) -> None:
    reading = only(compared(name=OLD), report(other, BOTH.windows[1]))
    assert (reading.unknown or "").endswith(unknown)
    assert reading.evidence.limit is None


def test_the_other_has_no_interval() -> None:
    rule = replace(compared(name=OLD), metric="classifier_predicted_rate")
    assert only(rule, BOTH).unknown == "version 2026-11-01 has no analytic interval"


def test_recall_no_better_than_random() -> None:
    rule = replace(RECALL, limit=Limit("random"))
    assert only(rule, ONE).evidence.limit == pytest.approx(307 / 10_000)
    assert only(rule, report(empty_window())).unknown == "the share of decisions for the class is not known"


def test_the_best_is_left_to_the_policy() -> None:
    reading = only(replace(RECALL, limit=Limit("best")), report(replace(ONE.windows[0], costs=(7.0, 1.0))))
    assert (reading.evidence.limit, reading.unknown, reading.unit_cost) == (None, None, 7.0)


def test_misses_money_and_prevalence_are_in_the_evidence() -> None:
    window = replace(window_report(), costs=(2000.0, 5.0))
    recall = only(replace(RECALL, limit=Limit("number", 0.9)), report(window)).evidence
    assert recall.beyond == pytest.approx(0.9 * 202 - 169)
    assert recall.cost_beyond == pytest.approx(2000 * (0.9 * 202 - 169))
    assert recall.prevalence is None
    world = World(prevalences={"fraud": 0.1})
    precision = only(replace(RECALL, metric="classifier_precision"), report(window), world).evidence
    assert precision.prevalence_moved
    assert precision.breaches_at_reference is False
    undefined = only(replace(RECALL, metric="classifier_precision"), report(empty_window()), world)
    assert undefined.evidence.prevalence is None


@pytest.mark.parametrize(
    ("rule", "beside"),
    [
        (RECALL, set()),
        (replace(RECALL, limit=Limit("random")), {"classifier_predicted_rate"}),
        (
            replace(RECALL, metric="classifier_average_precision"),
            {"classifier_average_precision_at_reference_prevalence"},
        ),
    ],
    ids=["number", "random", "average_precision"],
)
def test_families_are_those_of_the_rules_and_what_explains_them(rule: Rule, beside: set[str]) -> None:
    assert needed_families([rule]) == {rule.metric} | beside
