"""The `export` section beside the catalog of metrics: names of families, and how many series there can be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from math import prod

from monitor.config import Config, ModelConfig
from monitor.errors import ConfigurationError
from monitor.metrics.catalog import CATALOG, Metric
from monitor.report import CUMULATIVE
from monitor.series import BOTH_CLASSES, HELPS, WINDOW_CONFUSIONS

_PREFIX = "classifier_"

_OF_VERSION = 3
"""Series of a version whatever the window: last event, labeled events, since."""

_OF_WINDOW = 3
"""Series of a window that are no metric: complete, start, end."""

_MOST = {"average": 3, "subset": 3}
"""Most values of a label, where they do not depend on the model."""


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
            remedy = "is exported whatever is listed here; remove it"
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
    export = config.export
    names = [CUMULATIVE, *(window.name for window in model.windows)]
    windows = [name for name in names if export.windows == "all" or name in export.windows]
    values = len(model.segments) * (config.limits.segment_values + 1)
    families = [
        metric
        for metric in CATALOG
        if model.task in metric.tasks
        and (isinstance(export.families, str) or metric.name in export.families)
        and not (metric.name == WINDOW_CONFUSIONS and export.confusions == "none")
    ]
    segmented = {
        "headline": [metric for metric in families if metric.headline],
        "all": families,
        "none": [],
    }[export.segments]
    confusions = 0 if export.confusions == "none" else len(model.classes) * (len(model.classes) + 1)
    of_window = _OF_WINDOW + _together(families, model, config)
    of_segments = values * _together(segmented, model, config)
    return _OF_VERSION + confusions + len(windows) * (of_window + of_segments)


def _together(families: Iterable[Metric], model: ModelConfig, config: Config) -> int:
    return sum(_label_sets(metric, model, config) * _each(metric, config) for metric in families)


def _each(metric: Metric, config: Config) -> int:
    """Return how many series one value has: itself, its bounds, its error where scores are binned."""
    bounds = 2 if metric.interval and config.export.intervals else 0
    return 1 + bounds + (metric.needs == "scores")


def _label_sets(metric: Metric, model: ModelConfig, config: Config) -> int:
    classes = len(model.classes)
    if model.task == "binary" and (
        metric.needs in ("scores", "probabilities")
        or (config.export.families != "all" and metric.name not in BOTH_CLASSES)
    ):
        classes = 1
    sizes = {
        "class": classes + (metric.needs == "probabilities"),  # those have a value of the whole, too
        "max_fpr": len(model.max_fpr),
        "true": len(model.classes),
        "predicted": len(model.classes) + 1,
        **_MOST,
        "beta": int(model.beta is not None),
    }
    return prod(sizes[label] for label in metric.labels)
