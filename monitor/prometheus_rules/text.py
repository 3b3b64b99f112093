"""Texts with numbers in them: as Go templates for Prometheus, and as what Prometheus makes of those.

A rule's text is a list of pieces. The second form is for the tests that are generated beside the rules: they
compare what promtool renders with it, letter by letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Firing:
    """One alert that fires.

    Attributes
    ----------
    labels
        Of the expression's result.
    value
        Of the expression's result.
    windows
        What is exported for these labels: family -> window -> value.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    value: float = 1.0
    windows: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


class Piece(Protocol):
    """A part of a text that depends on the alert."""

    def template(self) -> str:
        """Return it as a Go template."""

    def shown(self, firing: Firing) -> str:
        """Return what it is for an alert."""


Text = Sequence[str | Piece]


def template(text: Text) -> str:
    """Return a text as Prometheus takes it: literal parts cannot begin a template."""
    return "".join(literal(piece) if isinstance(piece, str) else piece.template() for piece in text)


def shown(text: Text, firing: Firing) -> str:
    """Return a text as Prometheus shows it."""
    return "".join(piece if isinstance(piece, str) else piece.shown(firing) for piece in text)


def literal(text: str) -> str:
    """Escape what would begin a template."""
    return text.replace("{", '{{"{"}}')


def quote(text: str) -> str:
    """Return a text as a string of PromQL, which is one of Go too."""
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Label:
    """A label, with what stands around it; nothing at all where the alert lacks it."""

    name: str
    before: str = ""
    after: str = ""

    def template(self) -> str:
        """Return it as a Go template."""
        return (
            f"{{{{ with $labels.{self.name} }}}}{literal(self.before)}{{{{ . }}}}{literal(self.after)}"
            "{{ end }}"
        )

    def shown(self, firing: Firing) -> str:
        """Return what it is for an alert."""
        found = firing.labels.get(self.name, "")
        return f"{self.before}{found}{self.after}" if found else ""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of the expression."""

    unit: Literal["number", "ratio", "seconds"] = "number"

    def template(self) -> str:
        """Return it as a Go template."""
        function = {"number": 'printf "%.4g"', "ratio": "humanizePercentage", "seconds": "humanizeDuration"}
        return f"{{{{ $value | {function[self.unit]} }}}}"

    def shown(self, firing: Firing) -> str:
        """Return what it is for an alert."""
        if self.unit == "ratio":
            return f"{firing.value * 100:.4g}%"
        return _duration(firing.value) if self.unit == "seconds" else f"{firing.value:.4g}"


@dataclass(frozen=True, slots=True)
class Windows:
    """What a family is in each window of the version, segment and class; nothing where it is not exported.

    `labels` are those that the family has beyond these.
    """

    family: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def template(self) -> str:
        """Return it as a Go template."""
        names = ("model", "version", "segment", "class")
        matchers = [f"{name}=%q" for name in (*names, *self.labels)]
        query = quote(f"max by (window) ({self.family}{{{','.join(matchers)}}})")
        values = " ".join((*(f"$labels.{name}" for name in names), *map(quote, self.labels.values())))
        return (
            f"{{{{ with query (printf {query} {values}) }}}} {self._name} is now"
            '{{ range $i, $found := . | sortByLabel "window" }}{{ if $i }},{{ end }} '
            '{{ $found.Value | printf "%.4g" }} ({{ $found.Labels.window }}){{ end }}.{{ end }}'
        )

    def shown(self, firing: Firing) -> str:
        """Return what it is for an alert."""
        found = firing.windows.get(self.family)
        if not found:
            return ""
        each = ", ".join(f"{value:.4g} ({window})" for window, value in sorted(found.items()))
        return f" {self._name} is now {each}."

    @property
    def _name(self) -> str:
        return self.family.removeprefix("classifier_").replace("_", " ").capitalize()


def _duration(seconds: float) -> str:
    """Return positive seconds as `humanizeDuration` does."""
    if seconds < 1:
        return f"{seconds * 1000:.4g}ms"
    if seconds < 60:
        return f"{seconds:.4g}s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [f"{days}d", f"{hours}h", f"{minutes}m", f"{rest}s"]
    return " ".join(parts[0 if days else 1 if hours else 2 :])
