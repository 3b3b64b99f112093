"""In which terms a detector speaks: what its factors are made of, and the value and limit that people see.

Observations are integers (`monitor.watch.measures.UNIT`), and so are their sums: whatever events a value is
about, it is the same however they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from monitor.detection import Floats
from monitor.watch.measures import ONE, UNIT, Units

GREATEST_LOGIT = 256
"""No map gives log-odds beyond it: rates are not that near to 0 or 1."""


class Terms(Protocol):
    """What observations of one detector mean.

    Attributes
    ----------
    width
        Integers of an observation.
    proportion
        Whether the value is a share of independent events.
    """

    @property
    def width(self) -> int: ...  # noqa: D102

    @property
    def proportion(self) -> bool: ...  # noqa: D102

    def floats(self, units: Units, events: int) -> Floats:
        """Return m observations, each summed over so many events, as the detector takes them: (m, ...)."""

    def value(self, sums: Sequence[int], events: int) -> tuple[float, float | None]:
        """Return value and limit from the sums over some events, at least one."""

    def sound(self, units: Units, events: int) -> bool:
        """Tell whether these can be observations, (m, width), each summed over so many events."""


@dataclass(frozen=True, slots=True)
class Level:
    """A mean that is held against a number: (x,)."""

    limit: float
    scale: float
    proportion: bool
    width = 1

    def floats(self, units: Units, events: int) -> Floats:
        """Return means, (m,)."""
        means: Floats = units[:, 0] * UNIT / events
        return means

    def sound(self, units: Units, events: int) -> bool:
        """Tell whether they lie between 0 and 1."""
        return _within(units, events)

    def value(self, sums: Sequence[int], events: int) -> tuple[float, float | None]:
        """Return the metric and its limit."""
        return sums[0] * UNIT / events * self.scale, self.limit


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean that is held against that of another version: (own x, x of the other)."""

    margin: float
    scale: float
    proportion: bool
    greater_is_better: bool
    width = 2

    def floats(self, units: Units, events: int) -> Floats:
        """Return own loss - loss of the other, (m,)."""
        own, other = units.T
        difference = other - own if self.greater_is_better else own - other
        found: Floats = difference * UNIT / events
        return found

    def sound(self, units: Units, events: int) -> bool:
        """Tell whether they lie between 0 and 1."""
        return _within(units, events)

    def value(self, sums: Sequence[int], events: int) -> tuple[float, float | None]:
        """Return the own metric, and that of the other with the margin."""
        own, other = (each * UNIT / events * self.scale for each in sums)
        return own, other - self.margin if self.greater_is_better else other + self.margin


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Probabilities that are held against outcomes: (z, y, what z says of y)."""

    width = 3
    proportion = False

    def floats(self, units: Units, events: int) -> Floats:
        """Return (z, y), (m, 2)."""
        return np.ascontiguousarray(units[:, :2] * UNIT)

    def sound(self, units: Units, events: int) -> bool:
        """Tell whether z is finite enough, and the others lie between 0 and 1."""
        return bool((np.abs(units[:, 0]) <= events * GREATEST_LOGIT * ONE).all()) and _within(
            units[:, 1:], events
        )

    def value(self, sums: Sequence[int], events: int) -> tuple[float, float | None]:
        """Return by how much the outcome is more frequent than was said; there is no limit to that alone."""
        _, outcomes, expected = sums
        return (outcomes - expected) * UNIT / events, None


def _within(units: Units, events: int) -> bool:
    return bool(((units >= 0) & (units <= events * ONE)).all())
