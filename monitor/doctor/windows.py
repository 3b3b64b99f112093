"""Windows that hold too few events of a class for its recall to mean much."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from monitor.config import ModelConfig, WindowConfig, format_duration
from monitor.doctor.evidence import most_likely_share
from monitor.doctor.finding import Finding, Said, Undecided
from monitor.doctor.observed import Observed

ENOUGH = 200
"""Events of a class, from which on a recall of 80% is known to 6 points or better."""

_PROPOSED = 500
_LABELED = 5
"""Fewer labeled events say nothing about windows."""


class _Holds(NamedTuple):
    """How many events of the rarest class a window is expected to hold, and at most."""

    window: WindowConfig
    expected: float
    most: float


def check_windows(seen: Observed, rate: float | None, held_events: int) -> Said:
    """Yield which windows hold too few events of the rarest class, at the rate and shares of the sample.

    Parameters
    ----------
    seen
        The model's messages.
    rate
        Its events a second; None if that is not known.
    held_events
        Most events that a version holds.
    """
    counts = seen.class_counts
    labeled = int(seen.labeled.sum())
    if labeled < _LABELED:
        return
    if seen.spec.positive is not None:
        rarest = seen.spec.classes[seen.spec.positive]
    else:
        rarest = min(counts, key=lambda name: counts[name])
    share = counts[rarest] / len(seen)
    most_share = most_likely_share(counts[rarest], len(seen))
    windows = [
        _Holds(window, size * share, size * most_share)
        for window in seen.config.windows
        if (size := _size(window, rate, held_events)) is not None
    ]
    if any((window.positives or 0) >= ENOUGH for window in seen.config.windows):
        return
    small = [holds for holds in windows if holds.most < ENOUGH]
    if small:
        listed = ", ".join(
            f"{h.window.name} about {_about(h.expected)} (at most {_about(h.most)})" for h in small
        )
        fewest = max(1.0, min(h.expected for h in small))
        yield Finding(
            f"at {_rate(rate)}{100 * share:.3g}% {rarest}, windows hold few events of {rarest}: {listed}. "
            f"Below {ENOUGH}, recall says little: 80% of {_about(fewest)} means {_points(fewest)}.",
            _fix(seen, share, rate, held_events),
            urgent=False,
            model=_windows(seen.config) if seen.spec.positive is not None else {},
        )
    elif any(holds.expected < ENOUGH for holds in windows):
        yield Undecided(f"whether windows hold enough events of {rarest} ({ENOUGH} or more)")


def _size(window: WindowConfig, rate: float | None, held_events: int) -> float | None:
    """Return how many events a window holds, None where that is not known or does not matter."""
    if window.events is not None:
        return float(min(window.events, held_events))
    if window.duration is None or rate is None:
        return None
    return min(rate * window.duration.total_seconds(), float(held_events))


def _fix(seen: Observed, share: float, rate: float | None, held_events: int) -> str:
    where = f"to models.{seen.name}.windows"
    by_positives = f"add {{name: last_{_PROPOSED}_positives, positives: {_PROPOSED}}} {where}"
    if not share:
        if seen.spec.positive is None:
            return "write longer windows, or leave out classes that never occur."
        return f"{by_positives}."
    events = _round_up(_PROPOSED / share)
    needs = f"about {events:,} events" + (f", {_span(events / rate)} at this rate" if rate else "")
    if events > held_events:
        needs += f"; limits.held_events is {held_events:,}, raise it to {_round_up(1.2 * events):,}"
    if seen.spec.positive is None:
        return f"add {{name: last_{events}, events: {events}}} {where} ({needs})."
    return f"{by_positives} ({needs})."


def _windows(config: ModelConfig) -> dict[str, Any]:
    """Return the windows with one more, by positives."""
    windows: list[dict[str, Any]] = [
        {"name": w.name, "events": w.events}
        if w.events is not None
        else {"name": w.name, "positives": w.positives}
        if w.duration is None
        else {"name": w.name, "duration": format_duration(w.duration)}
        for w in config.windows
    ]
    return {"windows": [*windows, {"name": f"last_{_PROPOSED}_positives", "positives": _PROPOSED}]}


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.3g} events/s and "


def _about(count: float) -> str:
    return f"{count:,.0f}" if count >= 10 else f"{count:.2g}"


def _points(count: float) -> str:
    """Return half the width of a 95% interval of a recall of 80%, in points."""
    return f"± {100 * 1.96 * math.sqrt(0.8 * 0.2 / count):.0f} points"


def _round_up(number: float) -> int:
    """Return the next number with one digit that is not 0."""
    unit = 10 ** math.floor(math.log10(number))
    return int(math.ceil(number / unit - 1e-9) * unit)


def _span(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} seconds"
