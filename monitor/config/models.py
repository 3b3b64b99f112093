"""What is watched: the `models` section."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictFloat, Tag

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
    Words,
    as_written,
    between,
    by_kind,
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


def _at_k(value: object) -> object:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if not (whole or (isinstance(value, float) and 0 < value < 1)):
        shown = value if isinstance(value, float) else show(value)  # 1.0 is no 1 here
        raise ValueError(f"{shown} is no k; write a whole number from 1, or a share between 0 and 1")
    return value


NonNegative = Annotated[StrictFloat, between(0)]
Share = Annotated[StrictFloat, between(0, 1, open_low=True, open_high=True)]
AtK = Annotated[int | float, BeforeValidator(_at_k), Words("number or share")]
Matrix = Annotated[tuple[tuple[NonNegative, ...], ...], Words("matrix")]


class WindowConfig(Section):
    """One window: the newest events by count, by time, or back to the N-th newest positive."""

    refused: ClassVar[Mapping[str, str]] = {"approximate": NOT_YET}

    name: Annotated[Name, AfterValidator(_window_name)]
    """value of the label `window`; unique, not `all`"""
    events: Count | None = None
    """the newest N events; at most `limits.held_events`"""
    duration: PositiveDuration | None = None
    """the events of this time; exactly one of the three is set"""
    positives: Count | None = None
    """binary: as many of the newest events as hold N positives"""

    def problems(self) -> Iterator[Problem]:
        """Yield whether the extent is given other than once."""
        if sum(extent is not None for extent in (self.events, self.duration, self.positives)) != 1:
            yield Problem((), "write exactly one of events, duration and positives")


class CostsConfig(Section):
    """What wrong decisions of a binary or multilabel model cost, in any unit."""

    false_negative: Cost
    """cost of a miss"""
    false_positive: Cost
    """cost of a false alarm; the beta of F-beta is the root of their ratio"""


class ChampionConfig(Section):
    """Where the champion's version is written."""

    mlflow_alias: Name
    """the version that has this alias in the MLflow of an action `type: mlflow`"""


class VersionConfig(Section):
    """What one version does in its own way."""

    classes: Names
    """the order of this version's score vectors: the same classes"""


