from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn import metrics as sk

from monitor.metrics import losses
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import (
    batch,
    binary_counts,
    multiclass_counts,
    multilabel_counts,
    parameters,
    values,
)
from tests.support.recipes import recipe, tied_recipe

MULTILABEL = parameters(3, task="multilabel")
EPSILON = 2.0**-24


def multiclass_data(seed=0, n=300):
    random = np.random.default_rng(seed)
    score = random.dirichlet([0.5, 1, 1], n)
    return np.array([random.choice(3, p=p) for p in score]), score


def multilabel_data(seed=0, n=300):
    random = np.random.default_rng(seed)
    score = random.random((n, 3))
    return (random.random((n, 3)) < score).astype(int), score


def binary(y_true, y_score, **options) -> Context:
    return Context(binary_counts(y_true, y_score, **options), [parameters()])


def multiclass(y_true, y_score, **options) -> Context:
    return Context(multiclass_counts(y_true, y_score, n_classes=3, **options), [parameters(3)])


def multilabel(y_true, y_score, **options) -> Context:
    return Context(multilabel_counts(y_true, y_score, **options), [MULTILABEL])


def reasons(codes) -> list[str]:
    return [REASONS[code] for code in codes[0].tolist()]


def brier_interval(errors, most=1):
    """Return bounds of the mean: Student's t on its logit, with the delta method's standard error."""
    n, mean, se = len(errors), errors.mean(), errors.std(ddof=1) / math.sqrt(len(errors))
    mean, se = mean / most, se / most
    half = stats.t.ppf(0.975, n - 1) * se / (mean * (1 - mean))
    center = math.log(mean / (1 - mean))
    return [most / (1 + math.exp(-end)) for end in (center - half, center + half)]


def positives_interval(errors):
    """Return Wilson's interval of the mean of the class's errors, at the size that their variance implies."""
    n, mean = len(errors), errors.mean()
    with np.errstate(divide="ignore"):
        size = np.clip(mean * (1 - mean) / (errors.var(ddof=1) / n), 1, 2 * n)
    z = stats.norm.ppf(0.975)
    center = (mean + z * z / (2 * size)) / (1 + z * z / size)
    half = z * np.sqrt(mean * (1 - mean) / size + z * z / (4 * size * size)) / (1 + z * z / size)
    return center - half, center + half


def loss_interval(logs):
    half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
    return [max(0, logs.mean() - half), logs.mean() + half]


def bounds(outcome, at):
    return [outcome.interval.lower[0, at].item(), outcome.interval.upper[0, at].item()]


@pytest.mark.parametrize(
    ("data", "expected", "loss"),
    [
        (recipe, (0.132679424739, 0.239354813214, 0.0630318570576), 0.40800982576),
        (tied_recipe, (0.1333, 0.239367088608, 0.0640495867769), 0.47058144946),
    ],
)
def test_reference_numbers(data, expected, loss):
    context = binary(*data())
    brier = values(losses.brier_score(context), parameters())
    assert [brier["1", subset] for subset in ("all", "positive", "negative")] == pytest.approx(
        expected, abs=1e-9
    )
    assert values(losses.log_loss(context), parameters())["",] == pytest.approx(loss, abs=1e-8)


