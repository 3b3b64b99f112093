from datetime import timedelta

import pytest

from monitor.config import ChampionConfig
from tests.unit.config.conftest import Load, Problems


def models(text: str, task: str = "binary", classes: str = "[legit, fraud]") -> str:
    return f"models: {{m: {{task: {task}, classes: {classes}, {text}}}}}"


def multiclass(text: str) -> str:
    return models(text, "multiclass", "[a, b, c]")


def multilabel(text: str) -> str:
    return models(text, "multilabel", "[a, b, c]")


def test_defaults(load: Load) -> None:
    model = load().models["fraud"]
    assert (model.positive_class, model.positive, model.scored_classes) == ("fraud", 1, 1)
    assert (model.threshold, model.max_fpr, model.segments) == (0.5, (0.05, 0.1), ())
    assert [(w.name, w.events, w.duration) for w in model.windows] == [
        ("last_10k", 10_000, None),
        ("1h", None, timedelta(hours=1)),
    ]
    assert model.label_maturity == timedelta(0)
    assert (model.thresholds, model.cost_values, model.reference_prevalences) == ((0.5,), None, None)


def test_multiclass_has_no_positive_class_and_scores_all(load: Load) -> None:
    model = load(multiclass("")).models["m"]
    assert (model.positive_class, model.positive, model.scored_classes) == (None, None, 3)


def test_the_positive_class_may_be_the_first(load: Load) -> None:
    assert load(models("positive_class: legit")).models["m"].positive == 0


@pytest.mark.parametrize(
    ("classes", "labels", "integers"),
    [
        ("[legit, fraud]", "auto", "indices"),
        ("[0, 1]", "auto", "names"),
        ("['-1', '1']", "auto", "names"),
        ("['0', b]", "auto", "indices"),
        ("['01', '1']", "auto", "indices"),  # JSON has no integer 01
        ("['١', '1']", "auto", "indices"),
        ("['-', '1']", "auto", "indices"),
        ("[legit, fraud]", "names", "names"),
        ("[0, 1]", "indices", "indices"),
    ],
)
def test_what_integers_mean(load: Load, classes: str, labels: str, integers: str) -> None:
    assert load(models(f"labels: {labels}", classes=classes)).models["m"].integers == integers


def test_numeric_names_need_no_quotes(load: Load) -> None:
    model = load(models("aliases: {7: 1}, versions: {2: {classes: [1, 0]}}", classes="[0, 1]")).models["m"]
    assert model.classes == ("0", "1")
    assert model.aliases == {"7": "1"}
    assert model.versions["2"].classes == ("1", "0")


@pytest.mark.parametrize(
    ("text", "thresholds"),
    [("", (0.5, 0.5, 0.5)), ("threshold: 0.3", (0.3, 0.3, 0.3)), ("threshold: {b: 0.9}", (0.5, 0.9, 0.5))],
)
def test_multilabel_has_a_threshold_for_each_label(
    load: Load, text: str, thresholds: tuple[float, ...]
) -> None:
    model = load(multilabel(text)).models["m"]
    assert (model.thresholds, model.positive, model.scored_classes) == (thresholds, None, 3)


def test_multiclass_has_no_threshold(load: Load) -> None:
    assert load(multiclass("")).models["m"].thresholds == ()


def test_costs_are_two_numbers_or_a_matrix(load: Load) -> None:
    pair = "costs: {false_negative: 2000, false_positive: 50}"
    assert load(models(pair)).models["m"].cost_values == (2000, 50)
    assert load(multilabel(pair)).models["m"].cost_values == (2000, 50)
    matrix = load(multiclass("costs: [[0, 1, 2], [3, 0, 4], [5, 6.5, 0]]")).models["m"].cost_values
    assert matrix == ((0, 1, 2), (3, 0, 4), (5, 6.5, 0))


def test_reference_prevalences_are_those_of_scored_classes(load: Load) -> None:
    assert load(models("reference_prevalence: 0.01")).models["m"].reference_prevalences == (0.01,)
    of_each = load(multilabel("reference_prevalence: {c: 0.3, a: 0.1, b: 0.2}")).models["m"]
    assert of_each.reference_prevalences == (0.1, 0.2, 0.3)


def test_k_is_a_number_or_a_share(load: Load) -> None:
    assert load(models("at_k: [100, 0.01]")).models["m"].at_k == (100, 0.01)
    assert load(multiclass("top_k: [1, 2]")).models["m"].top_k == (1, 2)


