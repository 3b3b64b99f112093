"""Logistic recalibration of probabilities (Cox): slope, intercept, and a test that neither is needed."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.linalg import vecdot

from monitor.metrics.rows import by_rows

EPSILON = 2.0**-24
"""Probabilities are clipped to [EPSILON, 1 - EPSILON] before their logit is taken."""

_COARSE = 256
"""Groups of the summary whose fit is where the fit of all groups starts: it saves most of the passes."""

_CONVERGED = 1e-5
"""A Newton step that moves no log-odds by more: what remains is less than its square, 1e-10."""

_SAFE = 1.5
"""A Newton step that moves no log-odds by more never lowers the likelihood: exp(d) - 1 - d <= d**2."""

_MAX_STEPS = 100

_AT_ONCE = 1 << 18
"""Elements that are fitted together: more than the nearest cache holds, but each step costs calls as well."""


@dataclass(frozen=True, slots=True)
class CoxFit:
    """Of each row of groups; where there is no fit or no test, the value has no meaning.

    Attributes
    ----------
    slope : float64
        b of logit P(y = 1) = a + b logit(p), the maximum-likelihood fit of both.
    intercept : float64
        a of the same with b fixed at 1: "calibration in the large".
    statistic : float64
        Score test of a = 0 and b = 1 together: chi-squared with 2 degrees of freedom if both hold.
    equal : bool
        Whether all events have the same p: there is no slope and no test.
    separated : bool
        Whether the slope has no bound, since some threshold tells the outcomes apart, or was not found.
    """

    slope: torch.Tensor
    intercept: torch.Tensor
    statistic: torch.Tensor
    equal: torch.Tensor
    separated: torch.Tensor


def cox(positives: torch.Tensor, negatives: torch.Tensor, probability: torch.Tensor) -> CoxFit:
    """Fit and test each row of groups.

    Parameters
    ----------
    positives, negatives : int64, shape (..., G)
        Events of each group, in descending order of probability; some may have none.
    probability : float64, shape (..., G)
        In [0, 1].

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 45 (1958).
    """
    *shape, width = positives.shape
    arrays = [array.flatten(0, -2) for array in (positives, negatives, probability)]
    if not width:
        arrays = [array.new_zeros((len(array), 1)) for array in arrays]
    return CoxFit(*(column.reshape(shape) for column in by_rows(_rows, *arrays, at_once=_AT_ONCE)))


class _Groups:
    """Rows of groups: n events, of which `positives`, at log-odds z from the mean of the row."""

    def __init__(self, n: torch.Tensor, positives: torch.Tensor, z: torch.Tensor) -> None:
        self.z, self.positives = z, positives
        self.weights = z.new_empty((len(z), 3, z.shape[1]))
        self.weights[:, 0] = n
        for i in (1, 2):
            torch.mul(self.weights[:, i - 1], z, out=self.weights[:, i])
        self.observed = torch.stack((positives.sum(-1), vecdot(positives, z)), dim=-1)
        self._scratch = z.new_empty((len(z), 2, z.shape[1]))

    def moments(self, beta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return score and information of the likelihood at intercept and slope, (rows, 2).

        They are the sums of y - p and (y - p) z, (rows, 2), and of v, v z and v z**2 for v = p (1 - p),
        (rows, 3).
        """
        p, v = self._scratch.unbind(1)  # memory is the bottleneck: use the same again
        torch.mul(self.z, beta[:, 1:], out=p).add_(beta[:, :1]).sigmoid_()
        torch.addcmul(p, p, p, value=-1, out=v)
        sums = self.weights @ self._scratch.mT
        return self.observed - sums[:, :2, 0], sums[..., 1]

    def summary(self) -> _Groups:
        """Return the same events with neighbouring groups put together at their mean."""
        n, nz = (_merge(self.weights[:, i]) for i in (0, 1))
        return _Groups(n, _merge(self.positives), nz / n.clamp(min=1))


