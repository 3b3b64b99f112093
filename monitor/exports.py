"""The `export` section beside the catalog of metrics: names of families, and how many series there can be."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from monitor.assembly import parameters
from monitor.config import Config, ModelConfig
from monitor.errors import ConfigurationError
from monitor.metrics.catalog import CATALOG, compute_all
from monitor.metrics.cells import BINS
from monitor.metrics.context import Context
from monitor.metrics.empty import empty_counts
from monitor.metrics.labels import Axis
from monitor.metrics.metric import Metric
from monitor.metrics.outcome import Outcome
from monitor.metrics.parameters import Parameters
from monitor.report import CUMULATIVE
from monitor.series import BOTH_CLASSES, HELPS, WINDOW_CONFUSIONS

_PREFIX = "classifier_"

_OF_VERSION = 3
"""Series of a version whatever the window: last event, labeled events, since."""

_OF_WINDOW = 3
"""Series of a window that are no metric: complete, start, end."""

_OF_BIN = 3
"""Series of a bin of the reliability diagram: events, mean score, rate."""

_FEW_CLASSES = 4
"""As many tell which labels a family has, and whether it has intervals."""


def check_families(config: Config) -> None:
    """Refuse names in `export.families` that no metric has.

    Raises
    ------
    ConfigurationError
        Naming the nearest family.
    """
    families = config.export.families
    names = [metric.name for metric in CATALOG]
    for i, family in enumerate(families if isinstance(families, tuple) else ()):
        if family in names:
            continue
        if family in HELPS:
            remedy = "does not depend on this list; remove it"
        else:
            short = [name.removeprefix(_PREFIX) for name in names]
            near = difflib.get_close_matches(family.removeprefix(_PREFIX), short, n=1)
            remedy = (
                f"is no family; did you mean {_PREFIX}{near[0]}?"
                if near
                else "is no family; see docs/metrics.md"
            )
        raise ConfigurationError(f"export.families[{i}]: {family!r} {remedy}")


def most_series(model: ModelConfig, config: Config) -> int:
    """Return how many series one version of a model can export at most: an upper estimate.

    It is reached where every number of every window is defined, every cell of every confusion matrix is
    filled, and every segment has as many values as `limits.segment_values` tells apart, and others.
    """
    export, p = config.export, parameters(model, config)
    names = [CUMULATIVE, *(window.name for window in model.windows)]
    windows = [name for name in names if export.windows == "all" or name in export.windows]
    of_segments = len(model.segments) * (config.limits.segment_values + 1)
    total = _OF_VERSION + _OF_WINDOW * len(windows)
    if export.reliability == "whole" and model.task != "multilabel":
        total += _OF_BIN * BINS * len(windows)
    for metric, outcome in families(p):
        values = sum(
            prod(len(_exported(metric, axis, p, config)) for axis in axes) for axes in outcome.labels
        )
        if metric.name == WINDOW_CONFUSIONS:
            values = 0 if export.confusions == "none" else values
            total += values  # the counter of all events has the same cells
        if isinstance(export.families, tuple) and metric.name not in export.families:
            continue
        segments = export.segments == "all" or (export.segments == "headline" and metric.headline)
        each = 3 if export.intervals and outcome.interval is not None else 1
        binned = CUMULATIVE in windows and outcome.resolution_error is not None
        resampled = 2 * len(windows) if export.intervals and _is_resampled(metric, config) else 0
        total += values * ((1 + segments * of_segments) * (each * len(windows) + binned) + resampled)
    return total


def families(p: Parameters) -> Iterator[tuple[Metric, Outcome]]:
    """Yield the families of a model with what they state of no event: so their labels cannot be others."""
    n = min(_FEW_CLASSES, len(p.classes))
    few = replace(
        p,
        classes=p.classes[:n],
        thresholds=p.thresholds[:n],
        costs=((1.0,) * n,) * n if p.costs and p.task == "multiclass" else p.costs,
        reference_prevalence=p.reference_prevalence and p.reference_prevalence[:n],
    )
    for metric, outcome in compute_all(Context(empty_counts(few), [few])):
        if isinstance(outcome, Exception):
            raise outcome
        yield metric, outcome


def _exported(metric: Metric, axis: Axis, p: Parameters, config: Config) -> Sequence[str]:
    """Return the values of a label that are exported where the values are defined."""
    values = axis.values(p)
    of_both = config.export.families == "all" or metric.name in BOTH_CLASSES
    if axis.label != "class" or p.positive is None or of_both:
        return values
    return [value for value in values if value in ("", *p.scored)]


def _is_resampled(metric: Metric, config: Config) -> bool:
    bootstrap = config.evaluation.bootstrap
    return bootstrap is not None and metric.name.removeprefix(_PREFIX) in bootstrap.metrics
