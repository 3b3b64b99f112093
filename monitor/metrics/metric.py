"""One row of the catalog: a family with its meaning and the function that computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from monitor.metrics.context import Compute
from monitor.metrics.outcome import Method
from monitor.metrics.parameters import Task

Needs = Literal["labels", "decisions", "scores", "probabilities"]

TASKS: tuple[Task, ...] = ("binary", "multiclass", "multilabel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One family.

    Attributes
    ----------
    name
        Of the exported family.
    help
        One sentence: HELP of the exposition, and the meaning in docs/metrics.md.
    compute
        The function, batched over cases.
    use
        One sentence for docs/metrics.md: when to look at it (imbalance, ranking only, probabilities).
    compare
        One sentence for docs/metrics.md: across what it must not be compared; empty: nothing in particular.
    labels
        Label names beyond model, version, window and segment.
    needs
        The least that events must carry; metrics of decisions, scores and probabilities need labels
        too, except where `help` says otherwise.
    greater_is_better
        None where neither direction is good in itself.
    range
        Least and greatest possible value.
    interval
        Method of the analytic interval.
    undefined
        Reasons (`outcome.REASONS`) that it may give instead of a value.
    tasks
        Where it exists.
    headline
        Whether segments export it by default.
    """

    name: str
    help: str
    compute: Compute
    use: str
    compare: str = ""
    labels: tuple[str, ...] = ()
    needs: Needs = "decisions"
    greater_is_better: bool | None = None
    range: tuple[float, float] = (0, 1)
    interval: Method | None = None
    undefined: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = TASKS
    headline: bool = False


NO_LABELS = ("no_events", "no_labels")
"""Reasons of everything that needs a labeled event."""

NO_SCORES = (*NO_LABELS, "no_scores")
"""Reasons of everything that needs a labeled event with scores."""
