"""Fits of linear maps against scikit-learn and scipy, and where Newton's method alone diverges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.special import logit as logit_of
from sklearn.linear_model import LogisticRegression

from monitor.recalibration.linear import BETA, PLATT, SHIFT, TEMPERATURE, LinearMap

KINDS = pytest.mark.parametrize("kind", [TEMPERATURE, SHIFT, PLATT, BETA], ids=lambda kind: kind.name)


def sample(n: int = 3000, prior: tuple[float, float] = (1, 2), seed: int = 0) -> tuple[np.ndarray, ...]:
    """Return log-odds, positives and events of groups whose scores are too extreme, and too low."""
    random = np.random.default_rng(seed)
    z = logit_of(random.beta(*prior, n // 10).clip(1e-6, 1 - 1e-6))
    events = random.integers(1, 20, len(z))
    return z, random.binomial(events, expit(z / 1.5 + 0.3)), events


def fitted(kind: LinearMap, sample: tuple[np.ndarray, ...], **options: float) -> np.ndarray:
    z, positives, events = sample
    return kind.fit(z, positives[None], events[None], **options)[0]


@pytest.mark.parametrize("kind", [TEMPERATURE, PLATT, BETA], ids=lambda kind: kind.name)
def test_without_a_prior_it_is_logistic_regression(kind: LinearMap) -> None:
    z, positives, events = sample()
    x = np.concatenate([kind.features(z)] * 2)
    y = np.repeat([1, 0], len(z))
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000, solver="newton-cg")
    model.fit(x, y, sample_weight=np.concatenate([positives, events - positives]))
    assert fitted(kind, (z, positives, events), precision=0.0) == pytest.approx(model.coef_[0], abs=1e-5)


@KINDS
@pytest.mark.parametrize("n", [20, 3000])
def test_with_a_prior_it_is_the_minimum(kind: LinearMap, n: int) -> None:
    z, positives, events = data = sample(n)

    def objective(beta: np.ndarray) -> float:
        after = kind.features(z) @ beta + (z if kind.keeps_logit else 0)
        loss = -(positives * log_expit(after) + (events - positives) * log_expit(-after)).sum()
        return loss + 2 * ((beta - kind.identity) ** 2).sum()

    found = fitted(kind, data)
    assert found == pytest.approx(minimize(objective, kind.identity, tol=1e-10).x, abs=1e-4)


@KINDS
def test_samples_are_fitted_each_alone(kind: LinearMap) -> None:
    z, positives, events = sample()
    halves = [(z, positives * half, events * half) for half in (np.arange(len(z)) % 2, np.arange(len(z)) % 3)]
    together = kind.fit(z, np.stack([h[1] for h in halves]), np.stack([h[2] for h in halves]))
    assert together == pytest.approx(np.stack([fitted(kind, half) for half in halves]), abs=1e-7)


@KINDS
def test_few_positives_and_classes_apart_are_no_trouble(kind: LinearMap) -> None:
    for z, positives in (
        (np.linspace(-14, 14, 200), (np.arange(200) >= 197).astype(int)),
        (np.linspace(-16, -3, 200), (np.arange(200) == 150).astype(int)),
        (np.zeros(200), np.zeros(200, int)),
    ):
        beta = fitted(kind, (z, positives, np.ones(200, int)))
        assert np.isfinite(beta).all()
        before = -(positives * log_expit(z) + (1 - positives) * log_expit(-z)).sum()
        after = kind.logit(beta, z)
        assert -(positives * log_expit(after) + (1 - positives) * log_expit(-after)).sum() <= before + 1e-9
