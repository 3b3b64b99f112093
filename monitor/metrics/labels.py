"""Labels of values beyond model, version, window and segment.

A metric of a batch names its labels by where their values come from: the models of the batch differ in
the names of their classes, in their rates and costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from monitor.metrics.parameters import Parameters


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A label and the values that it has for one model, in order. It is itself alone: quick to look up."""

    label: str
    values: Callable[[Parameters], tuple[str, ...]]


Labels = tuple[Axis, ...]
"""Every combination of the axes' values, the last axis fastest; () is one value without labels."""

LabelSets = tuple[Labels, ...]
"""Label sets one after the other."""


def other_name(classes: tuple[str, ...]) -> str:
    """Return the name for decisions for none of the classes: "other", in parentheses if it is taken."""
    name = "other"
    while name in classes:
        name = f"({name})"
    return name


@lru_cache(maxsize=256)
def constant(label: str, *values: str) -> Axis:
    """Return a label whose values are the same for every model; equal ones are one object."""
    return Axis(label, lambda _: values)


def _true(p: Parameters) -> tuple[str, ...]:
    return ("0", "1") if p.task == "multilabel" else p.classes


def _predicted(p: Parameters) -> tuple[str, ...]:
    return ("0", "1") if p.task == "multilabel" else (*p.classes, other_name(p.classes))


CLASS = Axis("class", lambda p: p.classes)
SCORED = Axis("class", lambda p: p.scored)
WHOLE = constant("class", "")
TRUE = Axis("true", _true)
PREDICTED = Axis("predicted", _predicted)
MAX_FPR = Axis("max_fpr", lambda p: tuple(map(repr, p.max_fpr)))
BETA = Axis("beta", lambda p: () if p.beta is None else (repr(p.beta),))
AT_K = Axis("k", lambda p: tuple(map(repr, p.at_k)))
TOP_K = Axis("k", lambda p: tuple(map(repr, p.top_k)))


@lru_cache(maxsize=1 << 16)
def label_sets(labels: LabelSets, parameters: Parameters) -> tuple[dict[str, str], ...]:
    """Return the label sets of one model, in the order of the values; not to be changed."""
    return tuple(
        dict(zip((axis.label for axis in axes), values, strict=True))
        for axes in labels
        for values in product(*(axis.values(parameters) for axis in axes))
    )
