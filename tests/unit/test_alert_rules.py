"""Rules as configured beside rules as the daemon knows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.alert_rules import rules
from monitor.alerts.rule import CALIBRATION, Limit, Rule
from monitor.alerts.runbook import runbook_url
from monitor.config import load_config
from monitor.errors import ConfigurationError
from tests.support.alerts import NINE_RULES

DAY = 86_400_000_000
FRAUD = """
    task: binary
    classes: [legit, fraud]
    segments: [region]
    windows: [{name: last_10k, events: 10000}, {name: 1d, duration: 1d}]
    at_k: [100, 0.01]
    costs: {false_negative: 18, false_positive: 2}
    label_maturity: 0s
    champion: v1"""
TICKETS = """
    task: multiclass
    classes: [a, b, c]
    windows: [{name: last_10k, events: 10000}]
    top_k: [2]
    costs: [[0, 5, 1], [2, 0, 2], [1, 5, 0]]
    label_maturity: 1h"""
TOPICS = """
    task: multilabel
    classes: [news, sports]
    windows: [{name: last_10k, events: 10000}]"""
OTHERS = """
    task: binary
    classes: ["0", "1"]
    windows: [{name: 1d, duration: 1d}]
    max_fpr: [0.1]
    label_maturity: 0s"""

Resolve = Callable[..., tuple[Rule, ...]]


@pytest.fixture
def resolve(tmp_path: Path) -> Resolve:
    def resolve(
        *texts: str, rest: str = "", names: tuple[str, ...] = ("fraud", "tickets"), alerts: str = ""
    ) -> tuple[Rule, ...]:
        entries = {"fraud": FRAUD, "tickets": TICKETS, "topics": TOPICS, '"*"': OTHERS, "cards": OTHERS}
        models = "".join(f"\n  {name}: {entries[name]}" for name in names)
        if texts:
            lines = "".join(f"\n    Rule{i}: {{{text}}}" for i, text in enumerate(texts))
            rest += f"\nalerts:\n  rules:{lines}\n{alerts}"
        path = tmp_path / "monitor.yaml"
        path.write_text(f"kafka: {{bootstrap_servers: [b], topics: [t]}}\nmodels:{models}\n{rest}\n")
        return rules(load_config(path, {}))

    return resolve


def refusal(resolve: Resolve, text: str, **options: object) -> str:
    with pytest.raises(ConfigurationError) as caught:
        resolve(text, **options)
    message = str(caught.value)
    assert message.startswith("alerts.rules.Rule0.")
    return message.removeprefix("alerts.rules.Rule0.")


def test_no_rules(resolve: Resolve) -> None:
    assert resolve() == ()


def test_nine_rules(resolve: Resolve) -> None:
    found = {rule.name: rule for rule in resolve(rest=NINE_RULES)}
    assert list(found)[3:5] == ["PositivesMiscalibrated", "PositivesMiscalibratedWarning"]
    assert found["RecallBelowFloor"] == Rule(
        "RecallBelowFloor",
        "fraud",
        "classifier_recall",
        class_="fraud",
        limit=Limit("number", 0.8),
        severity="page",
        actions=("rollback",),
    )
    assert found["CalibrationDrift"] == Rule(
        "CalibrationDrift",
        "fraud",
        CALIBRATION,
        class_="fraud",
        baseline="reference",
        false_alarm_every=100_000,
        actions=("rollback",),
    )
    assert found["PartialAucLow"] == Rule(
        "PartialAucLow",
        "*",
        "classifier_partial_roc_auc",
        labels={"max_fpr": "0.1"},
        class_="*",
        window="last_10k",
        condition="interval",
        limit=Limit("number", 0.5),
        for_steps=3,
        matches=100,
        actions=("rollback",),
    )
    assert found["PositivesMiscalibratedWarning"] == Rule(
        "PositivesMiscalibratedWarning",
        "fraud",
        "classifier_brier_score",
        labels={"subset": "positive"},
        class_="fraud",
        window="1d",
        condition="value",
        side="ceiling",
        limit=Limit("number", 0.25),
        for_time=3 * DAY,
        severity="warning",
    )
    at_fpr = found["RecallAtFprBelowBaseline"]
    assert (at_fpr.condition, at_fpr.side) == ("value", "floor")  # it has no interval
    assert at_fpr.limit == Limit("baseline", name="reference", margin=0.02)
    assert found["PrecisionAtKLow"].labels == {"k": "100"}
    assert found["NoDiscrimination"].class_ == "*"
    assert found["WorseThanChampion"].limit == Limit("champion", margin=0.02)
    assert found["WorseThanChampion"].condition == "sequential"


@pytest.mark.parametrize(
    ("text", "class_", "labels"),
    [
        ("model: fraud, metric: recall, floor: 0.8", "fraud", {}),
        ("model: fraud, metric: recall, class: legit, floor: 0.8", "legit", {}),
        ("model: fraud, metric: recall, class: '*', floor: 0.8", "*", {}),
        ("model: fraud, metric: accuracy, floor: 0.8", "", {}),
        ("model: fraud, metric: brier_score, ceiling: 0.2", "fraud", {"subset": "all"}),
        ("model: tickets, metric: brier_score, ceiling: 0.2", "", {"subset": "all"}),
        (
            "model: tickets, metric: brier_score, class: a, subset: negative, ceiling: 0.2",
            "a",
            {"subset": "negative"},
        ),
        ("model: fraud, metric: fbeta, floor: 0.2", "fraud", {"beta": "3.0"}),
        ("model: fraud, metric: recall_at_k, floor: 0.2", "fraud", {"k": "100"}),
        ("model: fraud, metric: recall_at_k, k: 0.01, floor: 0.2", "fraud", {"k": "0.01"}),
        ("model: fraud, metric: partial_roc_auc, floor: 0.2", "fraud", {"max_fpr": "0.05"}),
        ("model: tickets, metric: top_k_accuracy, floor: 0.9", "", {"k": "2"}),
        ("model: tickets, metric: recall, average: macro, floor: 0.5", "", {"average": "macro"}),
        ("model: tickets, metric: recall_average, average: micro, floor: 0.5", "", {"average": "micro"}),
        ("model: tickets, metric: roc_auc, class: b, floor: 0.5", "b", {}),
        ("model: tickets, metric: expected_cost, ceiling: 2", "", {}),
        ("model: fraud, metric: expected_cost, ceiling: 2", "fraud", {}),
        ("model: fraud, metric: best_threshold, criterion: f1, ceiling: 0.9", "fraud", {"criterion": "f1"}),
        ("model: '*', metric: brier_score, ceiling: 0.2", "", {"subset": "all"}),
        ("model: '*', metric: accuracy, floor: 0.2", "", {}),
        ("model: '*', metric: roc_auc, floor: 0.7", "*", {}),
    ],
)
def test_which_value_a_rule_is_about(
    resolve: Resolve, text: str, class_: str, labels: dict[str, str]
) -> None:
    (rule,) = resolve(text)
    assert (rule.class_, dict(rule.labels)) == (class_, labels)


def test_a_rule_of_every_model_has_the_defaults_of_those_that_are_not_named(resolve: Resolve) -> None:
    (rule,) = resolve(
        "model: '*', metric: partial_roc_auc, floor: 0.5, condition: interval", names=("fraud", '"*"')
    )
    assert (rule.window, rule.labels) == ("1d", {"max_fpr": "0.1"})
    (rule,) = resolve("model: '*', metric: recall, floor: 0.5", names=("cards", '"*"'))
    assert rule.class_ == "1"  # all have the same positive class
    (rule,) = resolve("model: new, metric: recall, floor: 0.5", names=("fraud", '"*"'))
    assert (rule.model, rule.class_, rule.matches) == ("new", "1", 1)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("metric: recall, floor: 0.8", "sequential"),
        ("metric: recall, floor: 0.8, condition: interval", "interval"),
        ("metric: recall, floor: 0.8, condition: value", "value"),
        ("metric: recall, ceiling: 0.99", "interval"),
        ("metric: recall, floor: random", "interval"),
        ("metric: recall, floor: best", "interval"),
        ("metric: recall, compare_to: {window: 1d}", "interval"),
        ("metric: f1, floor: 0.8", "interval"),
        ("metric: lift, floor: 2", "value"),
        ("metric: balanced_accuracy, floor: 0.8", "value"),
        ("detector: calibration", "sequential"),
    ],
)
def test_conditions(resolve: Resolve, text: str, condition: str) -> None:
    (rule,) = resolve(f"model: fraud, {text}")
    assert rule.condition == condition
    assert rule.window == ("" if condition == "sequential" else "last_10k")


@pytest.mark.parametrize(
    ("text", "side", "limit"),
    [
        ("metric: recall, floor: 0.8", "floor", Limit("number", 0.8)),
        ("metric: prevalence, ceiling: 0.1", "ceiling", Limit("number", 0.1)),
        ("metric: recall, floor: random, margin: 0.1", "floor", Limit("random", margin=0.1)),
        ("metric: recall, floor: best", "floor", Limit("best")),
        ("metric: brier_score, compare_to: {version: v2}", "ceiling", Limit("version", name="v2")),
        ("metric: recall, compare_to: {window: 1d}, margin: 0.1", "floor", Limit("window", None, "1d", 0.1)),
        ("metric: expected_cost, compare_to: champion", "ceiling", Limit("champion")),
        ("metric: brier_score, baseline: r", "ceiling", Limit("baseline", name="r")),
    ],
)
def test_limits_and_sides(resolve: Resolve, text: str, side: str, limit: Limit) -> None:
    (rule,) = resolve(f"model: fraud, {text}", rest="baselines: {r: f}")
    assert (rule.side, rule.limit) == (side, limit)


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("model: fraud, metric: recall, floor: 0.8", 1),
        ("model: fraud, metric: recall, floor: 0.8, segment: 'region=eu'", 1),
        ("model: fraud, metric: recall, floor: 0.8, segment: 'region=*'", 7),
        ("model: fraud, metric: recall, floor: 0.8, class: '*'", 7),
        ("model: '*', metric: accuracy, floor: 0.8", 7),
        ("model: tickets, detector: calibration, class: '*'", 7),
    ],
)
def test_wildcards_have_a_fixed_number_of_matches(resolve: Resolve, text: str, matches: int) -> None:
    (rule,) = resolve(text, alerts="  max_matches: 7")
    assert rule.matches == matches
    assert rule.threshold == matches * 10_000


def test_the_page_of_runbooks_is_known_and_changes_nothing_that_is_decided(resolve: Resolve) -> None:
    text = "model: fraud, metric: recall, floor: 0.8"
    (named,), (published,) = resolve(text), resolve(text, alerts="  runbooks: https://wiki/runbooks")
    assert runbook_url(named, is_companion=False) == "docs/runbooks.md#quality"
    assert runbook_url(published, is_companion=True) == "https://wiki/runbooks#undefined"
    assert published.fingerprint == named.fingerprint


def test_times_are_in_microseconds(resolve: Resolve) -> None:
    (rule,) = resolve(
        "model: fraud, metric: recall, floor: 0.8, condition: value, for: 2m, cooldown: 1s,"
        " undefined_for: 1d, hysteresis: 0.05, labels: {team: x}, runbook: 'https://wiki/a#b',"
        " min_label_coverage: 0.5"
    )
    assert (rule.for_steps, rule.for_time, rule.cooldown) == (1, 120_000_000, 1_000_000)
    assert (rule.undefined_for, rule.hysteresis, rule.min_label_coverage) == (DAY, 0.05, 0.5)
    assert (rule.extra_labels, rule.runbook) == ({"team": "x"}, "https://wiki/a#b")


def test_a_warning_gathers_evidence_too(resolve: Resolve) -> None:
    low, warning = resolve(
        "model: fraud, metric: recall, floor: 0.8, warn: 0.85, actions: [a], severity: page",
        rest="actions: {a: {type: kafka, topic: c}}",
    )
    assert (warning.name, warning.condition, warning.limit.number) == ("Rule0Warning", "sequential", 0.85)
    assert (low.actions, warning.actions, warning.severity) == (("a",), (), "warning")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("model: fraud, metric: recal, floor: 0.8", "metric: 'recal' is no metric; did you mean recall?"),
        ("model: fraud, metric: xyz, floor: 0.8", "metric: 'xyz' is no metric; see docs/metrics.md"),
        (
            "model: fraud, metric: top_k_accuracy, floor: 0.8",
            "metric: classifier_top_k_accuracy is not for binary",
        ),
        (
            "model: fraud, metric: window_confusions, floor: 8",
            "metric: classifier_window_confusions is many numbers",
        ),
        (
            "model: tickets, metric: precision_at_k, class: a, floor: 0.8",
            "metric: classifier_precision_at_k needs models.tickets.at_k; set it",
        ),
        (
            "model: fraud, metric: precision_at_reference_prevalence, floor: 0.8",
            "metric: classifier_precision_at_reference_prevalence needs models.fraud.reference_prevalence",
        ),
        (
            "model: tickets, metric: recall, floor: 0.8",
            "class: is missing; write one of a, b, c, or '*' for each",
        ),
        ("model: tickets, detector: calibration", "class: is missing; write one of a, b, c, or '*' for each"),
        ("model: '*', metric: recall, floor: 0.8", "class: is missing; write one of"),
        (
            "model: fraud, metric: recall, class: froud, floor: 0.8",
            "class: 'froud' is no class of models.fraud",
        ),
        (
            "model: fraud, metric: roc_auc, class: legit, floor: 0.8",
            "class: 'legit' is no class of models.fraud",
        ),
        ("model: fraud, detector: calibration, class: legit", "class: 'legit' is no class of models.fraud"),
        ("model: '*', metric: recall, class: a, floor: 0.8", "class: 'a' is no class of models.fraud"),
        (
            "model: fraud, metric: accuracy, class: fraud, floor: 0.8",
            "class: classifier_accuracy is about no class",
        ),
        ("model: fraud, metric: recall, k: 100, floor: 0.8", "k: classifier_recall has no k; remove it"),
        (
            "model: fraud, metric: precision_at_k, k: 50, floor: 0.8",
            "k: 50 is not in models.fraud.at_k; add it there, or write one of 100, 0.01",
        ),
        (
            "model: fraud, metric: partial_roc_auc, max_fpr: 0.2, floor: 0.8",
            "max_fpr: 0.2 is not in models.fraud.max_fpr; add it there, or write one of 0.05, 0.1",
        ),
        (
            "model: tickets, metric: brier_score, subset: positive, ceiling: 0.8",
            "class: classifier_brier_score with subset positive is about one class; write which, or '*'",
        ),
        (
            "model: tickets, metric: recall_average, floor: 0.8",
            "average: is missing; write one of macro, weighted",
        ),
        (
            "model: fraud, metric: best_threshold, ceiling: 0.8",
            "criterion: is missing; write one of cost, f1",
        ),
        (
            "model: tickets, metric: recall, average: samples, floor: 0.8",
            "average: samples is not for models.tickets; write one of macro, weighted, micro",
        ),
        (
            "model: fraud, metric: prevalence, baseline: r",
            "metric: classifier_prevalence is neither better nor worse",
        ),
        (
            "model: fraud, metric: lift, floor: 2, condition: interval",
            "condition: classifier_lift has no interval",
        ),
        (
            "model: fraud, metric: lift, floor: best",
            "floor: best is about lower bounds, and classifier_lift has none",
        ),
        (
            "model: fraud, metric: precision, floor: random",
            "floor: random is for recall, not for classifier_precision",
        ),
        ("model: fraud, metric: recall, floor: 8", "floor: 8 is beyond the values of classifier_recall"),
        (
            "model: fraud, metric: recall, floor: 0",
            "floor: 0 is never passed by the values of classifier_recall",
        ),
        (
            "model: fraud, metric: recall, floor: 0.9, warn: 2",
            "warn: 2 is beyond the values of classifier_recall",
        ),
        (
            "model: fraud, metric: recall, floor: 1",
            "floor: 1 is not between 0 and 1, the most that one event can",
        ),
        (
            "model: fraud, metric: brier_score, ceiling: 1.5",
            "ceiling: 1.5 is not between 0 and 1, the most that",
        ),
        (
            "model: fraud, metric: expected_cost, ceiling: 18",
            "ceiling: 18 is not between 0 and 18, the most that",
        ),
        ("model: fraud, metric: recall, compare_to: champion, margin: 1", "margin: 1 is not below 1"),
        (
            "model: fraud, metric: recall, floor: 0.8, condition: interval, method: bootstrap",
            "method: classifier_recall is not resampled; add recall to evaluation.bootstrap.metrics",
        ),
    ],
)
def test_what_does_not_fit_is_refused(resolve: Resolve, text: str, line: str) -> None:
    assert refusal(resolve, text, rest="baselines: {r: f}").startswith(line)


def test_what_does_not_fit_to_every_model_is_refused(resolve: Resolve) -> None:
    text = "model: '*', metric: fbeta, floor: 0.2, condition: value"
    assert "needs models.cards.costs; set it" in refusal(resolve, text, names=("fraud", "cards"))
    text = "model: '*', metric: partial_roc_auc, max_fpr: 0.05, floor: 0.2"
    assert refusal(resolve, text, names=("fraud", '"*"')).startswith(
        "max_fpr: 0.05 is not in models.*.max_fpr"
    )
    text = "model: '*', metric: f1, class: '*', floor: 0.2"
    assert refusal(resolve, text, names=("tickets", '"*"')) == (
        "window: is missing, and models.tickets has no 1d; write one"
    )


def test_bootstrap_intervals(resolve: Resolve) -> None:
    text = "model: fraud, metric: recall, floor: 0.8, condition: interval, method: bootstrap"
    rest = "evaluation: {bootstrap: {metrics: [recall]}}"
    assert resolve(text, rest=rest)[0].method == "bootstrap"
    line = refusal(resolve, f"{text}, segment: 'region=eu'", rest=rest)
    assert line.startswith("method: segments are not resampled")


def test_every_rule_that_does_not_fit_is_named_at_once(resolve: Resolve) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve("model: fraud, metric: recal, floor: 0.8", "model: fraud, metric: recall, floor: 8")
    assert [line.split(":")[0] for line in str(caught.value).split("\n")] == [
        "alerts.rules.Rule0.metric",
        "alerts.rules.Rule1.floor",
    ]
