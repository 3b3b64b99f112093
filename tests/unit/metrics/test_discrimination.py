from __future__ import annotations

import numpy as np
import pytest
import torch

from monitor.metrics.context import Context
from monitor.metrics.discrimination import (
    average_precision,
    partial_roc_auc,
    partial_roc_auc_mcclish,
    recall_at_fpr,
    roc_auc,
)
from monitor.metrics.outcome import REASONS
from tests.support.counts import batch, binary_counts, multiclass_counts, multilabel_counts, parameters
from tests.support.influences import EFFECTIVE_N
from tests.support.recipes import recipe, tied_recipe

METRICS = (roc_auc, average_precision, partial_roc_auc, partial_roc_auc_mcclish, recall_at_fpr)


def context_of(y_true, y_score, **settings) -> Context:
    return Context(binary_counts(y_true, y_score), [parameters(**settings)])


def words(codes) -> list[list[str]]:
    return [[REASONS[code] for code in row] for row in codes.tolist()]


def scores(n_negatives: int, n_positives: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    y_true = np.repeat([0, 1], [n_negatives, n_positives])
    random = np.random.default_rng(seed)
    return y_true, random.normal(0.4 + 0.1 * y_true, 0.1).clip(0, 1).astype(np.float32)


def assert_rows_equal(outcome, row, alone) -> None:
    for name in ("value", "reason", "no_interval", "low_support", "support", "resolution_error"):
        one, other = getattr(outcome, name)[row], getattr(alone, name)[0]
        assert torch.allclose(one.double(), other.double(), rtol=0, atol=1e-12, equal_nan=True), name
    if outcome.interval is not None:
        for name in ("lower", "upper", "standard_error"):
            one, other = getattr(outcome.interval, name)[row], getattr(alone.interval, name)[0]
            assert torch.allclose(one, other, rtol=0, atol=1e-12, equal_nan=True), name


@pytest.mark.parametrize("data", [recipe, tied_recipe])
def test_intervals_have_the_reference_bounds(data):
    context = context_of(*data(), max_fpr=(0.1,))
    found = []
    for metric in (roc_auc, partial_roc_auc, average_precision):
        interval = metric(context).interval
        assert interval.method == "effective_n"
        found.append((interval.lower.item(), interval.upper.item()))
    for bounds, expected in zip(found, EFFECTIVE_N[data], strict=True):
        assert bounds == pytest.approx(expected, abs=1e-12)


def test_mcclish_puts_the_area_and_its_interval_on_another_scale():
    context = context_of(*scores(900, 60), max_fpr=(0.1, 0.4))
    area, other = partial_roc_auc(context), partial_roc_auc_mcclish(context)
    slope = 1 / (2 - torch.tensor([0.1, 0.4], dtype=torch.float64))
    for one, transformed in (
        (area.value, other.value),
        (area.interval.lower, other.interval.lower),
        (area.interval.upper, other.interval.upper),
    ):
        chance = torch.tensor([0.05, 0.2], dtype=torch.float64)
        assert torch.allclose(transformed, 0.5 + slope * (one - chance))
    assert torch.allclose(other.interval.standard_error, slope * area.interval.standard_error)


def test_mcclish_is_marked_by_the_width_of_its_own_interval():
    context = context_of(*scores(900, 40), max_fpr=(0.1, 0.4))
    area, other = partial_roc_auc(context), partial_roc_auc_mcclish(context)
    for outcome, low in ((area, True), (other, False)):
        wide = outcome.interval.upper - outcome.interval.lower > 0.2
        assert wide.tolist() == outcome.low_support.tolist() == [[low] * 2]
    few = context_of(*scores(190, 60), max_fpr=(0.1,))
    assert partial_roc_auc_mcclish(few).low_support.tolist() == [[True]]


def test_few_events_of_a_class_have_no_interval():
    for n_positives, word in ((4, "low_support"), (5, "")):
        context = context_of(*scores(1000, n_positives), max_fpr=(0.1,))
        for metric in METRICS[:4]:
            outcome = metric(context)
            assert words(outcome.no_interval) == [[word]], metric
            assert outcome.interval.lower.isnan().item() is (word != "")
            assert not outcome.value.isnan().any()
            assert outcome.low_support.item() or word == ""
    assert words(roc_auc(context_of(*scores(4, 1000))).no_interval) == [["low_support"]]


@pytest.mark.parametrize(
    ("negatives", "word", "low"),
    [(199, "too_few_negatives", True), (200, "", True), (399, "", True), (400, "", False)],
)
def test_few_negatives_below_the_rate_have_no_interval(negatives, word, low):
    y_true = np.repeat([0, 1], [negatives, 400])
    outcome = partial_roc_auc(context_of(y_true, np.linspace(0, 1, len(y_true)), max_fpr=(0.05,)))
    assert words(outcome.no_interval) == [[word]]
    assert outcome.low_support.tolist() == [[low]]


def test_average_precision_is_marked_below_20_positives():
    # So separated that no interval is wide.
    for n_positives, low in ((19, True), (20, False)):
        y_true = np.repeat([0, 1], [5000, n_positives])
        outcome = average_precision(context_of(y_true, np.linspace(0, 1, len(y_true))))
        assert outcome.low_support.tolist() == [[low]]


def test_average_precision_without_negatives_is_marked():
    outcome = average_precision(context_of(np.ones(30, int), np.linspace(0, 1, 30)))
    assert outcome.value.tolist() == [[1]]
    assert outcome.low_support.tolist() == [[True]]
    assert words(outcome.no_interval) == [["no_negatives"]]


def test_wide_intervals_are_marked():
    y_true, score = scores(200, 12)
    outcome = roc_auc(context_of(y_true, score))
    assert (outcome.interval.upper - outcome.interval.lower).item() > 0.2
    assert outcome.low_support.tolist() == [[True]]
    perfect = roc_auc(context_of(y_true, np.where(y_true == 1, 0.9, 0.1)))
    assert perfect.low_support.tolist() == [[False]]


def test_recall_at_fpr_has_no_interval():
    outcome = recall_at_fpr(context_of(*scores(900, 60)))
    assert outcome.interval is None
    assert words(outcome.no_interval) == [["no_interval_method"] * 2]
    assert outcome.low_support.tolist() == [[False, False]]
    assert recall_at_fpr(context_of(*scores(900, 19))).low_support.tolist() == [[True, True]]
    assert recall_at_fpr(context_of(*scores(390, 60))).low_support.tolist() == [[True, False]]


@pytest.mark.parametrize(
    ("y_true", "score", "reasons"),
    [
        ([], [], ("no_events",) * 3),
        ([-1, -1], [0.1, 0.2], ("no_labels",) * 3),
        ([0, 1], [np.nan, np.nan], ("no_scores",) * 3),
        ([0, 0], [0.1, 0.2], ("no_positives",) * 3),
        ([1, 1], [0.1, 0.2], ("no_negatives", "", "no_negatives")),
        ([0, 1], [0.1, 0.2], ("", "", "too_few_negatives")),
    ],
)
def test_reasons(y_true, score, reasons):
    context = context_of(y_true, score, max_fpr=(0.5,))
    found = [roc_auc(context), average_precision(context), partial_roc_auc(context)]
    assert tuple(words(outcome.reason)[0][0] for outcome in found) == reasons
    for outcome in found:
        assert torch.equal(outcome.value.isnan(), outcome.reason != 0)
        assert outcome.interval.lower.isnan().all()


def test_models_of_a_batch_have_their_own_rates():
    settings = [{"max_fpr": (0.05, 0.3)}, {"max_fpr": (0.2, 0.5)}, {"max_fpr": (0.1, 0.9)}]
    cases = [scores(300, 30, 1), scores(90, 110, 2), ([0, 0, 0], [0.1, 0.2, 0.3])]
    models = [parameters(**setting) for setting in settings]
    counts = [binary_counts(*case) for case in cases]
    together = Context(batch(counts), models)
    for metric in METRICS:
        for row, (of_one, model) in enumerate(zip(counts, models, strict=True)):
            assert_rows_equal(metric(together), row, metric(Context(of_one, [model])))


@pytest.mark.parametrize("bins", [None, 12])
def test_each_class_against_the_rest(bins):
    random = np.random.default_rng(3)
    y_true = random.choice(3, 400, p=[0.8, 0.15, 0.05])
    logits = random.normal(size=(400, 3)) + 1.2 * np.eye(3)[y_true]
    score = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = random.random((400, 3)) < score
    for counts, true, task in (
        (multiclass_counts(y_true, score, n_classes=3, bins=bins), np.eye(3)[y_true], "multiclass"),
        (multilabel_counts(labels, score, bins=bins), labels, "multilabel"),
    ):
        context = Context(counts, [parameters(3, task=task)])
        for metric in METRICS:
            outcome = metric(context)
            assert bool(outcome.resolution_error.any()) == (bins is not None)
            width = outcome.value.shape[1] // 3
            for c in range(3):
                alone = metric(
                    Context(binary_counts(true[:, c].astype(int), score[:, c], bins=bins), [parameters()])
                )
                own = slice(c * width, (c + 1) * width)
                assert torch.allclose(outcome.value[:, own], alone.value, rtol=0, atol=1e-12)
                assert torch.allclose(
                    outcome.resolution_error[:, own], alone.resolution_error, rtol=0, atol=1e-12
                )


def test_no_rates_no_values():
    context = context_of(*scores(50, 10), max_fpr=())
    for metric in METRICS[2:]:
        assert metric(context).value.shape == (1, 0)


def test_unbinned_cases_beside_binned_ones_have_no_error():
    case = scores(300, 30)
    context = Context(batch([binary_counts(*case), binary_counts(*case, bins=9)]), [parameters()] * 2)
    for metric in METRICS:
        error = metric(context).resolution_error
        assert not error[0].any()
        assert error[1].all()
