"""The one table of metrics: every family with its meaning and the function that computes it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import torch

from monitor.metrics.context import Context
from monitor.metrics.families import costs, decisions, probabilities, scores, support
from monitor.metrics.metric import Metric
from monitor.metrics.outcome import Outcome

CATALOG: tuple[Metric, ...] = (
    *support.FAMILIES,
    *decisions.FAMILIES,
    *scores.FAMILIES,
    *probabilities.FAMILIES,
    *costs.FAMILIES,
)
"""Every family, in the order in which they are shown."""


def compute_all(
    context: Context, families: Collection[str] | None = None
) -> Iterator[tuple[Metric, Outcome | Exception]]:
    """Yield every metric of the task with its outcome, or with the error that computing it raised.

    `families` are those that are wanted, None for all.

    One metric that fails does not take the others with it.

    Raises
    ------
    torch.OutOfMemoryError
        Of a device: what the others would do with it is not known.
    """
    for metric in CATALOG:
        if context.task not in metric.tasks or (families is not None and metric.name not in families):
            continue
        outcome: Outcome | Exception
        try:
            outcome = context.shared(metric.compute)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            outcome = error
        yield metric, outcome
