"""Maps that are linear in functions of the log-odds, and how they are fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

PRECISION = 4.0
"""Of the normal prior on each coefficient about the identity: a standard deviation of 1/2."""

_MAX_STEPS = 100
_CONVERGED = 1e-8


@dataclass(frozen=True)
class LinearMap:
    """A kind of map: logit(p') = offset(z) + features(z) @ coefficients, for z = logit(p).

    Attributes
    ----------
    name
        As it is suggested.
    features
        Takes z (G,), returns (G, P).
    keeps_logit
        Whether z itself is added.
    identity
        Coefficients that change nothing, (P,).
    rising
        Which coefficients must be positive for greater scores to stay greater.
    """

    name: str
    features: Callable[[Floats], Floats]
    keeps_logit: bool
    identity: Floats
    rising: slice

    def logit(self, coefficients: Floats, z: Floats) -> Floats:
        """Return the log-odds after the map: coefficients (..., P) and z (G,) give (..., G)."""
        found: Floats = coefficients @ self.features(z).T
        return found + z if self.keeps_logit else found

    def keeps_order(self, coefficients: Floats) -> bool:
        """Return whether greater scores stay greater under coefficients (P,)."""
        return bool((coefficients[self.rising] > 0).all())

    def fit(self, z: Floats, positives: Counts, events: Counts, precision: float = PRECISION) -> Floats:
        """Return the coefficients of greatest penalised likelihood, (F, P), of F samples at once.

        Newton's method whose steps are halved while they make it worse: undamped it diverges where
        positives are rare.

        Parameters
        ----------
        z : shape (G,)
            Log-odds of each group.
        positives, events : shape (F, G)
            Of each sample.
        precision
            Of the prior; 0: none.
        """
        x = self.features(z)
        beta = np.tile(self.identity, (len(events), 1))
        objective = self._objective(beta, z, positives, events, precision)
        for _ in range(_MAX_STEPS):
            p = expit(self.logit(beta, z))
            weights = events * p * (1 - p)
            gradient = (positives - events * p) @ x - precision * (beta - self.identity)
            information = np.einsum("fg,gi,gj->fij", weights, x, x)
            information += (precision + _CONVERGED) * np.eye(len(self.identity))
            step = np.linalg.solve(information, gradient[..., None])[..., 0]
            for _ in range(_MAX_STEPS):
                value = self._objective(beta + step, z, positives, events, precision)
                worse = value > objective
                if not worse.any():
                    break
                step[worse] /= 2
            beta, objective = beta + step, value
            if np.abs(step).max() <= _CONVERGED:
                break
        return beta

    def _objective(
        self, beta: Floats, z: Floats, positives: Counts, events: Counts, precision: float
    ) -> Floats:
        logit = self.logit(beta, z)
        loss = positives * softplus(-logit) + (events - positives) * softplus(logit)
        penalty: Floats = precision / 2 * ((beta - self.identity) ** 2).sum(-1)
        objective: Floats = loss.sum(-1) + penalty
        return objective


def softplus(z: Floats) -> Floats:
    """Return log(1 + exp(z)): the loss of an event that did not come true."""
    return np.logaddexp(0, z)


def expit(z: Floats) -> Floats:
    """Return the probability of log-odds."""
    p: Floats = np.exp(-softplus(-z))
    return p


TEMPERATURE = LinearMap("temperature", lambda z: z[:, None], False, np.ones(1), slice(0, 1))
SHIFT = LinearMap("shift", lambda z: np.ones((len(z), 1)), True, np.zeros(1), slice(0, 0))
PLATT = LinearMap(
    "platt", lambda z: np.stack((np.ones_like(z), z), -1), False, np.array([0.0, 1.0]), slice(1, 2)
)
BETA = LinearMap(
    "beta",
    lambda z: np.stack((np.ones_like(z), -softplus(-z), softplus(z)), -1),
    False,
    np.array([0.0, 1.0, 1.0]),
    slice(1, 3),
)
