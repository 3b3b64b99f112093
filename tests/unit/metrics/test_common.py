"""What holds for every row of the catalog."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from monitor.metrics.catalog import CATALOG, compute_all
from monitor.metrics.context import Context
from monitor.metrics.counts import Counts
from monitor.metrics.curves import Curves, curves
from monitor.metrics.labels import label_sets
from monitor.metrics.outcome import REASONS, Outcome
from tests.support.counts import (
    PER_GROUP,
    PER_MICRO_GROUP,
    batch,
    binary_counts,
    multiclass_counts,
    multilabel_counts,
    parameters,
    values,
)
from tests.support.oracle import expected, tolerance

SETTINGS = {
    "binary": parameters(at_k=(20, 0.1), min_recall=0.9, reference_prevalence=(0.01,)),
    "multiclass": parameters(
        4,
        at_k=(20, 0.1),
        top_k=(1, 2, 4),
        min_recall=0.9,
        reference_prevalence=(0.1, 0.2, 0.3, 0.4),
        costs=((0, 1, 2, 3), (4, 0, 5, 6), (7, 8, 0, 9), (1, 1, 1, 0)),
    ),
    "multilabel": parameters(
        3, task="multilabel", at_k=(20, 0.1), min_recall=0.9, reference_prevalence=(0.1, 0.2, 0.3)
    ),
}
ROWS = [
    pytest.param(metric, task, id=f"{metric.name.removeprefix('classifier_')}-{task}")
    for metric in CATALOG
    for task in metric.tasks
]
every_row = pytest.mark.parametrize(("metric", "task"), ROWS)
BY_NUMBER_OF_EVENTS = {
    "classifier_events",
    "classifier_class_support",
    "classifier_window_confusions",
    "classifier_low_support",
    "classifier_calibration_error_debiased",
    "classifier_calibration_error_expected",
    "classifier_calibration_p_value",
    "classifier_precision_at_k",
    "classifier_recall_at_k",
}
"""Families that tell more events from fewer of the same kind."""


def events(task, seed=0, n=400, *, missing=True):
    """Return labels, scores and decisions; with `missing`, some of each are absent."""
    random = np.random.default_rng(seed)
    n_classes = len(SETTINGS[task].classes)
    if task == "multilabel":
        y_true = (random.random((n, n_classes)) < [0.5, 0.2, 0.1]).astype(int)
        margin = random.normal(size=(n, n_classes)) + 3 * y_true - 2
        score = (1 / (1 + np.exp(-margin))).round(3).astype(np.float32)
        y_pred = (score >= 0.5).astype(int)
    else:
        shares = np.arange(n_classes, 0, -1) / (n_classes * (n_classes + 1) / 2)
        y_true = random.choice(n_classes, n, p=shares)
        margin = random.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[y_true]
        score = (np.exp(margin) / np.exp(margin).sum(axis=1, keepdims=True)).round(3).astype(np.float32)
        y_pred = score.argmax(axis=1)
    if missing:
        y_true[random.random(n) < 0.1] = -1
        score[random.random(n) < 0.1] = np.nan
        if task != "multilabel":
            y_pred[random.random(n) < 0.1] = -1
    return y_true, score, y_pred


def make(task, y_true, score, y_pred=None, **options) -> Counts:
    if task == "binary":
        return binary_counts(y_true, score[:, 1], y_pred, **options)
    if task == "multilabel":
        return multilabel_counts(y_true, score, y_pred, **options)
    return multiclass_counts(y_true, score, y_pred, n_classes=4, top_k=(1, 2, 4), **options)


def named_cases(task) -> dict[str, Counts]:
    y_true, score, y_pred = events(task)
    n_classes = score.shape[1]
    none = np.zeros_like(y_true)
    every = none + (1 if task == "multilabel" else n_classes - 1)
    extreme = y_pred if task == "multilabel" else np.eye(n_classes)[y_pred]
    return {
        "random": make(task, y_true, score, y_pred),
        "binned": make(task, y_true, score, y_pred, bins=7),
        "empty": make(task, y_true[:0], score[:0], y_pred[:0]),
        "one event": make(task, y_true[1:2], score[1:2], y_pred[1:2]),
        "unlabeled": make(task, none - 1, score, y_pred),
        "no scores": make(task, y_true, np.full_like(score, np.nan), y_pred),
        "one class": make(task, none, score, y_pred),
        "only the last class": make(task, every, score, y_pred),
        "one decision": make(task, y_true, score, none),
        "only other": make(task, y_true, score, none if task == "multilabel" else none - 1),
        "equal scores": make(task, y_true, np.full_like(score, 1 / n_classes), y_pred),
        "extreme scores": make(task, y_true, extreme.astype(np.float32), y_pred),
        "separated": make(task, y_pred, score, y_pred),
    }


CASES = {task: named_cases(task) for task in SETTINGS}


def outcome_of(metric, task, counts, settings=None):
    p = settings or SETTINGS[task]
    return metric.compute(Context(counts, [p] * len(counts.events)))


def assert_same(one: Outcome, other: Outcome):
    """Compare all numbers; sums may be taken in another order."""
    assert one.labels == other.labels
    for field in fields(Outcome):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, torch.Tensor):
            where = one.reason == 0 if field.name in ("numerator", "denominator") else one.reason >= 0
            close(a[where], b[where])
    if one.interval is not None:
        assert other.interval is not None
        assert one.interval.method == other.interval.method
        for name in ("lower", "upper", "standard_error"):
            close(getattr(one.interval, name), getattr(other.interval, name))


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9, equal_nan=True)


@every_row
def test_form(metric, task):
    for name, counts in CASES[task].items():
        outcome = outcome_of(metric, task, counts)
        labels = label_sets(outcome.labels, SETTINGS[task])
        shape = (1, len(labels))
        undefined = outcome.reason != 0
        value = outcome.value
        assert len({frozenset(of_value.items()) for of_value in labels}) == len(labels)
        of_each = ("class",) if metric.name == "classifier_window_confusions" and task == "multilabel" else ()
        assert all(tuple(of_value) == of_each + metric.labels for of_value in labels)
        for tensor in (value, outcome.reason, outcome.support, outcome.low_support, outcome.no_interval):
            assert tensor.shape == shape, name
        assert value.dtype == torch.float64
        assert outcome.reason.dtype == outcome.support.dtype == outcome.no_interval.dtype == torch.int64
        assert outcome.low_support.dtype == torch.bool
        assert torch.equal(value.isnan(), undefined), name
        assert {REASONS[code] for code in outcome.reason[undefined].tolist()} <= set(metric.undefined), name
        low, high = metric.range
        assert ((value >= low - 1e-12) & (value <= high + 1e-12) | undefined).all(), name
        assert (outcome.support >= 0).all()
        if outcome.numerator is not None:
            assert outcome.numerator.shape == outcome.denominator.shape == shape
            assert ((value * outcome.denominator - outcome.numerator).abs() < 1e-6)[~undefined].all()


@every_row
def test_intervals_enclose_the_value_or_say_why_there_is_none(metric, task):
    for counts in CASES[task].values():
        outcome = outcome_of(metric, task, counts)
        defined = outcome.reason == 0
        without = outcome.no_interval != 0
        assert not (without & ~defined).any()
        interval = outcome.interval
        method = interval.method if interval else None
        assert metric.interval == (method[0] if isinstance(method, tuple) else method)
        if interval is None:
            assert (without | ~defined).all()
            continue
        with_interval = defined & ~without
        for bound in (interval.lower, interval.upper, interval.standard_error):
            assert torch.equal(~bound.isnan(), with_interval)
        assert ((interval.lower <= outcome.value) & (outcome.value <= interval.upper))[with_interval].all()
        low, high = metric.range
        assert (interval.lower[with_interval] >= low).all()
        assert (interval.upper[with_interval] <= high + 1e-12).all()


@every_row
def test_the_error_of_bins_is_bounded_by_what_is_stated(metric, task):
    exact, binned = (outcome_of(metric, task, CASES[task][name]) for name in ("random", "binned"))
    if exact.resolution_error is not None:
        both = (exact.reason == 0) & (binned.reason == 0)
        assert (exact.resolution_error[both] == 0).all()
        assert (binned.resolution_error[both] > 0).any()
        assert ((exact.value - binned.value).abs() <= binned.resolution_error + 1e-12)[both].all()


@every_row
def test_batch_of_cases_equals_one_by_one(metric, task):
    together = outcome_of(metric, task, batch(list(CASES[task].values())))
    for i, counts in enumerate(CASES[task].values()):
        picked = {
            field.name: part[i : i + 1]
            for field in fields(Outcome)
            if isinstance(part := getattr(together, field.name), torch.Tensor)
        }
        if together.interval is not None:
            bounds = {
                name: getattr(together.interval, name)[i : i + 1]
                for name in ("lower", "upper", "standard_error")
            }
            picked["interval"] = replace(together.interval, **bounds)
        assert_same(replace(together, **picked), outcome_of(metric, task, counts))


@every_row
def test_models_of_a_batch_keep_their_own_settings(metric, task):
    counts = CASES[task]["random"]
    p = SETTINGS[task]
    other = replace(
        p,
        classes=tuple(f"other {name}" for name in p.classes),
        thresholds=tuple(0.25 for _ in p.thresholds),
        max_fpr=(0.2, 0.3),
        at_k=(0.5, 7),
        min_recall=0.5,
        reference_prevalence=tuple(0.5 for _ in p.scored),
        costs=None if p.costs is None else (2.0, 9.0) if task != "multiclass" else p.costs[::-1],
    )
    together = metric.compute(Context(batch([counts, counts]), [p, other]))
    for i, settings in enumerate((p, other)):
        alone = outcome_of(metric, task, counts, settings)
        close(together.value[i], alone.value[0])
        assert label_sets(together.labels, settings) == label_sets(alone.labels, settings)


@every_row
def test_order_of_events_does_not_matter(metric, task):
    data = events(task)
    order = np.random.default_rng(1).permutation(len(data[0]))
    one, other = (make(task, *arrays) for arrays in (data, [array[order] for array in data]))
    assert_same(outcome_of(metric, task, one), outcome_of(metric, task, other))


@every_row
def test_groups_without_events_do_not_matter(metric, task):
    counts = CASES[task]["random"]

    def with_gaps(groups):
        size = groups.shape[-1]
        wide = groups.new_full((*groups.shape[:-1], 2 * size + 2), 0.5 if groups.is_floating_point() else 0)
        wide[..., torch.arange(size) * 2 + 1] = groups
        return wide

    gaps = replace(
        counts, **{name: with_gaps(getattr(counts, name)) for name in (*PER_GROUP, *PER_MICRO_GROUP)}
    )
    assert_same(outcome_of(metric, task, counts), outcome_of(metric, task, gaps))


@pytest.mark.parametrize(
    ("metric", "task"), [row for row in ROWS if row.values[0].name not in BY_NUMBER_OF_EVENTS]
)
def test_repeated_events_keep_rates(metric, task):
    counts = CASES[task]["random"]
    same = {"exact", "micro_exact", "threshold", "probability"}
    thrice = Counts(
        **{
            f.name: getattr(counts, f.name) if f.name in same else getattr(counts, f.name) * 3
            for f in fields(Counts)
        }
    )
    close(outcome_of(metric, task, counts).value, outcome_of(metric, task, thrice).value)


@pytest.mark.parametrize(("metric", "task"), [row for row in ROWS if row.values[1] != "binary"])
def test_order_of_classes_does_not_matter(metric, task):
    p = SETTINGS[task]
    order = list(np.random.default_rng(4).permutation(len(p.classes)))
    y_true, score, y_pred = events(task)
    if task == "multilabel":
        moved = y_true[:, order], score[:, order], y_pred[:, order]
        costs = p.costs
    else:
        place = np.array([*np.argsort(order), -1])  # the last for -1
        moved = place[y_true], score[:, order], place[y_pred]
        costs = tuple(tuple(p.costs[i][j] for j in order) for i in order)
    permuted = replace(
        p,
        classes=tuple(p.classes[i] for i in order),
        reference_prevalence=tuple(p.reference_prevalence[i] for i in order),
        costs=costs,
    )
    one = outcome_of(metric, task, make(task, y_true, score, y_pred))
    other = outcome_of(metric, task, make(task, *moved), permuted)
    assert values(one, p) == pytest.approx(values(other, permuted), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("task", SETTINGS)
@pytest.mark.parametrize("seed", range(5))
def test_oracle_agrees(task, seed):
    y_true, score, y_pred = events(task, seed, missing=False)
    p = SETTINGS[task]
    reference = expected(p, y_true, score[:, 1] if task == "binary" else score, y_pred)
    got = {
        (metric.name, frozenset(labels.items())): value
        for metric, outcome in compute_all(Context(make(task, y_true, score, y_pred), [p]))
        for labels, value in zip(label_sets(outcome.labels, p), outcome.value[0].tolist(), strict=True)
    }
    for key, value in reference.items():
        assert got[key] == pytest.approx(value, abs=tolerance(key, reference)), key
    defined = {name.removeprefix("classifier_") for (name, _), value in got.items() if value == value}
    expected_names = {name.removeprefix("classifier_") for name, _ in reference}
    assert defined - expected_names <= {"label_coverage"}


@pytest.mark.parametrize("task", SETTINGS)
def test_curves_of_every_case(task):
    cases = list(CASES[task].values())
    together = curves(Context(batch(cases), [SETTINGS[task]] * len(cases)))
    for i, counts in enumerate(cases):
        alone = curves(Context(counts, [SETTINGS[task]]))
        for field in fields(Curves):
            close(getattr(together, field.name)[i], getattr(alone, field.name)[0])


def test_a_class_that_is_always_there_or_never_has_reasons():
    """The rows of one-class windows in scikit-learn's and torchmetrics' table of surprises."""
    rows = {metric.name.removeprefix("classifier_"): metric for metric in CATALOG}

    def result(name, y_true, y_score):
        outcome = outcome_of(rows[name], "binary", binary_counts(y_true, y_score))
        return REASONS[outcome.reason[0, 0].item()] or outcome.value[0, 0].item()

    assert result("roc_auc", [0, 0], [0.1, 0.9]) == "no_positives"
    assert result("roc_auc", [1, 1], [0.1, 0.9]) == "no_negatives"
    assert result("roc_auc", [0, 1], [0.5, 0.5]) == 0.5
    assert result("roc_auc", [], []) == "no_events"
    assert result("average_precision", [0, 0], [0.1, 0.9]) == "no_positives"
    assert result("average_precision", [1, 1], [0.1, 0.9]) == 1
    assert result("partial_roc_auc", [1, 1], [0.1, 0.9]) == "no_negatives"
    assert result("partial_roc_auc", [0] * 19 + [1], [0.1] * 20) == "too_few_negatives"
    assert result("partial_roc_auc", [0] * 20 + [1], [0.1] * 21) == pytest.approx(0.025)
    assert result("recall_at_fpr", [0] * 19 + [1], [0.1] * 20) == "too_few_negatives"
    assert result("accuracy", [-1, -1], [0.1, 0.9]) == "no_labels"
    assert result("matthews_corrcoef", [1, 1], [0.1, 0.9]) == "one_class"
    assert result("log_loss", [0, 0], [0.1, 0.9]) == pytest.approx(1.203973, abs=1e-6)
    assert result("brier_score", [1, 1], [0.1, 0.9]) == pytest.approx(0.41)
    assert result("brier_skill_score", [1, 1], [0.1, 0.9]) == "no_negatives"
    assert result("calibration_slope", [0, 1], [0.5, 0.5]) == "equal_scores"
    assert result("calibration_slope", [0, 1], [0.1, 0.9]) == "separated"
    assert result("calibration_p_value", [0, 1], [0.5, 0.5]) == "equal_scores"
    assert result("best_threshold", [0, 0], [0.1, 0.9]) > 0.9  # by cost: to decide for nothing
    assert result("precision_at_k", [0, 1], [0.1, 0.9]) == "too_few_events"
