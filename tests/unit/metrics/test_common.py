"""What holds for every row of the catalog."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from monitor.metrics.catalog import CATALOG, compute_all
from monitor.metrics.context import Context
from monitor.metrics.counts import Counts
from monitor.metrics.outcome import REASONS
from tests.support.counts import batch, binary_counts, multiclass_counts, parameters, values
from tests.support.oracle import expected

ROWS = [
    pytest.param(metric, task, id=f"{metric.name.removeprefix('classifier_')}-{task}")
    for metric in CATALOG
    for task in metric.tasks
]
every_row = pytest.mark.parametrize(("metric", "task"), ROWS)
COUNTS_OF_EVENTS = {
    "classifier_events",
    "classifier_class_support",
    "classifier_window_confusions",
    "classifier_low_support",
}
SETTINGS = {"binary": parameters(), "multiclass": parameters(4)}


def events(task, seed=0, n=400, *, missing=True):
    """Return labels, scores and decisions; with `missing`, some of each are absent."""
    random = np.random.default_rng(seed)
    n_classes = len(SETTINGS[task].classes)
    y_true = random.choice(n_classes, n, p=np.arange(n_classes, 0, -1) / (n_classes * (n_classes + 1) / 2))
    margin = random.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[y_true]
    score = (np.exp(margin) / np.exp(margin).sum(axis=1, keepdims=True)).round(3).astype(np.float32)
    y_pred = score.argmax(axis=1)
    if missing:
        y_true = np.where(random.random(n) < 0.1, -1, y_true)
        y_pred = np.where(random.random(n) < 0.1, -1, y_pred)
        score[random.random(n) < 0.1] = np.nan
    return y_true, score, y_pred


def make(task, y_true, score, y_pred=None, **options) -> Counts:
    if task == "binary":
        return binary_counts(y_true, score[:, 1], y_pred, **options)
    return multiclass_counts(y_true, score, y_pred, n_classes=4, **options)


def named_cases(task) -> dict[str, Counts]:
    y_true, score, y_pred = events(task)
    n, n_classes = score.shape
    only = np.zeros(n, np.int64)
    return {
        "random": make(task, y_true, score, y_pred),
        "binned": make(task, y_true, score, y_pred, bins=7),
        "empty": make(task, y_true[:0], score[:0], y_pred[:0]),
        "one event": make(task, y_true[1:2], score[1:2], y_pred[1:2]),
        "unlabeled": make(task, only - 1, score, y_pred),
        "no scores": make(task, y_true, np.full_like(score, np.nan), y_pred),
        "one class": make(task, only, score, y_pred),
        "only the last class": make(task, only + n_classes - 1, score, y_pred),
        "one decision": make(task, y_true, score, only),
        "only other": make(task, y_true, score, only - 1),
        "equal scores": make(task, y_true, np.full_like(score, 1 / n_classes), y_pred),
        "extreme scores": make(task, y_true, np.eye(n_classes, dtype=np.float32)[y_pred], y_pred),
    }


CASES = {task: named_cases(task) for task in SETTINGS}


def outcome_of(metric, task, counts, settings=None):
    return metric.compute(Context(counts, settings or SETTINGS[task]))


def assert_same(one, other):
    """Compare all numbers; sums may be taken in another order."""
    assert one.labels == other.labels
    for name in ("reason", "support", "numerator", "denominator"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None and b is None) or torch.equal(a, b), name
    pairs = [(one.value, other.value)]
    if one.resolution_error is not None:
        pairs.append((one.resolution_error, other.resolution_error))
    for a, b in zip(one.intervals, other.intervals, strict=True):
        pairs += [(a.lower, b.lower), (a.upper, b.upper)]
    for a, b in pairs:
        assert torch.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)


@every_row
def test_form(metric, task):
    for name, counts in CASES[task].items():
        outcome = outcome_of(metric, task, counts)
        shape = (1, len(outcome.labels))
        undefined = outcome.reason != 0
        value = outcome.value
        assert len(set(outcome.labels)) == len(outcome.labels)
        assert all(tuple(key for key, _ in labels) == metric.labels for labels in outcome.labels)
        assert value.shape == outcome.reason.shape == outcome.support.shape == shape, name
        assert value.dtype == torch.float64
        assert outcome.reason.dtype == outcome.support.dtype == torch.int64
        assert torch.equal(value.isnan(), undefined), name
        assert {REASONS[code] for code in outcome.reason[undefined].tolist()} <= set(metric.undefined), name
        low, high = metric.range
        assert ((value >= low - 1e-12) & (value <= high + 1e-12) | undefined).all(), name
        assert (outcome.support >= 0).all()
        if outcome.numerator is not None:
            assert outcome.numerator.dtype == outcome.denominator.dtype == torch.int64
            assert outcome.numerator.shape == outcome.denominator.shape == shape
            assert ((value * outcome.denominator - outcome.numerator).abs() < 1e-6)[~undefined].all()


@every_row
def test_intervals(metric, task):
    for counts in CASES[task].values():
        outcome = outcome_of(metric, task, counts)
        assert [interval.method for interval in outcome.intervals] == (
            [metric.interval] if metric.interval else []
        )
        for interval in outcome.intervals:
            undefined = outcome.reason != 0
            assert torch.equal(interval.lower.isnan(), undefined)
            assert torch.equal(interval.upper.isnan(), undefined)
            assert ((interval.lower <= outcome.value) & (outcome.value <= interval.upper) | undefined).all()


@every_row
def test_resolution_error_is_zero_where_scores_are_exact(metric, task):
    exact, binned = (outcome_of(metric, task, CASES[task][name]) for name in ("random", "binned"))
    if exact.resolution_error is not None:
        assert (exact.resolution_error == 0).all()
        assert (binned.resolution_error > 0).all()
        assert ((exact.value - binned.value).abs() <= binned.resolution_error).all()


@every_row
def test_batch_of_cases_equals_one_by_one(metric, task):
    together = outcome_of(metric, task, batch(list(CASES[task].values())))
    for i, counts in enumerate(CASES[task].values()):

        def case(tensor, i=i):
            return None if tensor is None else tensor[i : i + 1]

        picked = replace(
            together,
            **{
                name: case(getattr(together, name))
                for name in ("value", "reason", "support", "numerator", "denominator", "resolution_error")
            },
            intervals=tuple(
                replace(interval, lower=case(interval.lower), upper=case(interval.upper))
                for interval in together.intervals
            ),
        )
        assert_same(picked, outcome_of(metric, task, counts))


@every_row
def test_no_cases(metric, task):
    none = Counts(**{f.name: getattr(CASES[task]["random"], f.name)[:0] for f in fields(Counts)})
    outcome = outcome_of(metric, task, none)
    assert outcome.value.shape == (0, len(outcome.labels))


@every_row
def test_order_of_events_does_not_matter(metric, task):
    data = events(task)
    order = np.random.default_rng(1).permutation(len(data[0]))
    one, other = (make(task, *arrays) for arrays in (data, [array[order] for array in data]))
    assert_same(outcome_of(metric, task, one), outcome_of(metric, task, other))


@every_row
def test_groups_without_events_do_not_matter(metric, task):
    counts = CASES[task]["random"]
    size = counts.positives.shape[-1]
    spread = torch.arange(size) * 2 + 1

    def with_gaps(groups):
        wide = groups.new_zeros((*groups.shape[:-1], 2 * size + 2))
        wide[..., spread] = groups
        return wide

    gaps = replace(counts, positives=with_gaps(counts.positives), negatives=with_gaps(counts.negatives))
    assert_same(outcome_of(metric, task, counts), outcome_of(metric, task, gaps))


@pytest.mark.parametrize(
    ("metric", "task"), [row for row in ROWS if row.values[0].name not in COUNTS_OF_EVENTS]
)
def test_repeated_events_keep_rates(metric, task):
    counts = CASES[task]["random"]
    thrice = Counts(
        **{f.name: getattr(counts, f.name) * (1 if f.name == "exact" else 3) for f in fields(Counts)}
    )
    one, other = (outcome_of(metric, task, c) for c in (counts, thrice))
    assert torch.allclose(one.value, other.value, rtol=1e-12, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize(
    "metric", [row for row in CATALOG if "multiclass" in row.tasks], ids=lambda m: m.name
)
def test_order_of_classes_does_not_matter(metric):
    order = [2, 0, 3, 1]
    place = np.array([*np.argsort(order), -1])  # the last for -1
    y_true, score, y_pred = events("multiclass")
    one = outcome_of(metric, "multiclass", make("multiclass", y_true, score, y_pred))
    other = outcome_of(
        metric,
        "multiclass",
        make("multiclass", place[y_true], score[:, order], place[y_pred]),
        parameters(4, classes=tuple(str(c) for c in order)),
    )
    assert values(one) == pytest.approx(values(other), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("task", SETTINGS)
@pytest.mark.parametrize("seed", range(5))
def test_oracle_agrees(task, seed):
    y_true, score, y_pred = events(task, seed, missing=False)
    p = SETTINGS[task]
    reference = expected(
        p.classes,
        p.positive,
        y_true,
        score if p.positive is None else score[:, p.positive],
        y_pred,
        max_fpr=p.max_fpr,
        beta=p.beta,
    )
    got = {
        (metric.name, frozenset(labels)): value
        for metric, outcome in compute_all(make(task, y_true, score, y_pred), p)
        for labels, value in zip(outcome.labels, outcome.value[0].tolist(), strict=True)
    }
    for key, value in reference.items():
        tolerance = 1e-7 if key[0] == "classifier_log_loss" else 1e-9
        assert got[key] == pytest.approx(value, abs=tolerance), key
    without_twin = {"threshold", "low_support", "classes_defined", "label_coverage"}
    unchecked = {name.removeprefix("classifier_") for name, _ in got.keys() - reference.keys()}
    assert unchecked <= without_twin


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
