"""Detectors run over their observations: many at once, with the same bits as one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from monitor.detection.evalues import EValues, Floats
from monitor.detection.procedure import Procedure, Statistic

BLOCK = 256
"""Observations of a detector, and detectors, that are worked on at once.

A crossing throws away the rest of its block. Larger blocks leave the cache, smaller ones cost calls.
"""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A detector raised, or cleared.

    Attributes
    ----------
    index
        Of the deciding observation.
    firing
        Whether it fires from there on.
    statistic
        Value that reached the threshold.
    direction
        That raised, or that was cleared.
    observations
        From the first one of that statistic to the deciding one.
    """

    index: int
    firing: bool
    statistic: float
    direction: str
    observations: int


def run(
    procedures: Sequence[Procedure], statistics: Sequence[Statistic], observations: Sequence[Floats]
) -> tuple[list[Statistic], list[list[Crossing]]]:
    """Take detectors through their next observations.

    How a stream is divided into calls, and which detectors share a call, changes no bit of the outcome: each
    number results from the same operations in the same order. (That is why no sum of logarithms over a batch
    stands in for the recursion.)

    Parameters
    ----------
    procedures, statistics
        Of each detector.
    observations : each (n,) or (n, columns)
        Of each detector, in the order in which they count; n may differ, and may be 0.

    Returns
    -------
    statistics : list of Statistic
        Of each detector, after its observations.
    crossings : list of list of Crossing
        Of each detector, in order.

    Raises
    ------
    ValueError
        An observation is no number or out of range, so that a factor is not positive.
    """
    runners = [_Runner(*of_one) for of_one in zip(procedures, statistics, observations, strict=True)]
    while active := [runner for runner in runners if runner.left]:
        for together in _alike(active):
            _advance(together)
    return [runner.statistic for runner in runners], [runner.crossings for runner in runners]


class _Runner:
    """One detector on its way through its observations."""

    def __init__(self, procedure: Procedure, statistic: Statistic, observations: Floats) -> None:
        self.procedure, self.statistic = procedure, statistic
        self.observations, self.at = np.asarray(observations, np.float64), 0
        self.crossings: list[Crossing] = []

    @property
    def left(self) -> int:
        return len(self.observations) - self.at

    @property
    def evalues(self) -> EValues:
        return self.procedure.running(self.statistic.firing, self.statistic.direction)

    @property
    def width(self) -> int:
        return len(self.statistic.wealth)

    def factors(self) -> Floats:
        """Return those of the next observations, at most BLOCK: (n, J)."""
        # A copy is laid out alike wherever it begins, and so takes the same way through numpy's loops.
        return self.evalues.of(self.observations[self.at : self.at + BLOCK].copy())

    def go_on(self, count: int, wealth: Floats) -> None:
        """Step over observations without a crossing."""
        old = self.statistic
        self.at += count
        self.statistic = Statistic(wealth, old.firing, old.direction, old.observations + count)

    def cross(self, count: int, wealth: Floats, value: float) -> None:
        """Step over observations of which the last one decides."""
        old, procedure = self.statistic, self.procedure
        firing = not old.firing
        direction = procedure.winner(wealth) if firing else old.direction
        self.at += count
        self.crossings.append(Crossing(self.at - 1, firing, value, direction, old.observations + count))
        self.statistic = Statistic.fresh(procedure, firing=firing, direction=direction if firing else "")


def _alike(runners: Sequence[_Runner]) -> Iterator[list[_Runner]]:
    """Yield groups with equal numbers of components, of about equal length."""
    ordered = sorted(runners, key=lambda runner: (runner.width, runner.left))
    for _, group in groupby(ordered, key=lambda runner: runner.width):
        members = list(group)
        for first in range(0, len(members), BLOCK):
            yield members[first : first + BLOCK]


def _advance(runners: Sequence[_Runner]) -> None:
    """Take each of D runners with J components over its next block, or to its first crossing within it."""
    factors = [runner.factors() for runner in runners]
    block = np.ones((max(map(len, factors)), len(runners), runners[0].width))
    for d, own in enumerate(factors):
        block[: len(own), d] = own
    if not (block > 0).all():
        raise ValueError("an observation is no number, or outside the range that its detector was made for")

    wealth = np.stack([runner.statistic.wealth for runner in runners]).ravel()
    ones, scratch = np.ones_like(wealth), np.empty_like(wealth)
    with np.errstate(over="ignore"):  # beyond a crossing, where it is thrown away
        for row in block.reshape(len(block), -1):  # becomes the wealth
            np.add(wealth, ones, scratch)
            wealth = np.multiply(scratch, row, row)
        weights = np.stack([runner.evalues.weights for runner in runners])
        values = np.zeros((len(block), len(runners)))
        for j in range(runners[0].width):  # one after the other: numpy's sums depend on the layout
            values += weights[:, j] * block[:, :, j]
    crossed = values >= np.array([runner.procedure.threshold for runner in runners])
    first = crossed.argmax(axis=0)
    for d, (runner, own) in enumerate(zip(runners, factors, strict=True)):
        i = int(first[d])
        if crossed[i, d] and i < len(own):
            runner.cross(i + 1, block[i, d].copy(), float(values[i, d]))
        else:
            runner.go_on(len(own), block[len(own) - 1, d].copy())
