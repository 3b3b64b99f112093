"""Detectors by the plainest reading of what they are: one event at a time, in Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from monitor.alerts.rule import CALIBRATION, Rule
from monitor.detection import Procedure
from monitor.events.spec import ModelSpec
from monitor.watch.matured import Matured


class Event(NamedTuple):
    timestamp: int
    position: int
    true: set[int] | None
    decided: set[int]
    score: list[float] | None
    identity: int


def events_of(matured: Matured, segment: tuple[int, int] | None = None) -> Iterator[Event]:
    """Yield events; `segment` is a column and a code."""
    c, marks = matured
    for i in range(len(c)):
        if segment is not None and c.segments[i, segment[0]] != segment[1]:
            continue
        if c.label.ndim == 1:
            true = None if c.label[i] < 0 else {int(c.label[i])}
            decided = {int(c.decision[i])}
        else:
            true = None if c.label[i, 0] < 0 else set(np.flatnonzero(c.label[i]).tolist())
            decided = set(np.flatnonzero(c.decision[i]).tolist())
        score = None if np.isnan(c.score[i, 0]) else c.score[i].astype(float).tolist()
        identity = 0 if marks.identity is None else int(marks.identity[i])
        yield Event(int(c.timestamp[i]), int(c.position[i]), true, decided, score, identity)


def _p(spec: ModelSpec, score: float) -> float:
    return 1 / (1 + math.exp(-score / spec.temperature)) if spec.raw_logits else score


def observation(rule: Rule, spec: ModelSpec, class_: str, costs: Any, event: Event) -> Any:
    """Return what an event says of a metric that is a mean, on the scale of the metric; None for nothing."""
    if event.true is None:
        return None
    code = spec.classes.index(class_) if class_ else -1
    is_true, is_decided = code in event.true, code in event.decided
    name = rule.metric.removeprefix("classifier_")
    if name == "recall":
        return float(is_decided) if is_true else None
    if name == "precision":
        return float(is_true) if is_decided else None
    if name == "specificity":
        return None if is_true else float(not is_decided)
    if name == "npv":
        return None if is_decided else float(not is_true)
    if name == "accuracy":
        return float(event.true == event.decided)
    if name == "expected_cost":
        if isinstance(costs[0], tuple):
            [true], [decided] = event.true, event.decided
            return max(costs[true]) if decided < 0 else costs[true][decided]
        codes = [code] if code >= 0 else range(len(spec.classes))
        return sum(
            costs[0] * (c in event.true and c not in event.decided)
            + costs[1] * (c not in event.true and c in event.decided)
            for c in codes
        )
    if event.score is None:
        return None
    p = dict(zip(spec.scored, (_p(spec, s) for s in event.score), strict=True))
    if rule.metric == CALIBRATION:
        clipped = min(max(p[code], 1e-3), 1 - 1e-3)
        return math.log(clipped / (1 - clipped)), float(is_true)
    assert name == "brier_score"
    subset = rule.labels["subset"]
    if (subset == "positive" and not is_true) or (subset == "negative" and is_true):
        return None
    errors = {c: ((c in event.true) - each) ** 2 for c, each in p.items()}
    if class_:
        return errors[code]
    return sum(errors.values()) / (len(p) if spec.task == "multilabel" else 1)


def partial_auc(spec: ModelSpec, class_: str, max_fpr: float, pane: int, events: list[Event]) -> list:
    """Return (event, observation) of each positive that has a reference of past negatives."""
    code = spec.classes.index(class_)
    column = spec.scored.index(code)
    found, negatives = [], []
    for event in events:
        if event.true is None or event.score is None:
            continue
        score = event.score[column]
        if code not in event.true:
            negatives.append(score)
            continue
        panes = len(negatives) // pane
        if panes:
            reference = negatives[(panes - 1) * pane : panes * pane]
            above = sum(1.0 * (n > score) + 0.5 * (n == score) for n in reference)
            found.append((event, max(0.0, 1 - above / pane / max_fpr)))
    return found


def crossings(procedure: Procedure, observations: list) -> list[tuple[int, bool, float]]:
    """Return which observations raise and clear, and the statistic, for (event, observation as it is fed)."""
    firing, direction, wealth = False, "", None
    found = []
    for i, x in enumerate(observations):
        evalues = procedure.clearing[direction] if firing else procedure.raising
        factors = evalues.of(np.array([x], float))[0].tolist()
        wealth = [0.0] * len(factors) if wealth is None else wealth
        wealth = [f * (1 + m) for f, m in zip(factors, wealth, strict=True)]
        value = sum(w * m for w, m in zip(evalues.weights.tolist(), wealth, strict=True))
        if value >= procedure.threshold:
            firing = not firing
            if firing:
                parts: dict[str, float] = {}
                for name, w, m in zip(evalues.names, evalues.weights.tolist(), wealth, strict=True):
                    parts[name] = parts.get(name, 0.0) + w * m
                direction = max(parts, key=lambda name: parts[name])
            found.append((i, firing, value))
            wealth = None
    return found
