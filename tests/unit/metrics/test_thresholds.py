from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from monitor.metrics.thresholds import CRITERIA, best_threshold
from tests.support import sweeps
from tests.support.counts import (
    batch,
    binary_counts,
    multiclass_counts,
    multilabel_counts,
    parameters,
    values,
)

COSTS = st.sampled_from([(5.0, 1.0), (1.0, 1.0), (0.25, 3.0), (2000.0, 50.0)])
RECALLS = st.sampled_from([0.1, 0.5, 0.9, 0.98, 1.0])
EVENTS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8)), min_size=1, max_size=30)


def best(counts, p):
    return values(best_threshold(Context(counts, [p] * len(counts.events))), p)


def reasons(counts, p):
    return [REASONS[code] for code in best_threshold(Context(counts, [p])).reason[0].tolist()]


@given(EVENTS, COSTS, RECALLS)
def test_every_threshold_was_tried(events, costs, min_recall):
    y_true, y_score = np.array([y for y, _ in events]), np.array([s for _, s in events]) / 8
    found = best(binary_counts(y_true, y_score), parameters(costs=costs, min_recall=min_recall))
    asked = CRITERIA if y_true.any() else ("cost",)
    expected = {c: sweeps.best(y_true, y_score, c, costs, min_recall) for c in asked}
    assert {c: found["1", c] for c in asked} == expected


@pytest.mark.parametrize("prevalence", [0.003, 0.1, 0.5, 0.99])
def test_many_scores(prevalence):
    random = np.random.default_rng(0)
    y_true = (random.random(2000) < prevalence).astype(int)
    y_score = random.beta(1 + y_true, 2).astype(np.float32).astype(float)
    found = best(binary_counts(y_true, y_score), parameters(min_recall=0.9))
    assert found == {("1", c): sweeps.best(y_true, y_score, c, (5.0, 1.0), 0.9) for c in CRITERIA}


def test_nothing_is_worth_deciding_for():
    found = best(binary_counts([0, 0, 1], [0.5, 0.75, 0.25]), parameters(costs=(1.0, 1.0)))
    assert found["1", "cost"] == float(np.nextafter(np.float32(0.75), np.float32(1)))
    certain = best(binary_counts([0, 1], [1.0, 0.0]), parameters(costs=(1.0, 1.0)))
    assert certain["1", "cost"] == 1 + 2**-23


def test_the_greatest_of_equally_good_thresholds():
    counts = binary_counts([1, 1, 0, 0, 1, 0], [0.75, 0.75, 0.5, 0.5, 0.25, 0.25])
    assert best(counts, parameters(costs=(2.0, 1.0)))["1", "cost"] == 0.75


def test_ends_of_bins_are_thresholds():
    random = np.random.default_rng(0)
    y_true = random.integers(0, 2, 500)
    y_score = random.beta(1 + y_true, 2)
    found = best(binary_counts(y_true, y_score, bins=16), parameters(min_recall=0.9))
    ends = np.floor(y_score * 16) / 16
    assert found == {("1", c): sweeps.best(y_true, ends, c, (5.0, 1.0), 0.9) for c in CRITERIA}
    worthless = best(binary_counts([0, 0, 1], [0.7, 0.6, 0.1], bins=4), parameters(costs=(1.0, 1.0)))
    assert worthless["1", "cost"] == 1 + 2**-23


def test_groups_without_events_hold_no_threshold():
    counts = binary_counts([0, 1, 0], [0.75, 0.5, 0.25])
    empty = torch.tensor([[[1, 0, 0, 1, 0, 1, 0]]])
    spread = {
        name: torch.zeros_like(empty).masked_scatter(empty == 1, getattr(counts, name))
        for name in ("positives", "negatives", "older_positives", "older_negatives")
    }
    threshold = torch.full(empty.shape, 0.9, dtype=torch.float64)
    threshold = threshold.masked_scatter(empty == 1, counts.threshold)
    p = parameters(costs=(0.5, 1.0), min_recall=1.0)
    assert best(replace(counts, threshold=threshold, **spread), p) == best(counts, p)


def test_what_is_not_configured_has_no_labels():
    counts = binary_counts([0, 1], [0.25, 0.75])
    assert list(best(counts, parameters(costs=None))) == [("1", "f1")]
    assert list(best(counts, parameters())) == [("1", "cost"), ("1", "f1")]


def test_multiclass_has_no_costs_of_one_class():
    score = np.array([[0.5, 0.25, 0.25], [0.125, 0.625, 0.25], [0.25, 0.5, 0.25]])
    p = parameters(3, costs=((0.0, 1.0, 1.0),) * 3, min_recall=1.0)
    found = best(multiclass_counts([0, 1, 0], score, n_classes=3), p)
    assert found == pytest.approx(
        {
            ("0", "f1"): 0.25,
            ("0", "min_fpr_at_recall"): 0.25,
            ("1", "f1"): 0.625,
            ("1", "min_fpr_at_recall"): 0.625,
            ("2", "f1"): np.nan,
            ("2", "min_fpr_at_recall"): np.nan,
        },
        nan_ok=True,
    )


def test_every_label_of_multilabel_has_its_own():
    y_true = np.array([[1, 0], [0, 1], [0, 0]])
    y_score = np.array([[0.75, 0.5], [0.5, 0.25], [0.25, 0.75]])
    found = best(multilabel_counts(y_true, y_score), parameters(2, task="multilabel"))
    expected = {
        (str(c), criterion): sweeps.best(y_true[:, c], y_score[:, c], criterion, (5.0, 1.0), 1)
        for c in (0, 1)
        for criterion in ("cost", "f1")
    }
    assert found == expected


def test_reasons():
    p = parameters(min_recall=0.5)
    assert reasons(binary_counts([], []), p) == ["no_events"] * 3
    assert reasons(binary_counts([-1], [0.5]), p) == ["no_labels"] * 3
    assert reasons(binary_counts([1], [np.nan], [1]), p) == ["no_scores"] * 3
    assert reasons(binary_counts([0, 0], [0.25, 0.5]), p) == ["", "no_positives", "no_positives"]
    assert reasons(binary_counts([1, 1], [0.25, 0.5]), p) == ["", "", ""]


def test_support_is_low_where_either_side_is_rare():
    y_true, y_score = [1] * 19 + [0] * 1000, np.linspace(1, 0, 1019)
    outcome = best_threshold(Context(binary_counts(y_true, y_score), [parameters()]))
    assert outcome.support.tolist() == [[1019, 1019]]
    assert outcome.low_support.all()
    enough = binary_counts([1, *y_true], [1.0, *y_score])
    assert not best_threshold(Context(enough, [parameters()])).low_support.any()


def test_models_of_a_batch_have_their_own_costs():
    random = np.random.default_rng(0)
    cases, models = [], []
    for costs, min_recall in [((5.0, 1.0), 0.9), ((1.0, 30.0), 0.5), ((100.0, 1.0), 1.0)]:
        y_true = random.integers(0, 2, 200)
        cases.append(binary_counts(y_true, random.beta(1 + y_true, 2).round(2)))
        models.append(parameters(costs=costs, min_recall=min_recall))
    together = best_threshold(Context(batch(cases), models)).value
    alone = [best_threshold(Context(case, [p])).value for case, p in zip(cases, models, strict=True)]
    assert torch.equal(together, torch.cat(alone))
