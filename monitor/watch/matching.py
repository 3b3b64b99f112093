"""Which events of a version each rule is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from monitor.alerts.alert import Key
from monitor.alerts.rule import Rule
from monitor.events.spec import ModelSpec
from monitor.events.vocabulary import MISSING
from monitor.watch.binding import classes
from monitor.watch.matured import Matured

Match = tuple[str, str, str, str]
"""Rule, model, segment and class: what a rule watches in each version."""

SegmentName = Callable[[str, str, int], str | None]
"""Returns the value of a model's segment key that has a code."""


class Present(NamedTuple):
    """Events that a key is about, at least one."""

    key: Key
    rule: Rule
    events: Matured


def match_of(key: Key) -> Match:
    """Return what a key is a version of."""
    return key.alert, key.model, key.segment, key.class_


def present(
    rules: Iterable[Rule],
    spec: ModelSpec,
    segment_name: SegmentName,
    model: str,
    version: str,
    events: Matured,
) -> Iterator[Present]:
    """Yield what the rules match in the events of a version."""
    parts: dict[str, list[tuple[str, Matured]]] = {}
    for rule in rules:
        if rule.model not in ("*", model):
            continue
        of_model = classes(rule, spec)
        if of_model and rule.segment not in parts:
            parts[rule.segment] = list(_segments(rule.segment, spec, segment_name, model, events))
        for class_ in of_model:
            for segment, part in parts[rule.segment]:
                yield Present(Key(rule.name, model, version, "", segment, class_), rule, part)


def _segments(
    wanted: str, spec: ModelSpec, segment_name: SegmentName, model: str, events: Matured
) -> Iterator[tuple[str, Matured]]:
    if not wanted:
        yield "", events
        return
    key, _, value = wanted.partition("=")
    if key not in spec.segments:
        return
    codes = events.columns.segments[:, spec.segments.index(key)]
    for code in np.unique(codes).tolist():
        name = None if code == MISSING else segment_name(model, key, code)
        if name is not None and value in ("*", name):
            yield f"{key}={name}", events.select(codes == code)
