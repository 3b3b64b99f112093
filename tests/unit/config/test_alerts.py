from datetime import timedelta

import pytest

from monitor.config import ComparedConfig
from tests.support.alerts import NINE_RULES
from tests.unit.config.conftest import Load, Problems

MODELS = """
models:
  fraud:
    task: binary
    classes: [legit, fraud]
    segments: [region]
    windows: [{name: last_10k, events: 10000}, {name: 1d, duration: 1d}]
    at_k: [100]
    label_maturity: 0s
    champion: v1
  tickets:
    task: multiclass
    classes: [a, b, c]
    windows: [{name: last_10k, events: 10000}]
    label_maturity: 1h
"""


def rule(text: str, model: str = "fraud", metric: str = "metric: recall") -> str:
    parts = ", ".join(part for part in (f"model: {model}", metric, text) if part)
    return f"{MODELS}\nalerts: {{rules: {{Low: {{{parts}}}}}}}"


def test_defaults(load: Load) -> None:
    alerts = load().alerts
    assert (alerts.deliver, alerts.alertmanager_urls, dict(alerts.rules)) == ("prometheus", (), {})
    assert alerts.max_age == timedelta(minutes=15)
    low = load(rule("floor: 0.8")).alerts.rules["Low"]
    assert (low.for_, low.min_support, low.severity, low.false_alarm_every) == (1, 20, "ticket", 10_000)
    assert low.sequential


def test_nine_rules(load: Load) -> None:
    config = load(MODELS + NINE_RULES)
    assert len(config.alerts.rules) == 9
    of_days = config.alerts.rules["PositivesMiscalibrated"]
    assert (of_days.for_, of_days.warn, of_days.subset) == (timedelta(days=3), 0.25, "positive")


def test_names_as_prometheus_has_them(load: Load) -> None:
    text = rule("floor: 0.8", metric="metric: classifier_recall")
    assert load(text).alerts.rules["Low"].metric == "recall"


def test_variables_change_one_rule_under_its_written_names(load: Load) -> None:
    environ = {
        "MONITOR__ALERTS__RULES__LOW__FLOOR": "0.7",
        "MONITOR__ALERTS__RULES__LOW__CLASS": "legit",
        "MONITOR__ALERTS__RULES__LOW__CONDITION": "interval",
        "MONITOR__ALERTS__RULES__LOW__FOR": "10m",
    }
    low = load(rule("floor: 0.8"), environ).alerts.rules["Low"]
    assert (low.floor, low.class_, low.for_) == (0.7, "legit", timedelta(minutes=10))


def test_what_a_value_is_compared_with(load: Load) -> None:
    text = rule("compare_to: {version: v7}, margin: 0.1")
    assert load(text).alerts.rules["Low"].compare_to == ComparedConfig(version="v7")


