"""What people hold back: pauses of everything, and silences of some alerts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from monitor.actions.plain import take, take_optional
from monitor.actions.spec import DAY
from monitor.alerts.alert import Alert

MAX_SILENCE = 30 * DAY
MAX_SILENCES = 100


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent: by whom, since when, until when (microseconds; None: until somebody resumes)."""

    by: str
    since: int
    until: int | None = None

    def tree(self) -> dict[str, Any]:
        """Return plain data."""
        return {"by": self.by, "since": self.since, "until": self.until}


@dataclass(frozen=True, slots=True)
class Silence:
    """Alerts that lead to no action for a while (microseconds).

    Attributes
    ----------
    matchers
        Labels that an alert must have: the text itself, or the beginning of one before a last ``*``.
    """

    id: str
    matchers: Mapping[str, str]
    since: int
    until: int
    by: str
    comment: str

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an alert with these labels is meant; a label that it lacks is empty."""
        return all(_fits(wanted, labels.get(name, "")) for name, wanted in self.matchers.items())

    def tree(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "id": self.id,
            "matchers": dict(self.matchers),
            "since": self.since,
            "until": self.until,
            "by": self.by,
            "comment": self.comment,
        }


def silence_labels(alert: Alert) -> dict[str, str]:
    """Return the labels that silences look at: the rule's own, its severity, and those of the alert."""
    return {**alert.rule.extra_labels, "severity": alert.rule.severity, **alert.key.labels}


def silence_for(silences: Iterable[Silence], alert: Alert, now: int) -> Silence | None:
    """Return a silence that holds an alert, None where none does."""
    labels = silence_labels(alert)
    return next((each for each in silences if now < each.until and each.matches(labels)), None)


def pause_of(tree: Any) -> Pause:
    """Return a pause from its plain data; ValueError if that is damaged."""
    return Pause(take(tree, "by", str), take(tree, "since", int), take_optional(tree, "until", int))


def silence_of(tree: Any) -> Silence:
    """Return a silence from its plain data; ValueError if that is damaged."""
    matchers = take(tree, "matchers", dict)
    if not all(isinstance(each, str) for each in matchers.values()):
        raise ValueError(f"a silence has the matchers {matchers!r:.200}")
    return Silence(
        take(tree, "id", str),
        matchers,
        take(tree, "since", int),
        take(tree, "until", int),
        take(tree, "by", str),
        take(tree, "comment", str),
    )


def _fits(wanted: str, value: str) -> bool:
    return value.startswith(wanted[:-1]) if wanted.endswith("*") else value == wanted
