"""Bounds of a proportion that are never too narrow: Clopper and Pearson's, from the binomial law itself."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

from monitor.detection.evalues import within

_TINY = 1e-300


def clopper_pearson_lower(k: int, n: int, confidence_level: float = 0.95) -> float:
    """Return the lower end of the two-sided interval of a proportion.

    The least p for which k or more of n have a probability of at least (1 - confidence_level) / 2.

    Parameters
    ----------
    k, n
        Successes and events, 0 <= k <= n, n > 0.
    confidence_level
        In (0, 1).

    Raises
    ------
    ValueError
        A parameter is out of range.

    References
    ----------
    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
    Biometrika 26 (1934).
    """
    alpha = 1 - within("the confidence level", confidence_level, 0, 1)
    if not 0 <= k <= n or n < 1:
        raise ValueError(f"{k} of {n} is no proportion")
    if k == 0:
        return 0.0
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if _beta_cdf(middle, k, n - k + 1) < alpha / 2:  # P(X >= k) of the binomial law
            low = middle
        else:
            high = middle
    return low


def clopper_pearson_upper(k: int, n: int, confidence_level: float = 0.95) -> float:
    """Return the upper end; otherwise as `clopper_pearson_lower`."""
    return 1 - clopper_pearson_lower(n - k, n, confidence_level)


def _beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by Lentz's method (Numerical Recipes, 6.4)."""
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value, change, m = d, 0.0, 0
    while abs(change - 1) > 1e-15:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            change = c * d
            value *= change
    return value


def _away(value: float) -> float:
    """Keep a divisor off 0."""
    return value if abs(value) > _TINY else _TINY
