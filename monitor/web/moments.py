"""Times on pages. Pure."""

from __future__ import annotations

from monitor.web.html import Html, h
from monitor.wording import iso, utc


def moment(microseconds: int | None) -> Html:
    """Write a time: UTC in the text, for the script to write in the viewer's zone with UTC on hover."""
    if microseconds is None:
        return h("span", "–")
    return h("time", utc(microseconds), datetime=iso(microseconds))
