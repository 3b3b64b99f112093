"""From numbers to pixels, and which numbers stand at an axis. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
from numpy.typing import ArrayLike

from monitor.report import Floats

Ticks = Sequence[tuple[float, str]]
"""Where an axis is labeled, and with what."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps numbers from `low` to `high` to pixels from `start` to `end`; those beyond are put at the edge."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, values: ArrayLike) -> Floats:
        """Return pixels; NaN stays NaN."""
        inside = np.clip(np.asarray(values, np.float64), self.low, self.high)
        if self.log:
            share = np.log(inside / self.low) / np.log(self.high / self.low)
        else:
            share = (inside - self.low) / (self.high - self.low)
        pixels: Floats = self.start + (self.end - self.start) * share
        return pixels


def fit(*values: ArrayLike) -> tuple[float, float]:
    """Return a domain that all finite numbers lie in, with some space; of numbers in [0, 1] it is in there.

    There must be one.
    """
    every = np.concatenate([np.ravel(np.asarray(v, np.float64)) for v in values])
    known = every[np.isfinite(every)]
    low, high = float(known.min()), float(known.max())
    size = max(abs(low), abs(high)) or 1.0
    space = 0.06 * (high - low) if high - low > 1e-4 * size else 0.05 * size
    return (
        low - space if low < 0 else max(low - space, 0.0),
        high + space if high > 1 else min(high + space, 1.0),
    )


def ticks(low: float, high: float, about: int = 5) -> Ticks:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers, about so many."""
    step = _step((high - low) / (1.4 * about))
    places = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    decimals = max(0, -floor(log10(step) + 1e-9))
    if decimals > 5 or step >= 10_000:
        return [(place * step, f"{place * step:.4g}") for place in places]
    return [(place * step, f"{place * step:,.{decimals}f}") for place in places]


def decades(low: float, high: float, most: int = 5) -> Ticks:
    """Return powers of ten between two numbers above 0."""
    powers = range(ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9) + 1)
    return [(10.0**power, _power(power)) for power in powers[:: -(-len(powers) // most) or 1]]


def _power(power: int) -> str:
    return f"{10.0**power:,.10g}" if -5 < power < 5 else f"1e{power}"


def up_to(greatest: float) -> float:
    """Return where an axis of probabilities ends: 1, or less where everything is far below."""
    if not greatest <= 0.5:
        return 1.0
    step = _step(max(greatest, 1e-6) / 5)
    return ceil(greatest / step - 1e-9) * step or step


def _step(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten that is at least so much."""
    power: float = 10.0 ** floor(log10(least))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-9))
