from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import expit, logit
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from monitor.metrics import calibration
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

ERRORS = (
    calibration.calibration_error,
    calibration.calibration_error_debiased,
    calibration.calibration_error_expected,
)
FITS = (
    calibration.calibration_slope,
    calibration.calibration_intercept,
    calibration.calibration_p_value,
)


def binary(y_true, y_score, **options) -> Context:
    return Context(binary_counts(y_true, y_score, **options), [parameters()])


def multiclass_data(seed=0, n=400):
    random = np.random.default_rng(seed)
    score = random.dirichlet([0.5, 1, 1], n)
    return np.array([random.choice(3, p=p) for p in score]), score


def overconfident(n=2000, seed=0):
    """Return labels and probabilities whose log-odds are twice what is right."""
    z = np.random.default_rng(seed).normal(-1, 2, n)
    return (np.random.default_rng(seed + 1).random(n) < expit(z / 2)).astype(int), expit(z)


def of(function, context, p=None):
    return values(function(context), p or parameters())


def reasons(outcome) -> list[str]:
    return [REASONS[code] for code in outcome.reason[0].tolist()]


def ece(y, p):
    rate, mean = calibration_curve(y, p, n_bins=15)
    place = np.minimum(np.floor(p * 15), 14).astype(int)
    events = np.bincount(place, minlength=15)
    return (events[events > 0] * np.abs(rate - mean)).sum() / len(p)


@pytest.mark.parametrize(
    ("data", "slope", "intercept", "statistic"),
    [
        (recipe, 1.172789617039, 0.433984719601, 5.93750003719),
        (tied_recipe, 0.728896771299, 0.455872364238, 9.80936642538),
    ],
)
def test_reference_numbers(data, slope, intercept, statistic):
    context = binary(*data())
    assert of(calibration.calibration_slope, context)["1",] == pytest.approx(slope, abs=1e-11)
    assert of(calibration.calibration_intercept, context)["1",] == pytest.approx(intercept, abs=1e-11)
    p_value = of(calibration.calibration_p_value, context)["1",]
    assert p_value == pytest.approx(stats.chi2.sf(statistic, 2), rel=1e-9)
    if data is recipe:
        error = of(calibration.calibration_error, context)["1",]
        assert error == pytest.approx(0.0657749106825, abs=1e-9)


@pytest.mark.parametrize("function", ERRORS + FITS)
def test_whole_of_a_binary_task_is_its_positive_class(function):
    found = of(function, binary(*recipe()))
    assert list(found) == [("",), ("1",)]
    assert found["",] == found["1",]


def test_whole_of_a_multiclass_task_is_the_top_label():
    y_true, score = multiclass_data()
    context = Context(multiclass_counts(y_true, score, n_classes=3), [parameters(3)])
    right, confidence = score.argmax(1) == y_true, score.max(1)
    rows = [(right, confidence), *((y_true == k, score[:, k]) for k in range(3))]
    found = {f: list(of(f, context, parameters(3)).values()) for f in ERRORS + FITS}
    for i, (y, p) in enumerate(rows):
        assert found[calibration.calibration_error][i] == pytest.approx(ece(y, p), abs=1e-8)
        alone = binary(y, p)
        for f in ERRORS + FITS:
            assert found[f][i] == pytest.approx(of(f, alone)["1",], abs=1e-9)


def test_a_multilabel_task_has_no_whole():
    random = np.random.default_rng(0)
    score = random.random((300, 3))
    truth = (random.random((300, 3)) < score).astype(int)
    p = parameters(3, task="multilabel")
    context = Context(multilabel_counts(truth, score), [p])
    for f in ERRORS + FITS:
        found = of(f, context, p)
        assert list(found) == [("0",), ("1",), ("2",)]
        for k in range(3):
            assert found[str(k),] == pytest.approx(of(f, binary(truth[:, k], score[:, k]))["1",], abs=1e-9)