def _rows(
    positives: torch.Tensor, negatives: torch.Tensor, probability: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Return the fields of `CoxFit`, each (rows,)."""
    logit = probability.logit(EPSILON)
    k = positives.double()
    n = k + negatives
    mean = (vecdot(n, logit) / n.sum(-1).clamp(min=1))[:, None]
    groups = _Groups(n, k, logit.sub_(mean))
    summary = groups.summary()
    low_1, high_1 = _extremes(groups.z, positives, summary.positives)
    low_0, high_0 = _extremes(groups.z, negatives, summary.weights[:, 0] - summary.positives)
    ends = torch.cat((torch.minimum(low_0, low_1), torch.maximum(high_0, high_1)), dim=1)
    both = low_0.isfinite() & low_1.isfinite()
    overlap = (low_1 < high_0) & (low_0 < high_1)

    as_it_is = torch.cat((mean, torch.ones_like(mean)), dim=1)
    score, information = groups.moments(as_it_is)
    statistic = (score * _solve(score, information)).sum(-1)
    joint, found = _fit(summary, groups, ends, both & overlap, as_it_is, free_slope=True)
    fixed, _ = _fit(summary, groups, ends, both, as_it_is, free_slope=False)
    return joint[:, 1], fixed[:, 0] - mean[:, 0], statistic, ends[:, 0] == ends[:, 1], ~found


def _fit(
    summary: _Groups,
    groups: _Groups,
    ends: torch.Tensor,
    possible: torch.Tensor,
    start: torch.Tensor,
    *,
    free_slope: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return intercept (of z) and slope, (rows, 2), and whether they were found, (rows,)."""
    near, found = _newton(summary, ends, possible, start, free_slope=free_slope)
    start = torch.where(found[:, None], near, start)
    beta, found = _newton(groups, ends, possible, start, free_slope=free_slope)
    return beta, found & possible[:, 0]


def _newton(
    groups: _Groups, ends: torch.Tensor, possible: torch.Tensor, beta: torch.Tensor, *, free_slope: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Maximise the likelihood from `beta` on; rows where that is not possible stay there.

    Far from the maximum, whole Newton steps diverge where positives are rare. A step is halved unless the
    likelihood cannot have fallen, which the score at its end tells without computing a likelihood: it
    still rises there, in the direction of the step, and it is concave; or no log-odds moved by more than
    _SAFE, since along a step that changes them by at most d its third derivative is at most d times the
    second. (Bach, "Self-concordant analysis for logistic regression", EJS 4 (2010).)
    """
    step, d = torch.zeros_like(beta), torch.zeros_like(beta[:, :1])
    for _ in range(_MAX_STEPS):
        score, information = groups.moments(beta + step)
        kept = (d <= _SAFE) | ((score * step).sum(-1, keepdim=True) >= 0)
        beta = torch.where(kept, beta + step, beta)
        if free_slope:
            newton = _solve(score, information)
        else:
            newton = torch.stack((score[:, 0] / information[:, 0], torch.zeros_like(score[:, 0])), dim=-1)
        step = torch.where(possible, torch.where(kept, newton, step / 2), 0.0)
        d = (step[:, :1] + step[:, 1:] * ends).abs().amax(1, keepdim=True)
        if not (d > _CONVERGED).any():
            break
    return beta + step, (d <= _CONVERGED)[:, 0]


def _solve(score: torch.Tensor, information: torch.Tensor) -> torch.Tensor:
    """Solve [[a, b], [b, c]] x = score for information (a, b, c): shape (rows, 2)."""
    a, b, c = information.unbind(-1)
    u, v = score.unbind(-1)
    return torch.stack((c * u - b * v, a * v - b * u), dim=-1) / (a * c - b * b)[:, None]


def _extremes(
    z: torch.Tensor, events: torch.Tensor, merged: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return least and greatest z of groups with events, shape (rows, 1); inf, -inf without.

    z falls, hence they are in the last and the first of the merged groups with events.
    """
    present, size = (merged > 0).byte(), _size(z)
    last, first = present.shape[1] - 1 - present.flip(-1).argmax(-1), present.argmax(-1)
    at = (torch.stack((last, first), -1) * size)[..., None] + torch.arange(size, device=z.device)
    at = at.flatten(1).clamp(max=z.shape[1] - 1)
    found, z = events.gather(1, at) > 0, z.gather(1, at)
    low = torch.where(found, z, torch.inf).amin(-1, keepdim=True)
    return low, torch.where(found, z, -torch.inf).amax(-1, keepdim=True)


def _merge(values: torch.Tensor) -> torch.Tensor:
    """Sum neighbouring columns, the last ones being fewer: (rows, G) to about _COARSE."""
    size = _size(values)
    whole = values.shape[-1] // size * size
    parts = values[:, :whole].reshape(len(values), whole // size, size).sum(-1)
    return torch.cat((parts, values[:, whole:].sum(-1, keepdim=True)), dim=-1)


def _size(values: torch.Tensor) -> int:
    """Return how many columns are merged into one."""
    return max(1, values.shape[-1] // _COARSE)
