"""Expected numbers of probabilities, by plain numpy on single events."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn import metrics as sk

from monitor.metrics.parameters import Parameters
from tests.support.oracle_key import Key, key

EPSILON = 2.0**-24


def expected(p: Parameters, true: np.ndarray, score: np.ndarray) -> Iterator[tuple[Key, float]]:
    """Yield values; `true` and `score` have a column for each scored class."""
    clipped = score.clip(EPSILON, 1 - EPSILON)
    losses = -np.log(np.where(true, clipped, 1 - clipped))
    squared = (true - score) ** 2
    parts = []
    for c, name in enumerate(p.scored):
        y = true[:, c]
        yield key("log_loss", name), losses[:, c].mean()
        yield key("brier_score", name, subset="all"), sk.brier_score_loss(y, score[:, c], pos_label=True)
        yield key("brier_score", name, subset="positive"), _mean(squared[y, c])
        yield key("brier_score", name, subset="negative"), _mean(squared[~y, c])
        yield from _calibration(name, y, score[:, c])
        parts.append(_brier_parts(y, score[:, c]))
        yield from _brier(name, *parts[-1])
    whole = np.sum if p.task == "multiclass" else np.mean
    yield from _brier("", *whole(parts, axis=0))
    yield key("brier_score", "", subset="all"), whole(squared, axis=1).mean()
    yield key("log_loss", ""), losses[true].mean() if p.task == "multiclass" else losses.mean()
    if p.task == "multiclass":
        top = score.argmax(1)[:, None]
        confident, right = (np.take_along_axis(of, top, 1)[:, 0] for of in (score, true))
        yield from _calibration("", right, confident)
    elif p.task == "binary":
        yield from _calibration("", true[:, 0], score[:, 0])


def _mean(values: np.ndarray) -> float:
    return values.mean() if len(values) else np.nan


def _brier_parts(y: np.ndarray, p: np.ndarray) -> tuple[float, float, float, float]:
    """Return score, reliability, resolution and uncertainty."""
    n, rate = len(y), y.mean()
    cells = list(_cells(y, p, 10))
    reliability = sum(len(of_y) * (of_y.mean() - of_p.mean()) ** 2 for of_y, of_p in cells) / n
    resolution = sum(len(of_y) * (of_y.mean() - rate) ** 2 for of_y, _ in cells) / n
    # Stephenson, Coelho and Jolliffe (2008): two components within the cells make the sum exact.
    variance = sum(((of_p - of_p.mean()) ** 2).sum() for _, of_p in cells) / n
    covariance = sum(((of_y - of_y.mean()) * (of_p - of_p.mean())).sum() for of_y, of_p in cells) / n
    return ((y - p) ** 2).mean(), reliability, resolution + 2 * covariance - variance, rate * (1 - rate)


def _brier(
    name: str, score: float, reliability: float, resolution: float, uncertainty: float
) -> Iterator[tuple[Key, float]]:
    assert abs(reliability - resolution + uncertainty - score) < 1e-12
    yield key("brier_reliability", name), reliability
    yield key("brier_resolution", name), resolution
    yield key("brier_uncertainty", name), uncertainty
    if uncertainty:
        yield key("brier_skill_score", name), 1 - score / uncertainty


def _calibration(name: str, y: np.ndarray, p: np.ndarray) -> Iterator[tuple[Key, float]]:
    n = len(y)
    cells = list(_cells(y, p, 15))
    gaps = [len(of_y) * abs(of_y.mean() - of_p.mean()) for of_y, of_p in cells]
    yield key("calibration_error", name), sum(gaps) / n
    variances = [(of_p * (1 - of_p)).sum() for _, of_p in cells]
    chance = sum(min((2 * variance / np.pi) ** 0.5, 2 * variance) for variance in variances)
    yield key("calibration_error_expected", name), chance / n
    squares = [
        len(of_y) * ((of_y.mean() - of_p.mean()) ** 2 - of_y.mean() * (1 - of_y.mean()) / (len(of_y) - 1))
        for of_y, of_p in cells
        if len(of_y) > 1
    ]
    if squares:
        yield key("calibration_error_debiased", name), max(0.0, sum(squares) / n) ** 0.5
    yield from _cox(name, y, p)


def _cells(y: np.ndarray, p: np.ndarray, cells: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    edges = (np.arange(1, cells) / cells).astype(np.float32).astype(np.float64)
    cell = np.searchsorted(edges, p, side="right")
    for number in np.unique(cell):
        yield y[cell == number].astype(float), p[cell == number]


def _cox(name: str, y: np.ndarray, p: np.ndarray) -> Iterator[tuple[Key, float]]:
    p = p.clip(EPSILON, 1 - EPSILON)
    z = np.log(p / (1 - p))
    if 0 < y.mean() < 1:
        yield key("calibration_intercept", name), _logistic(np.ones((len(z), 1)), z, y)[0]
    if z.min() == z.max():
        return
    design = np.column_stack([np.ones_like(z), z])
    score, information = design.T @ (y - p), (design * (p * (1 - p))[:, None]).T @ design
    yield key("calibration_p_value", name), np.exp(-score @ np.linalg.solve(information, score) / 2)
    if 0 < y.mean() < 1 and z[y].min() < z[~y].max() and z[~y].min() < z[y].max():  # else none is the best
        yield key("calibration_slope", name), _logistic(design, np.zeros_like(z), y)[1]


def _logistic(design: np.ndarray, offset: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the maximum-likelihood coefficients, by Newton's method with halved steps."""

    def likelihood(beta: np.ndarray) -> float:
        eta = design @ beta + offset
        return float((y * eta - np.logaddexp(0, eta)).sum())

    beta = np.zeros(design.shape[1])
    if design.shape[1] == 2:
        beta[1] = 1.0
    for _ in range(100):
        p = 1 / (1 + np.exp(-(design @ beta + offset)))
        information = (design * (p * (1 - p))[:, None]).T @ design
        step = np.linalg.solve(information, design.T @ (y - p))
        while likelihood(beta + step) < likelihood(beta) - 1e-9:
            step = step / 2
        beta = beta + step
        if np.abs(step).max() < 1e-11:
            break
    return beta
