"""What one observation says against a hypothesis: a factor with a mean of at most 1 where that holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class EValues(Protocol):
    """Factors of J components, each with its alternative to the same null hypothesis.

    Under every law of the null hypothesis, whatever came before, each factor has a mean of at most 1 (an
    e-value). What factors are they depends on one observation alone, to the last bit.

    Attributes
    ----------
    names
        Direction that each component speaks for, (J,); "" where there is one direction only.
    weights
        Of the components, (J,), positive, with sum 1.
    """

    @property
    def names(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def weights(self) -> Floats: ...  # noqa: D102

    def of(self, observations: Floats) -> Floats:
        """Return the factors of n observations, (n,) or (n, columns): positive, (n, J)."""


class Bets:
    """Bets on the mean of bounded observations: factors 1 + stake * (x - mean), one a stake.

    The null hypothesis is E[x] <= mean where stakes are positive, E[x] >= mean where they are negative. For
    x in {0, 1} the factor is the likelihood ratio of two Bernoulli laws, and for the mean x of several such
    it stays an e-value, hence panes of events are observations as good as events.

    Parameters
    ----------
    mean
        On the edge of the null hypothesis.
    stakes
        (J,), such that no observation makes a factor 0 or less.

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024).
    """

    def __init__(self, mean: float, stakes: Sequence[float] | Floats) -> None:
        self.mean = mean
        self.stakes = np.asarray(stakes, np.float64)
        self.names = ("",) * len(self.stakes)
        self.weights = equal_weights(len(self.stakes))

    def of(self, observations: Floats) -> Floats:
        """Return the factors of observations (n,): (n, J)."""
        return 1 + (observations[:, None] - self.mean) * self.stakes


def equal_weights(count: int) -> Floats:
    """Return weights of `count` components that nothing tells apart."""
    return np.full(count, 1 / count)


def within(name: str, value: float, low: float, high: float) -> float:
    """Return a parameter that lies strictly between low and high.

    Raises
    ------
    ValueError
        It does not, or is no number.
    """
    if not low < value < high:
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, both excluded: {value:g}")
    return float(value)
