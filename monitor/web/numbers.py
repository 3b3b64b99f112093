"""Numbers on pages: sensible digits for people, full precision and the series' name for machines. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from monitor.report import IntervalValue, Value
from monitor.web.html import Html, h, join
from monitor.wording import METHODS, explain, interval_of, number, written

LOW_SUPPORT = "low support: too few events to judge by, or a wide interval"

WIDE = 0.01
"""Width of an interval from which on the fourth decimal says nothing."""


def shown_value(value: Value, *, brief: bool = False) -> Html:
    """Write a value of a report, marked where its support is low; why there is none where it is undefined.

    Where there is little room, `brief` leaves out the decimals that its interval makes meaningless.
    """
    if value.value is None:
        return h("span", f"undefined: {explain(value.undefined or '')}", class_="reason")
    text = _brief(value, value.value) if brief else written(value)
    mark = h("abbr", "*", title=LOW_SUPPORT) if value.low_support else None
    return join(_data(text, value.value, value.name, value.labels), mark)


def shown_interval(value: Value, *, brief: bool = False) -> Html | None:
    """Write the interval that `interval_of` chooses as "[lower, upper]", None where there is none."""
    interval = interval_of(value)
    if value.value is None or interval is None:
        return None
    method = METHODS.get(interval.method, interval.method)
    return h(
        "span",
        "[",
        _bound(value, interval, "lower", brief),
        ", ",
        _bound(value, interval, "upper", brief),
        "]",
        class_="interval",
        title=f"{method} interval",
    )


def with_interval(value: Value) -> Html:
    """Write a value and its interval."""
    interval = shown_interval(value)
    return join(shown_value(value), " " if interval else None, interval)


def labels_text(labels: Mapping[str, str]) -> str:
    """Write labels for an attribute as in a query, sorted by name: "class=fraud&max_fpr=0.1"."""
    return urlencode(sorted(labels.items()))


def value_bar(value: Value) -> Html | None:
    """Draw the interval of a value on the scale from 0 to 1, None where it has none or goes beyond.

    The numbers stand beside it for all.
    """
    interval = interval_of(value)
    if value.value is None or interval is None or not 0 <= interval.lower <= interval.upper <= 1:
        return None
    left, width = f"{100 * interval.lower:.2f}", f"{100 * (interval.upper - interval.lower):.2f}"
    return h(
        "svg",
        h("rect", class_="track", x="0", y="5", width="100", height="2"),
        h("rect", class_="band", x=left, y="2", width=width, height="8"),
        h("rect", class_="point", x=f"{100 * value.value - 0.75:.2f}", y="0", width="1.5", height="12"),
        class_="interval-bar",
        viewBox="0 0 100 12",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _brief(value: Value, part: float) -> str:
    """Write a value or a bound of it: with three decimals where more would be noise."""
    interval = interval_of(value)
    wide = interval is not None and interval.upper - interval.lower > WIDE
    return f"{part:.3f}" if wide else number(part)


def _bound(value: Value, interval: IntervalValue, side: str, brief: bool) -> Html:
    bound = interval.lower if side == "lower" else interval.upper
    text = _brief(value, bound) if brief else number(bound)
    return _data(text, bound, f"{value.name}_{side}", value.labels, interval.method)


def _data(text: str, value: float, family: str, labels: Mapping[str, str], method: str | None = None) -> Html:
    return h(
        "data",
        text,
        class_="metric",
        value=repr(float(value)),
        data_family=family,
        data_labels=labels_text(labels) or None,
        data_method=method,
    )