def test_whole_of_a_binary_task_is_its_positive_class():
    context = binary(*recipe(), bins=20)
    for outcome in (losses.brier_score(context), losses.log_loss(context)):
        for tensor in (outcome.value, outcome.interval.lower, outcome.interval.upper, outcome.support):
            assert tensor[0, 0] == tensor[0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_multiclass_agrees_with_scikit_learn(seed):
    y_true, score = multiclass_data(seed)
    context = multiclass(y_true, score)
    brier, loss = (values(f(context), parameters(3)) for f in (losses.brier_score, losses.log_loss))
    assert brier["", "all"] == pytest.approx(
        sk.brier_score_loss(y_true, score, scale_by_half=False), abs=1e-8
    )
    assert loss["",] == pytest.approx(sk.log_loss(y_true, score), abs=1e-7)
    for k in range(3):
        y, p = y_true == k, score[:, k]
        assert brier[str(k), "all"] == pytest.approx(sk.brier_score_loss(y, p), abs=1e-8)
        assert brier[str(k), "positive"] == pytest.approx(((1 - p[y]) ** 2).mean(), abs=1e-8)
        assert brier[str(k), "negative"] == pytest.approx((p[~y] ** 2).mean(), abs=1e-8)
        assert loss[str(k),] == pytest.approx(sk.log_loss(y, p.clip(EPSILON, 1 - EPSILON)), abs=1e-7)


def test_multilabel_is_the_mean_over_the_classes():
    y_true, score = multilabel_data()
    context = multilabel(y_true, score)
    brier, loss = (values(f(context), MULTILABEL) for f in (losses.brier_score, losses.log_loss))
    assert brier["", "all"] == pytest.approx(
        np.mean([sk.brier_score_loss(y_true[:, k], score[:, k]) for k in range(3)]), abs=1e-8
    )
    assert loss["",] == pytest.approx(
        np.mean([sk.log_loss(y_true[:, k], score[:, k]) for k in range(3)]), abs=1e-7
    )
    assert brier["2", "positive"] == pytest.approx(((1 - score[y_true[:, 2] == 1, 2]) ** 2).mean(), abs=1e-8)


def test_intervals_of_a_class_agree_with_scipy():
    y, p = recipe()
    context = binary(y, p)
    brier, loss = losses.brier_score(context), losses.log_loss(context)
    errors = (y - p) ** 2
    for at, of in ((1, errors), (2, errors[y == 1]), (3, errors[y == 0])):
        expected = positives_interval(of) if at == 2 else brier_interval(of)
        assert bounds(brier, at) == pytest.approx(expected, abs=1e-8)
        assert brier.interval.standard_error[0, at].item() == pytest.approx(
            of.std(ddof=1) / math.sqrt(len(of)), abs=1e-10
        )
    logs = -np.log(np.where(y == 1, p, 1 - p).clip(EPSILON, 1 - EPSILON))
    assert bounds(loss, 1) == pytest.approx(loss_interval(logs), abs=1e-7)


@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
def test_intervals_of_the_whole_agree_with_scipy(task):
    if task == "multiclass":
        y_true, score = multiclass_data()
        context, truth, most = multiclass(y_true, score), np.eye(3)[y_true], 2
        errors = ((truth - score) ** 2).sum(1)
        logs = -np.log((score * truth).sum(1).clip(EPSILON, 1 - EPSILON))
    else:
        truth, score = multilabel_data()
        context, most = multilabel(truth, score), 1
        errors = ((truth - score) ** 2).mean(1)
        logs = -np.log(np.where(truth == 1, score, 1 - score)).mean(1)
    brier, loss = losses.brier_score(context), losses.log_loss(context)
    assert bounds(brier, 0) == pytest.approx(brier_interval(errors, most), abs=1e-7)
    assert bounds(loss, 0) == pytest.approx(loss_interval(logs), abs=1e-6)
    # And of a class among several.
    of = ((truth - score) ** 2)[truth[:, 1] == 1, 1]
    assert bounds(brier, 5) == pytest.approx(positives_interval(of), abs=1e-8)


def test_bins_are_close_to_the_scores():
    y, p = recipe()
    exact, binned = (losses.brier_score(binary(y, p, bins=bins)) for bins in (None, 1000))
    assert torch.equal(exact.value, binned.value)
    assert torch.allclose(exact.interval.upper, binned.interval.upper, atol=1e-3)


def test_certain_and_wrong_is_clipped():
    context = binary([1] * 20 + [0] * 20, [*[0.0] * 4, *[0.5] * 16, *[1.0] * 4, *[0.5] * 16])
    loss = losses.log_loss(context)
    wrong, even = 24 * math.log(2), math.log(2)
    assert loss.value[0, 0].item() == pytest.approx((2 * wrong + 8 * even) / 10, abs=1e-7)
    assert bounds(loss, 0) == pytest.approx(loss_interval(np.array([wrong] * 8 + [even] * 32)), abs=1e-6)


@pytest.mark.parametrize("n", [4, 5, 19, 20])
def test_few_events_of_the_rarer_side_have_no_interval(n):
    random = np.random.default_rng(0)
    y = np.repeat([1, 0], [n, 30])
    context = binary(y, random.random(n + 30))
    outcome = losses.brier_score(context)
    of_all = "low_support" if n < 20 else ""
    assert reasons(outcome.no_interval) == [of_all, of_all, "low_support" if n < 5 else "", of_all]
    assert reasons(losses.log_loss(context).no_interval) == [of_all, of_all]
    assert outcome.low_support[0, 2]
    assert not outcome.value.isnan().any()


def test_losses_without_variance_have_no_interval():
    context = binary([0, 1] * 20, [0.3, 0.7] * 20)
    brier, loss = losses.brier_score(context), losses.log_loss(context)
    assert reasons(brier.no_interval) == ["no_variance", "no_variance", "", "no_variance"]
    assert reasons(loss.no_interval) == ["no_variance"] * 2
    # Where large errors are rare, a sample without one says little: its size decides.
    assert bounds(brier, 2) == pytest.approx(positives_interval(np.full(20, 0.09)))
    score = np.tile([0.7, 0.2, 0.1], (30, 1))
    for outcome in (f(multiclass([0] * 30, score)) for f in (losses.brier_score, losses.log_loss)):
        assert reasons(outcome.no_interval)[0] == "no_variance"


def test_one_class_is_defined_except_for_the_other_subset():
    context = binary([1, 1], [0.5, 0.25])
    assert values(losses.log_loss(context), parameters())["1",] == pytest.approx(1.5 * math.log(2), abs=1e-7)
    outcome = losses.brier_score(context)
    assert values(outcome, parameters())["1", "positive"] == (0.25 + 0.5625) / 2
    assert reasons(outcome.reason) == ["", "", "", "no_negatives"]


def test_labels_without_scores_have_a_reason():
    context = binary([0, 1], [np.nan, np.nan])
    assert set(reasons(losses.brier_score(context).reason)) == {"no_scores"}
    assert set(reasons(losses.log_loss(binary([], [])).reason)) == {"no_events"}


def test_a_batch_of_models_is_each_alone():
    names = replace(parameters(3), classes=("a", "b", "c"))
    cases = [multiclass_counts(*multiclass_data(seed, n), n_classes=3) for seed, n in ((0, 50), (1, 200))]
    together = Context(batch(cases), [parameters(3), names])
    for f in (losses.brier_score, losses.log_loss):
        both = f(together)
        for i, case in enumerate(cases):
            alone = f(Context(case, [names]))
            for name in ("value", "support", "no_interval"):
                assert torch.equal(getattr(both, name)[i], getattr(alone, name)[0])
            torch.testing.assert_close(
                both.interval.lower[i], alone.interval.lower[0], rtol=1e-12, atol=0, equal_nan=True
            )