def test_the_wildcard_stands_for_models_that_are_not_named(load: Load) -> None:
    config = load('models: {fraud: {task: binary, classes: [a, b]}, "*": {task: binary, classes: [c, d]}}')
    assert config.model_for("fraud") is config.models["fraud"]
    assert config.model_for("other") is config.models["*"]
    assert load().model_for("other") is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (models("threshold: 1.5"), "models.m.threshold: 1.5 is above 1; write a number from 0 to 1"),
        (models("threshold: -1"), "models.m.threshold: -1 is below 0; write a number from 0 to 1"),
        (models("threshold: .nan"), "models.m.threshold: is no finite number"),
        (models("threshold: high"), "models.m.threshold: is no number"),
        (models("max_fpr: 0.1"), "models.m.max_fpr: 0.1 is no list; write it in brackets"),
        (
            models("max_fpr: [0, 0.1]"),
            "models.m.max_fpr[0]: 0 is not above 0; write a number above 0 and at most 1",
        ),
        (models("max_fpr: [0.1, 0.1]"), "models.m.max_fpr: 0.1 stands here twice"),
        (
            models("positive_class: froud"),
            "models.m.positive_class: 'froud' is no class; did you mean 'fraud'?",
        ),
        (
            models("positive_class: null"),
            "models.m.positive_class: null is no class; write one of legit, fraud",
        ),
        (models("scores: margin"), "models.m.scores: 'margin' is none of 'probability' or 'logit'"),
        (models("temperature: 2"), "models.m.temperature: divides logits; write scores: logit"),
        (models("scores: logit, temperature: 0"), "models.m.temperature: 0 is not above 0"),
        (models("threshold: {fraud: 0.5}"), "models.m.threshold: write a number: a binary model has one"),
        (
            models("threshold: [0.5]"),
            "models.m.threshold: is of the wrong kind; write a number, or a mapping",
        ),
        (multilabel("threshold: {d: 0.5}"), "models.m.threshold.d: 'd' is no class; write one of a, b, c"),
        (models("costs: [[0, 1], [1, 0]]"), "models.m.costs: a matrix is for multiclass models; write {"),
        (multiclass("costs: [[0, 1], [1, 0]]"), "models.m.costs: write 3 lists of 3 numbers"),
        (multiclass("costs: [[0, -1, 1]]"), "models.m.costs[0][1]: -1 is below 0"),
        (models("min_recall: 1.5"), "models.m.min_recall: 1.5 is above 1; write a number above 0"),
        (models("top_k: [1]"), "models.m.top_k: is for multiclass models; remove it"),
        (multiclass("top_k: [1, 3]"), "models.m.top_k[1]: 3 of 3 classes are always right; write less"),
        (models("at_k: [1.0]"), "models.m.at_k[0]: 1.0 is no k; write a whole number from 1, or a share"),
        (models("at_k: [true]"), "models.m.at_k[0]: true is no k"),
        (models("at_k: [5, 5]"), "models.m.at_k: 5 stands here twice"),
        (models("reference_prevalence: 1"), "models.m.reference_prevalence: 1 is not below 1"),
        (multilabel("reference_prevalence: 0.1"), "models.m.reference_prevalence: write one for each class"),
        (multilabel("reference_prevalence: {a: 0.1}"), "models.m.reference_prevalence: lacks b, c"),
        (
            models("costs: {false_negative: 1, false_positive: 0}"),
            "models.m.costs.false_positive: 0 is not above 0",
        ),
        (models("costs: {false_negative: 1}"), "models.m.costs.false_positive: is missing"),
        (models("aliases: {X: frod}"), "models.m.aliases.X: 'frod' is no class; did you mean 'fraud'?"),
        (models("aliases: {legit: fraud}"), "models.m.aliases.legit: is a class itself"),
        (models("versions: {v: {classes: [a, b]}}"), "models.m.versions.v.classes: write the same classes"),
        (models("segments: [a, a]"), "models.m.segments: 'a' stands here twice"),
        (models("segments: [a=b]"), "models.m.segments[0]: 'a=b' has a '='"),
        (models("label_maturity: 3"), "models.m.label_maturity: 3 is no duration"),
        (models("", classes="[no, yes]"), "models.m.classes[0]: YAML reads an unquoted yes, no, on"),
        (models("", classes="[0.5, a]"), "models.m.classes[0]: 0.5 is no text; write it in quotes"),
        (models("", classes="[null, a]"), "models.m.classes[0]: null is no text; write it in quotes"),
        (models("", classes="[a, b, c]"), "models.m.classes: a binary model has 2 classes, not 3"),
        (models("", classes="[a, a]"), "models.m.classes: 'a' stands here twice"),
        (models("", "multiclass", "[a]"), "models.m.classes: 1 classes; write from 2"),
        (models("", "regression"), "models.m.task: 'regression' is none of 'binary', 'multiclass' or"),
        (multiclass("threshold: 0.4"), "models.m.threshold: is not for multiclass models"),
        (multiclass("positive_class: a"), "models.m.positive_class: is for binary models"),
        (multiclass("costs: {false_negative: 1, false_positive: 1}"), "models.m.costs: write a matrix of 3"),
        (
            multiclass("windows: [{name: w, positives: 5}]"),
            "models.m.windows[0].positives: is for binary models; write events or duration",
        ),
        ("models: {}", "models: is empty; write at least one model"),
        ("models: {m: fraud}", "models.m: is no section"),
        ("models: [m]", "models: is no mapping"),
        (models("tresholds: 1"), "models.m.tresholds: unknown key; did you mean `threshold`?"),
        # A model that is called like a key is no section of that key.
        (
            "models: {task: {task: binary, classes: [a, b], labls: auto}}",
            "models.task.labls: unknown key; did you mean `labels`?",
        ),
    ],
)
def test_a_model_is_refused_with_its_reason(problems: Problems, text: str, line: str) -> None:
    assert problems(text)[0].startswith(line)


