"""Since when a detector's evidence speaks, and what the events since then amount to. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.alerts.alert import Evidence
from monitor.alerts.explain import against
from monitor.alerts.prevalence import wilson
from monitor.alerts.rule import Rule
from monitor.detection import EValues, Floats
from monitor.watch.measures import ONE, Units
from monitor.watch.terms import Terms


class Sum(NamedTuple):
    """What some observations add up to: how many events, and the sums of their integers."""

    events: int
    units: tuple[int, ...]

    def plus(self, other: Sum) -> Sum:
        """Return the sum of both."""
        return Sum(
            self.events + other.events, tuple(a + b for a, b in zip(self.units, other.units, strict=True))
        )


def onset(evalues: EValues, observations: Floats, direction: str) -> int:
    """Return where the evidence begins: the last observations that speak loudest.

    Parameters
    ----------
    evalues
        Of the statistic that crossed its threshold.
    observations
        Its newest ones, up to the deciding one, at least one.
    direction
        That won.
    """
    factors = evalues.of(np.ascontiguousarray(observations))
    mine = [j for j, name in enumerate(evalues.names) if name == direction]
    of_suffix = np.cumsum(np.log(factors[::-1, mine]), axis=0)
    # Of equals the latest beginning: what says nothing does not belong to it.
    return len(observations) - 1 - int(of_suffix.max(axis=1).argmax())


def summary(
    rule: Rule,
    terms: Terms,
    total: Sum,
    cost: float | None,
    *,
    statistic: float | None = None,
    threshold: float | None = None,
    component: str | None = None,
) -> Evidence:
    """Return what some observations amount to."""
    evidence = Evidence(statistic=statistic, threshold=threshold, component=component)
    if not total.events:
        return replace(evidence, undefined="no_observations")
    value, limit = terms.value(total.units, total.events)
    evidence = replace(evidence, value=value, support=total.events)
    if terms.proportion:
        lower, upper = wilson(total.units[0] // ONE, total.events)
        evidence = replace(evidence, lower=max(0.0, lower), upper=min(1.0, upper), method="wilson")
    return against(evidence, rule, limit, cost)


def sum_of(units: Units, events: int) -> Sum:
    """Return the sum of observations (m, width), each of so many events."""
    return Sum(len(units) * events, tuple(units.sum(axis=0, dtype=np.int64).tolist()))