@pytest.mark.parametrize(
    ("text", "sequential"),
    [
        ("metric: recall, floor: 0.8", True),
        ("metric: recall, floor: 0.8, condition: interval", False),
        ("metric: recall, ceiling: 0.8", False),
        ("metric: recall, floor: random", False),
        ("metric: recall, floor: best", False),
        ("metric: recall, average: macro, floor: 0.5", False),
        ("metric: recall, compare_to: champion", True),
        ("metric: recall, compare_to: {version: v}", False),
        ("metric: roc_auc, compare_to: champion", False),
        ("metric: roc_auc, floor: 0.7", True),
        ("metric: brier_score, ceiling: 0.2", True),
        ("metric: brier_score, floor: 0.2", False),
        ("metric: f1, floor: 0.2", False),
        ("detector: calibration", True),
    ],
)
def test_where_a_detector_exists_it_is_the_default(load: Load, text: str, sequential: bool) -> None:
    assert load(rule(text, metric="")).alerts.rules["Low"].sequential == sequential


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("floor: 0.8, clas: fraud", "clas: unknown key; did you mean `class`?"),
        ("floor: 0.8, class_: fraud", "class_: unknown key; did you mean `class`?"),
        ("floor: 0.8, for_: 3", "for_: unknown key; did you mean `for`?"),
        ("compare_to: {vrsion: v}", "compare_to.vrsion: unknown key; did you mean `version`?"),
        ("compare_to: champoin", "compare_to: 'champoin' is not champion; write champion, {version: NAME}"),
        ("compare_to: {}", "compare_to: write champion, {version: NAME} or {window: NAME}"),
        ("compare_to: {window: 5m}", "compare_to.window: '5m' is no window of models.fraud"),
        ("compare_to: {window: all}", "compare_to.window: all holds whatever has been read"),
        ("floor: 0.8, condition: value, window: all", "window: all holds whatever has been read"),
        ("compare_to: {window: last_10k}", "compare_to.window: is the window of the rule itself"),
        ("", "Low: write exactly one of floor, ceiling, baseline and compare_to"),
        ("floor: 0.8, ceiling: 0.9", "Low: write exactly one of floor, ceiling, baseline and compare_to"),
        ("floor: 0.8, detector: calibration", "Low: write exactly one of metric and detector"),
        ("floor: chance", "floor: 'chance' is no limit; write a number, random or best"),
        ("floor: .inf", "floor: inf is no limit; write a number, random or best"),
        ("baseline: reference", "baseline: names no baseline; write its file under baselines"),
        (
            "floor: 0.8, condition: interval, window: 1h",
            "window: '1h' is no window of models.fraud; write one of last_10k, 1d",
        ),
        (
            "floor: 0.8, window: 1d",
            "window: is not for sequential conditions: it has no window; remove it, or",
        ),
        ("floor: 0.8, for: 3", "for: is not for sequential conditions: the detector has its own patience"),
        ("floor: 0.8, hysteresis: 0.1", "hysteresis: is not for sequential conditions"),
        ("floor: 0.8, method: bootstrap", "method: is not for sequential conditions"),
        ("floor: 0.8, condition: value, for: 0", "for: 0 is below 1; write a number of steps from 1, or a"),
        ("floor: 0.8, condition: value, for: 1.5", "for: 1.5 is neither a number of steps nor a duration"),
        (
            "floor: 0.8, condition: value, observation: 5",
            "observation: is for sequential conditions, and this is none; mend that, or remove it",
        ),
        (
            "floor: 0.8, condition: value, false_alarm_every: 50",
            "false_alarm_every: is for sequential conditions",
        ),
        ("floor: 0.8, condition: value, method: bootstrap", "method: is of intervals; remove it"),
        ("floor: 0.8, false_alarm_every: 3", "false_alarm_every: 3 is below 10"),
        ("floor: best, condition: sequential", "condition: sequential: the limit best moves with the window"),
        (
            "ceiling: 0.8, condition: sequential",
            "condition: sequential: the detector of recall watches for a floor",
        ),
        ("floor: 0.8, warn: 0.7", "warn: 0.7 is not above the floor; write more, to be warned before it"),
        ("ceiling: 0.8, warn: 0.8", "warn: 0.8 is not below the ceiling; write less, to be warned before it"),
        ("floor: random, warn: 0.9", "warn: is for a number as floor or ceiling; remove it"),
        ("compare_to: champion, warn: 0.9", "warn: is for a number as floor or ceiling; remove it"),
        (
            "compare_to: champion, observation: 5",
            "observation: a comparison with the champion is watched event",
        ),
        ("floor: 0.8, margin: 0.1", "margin: is for limits that move; remove it, and write another floor"),
        ("floor: 0.8, tolerance: {shift: 1}", "tolerance: is for detector: calibration; remove it"),
        ("floor: 0.8, segment: region", "segment: 'region' is no segment; write region=eu, or region=*"),
        ("floor: 0.8, segment: 'city=x'", "segment: 'city' is no key of models.fraud.segments; add it there"),
        ("floor: 0.8, k: 1.0", "k: 1.0 is no k; write a whole number from 1, or a share between 0 and 1"),
        ("floor: 0.8, actions: [rollback]", "actions[0]: is no action; write it under actions"),
        ("floor: 0.8, labels: {severity: x}", "labels.severity: is a label that every alert has"),
        ("floor: 0.8, labels: {on-call: x}", "labels.on-call: 'on-call' is no label name; write letters"),
        (
            "floor: 0.8, runbook: wiki/page",
            "runbook: is no web address; write it with its scheme, as in https://",
        ),
    ],
)
def test_what_is_wrong_with_a_rule_on_a_metric(problems: Problems, text: str, line: str) -> None:
    (found,) = problems(rule(text))
    prefix = "alerts.rules." if line.startswith("Low: ") else "alerts.rules.Low."
    assert found.startswith(prefix + line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("floor: 0.8", "floor: is for a metric; remove it (tolerance and baseline are for this detector)"),
        ("condition: interval", "condition: a detector is sequential; remove it"),
        ("for: 3", "for: is not for sequential conditions: the detector has its own patience"),
        ("observation: 2", "observation: calibration is watched event by event; remove it"),
        ("tolerance: {slope: 0.9}", "tolerance.slope: 0.9 is below 1; write a number of at least 1"),
        ("max_fpr: 0.1", "max_fpr: is for a metric; remove it"),
    ],
)
def test_what_is_wrong_with_a_rule_on_calibration(problems: Problems, text: str, line: str) -> None:
    found = problems(rule(text, metric="detector: calibration"))
    assert any(each.startswith(f"alerts.rules.Low.{line}") for each in found)


def test_models_of_rules_are_known(load: Load, problems: Problems) -> None:
    (line,) = problems(rule("floor: 0.8", model="froud"))
    assert line == "alerts.rules.Low.model: 'froud' is no model; did you mean 'fraud'?"
    others = rule("floor: 0.8", model="new").replace(
        "\nalerts", '\n  "*": {task: binary, classes: [x, y]}\nalerts'
    )
    assert load(others).alerts.rules["Low"].model == "new"


