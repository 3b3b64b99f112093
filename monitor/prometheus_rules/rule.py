"""A rule for Prometheus together with the scenes that test it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from monitor.prometheus_rules.text import Firing, Text, quote


@dataclass(frozen=True, slots=True)
class Look:
    """What holds so many minutes after the beginning of a scene."""

    minute: int
    firing: tuple[Firing, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """Series, minute by minute in promtool's notation, and what a rule makes of them.

    Time begins at 0, so that after 40 minutes `time()` is 2400.
    """

    series: Mapping[str, str]
    looks: tuple[Look, ...]


@dataclass(frozen=True, slots=True)
class AlertRule:
    """One alert rule; times in seconds.

    Attributes
    ----------
    name, expr
        As Prometheus has them.
    severity, labels
        What it adds to the labels of the expression, for routing. An empty label is taken away.
    summary, description
        For people.
    runbook_url
        Link, None: the section of its name.
    wait, keep
        `for` and `keep_firing_for`.
    scenes
        When it fires, and when it does not.
    """

    name: str
    expr: str
    severity: str
    summary: Text
    description: Text
    scenes: tuple[Scene, ...]
    wait: float = 0.0
    keep: float = 0.0
    labels: Mapping[str, str] = field(default_factory=dict)
    runbook_url: str | None = None


@dataclass(frozen=True, slots=True)
class RecordingRule:
    """One recording rule, and what it records, as label text -> value, after `minute` minutes of `series`."""

    name: str
    expr: str
    series: Mapping[str, str]
    minute: int
    recorded: Mapping[str, float]


def series(name: str, **labels: str) -> str:
    """Return a series, or the selector of the series that have these labels; `class_` is written `class`."""
    written = ",".join(f"{label.rstrip('_')}={quote(value)}" for label, value in labels.items())
    return f"{name}{{{written}}}"


def promtime(seconds: float) -> str:
    """Return a duration as Prometheus writes it, in its largest whole unit."""
    milliseconds = round(seconds * 1000)
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)):
        if milliseconds % size == 0 and milliseconds:
            return f"{milliseconds // size}{unit}"
    return f"{milliseconds}ms"
