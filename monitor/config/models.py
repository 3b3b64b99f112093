"""What is watched: the `models` section."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from monitor.config.section import Problem, Section
from monitor.config.values import (
    DISTINCT,
    NOT_YET,
    Cost,
    Count,
    Duration,
    Name,
    Names,
    PositiveDuration,
    Probability,
    Rate,
    as_written,
    refuse,
    show,
)

MOST_CLASSES = 32_766
"""Class codes are int16, with one more column for decisions that are none of the classes."""


def _window_name(name: str) -> str:
    if name == "all":
        raise ValueError("'all' is the name of the cumulative state; choose another name")
    return name


def _segment_key(key: str) -> str:
    if "=" in key:
        raise ValueError(f"{show(key)} has a '=', which separates key and value; choose another key")
    return key


def _no_matrix(value: object) -> object:
    if isinstance(value, list):
        raise ValueError(f"a cost matrix is {NOT_YET}, or write {{false_negative: …, false_positive: …}}")
    return value


class WindowConfig(Section):
    """One window: the newest events by count, by time, or back to the N-th newest positive."""

    refused: ClassVar[Mapping[str, str]] = {"approximate": NOT_YET}

    name: Annotated[Name, AfterValidator(_window_name)]
    events: Count | None = None
    duration: PositiveDuration | None = None
    positives: Count | None = None

    def problems(self) -> Iterator[Problem]:
        """Yield whether the extent is given other than once."""
        if sum(extent is not None for extent in (self.events, self.duration, self.positives)) != 1:
            yield Problem((), "write exactly one of events, duration and positives")


class CostsConfig(Section):
    """What wrong decisions of a binary model cost, in any unit."""

    false_negative: Cost
    false_positive: Cost


class VersionConfig(Section):
    """What one version does in its own way."""

    classes: Names


class ModelConfig(Section):
    """How the events of one model are read and what is computed from them."""

    refused: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("min_recall", "top_k", "at_k", "reference_prevalence", "champion", "temperature", "cluster"), NOT_YET
    )

    task: Annotated[
        Literal["binary", "multiclass"], refuse("multilabel", "not supported yet; write binary or multiclass")
    ]
    classes: Names
    positive_class: Name | None = Field(
        default_factory=lambda model: (
            model["classes"][-1] if model["task"] == "binary" and model["classes"] else None
        )
    )
    labels: Literal["auto", "names", "indices"] = "auto"
    aliases: Mapping[Name, Name] = {}
    scores: Annotated[Literal["probability"], refuse("logit", "not supported yet; send probabilities")] = (
        "probability"
    )
    threshold: Probability = 0.5
    max_fpr: Annotated[tuple[Rate, ...], DISTINCT] = as_written([0.05, 0.1])
    costs: Annotated[CostsConfig | None, BeforeValidator(_no_matrix)] = None
    windows: tuple[WindowConfig, ...] = as_written(
        [{"name": "last_10k", "events": 10_000}, {"name": "1h", "duration": "1h"}]
    )
    segments: Annotated[tuple[Annotated[Name, AfterValidator(_segment_key)], ...], DISTINCT] = ()
    label_maturity: Duration = as_written("0s")
    versions: Mapping[Name, VersionConfig] = {}

    @property
    def positive(self) -> int | None:
        """Index of the positive class (binary), else None."""
        return None if self.positive_class is None else self.classes.index(self.positive_class)

    @property
    def scored_classes(self) -> int:
        """How many classes have a score: the positive one (binary), or all."""
        return 1 if self.task == "binary" else len(self.classes)

    @property
    def integers(self) -> Literal["names", "indices"]:
        """What an integer label means: a class name where every name is an integer literal, else an index."""
        if self.labels != "auto":
            return self.labels
        return "names" if all(map(_is_integer, self.classes)) else "indices"

    @property
    def beta(self) -> float | None:
        """Weight of recall against precision that the costs imply; None without costs."""
        return (
            None if self.costs is None else math.sqrt(self.costs.false_negative / self.costs.false_positive)
        )

    def problems(self) -> Iterator[Problem]:
        """Yield what does not fit together."""
        yield from self._class_problems()
        yield from self._binary_problems()
        names = [window.name for window in self.windows]
        for i, window in enumerate(self.windows):
            if window.name in names[:i]:
                yield Problem(("windows", i, "name"), f"{show(window.name)} names another window too")

    def _class_problems(self) -> Iterator[Problem]:
        if self.task == "binary" and len(self.classes) != 2:
            yield Problem(("classes",), f"a binary model has 2 classes, not {len(self.classes)}")
        elif not 2 <= len(self.classes) <= MOST_CLASSES:
            yield Problem(("classes",), f"{len(self.classes)} classes; write from 2 to {MOST_CLASSES}")
        for alias, name in self.aliases.items():
            if name not in self.classes:
                yield Problem(("aliases", alias), unknown(name, self.classes, "class"))
            if alias in self.classes and alias != name:
                yield Problem(("aliases", alias), "is a class itself; remove the alias")
        for version, config in self.versions.items():
            if sorted(config.classes) != sorted(self.classes):
                yield Problem(
                    ("versions", version, "classes"),
                    f"write the same classes in this version's order: {', '.join(self.classes)}",
                )

    def _binary_problems(self) -> Iterator[Problem]:
        if self.task == "binary":
            if self.positive_class not in self.classes:
                yield Problem(("positive_class",), unknown(self.positive_class, self.classes, "class"))
            return
        for key in ("positive_class", "threshold", "costs"):
            if key in self.model_fields_set and getattr(self, key) is not None:
                yield Problem((key,), "is for binary models; remove it (the greatest score decides)")
        for i, window in enumerate(self.windows):
            if window.positives is not None:
                yield Problem(("windows", i, "positives"), "is for binary models; write events or duration")


def unknown(name: Any, known: tuple[str, ...], kind: str) -> str:
    """Return the message on a name that is none of the known ones."""
    close = difflib.get_close_matches(str(name), known, n=1)
    remedy = f"did you mean {show(close[0])}?" if close else f"write one of {', '.join(known)}"
    return f"{show(name)} is no {kind}; {remedy}"


def _is_integer(name: str) -> bool:
    return name.removeprefix("-").isascii() and name.removeprefix("-").isdigit() and str(int(name)) == name
