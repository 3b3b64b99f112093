from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from monitor.metrics import discrimination
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from monitor.metrics.score_averages import average_precision_average, roc_auc_average
from tests.support.counts import batch, multiclass_counts, multilabel_counts, parameters, values

METRICS = {roc_auc_average: roc_auc_score, average_precision_average: average_precision_score}
AVERAGES = ("macro", "weighted", "micro")


def case(task, n=300, seed=0):
    random = np.random.default_rng(seed)
    score = random.dirichlet(np.ones(4), n).round(2)
    if task == "multilabel":
        return (random.random((n, 4)) < score).astype(int), score
    score /= score.sum(axis=1, keepdims=True)
    return np.array([random.choice(4, p=row) for row in score]), score


def count(task, y_true, score, **options):
    if task == "multilabel":
        return multilabel_counts(y_true, score, **options)
    return multiclass_counts(y_true, score, n_classes=4, **options)


def words(outcome) -> list[str]:
    return [REASONS[code] for code in outcome.reason[0].tolist()]


@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
@pytest.mark.parametrize("metric", METRICS)
def test_scikit_learn_agrees(task, metric):
    y_true, score = case(task)
    p = parameters(4, task=task)
    outcome = metric(Context(count(task, y_true, score), [p]))
    indicator = np.eye(4)[y_true] if task == "multiclass" else y_true
    expected = {(a,): METRICS[metric](indicator, score, average=a) for a in AVERAGES}
    assert values(outcome, p) == pytest.approx(expected, abs=1e-12)
    assert outcome.support.tolist() == [[300] * 3]
    assert outcome.interval is None
    assert not outcome.resolution_error.any()


@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
@pytest.mark.parametrize("metric", METRICS)
def test_unbinned_value_is_within_the_bound(task, metric):
    y_true, score = case(task)
    p = parameters(4, task=task)
    exact, binned = (metric(Context(count(task, y_true, score, bins=b), [p])) for b in (None, 6))
    distance = (exact.value - binned.value).abs()
    assert (distance > 0).all()
    assert (distance <= binned.resolution_error).all()


def test_classes_without_a_value_are_left_out():
    y_true, score = case("multiclass")
    kept = y_true < 2
    context = Context(count("multiclass", y_true[kept], score[kept]), [parameters(4)])
    for metric, of_class in (
        (roc_auc_average, discrimination.roc_auc),
        (average_precision_average, discrimination.average_precision),
    ):
        own, weights = of_class(context).value[0, :2], np.bincount(y_true[kept])
        expected = [own.mean().item(), np.average(own, weights=weights)]
        assert metric(context).value[0, :2].tolist() == pytest.approx(expected, abs=1e-12)
        assert words(metric(context)) == [""] * 3


def test_rare_classes_mark_the_macro_average():
    y_true = np.repeat([0, 1], [300, 8])
    _, score = case("multiclass", len(y_true))
    context = Context(count("multiclass", y_true, score), [parameters(4)])
    assert roc_auc_average(context).low_support.tolist() == [[True, False, False]]


def test_reasons():
    y_true, score = case("multilabel", 20)
    p = [parameters(4, task="multilabel")]
    none = Context(count("multilabel", np.zeros_like(y_true), score), p)
    every = Context(count("multilabel", np.ones_like(y_true), score), p)
    nothing = Context(count("multilabel", y_true[:0], score[:0]), p)
    unscored = Context(count("multilabel", y_true, np.full_like(score, np.nan)), p)
    assert words(roc_auc_average(none)) == ["no_class_defined", "no_class_defined", "no_positives"]
    assert words(average_precision_average(none)) == ["no_class_defined", "no_class_defined", "no_positives"]
    assert words(roc_auc_average(every)) == ["no_class_defined", "no_class_defined", "no_negatives"]
    assert average_precision_average(every).value.tolist() == [[1, 1, 1]]
    for context, word in ((nothing, "no_events"), (unscored, "no_scores")):
        assert words(roc_auc_average(context)) == words(average_precision_average(context)) == [word] * 3


def test_a_batch_is_its_cases():
    counts = [count("multiclass", *case("multiclass", n, seed=n)) for n in (5, 60, 200)]
    together = Context(batch(counts), [parameters(4)] * 3)
    for metric in METRICS:
        alone = [metric(Context(of_one, [parameters(4)])).value for of_one in counts]
        assert torch.allclose(metric(together).value, torch.cat(alone), rtol=0, atol=1e-12, equal_nan=True)


def test_unbinned_cases_beside_binned_ones_have_no_error():
    cases = [count("multilabel", *case("multilabel"), bins=bins) for bins in (None, 6)]
    context = Context(batch(cases), [parameters(4, task="multilabel")] * 2)
    for metric in METRICS:
        error = metric(context).resolution_error
        assert not error[0].any()
        assert error[1].all()
