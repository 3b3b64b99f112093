"""Quantiles of Student's t distribution for many degrees of freedom at once."""

from __future__ import annotations

from functools import lru_cache
from math import lgamma, pi
from statistics import NormalDist

import numpy as np
import torch
from numpy.typing import NDArray

TABLE = 256
"""Up to so many degrees of freedom the quantiles are solved for, beyond they are expanded."""


def t_quantile(degrees: torch.Tensor, confidence_level: float) -> torch.Tensor:
    """Return q with P(|t| <= q) = confidence_level, to 1e-9.

    Parameters
    ----------
    degrees : shape (...)
        Of freedom, whole numbers.
    confidence_level
        In (0, 1).

    Returns
    -------
    torch.Tensor, float64, shape (...)
        NaN where there are no degrees of freedom.

    References
    ----------
    Abramowitz and Stegun, "Handbook of mathematical functions", 26.7.5 (the expansion).
    """
    n = degrees.double()
    z = NormalDist().inv_cdf((1 + confidence_level) / 2)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    expanded = torch.zeros_like(n)
    for term in reversed(terms):
        expanded = expanded / n + term
    table = torch.from_numpy(_table(confidence_level)).to(n.device)
    solved = table[n.clamp(0, TABLE).long()]
    return torch.where(n > TABLE, expanded, solved)


@lru_cache(maxsize=16)
def _table(confidence_level: float) -> NDArray[np.float64]:
    """Return the quantiles of 0 (NaN) to TABLE degrees of freedom.

    With t = sqrt(n) tan(x), P(|t| <= q) = c * integral of cos(x)**(n - 1) from 0 to the angle of q, and
    Newton's method from the angle of the normal quantile grows towards the root: the integral is concave.
    """
    n = np.arange(1, TABLE + 1, dtype=np.float64)
    c = np.array([2 * np.exp(lgamma((k + 1) / 2) - lgamma(k / 2)) / np.sqrt(pi) for k in n])
    nodes, weights = np.polynomial.legendre.leggauss(40)
    angle = np.arctan(NormalDist().inv_cdf((1 + confidence_level) / 2) / np.sqrt(n))
    for _ in range(50):
        points = angle[:, None] * (nodes + 1) / 2
        area = angle / 2 * (np.cos(points) ** (n[:, None] - 1) @ weights)
        angle += (confidence_level / c - area) / np.cos(angle) ** (n - 1)
    return np.concatenate([[np.nan], np.sqrt(n) * np.tan(angle)])
