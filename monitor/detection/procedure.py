"""The mixture e-Shiryaev-Roberts procedure: raises an alarm, and clears it, with a bound on false ones.

Each component j turns an observation x into a factor L_j(x) and remembers M_j <- L_j(x) (1 + M_j), from 0 on.
The statistic is S = sum of w_j M_j; the procedure raises where S >= threshold. As long as each L_j has a mean
of at most 1 given the past, which is what the null hypothesis says, S minus the number of observations is a
supermartingale. Hence

- the mean number of observations until a false alarm is at least the threshold,
- a false alarm within N observations has a probability of at most N / threshold,
- with restarts, N observations bring at most N / threshold false alarms on average,

however often anybody looks, and without independence. K detectors with the threshold K * h together bring at
most one false alarm, on average, while each sees h observations.

Raising starts the clearing statistic of the direction that won, against the same threshold; clearing starts
the raising one. Both start at 0, and only one runs at a time.

References
----------
Shin, Ramdas and Rinaldo, "E-detectors: a nonparametric framework for sequential change detection", New
England Journal of Statistics in Data Science 2 (2024).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Self

import numpy as np

from monitor.detection.evalues import EValues, Floats, within


@dataclass(frozen=True, slots=True, eq=False)
class Procedure:
    """What a detector is told once.

    Attributes
    ----------
    raising
        Its null hypothesis: all is well.
    clearing
        By direction that raised; null hypothesis: it is not well again.
    threshold
        At which the statistic raises, and clears: a number of observations above 1.

    Raises
    ------
    ValueError
        The threshold is no such number, or a direction cannot be cleared.
    """

    raising: EValues
    clearing: Mapping[str, EValues]
    threshold: float

    def __post_init__(self) -> None:
        within("threshold", self.threshold, 1, inf)
        if missing := set(self.raising.names) - set(self.clearing):
            raise ValueError(f"nothing clears the directions {sorted(missing)}")

    def running(self, firing: bool, direction: str) -> EValues:
        """Return the factors of the statistic that runs in that state."""
        return self.clearing[direction] if firing else self.raising

    def winner(self, wealth: Floats) -> str:
        """Return the direction that holds the greatest part of the raising statistic; the first of equals."""
        parts = dict.fromkeys(self.raising.names, 0.0)
        for name, part in zip(self.raising.names, (self.raising.weights * wealth).tolist(), strict=True):
            parts[name] += part
        return max(parts, key=parts.__getitem__)


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """What a detector remembers.

    Attributes
    ----------
    wealth
        M of each component of the statistic that runs, (J,): the raising one; while firing, the clearing one.
    firing
        Whether it has raised and not cleared since.
    direction
        That raised; "" while not firing, and where there is one only.
    observations
        Since the statistic that runs began.
    """

    wealth: Floats
    firing: bool = False
    direction: str = ""
    observations: int = 0

    @classmethod
    def fresh(cls, procedure: Procedure, *, firing: bool = False, direction: str = "") -> Self:
        """Return the statistic of a detector that has seen nothing since it began, raised or cleared."""
        return cls(np.zeros(len(procedure.running(firing, direction).names)), firing, direction)

    def value(self, procedure: Procedure) -> float:
        """Return S, below the threshold."""
        total = 0.0
        weights = procedure.running(self.firing, self.direction).weights
        for weight, wealth in zip(weights.tolist(), self.wealth.tolist(), strict=True):
            total += weight * wealth  # in this order, as in `run`
        return total

    def tree(self) -> dict[str, Any]:
        """Return it as plain data with an array."""
        return {
            "wealth": self.wealth,
            "firing": self.firing,
            "direction": self.direction,
            "observations": self.observations,
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any], procedure: Procedure) -> Self:
        """Return what `tree` gave.

        Raises
        ------
        ValueError
            It is not of this procedure: other components, or other directions.
        """
        wealth = np.array(tree["wealth"], np.float64)
        firing, direction = bool(tree["firing"]), str(tree["direction"])
        if direction not in (procedure.clearing if firing else ("",)):
            raise ValueError(f"a statistic of another procedure: no direction {direction!r} here")
        if wealth.shape != procedure.running(firing, direction).weights.shape:
            raise ValueError(f"a statistic of another procedure: {wealth.size} components")
        if not ((wealth >= 0) & (wealth < inf)).all():
            raise ValueError("a statistic is not below 0 and not infinite")
        return cls(wealth, firing, direction, int(tree["observations"]))