def test_what_a_rule_of_every_model_needs_all_of_them_need(problems: Problems) -> None:
    text = rule("floor: 0.8, condition: interval, window: 1d, segment: 'region=*'", model='"*"')
    assert problems(text) == [
        "alerts.rules.Low.segment: 'region' is no key of models.tickets.segments; add it there",
        "alerts.rules.Low.window: '1d' is no window of models.tickets; write one of last_10k",
    ]


def test_actions_need_a_label_maturity_that_is_written(load: Load, problems: Problems) -> None:
    text = (rule("floor: 0.8, actions: [stop]") + "\nactions: {stop: {type: kafka, topic: c}}").replace(
        "    label_maturity: 0s\n", ""
    )
    (line,) = problems(text)
    assert line.startswith("alerts.rules.Low.actions: need models.fraud.label_maturity to be written out")
    assert load(text, {"MONITOR__MODELS__FRAUD__LABEL_MATURITY": "0s"})


def test_the_champion_is_named_and_can_be_asked_for(load: Load, problems: Problems) -> None:
    text = rule("compare_to: champion")
    (line,) = problems(text.replace("    champion: v1\n", ""))
    assert line.startswith("alerts.rules.Low.compare_to: needs models.fraud.champion; write a version or")
    text = text.replace("champion: v1", "champion: {mlflow_alias: champion}")
    (line,) = problems(text)
    assert "models.fraud.champion is an alias, and no action of type mlflow says where" in line
    assert load(f"{text}\nactions: {{back: {{type: mlflow, url: 'http://localhost:5000'}}}}")


def test_baselines_and_actions_by_name(problems: Problems) -> None:
    text = rule("baseline: referenc, actions: [rolback]") + (
        "\nbaselines: {reference: a.baseline}\nactions: {rollback: {type: kafka, topic: c}}"
    )
    assert problems(text) == [
        "alerts.rules.Low.baseline: 'referenc' is no baseline; did you mean 'reference'?",
        "alerts.rules.Low.actions[0]: 'rolback' is no action; did you mean 'rollback'?",
    ]


@pytest.mark.parametrize("companion", ["LowUndefined", "LowWarning", "LowWarningUndefined"])
def test_companions_have_their_names_for_themselves(problems: Problems, companion: str) -> None:
    text = rule("floor: 0.8").replace("Low: {", "Low: &r {").replace("}}}", f"}}, {companion}: *r}}}}")
    assert problems(text) == [
        f"alerts.rules.{companion}: is what a companion of Low is called; choose another name"
    ]


def test_names_that_cannot_be_shown(problems: Problems) -> None:
    (line,) = problems(rule("floor: 0.8").replace("Low:", '"Lo\\u0007w":'))
    assert line.startswith("alerts.rules.Lo\\x07w: holds characters that cannot be shown")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("deliver: alertmanager", "alertmanager_urls: is empty; write every Alertmanager, or deliver:"),
        ("alertmanager_urls: ['http://a:9093']", "alertmanager_urls: are for deliver: alertmanager; remove"),
        ("deliver: mail", "deliver: 'mail' is none of 'prometheus' or 'alertmanager'"),
        ("every: 0s", "every: is no time at all"),
        ("max_matches: 0", "max_matches: 0 is below 1"),
    ],
)
def test_how_people_are_told(problems: Problems, text: str, line: str) -> None:
    (found,) = problems(f"alerts: {{{text}}}")
    assert found.startswith(f"alerts.{line}")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("localhost:9093", "is no web address; write it with its scheme, as in https://host.example.com"),
        ("ftp://hunter2", "is no web address"),
        ("http://", "is no web address"),
        ("http://[::1", "is no web address"),
        ("http://a:99999", "is no web address"),
        ("http://hünter2", "is no web address"),
        ("http://a b", "is no web address"),
        ("http://u:hunter2@a", "holds a user or password; remove them"),
        ("http://hunter2@a", "holds a user or password; remove them"),
        ("http://a?x=hunter2", "has a '?' or '#', and paths are put behind it"),
    ],
)
def test_addresses_that_are_refused_and_never_quoted(problems: Problems, url: str, words: str) -> None:
    (line,) = problems(f"alerts: {{deliver: alertmanager, alertmanager_urls: ['{url}']}}")
    assert line.startswith(f"alerts.alertmanager_urls[0]: {words}")
    assert "unter2" not in line


def test_addresses(load: Load) -> None:
    urls = ("http://localhost:9093", "https://[::1]:9093/prefix")
    text = f"alerts: {{deliver: alertmanager, alertmanager_urls: [{', '.join(map(repr, urls))}]}}"
    assert load(text).alerts.alertmanager_urls == urls