class ModelConfig(Section):
    """How the events of one model are read and what is computed from them."""

    refused: ClassVar[Mapping[str, str]] = {"cluster": NOT_YET}

    task: Literal["binary", "multiclass", "multilabel"]
    """two classes and one score; one of several classes; any number of them"""
    classes: Names
    """all classes, in the order of score vectors and of integer labels"""
    positive_class: Name | None = Field(
        default_factory=lambda model: (
            model["classes"][-1] if model["task"] == "binary" and model["classes"] else None
        )
    )
    """binary: the class that scores are of"""
    labels: Literal["auto", "names", "indices"] = "auto"
    """whether an integer label is a name or an index; `auto`: a name if every class name is an integer"""
    aliases: Mapping[Name, Name] = {}
    """further texts for classes, as in `{POS: fraud}`"""
    scores: Literal["probability", "logit"] = "probability"
    """what scores are; probabilities of logits are their sigmoid, multiclass: softmax"""
    temperature: Cost = 1.0
    """divides logits before they become probabilities"""
    threshold: Annotated[
        Annotated[Probability, Tag("[text]")] | Annotated[Mapping[Name, Probability], Tag("[mapping]")],
        by_kind("a number, or a mapping of class to number"),
    ] = 0.5
    """
    a probability of this or more decides for the (positive) class; multilabel: classes left out have 0.5
    """
    max_fpr: Annotated[tuple[Rate, ...], DISTINCT] = as_written([0.05, 0.1])
    """false-positive rates of partial ROC AUC and of recall at FPR"""
    min_recall: Rate | None = None
    """recall that the best threshold by `min_fpr_at_recall` must reach"""
    top_k: Annotated[tuple[Count, ...], DISTINCT] = ()
    """multiclass: numbers of greatest scores among which the true class counts as found"""
    at_k: Annotated[tuple[AtK, ...], DISTINCT, Words("list of numbers or shares")] = ()
    """
    how many of the highest-scored events precision and recall at k are about; `0.01`: of the window's
    events
    """
    costs: (
        Annotated[
            Annotated[CostsConfig, Tag("[mapping]")] | Annotated[Matrix, Tag("[list]")],
            by_kind("{false_negative: …, false_positive: …}, or a matrix as a list of lists"),
        ]
        | None
    ) = None
    """
    what wrong decisions cost, in any unit; multiclass: a list for each true class of the cost of each
    decision, in the order of `classes`
    """
    reference_prevalence: (
        Annotated[
            Annotated[Share, Tag("[text]")] | Annotated[Mapping[Name, Share], Tag("[mapping]")],
            by_kind("a number, or a mapping of class to number"),
        ]
        | None
    ) = None
    """prevalence at which precision and average precision are shown, too"""
    windows: tuple[WindowConfig, ...] = as_written(
        [{"name": "last_10k", "events": 10_000}, {"name": "1h", "duration": "1h"}]
    )
    """the window `all` is always there beside them"""
    segments: Annotated[tuple[Annotated[Name, AfterValidator(_segment_key)], ...], DISTINCT] = ()
    """segment keys that are told apart"""
    label_maturity: Duration = as_written("0s")
    """
    how long after an event its label can be trusted; has to be written where a rule of the model has
    actions
    """
    versions: Mapping[Name, VersionConfig] = {}
    """versions that differ"""
    champion: (
        Annotated[
            Annotated[Name, Tag("[text]")] | Annotated[ChampionConfig, Tag("[mapping]")],
            by_kind("a version, or {mlflow_alias: NAME}"),
        ]
        | None
    ) = None
    """the version that rules with `compare_to: champion` hold others against"""
    preset: Literal["high_cost", "low_cost"] | None = None
    """
    which metrics come first on the page, in Grafana and in suggested alerts; `high_cost`: a miss costs far
    more than a false alarm; `low_cost`: somebody works through a list
    """

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
    def thresholds(self) -> tuple[float, ...]:
        """Probability from which on each scored class is decided; empty in multiclass tasks."""
        if self.task == "multiclass":
            return ()
        return self._of_scored(self.threshold, 0.5)

    @property
    def reference_prevalences(self) -> tuple[float, ...] | None:
        """Reference prevalence of each scored class, None without."""
        given = self.reference_prevalence
        return None if given is None else self._of_scored(given, 0.0)

    @property
    def cost_values(self) -> tuple[float, float] | Matrix | None:
        """Cost of a false negative and of a false positive, or the matrix of costs, None without."""
        if isinstance(self.costs, CostsConfig):
            return self.costs.false_negative, self.costs.false_positive
        return self.costs

    def _of_scored(self, given: float | Mapping[str, float], default: float) -> tuple[float, ...]:
        names = self.classes if self.positive is None else (self.classes[self.positive],)
        if isinstance(given, Mapping):
            return tuple(given.get(name, default) for name in names)
        return (given,) * len(names)

    def problems(self) -> Iterator[Problem]:
        """Yield what does not fit together."""
        yield from self._class_problems()
        yield from self._task_problems()
        yield from self._by_class_problems()
        yield from self._cost_problems()
        if self.scores != "logit" and self.temperature != 1:
            yield Problem(("temperature",), "divides logits; write scores: logit, or remove it")
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

    def _task_problems(self) -> Iterator[Problem]:
        for i, k in enumerate(self.top_k):
            if self.task != "multiclass":
                yield Problem(("top_k",), "is for multiclass models; remove it")
                break
            if k >= len(self.classes):
                yield Problem(
                    ("top_k", i), f"{k} of {len(self.classes)} classes are always right; write less"
                )
        if self.task == "binary":
            if self.positive_class not in self.classes:
                yield Problem(("positive_class",), unknown(self.positive_class, self.classes, "class"))
            return
        if self.positive_class is not None:
            yield Problem(("positive_class",), "is for binary models; remove it")
        if self.task == "multiclass" and "threshold" in self.model_fields_set:
            yield Problem(
                ("threshold",), "is not for multiclass models; remove it (the greatest score decides)"
            )
        for i, window in enumerate(self.windows):
            if window.positives is not None:
                yield Problem(("windows", i, "positives"), "is for binary models; write events or duration")

    def _by_class_problems(self) -> Iterator[Problem]:
        for key in ("threshold", "reference_prevalence"):
            given = getattr(self, key)
            if not isinstance(given, Mapping):
                if key == "reference_prevalence" and given is not None and self.task != "binary":
                    yield Problem((key,), "write one for each class, as in {A: 0.1, B: 0.02}")
                continue
            if self.task == "binary":
                yield Problem((key,), "write a number: a binary model has one positive class")
                continue
            for name in given:
                if name not in self.classes:
                    yield Problem((key, name), unknown(name, self.classes, "class"))
            if key == "reference_prevalence" and (missing := set(self.classes) - given.keys()):
                yield Problem((key,), f"lacks {', '.join(sorted(missing))}; write one for each class")

    def _cost_problems(self) -> Iterator[Problem]:
        size = len(self.classes)
        if self.task == "multiclass":
            if isinstance(self.costs, CostsConfig):
                yield Problem(
                    ("costs",),
                    f"write a matrix of {size} lists of {size} numbers: a row for each true class, a column "
                    "for each decision",
                )
            elif self.costs is not None and [len(row) for row in self.costs] != [size] * size:
                yield Problem(("costs",), f"write {size} lists of {size} numbers, in the order of classes")
        elif self.costs is not None and not isinstance(self.costs, CostsConfig):
            yield Problem(
                ("costs",), "a matrix is for multiclass models; write {false_negative: …, false_positive: …}"
            )


def unknown(name: Any, known: tuple[str, ...], kind: str) -> str:
    """Return the message on a name that is none of the known ones."""
    close = difflib.get_close_matches(str(name), known, n=1)
    remedy = f"did you mean {show(close[0])}?" if close else f"write one of {', '.join(known)}"
    return f"{show(name)} is no {kind}; {remedy}"


def _is_integer(name: str) -> bool:
    return name.removeprefix("-").isascii() and name.removeprefix("-").isdigit() and str(int(name)) == name
