"""A report back from its object for JSON, as far as tables need it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.report import Confusion, IntervalValue, Value, WindowReport

_SCOPE = {"model", "version", "window", "segment"}
_SAME = {"task", "positive_class", "complete", "events", "labeled"}
_ZERO = datetime.fromtimestamp(0, UTC)


def window_report(found: Mapping[str, Any]) -> WindowReport:
    """Return a window from what `monitor.report_json.report_object` made of it.

    Parameters
    ----------
    found
        One of the ``reports``. Its curves are left out, and the costs, which are not in it.
    """
    multilabel = found["task"] == "multilabel"
    counts = found["confusion"]["counts"]
    return WindowReport(
        **{name: found[name] for name in (*_SCOPE, *_SAME)},
        classes=tuple(found["classes"]),
        thresholds=tuple(found["thresholds"].values()),
        costs=None,
        start=_microseconds(found["start"]),
        end=_microseconds(found["end"]),
        decisions=tuple(found["confusion"]["predicted"]),
        confusions=tuple(map(_matrix, counts if multilabel else [counts])),
        values=tuple(map(_value, found["metrics"])),
    )


def _value(found: Mapping[str, Any]) -> Value:
    same = {name: found.get(name) for name in Value._fields if name not in ("labels", "intervals")}
    return Value(
        **same,  # type: ignore[arg-type]
        labels={label: text for label, text in found["labels"].items() if label not in _SCOPE},
        intervals=tuple(IntervalValue(**interval) for interval in found["intervals"]),
    )


def _matrix(rows: list[list[int]]) -> Confusion:
    return tuple(map(tuple, rows))


def _microseconds(time: str | None) -> int | None:
    return None if time is None else (datetime.fromisoformat(time) - _ZERO) // timedelta(microseconds=1)