def test_an_overconfident_model_is_found_out():
    y, p = overconfident()
    context = binary(y, p)
    model = LogisticRegression(C=np.inf, tol=1e-9, solver="newton-cholesky")
    slope = model.fit(logit(p)[:, None], y).coef_[0, 0]
    assert of(calibration.calibration_slope, context)["1",] == pytest.approx(slope, rel=1e-8)
    assert slope == pytest.approx(0.5, abs=0.05)
    assert of(calibration.calibration_p_value, context)["1",] < 1e-6
    error, expected = (of(f, context)["1",] for f in (ERRORS[0], ERRORS[2]))
    assert error > 3 * expected


def test_bins_are_close_to_the_scores():
    y, p = overconfident()
    exact, binned = binary(y, p), binary(y, p, bins=2000)
    for f in ERRORS:
        assert torch.equal(f(exact).value, f(binned).value)
    for f in FITS:
        assert of(f, binned)["1",] == pytest.approx(of(f, exact)["1",], abs=0.01)


def test_probabilities_of_exactly_0_and_1():
    y, p = [0, 0, 0, 1, 1, 1, 0, 1], [0, 0, 0, 0, 1, 1, 1, 0.5]
    context = binary(y, p)
    z = logit(np.clip(p, 2**-24, 1 - 2**-24))
    model = LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky").fit(z[:, None], y)
    found = of(calibration.calibration_slope, context)["1",]
    assert found == pytest.approx(model.coef_[0, 0], rel=1e-6)
    assert of(calibration.calibration_p_value, context)["1",] < 1e-100


def test_reasons_of_one_outcome():
    context = binary([0] * 30, np.linspace(0.1, 0.3, 30))
    slope, intercept, p_value = (f(context) for f in FITS)
    assert reasons(slope) == reasons(intercept) == ["no_positives"] * 2
    assert reasons(p_value) == [""] * 2
    assert p_value.low_support.all()
    assert reasons(calibration.calibration_slope(binary([1, 1], [0.1, 0.2]))) == ["no_negatives"] * 2


def test_reasons_of_equal_scores():
    context = binary([0, 1, 1, 0], [0.3] * 4)
    slope, intercept, p_value = (f(context) for f in FITS)
    assert reasons(slope) == reasons(p_value) == ["equal_scores"] * 2
    assert intercept.value[0, 0].item() == pytest.approx(-logit(0.3))


def test_reason_of_separated_outcomes():
    context = binary([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.7])
    slope, intercept, p_value = (f(context) for f in FITS)
    assert reasons(slope) == ["separated"] * 2
    assert reasons(intercept) == reasons(p_value) == [""] * 2


def test_no_bin_of_two_events_has_no_debiased_error():
    outcome = calibration.calibration_error_debiased(binary([0, 1], [0.1, 0.9]))
    assert reasons(outcome) == ["too_few_events"] * 2


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [(([], []), "no_events"), (([-1], [0.5]), "no_labels"), (([1], [np.nan]), "no_scores")],
)
def test_nothing_to_work_on(arrays, reason):
    y, p = arrays
    context = binary(y, p, y_pred=[0] * len(y))
    for f in ERRORS + FITS:
        outcome = f(context)
        assert reasons(outcome) == [reason] * 2
        assert outcome.value.isnan().all()


def test_few_of_the_rarer_outcome_are_low_support():
    y = np.arange(1000) % 100 == 0
    context = binary(y, np.linspace(0, 1, 1000))
    assert all(f(context).low_support.all() for f in FITS)
    assert not any(f(context).low_support.any() for f in ERRORS)


def test_none_has_an_interval():
    context = binary(*recipe())
    for f in ERRORS + FITS:
        outcome = f(context)
        assert outcome.interval is None
        assert {REASONS[code] for code in outcome.no_interval[0].tolist()} == {"no_interval_method"}


def test_a_batch_of_models_is_each_alone():
    names = replace(parameters(3), classes=("a", "b", "c"))
    cases = [multiclass_counts(*multiclass_data(seed, n), n_classes=3) for seed, n in ((0, 50), (1, 400))]
    together = Context(batch(cases), [parameters(3), names])
    for f in ERRORS + FITS:
        both = f(together)
        for i, case in enumerate(cases):
            alone = f(Context(case, [names]))
            assert torch.equal(both.reason[i], alone.reason[0])
            assert torch.allclose(both.value[i], alone.value[0], rtol=1e-10, atol=1e-10)
    assert not math.isnan(of(calibration.calibration_slope, together, names)["",])
