"""A report as a table: one row a value, with all that belongs to it. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from monitor.report import Value, WindowReport
from monitor.wording import interval_of, iso, printable

_SCOPE = ("model", "version", "window", "segment")
_LABELS = ("class", "average", "subset", "max_fpr", "beta", "k", "criterion", "true", "predicted")
_BOUNDS = ("method", "lower", "upper", "standard_error")

COLUMNS = (
    *("name", *_SCOPE, *_LABELS),
    *("value", "undefined", "numerator", "denominator", "support", "low_support", "threshold"),
    *(*_BOUNDS, "no_interval"),
    *(*(f"bootstrap_{column}" for column in _BOUNDS[1:]), "no_bootstrap"),
    *("resolution_error", "start", "end", "complete"),
)
"""Of the table; a cell is empty where there is nothing to say."""


def report_csv(windows: Iterable[WindowReport]) -> str:
    """Return every value of these windows as CSV (RFC 4180) with a line of heads.

    Numbers keep their full precision, times are ISO 8601 in UTC. Characters in names that would break a
    line or move a cursor are escaped.
    """
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS)
    table.writeheader()
    for window in windows:
        table.writerows(_rows(window))
    return text.getvalue()


def _rows(window: WindowReport) -> Iterator[dict[str, Any]]:
    scope = {column: printable(getattr(window, column)) for column in _SCOPE}
    extent = {"start": iso(window.start), "end": iso(window.end), "complete": _flag(window.complete)}
    for value in window.values:
        yield {
            "name": value.name,
            **scope,
            **{label: printable(text) for label, text in value.labels.items()},
            "value": value.value,
            "undefined": value.undefined,
            "numerator": value.numerator,
            "denominator": value.denominator,
            "support": value.support,
            "low_support": _flag(value.low_support),
            "threshold": window.threshold(value.labels),
            "no_interval": value.no_interval,
            "no_bootstrap": value.no_bootstrap,
            "resolution_error": value.resolution_error,
            **_bounds(value),
            **extent,
        }


def _bounds(value: Value) -> dict[str, Any]:
    """Return the analytic interval, or the only one, and a bootstrap one beside it."""
    found: dict[str, Any] = {}
    shown = interval_of(value)
    for interval in value.intervals:
        if interval is shown:
            found |= interval._asdict()
        else:
            found |= {f"bootstrap_{column}": getattr(interval, column) for column in _BOUNDS[1:]}
    return found


def _flag(holds: bool) -> str:
    return "true" if holds else "false"