def test_keys_of_later_versions_are_refused(problems: Problems) -> None:
    assert problems(models("cluster: 1")) == ["models.m.cluster: not supported yet; remove it"]


def test_a_champion_is_a_version_or_an_alias(load: Load, problems: Problems) -> None:
    assert load(models("champion: 7")).models["m"].champion == "7"
    assert load(models("champion: {mlflow_alias: a}")).models["m"].champion == ChampionConfig(
        mlflow_alias="a"
    )
    assert problems(models("champion: {mlflow_alais: a}")) == [
        "models.m.champion.mlflow_alias: is missing; it has no default",
        "models.m.champion.mlflow_alais: unknown key; did you mean `mlflow_alias`?",
    ]


@pytest.mark.parametrize(
    ("window", "line"),
    [
        ("{name: w}", "[0]: write exactly one of events, duration and positives"),
        ("{name: w, events: 5, duration: 1h}", "[0]: write exactly one of events, duration and positives"),
        ("{name: all, events: 5}", "[0].name: 'all' is the name of the cumulative state"),
        ("{name: w, events: 0}", "[0].events: 0 is below 1; write a number of at least 1"),
        ("{name: w, events: 1.5}", "[0].events: is no whole number"),
        ("{name: w, duration: 0s}", "[0].duration: is no time at all"),
        ("{name: w, events: 5, approximate: true}", "[0].approximate: not supported yet"),
        ("{events: 5}", "[0].name: is missing"),
        ("{name: w, events: 5}, {name: w, duration: 1h}", "[1].name: 'w' names another window too"),
        (
            "{name: w, events: 262145}",
            "[0].events: 262145 is above limits.held_events (262144); write a smaller window or raise",
        ),
        ("{name: w, positives: 262145}", "[0].positives: 262145 is above limits.held_events (262144)"),
    ],
)
def test_a_window_is_refused_with_its_reason(problems: Problems, window: str, line: str) -> None:
    assert problems(models(f"windows: [{window}]"))[0].startswith(f"models.m.windows{line}")


def test_the_limit_of_held_events_may_be_raised(load: Load) -> None:
    load(models("windows: [{name: w, events: 300000}]") + "\nlimits: {held_events: 300000}")


@pytest.mark.parametrize(
    ("text", "lookback"),
    [
        ("", timedelta(hours=1, minutes=1)),
        (models("windows: [{name: w, duration: 7d}], label_maturity: 1d"), timedelta(days=8, minutes=1)),
        (
            models("windows: [{name: w, events: 7}], label_maturity: 1h"),
            timedelta(days=1, hours=1, minutes=1),
        ),
    ],
)
def test_reading_starts_where_windows_begin(load: Load, text: str, lookback: timedelta) -> None:
    assert load(text).lookback == lookback
