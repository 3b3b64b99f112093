"""Which metrics of a model come first, on the page and wherever else few are shown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from monitor.report import Names, Value, WindowReport


class Pick(NamedTuple):
    """One number of a window.

    Attributes
    ----------
    family
        Of the exported series.
    subset
        Events that a Brier score is over.
    """

    family: str
    subset: str = "all"


@dataclass(frozen=True, slots=True)
class Preset:
    """What is shown first, and what second."""

    first: tuple[Pick, ...]
    second: tuple[Pick, ...]


_RECALL, _PRECISION, _F1 = (Pick(f"classifier_{name}") for name in ("recall", "precision", "f1"))
_PARTIAL, _BRIER = Pick("classifier_partial_roc_auc"), Pick("classifier_brier_score")
_POSITIVE_BRIER = Pick("classifier_brier_score", "positive")
_PREVALENCE = Pick("classifier_prevalence")

DEFAULT = Preset(
    (_RECALL, _PRECISION, _PARTIAL, _BRIER),
    (_F1, Pick("classifier_average_precision"), _PREVALENCE, Pick("classifier_expected_cost")),
)
"""Of models without a preset."""

PRESETS: Mapping[str, Preset] = {
    # A miss costs far more than a false alarm: what is caught among the first alarms, with which certainty.
    "high_cost": Preset(
        (_PARTIAL, _POSITIVE_BRIER), (Pick("classifier_recall_at_fpr"), Pick("classifier_fbeta"))
    ),
    # Somebody works through a list: how much of it is worth the work.
    "low_cost": Preset(
        (_F1, _PRECISION, _PREVALENCE, Pick("classifier_precision_at_k")), (Pick("classifier_recall_at_k"),)
    ),
}
"""What `models.X.preset` may be."""

RECORDED: tuple[Pick, ...] = tuple(
    dict.fromkeys(
        [
            *(pick for of in (DEFAULT, *PRESETS.values()) for pick in (*of.first, *of.second)),
            Pick("classifier_accuracy"),
        ]
    )
)
"""What the history keeps of every model, whatever its preset."""

AVERAGED = {f"classifier_{name}": f"classifier_{name}_average" for name in ("recall", "precision", "f1")}
"""Where there is no positive class, the macro average stands for the classes."""

HIGH_IS_BAD = frozenset({"classifier_brier_score", "classifier_expected_cost"})
"""Of the picked families; all others are good where they are high."""


class Presets:
    """The preset of every model.

    Parameters
    ----------
    named
        Preset by configured model name; "*" holds for models that are not named.
    models
        All configured names.
    """

    def __init__(self, named: Mapping[str, str] | None = None, models: Iterable[str] = ()) -> None:
        self._named = dict(named or {})
        self._models = frozenset(models)

    def name(self, model: str) -> str | None:
        """Return the name of a model's preset, None where it has none."""
        return self._named.get(model if model in self._models else "*")

    def of(self, model: str) -> Preset:
        """Return a model's preset."""
        name = self.name(model)
        return DEFAULT if name is None else PRESETS[name]

    def first(self, window: WindowReport) -> list[Value]:
        """Return the values of a window that come first; what the task does not have is left out."""
        return list(pick_values(window, self.of(window.model).first))

    def second(self, window: WindowReport) -> list[Value]:
        """Return the values that come second."""
        return list(pick_values(window, self.of(window.model).second))


def families(picks: Iterable[Pick]) -> frozenset[str]:
    """Return the families that `pick_values` looks at."""
    picked = {pick.family for pick in picks}
    return frozenset(picked | {AVERAGED[family] for family in picked & AVERAGED.keys()})


def pick_values(window: WindowReport, picks: Iterable[Pick]) -> Iterator[Value]:
    """Yield one value for each pick that the window has.

    It is of a binary model's positive class. Where there is no such class it is that of the whole or, for
    lack of one, the macro average, or the worst class. Of several false-positive rates it is the largest, of
    several k the first.
    """
    values = window.values
    for first, *others in _candidates(Names.of(values), window.positive_class, tuple(picks)):
        yield _worst([values[first], *(values[place] for place in others)]) if others else values[first]


def _worst(candidates: Sequence[Value]) -> Value:
    sign = -1 if candidates[0].name in HIGH_IS_BAD else 1
    return min(candidates, key=lambda v: (v.value is None, sign * (v.value or 0.0)))


class _Named(NamedTuple):
    """The place of a value, and its labels."""

    place: int
    labels: Mapping[str, str]


@lru_cache(maxsize=32)
def _candidates(names: Names, positive: str | None, picks: tuple[Pick, ...]) -> list[list[int]]:
    """Return the places of the values that each pick chooses from: all that does not depend on numbers."""
    found: dict[str, list[_Named]] = {}
    for place, (family, labels) in enumerate(zip(*names, strict=True)):
        found.setdefault(family, []).append(_Named(place, labels))
    chosen = (_choose(found, pick, positive) for pick in picks)
    return [[value.place for value in values] for values in chosen if values]


def _choose(found: Mapping[str, Sequence[_Named]], pick: Pick, positive: str | None) -> Sequence[_Named]:
    values = _one_parameter(_with(found.get(pick.family, ()), "subset", pick.subset))
    for wanted in (positive, ""):
        for value in values:
            if value.labels.get("class", "") == wanted:
                return [value]
    if positive is None and pick.family not in AVERAGED:
        return values
    return _with(found.get(AVERAGED.get(pick.family, ""), ()), "average", "macro")[:1]


def _one_parameter(values: Sequence[_Named]) -> Sequence[_Named]:
    labels = values[0].labels if values else {}  # all of a family have the same
    if "max_fpr" in labels:
        return _with(values, "max_fpr", largest_fpr(value.labels for value in values))
    return _with(values, "k", labels["k"]) if "k" in labels else values


def largest_fpr(labels: Iterable[Mapping[str, str]]) -> str:
    """Return the largest false-positive rate among the labels of values: the one to show of several."""
    return max((each["max_fpr"] for each in labels), key=float)


def _with(values: Sequence[_Named], label: str, wanted: str) -> Sequence[_Named]:
    """Return the values that have a label, if they have it at all, with this text."""
    return [value for value in values if value.labels.get(label, wanted) == wanted]
