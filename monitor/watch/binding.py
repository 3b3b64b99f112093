"""Rules bound to a model: what is observed of its events, by which procedure, and which classes there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from monitor.alerts.explain import wrong_decision_cost
from monitor.alerts.rule import CALIBRATION, Rule
from monitor.detection import (
    CalibrationMap,
    Procedure,
    calibration,
    difference_ceiling,
    identity_logit,
    mean_ceiling,
    mean_floor,
    proportion_floor,
)
from monitor.events.batch import Columns
from monitor.events.spec import ModelSpec
from monitor.watch import decisions, probabilities
from monitor.watch.decisions import Costs
from monitor.watch.measures import Measure, Observed
from monitor.watch.probabilities import Subset
from monitor.watch.ranking import Ranking
from monitor.watch.terms import Calibrated, Difference, Level, Terms

_RANKED = ("classifier_roc_auc", "classifier_partial_roc_auc")


class Baseline(Protocol):
    """A stored reference, as far as detectors need one."""

    @property
    def last_event(self) -> int:
        """Event time of its newest event, in microseconds."""

    def groups(self, class_: str) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Return scores, positives and events of a class."""

    def bound(
        self, family: str, class_: str, labels: Mapping[str, str], side: Literal["floor", "ceiling"]
    ) -> float | None:
        """Return the bound of a metric that a limit is made of."""


class Unbound(Exception):
    """A rule cannot watch a model; the message is a code that says why."""


@dataclass(frozen=True, slots=True)
class Bound:
    """How a rule watches one class of a model.

    Attributes
    ----------
    procedure, terms, cost, after
        As in `monitor.watch.detector.Plan`.
    observe
        What is observed of events; None where that depends on the past.
    ranking
        Makes what does; None otherwise.
    by_label
        As in `monitor.watch.measures.Measure`.
    """

    procedure: Procedure
    terms: Terms
    observe: Callable[[Columns], Observed] | None = None
    ranking: Callable[[], Ranking] | None = None
    by_label: bool = True
    cost: float | None = None
    after: int | None = None


def classes(rule: Rule, spec: ModelSpec) -> Sequence[str]:
    """Return the names of the classes of a model that a rule is about, "" for the whole."""
    available = _available(rule.metric, spec)
    if rule.class_ == "*":
        return [name for name in available if name]
    return [rule.class_] if rule.class_ in available else []


def _available(metric: str, spec: ModelSpec) -> Sequence[str]:
    scored = [spec.classes[code] for code in spec.scored]
    if metric in ("classifier_accuracy",):
        return [""]
    if metric == "classifier_brier_score":
        return ["", *scored]
    if metric == "classifier_expected_cost":
        return {"binary": scored, "multiclass": [""], "multilabel": [*scored, ""]}[spec.task]
    return scored if metric in (CALIBRATION, *_RANKED) else spec.classes


def bind(
    rule: Rule, spec: ModelSpec, class_: str, costs: Costs | None, baselines: Mapping[str, Baseline]
) -> Bound:
    """Return how a rule watches a class of a model.

    Raises
    ------
    Unbound
        If it cannot.
    """
    code = spec.classes.index(class_) if class_ else None
    if rule.metric == CALIBRATION:
        assert code is not None
        return _calibration(rule, spec, code, baselines)
    baseline = baselines[rule.limit.name] if rule.limit.kind == "baseline" else None
    pair = costs if costs is not None and not isinstance(costs[0], tuple) else None
    positive = None if spec.positive is None else spec.classes[spec.positive]
    cost = wrong_decision_cost(rule.metric, class_, pair, positive)
    after = None if baseline is None else baseline.last_event
    if rule.metric in _RANKED:
        assert code is not None
        max_fpr = float(rule.labels.get("max_fpr", 1.0))
        level = Level(_limit(rule, class_, baseline), 1.0, proportion=False)
        return Bound(
            _procedure(rule, level), level, ranking=lambda: Ranking(spec, code, max_fpr), after=after
        )
    measure = _measure(rule, spec, code, costs)
    if rule.limit.kind == "champion":
        difference = Difference(
            rule.limit.margin, measure.scale, measure.proportion, greater_is_better=rule.side == "floor"
        )
        procedure = _made(lambda: difference_ceiling(difference.margin / measure.scale, rule.threshold))
        return Bound(procedure, difference, measure.observe, by_label=measure.by_label, cost=cost)
    level = Level(_limit(rule, class_, baseline), measure.scale, measure.proportion)
    return Bound(_procedure(rule, level), level, measure.observe, cost=cost, after=after)


def _measure(rule: Rule, spec: ModelSpec, code: int | None, costs: Costs | None) -> Measure:
    if rule.metric == "classifier_accuracy":
        return decisions.accuracy(spec)
    if rule.metric == "classifier_brier_score":
        return probabilities.brier_score(spec, code, cast(Subset, rule.labels.get("subset", "all")))
    if rule.metric == "classifier_expected_cost":
        of_pair = code if spec.task == "multilabel" else spec.positive
        measure = None if costs is None else decisions.expected_cost(spec, of_pair, costs)
    else:
        measure = None if code is None else decisions.of_class(rule.metric, code)
    if measure is None:
        raise Unbound("no_costs" if rule.metric == "classifier_expected_cost" else "no_detector")
    return measure


def _calibration(rule: Rule, spec: ModelSpec, code: int, baselines: Mapping[str, Baseline]) -> Bound:
    procedure = calibration(rule.shift, rule.slope, rule.threshold)
    logit, after = identity_logit, None
    if rule.baseline:
        baseline = baselines[rule.baseline]
        try:
            logit = CalibrationMap.fit(*baseline.groups(spec.classes[code])).logit
        except (KeyError, ValueError):
            raise Unbound("baseline_without_map") from None
        after = baseline.last_event
    return Bound(procedure, Calibrated(), probabilities.calibration(spec, code, logit), after=after)


def _limit(rule: Rule, class_: str, baseline: Baseline | None) -> float:
    if baseline is None:
        assert rule.limit.number is not None
        return rule.limit.number
    bound = baseline.bound(rule.metric, class_, rule.labels, rule.side)
    if bound is None:
        raise Unbound("baseline_without_bound")
    return bound - rule.limit.margin if rule.side == "floor" else bound + rule.limit.margin


def _procedure(rule: Rule, level: Level) -> Procedure:
    limit = level.limit / level.scale
    if rule.side == "ceiling":
        return _made(lambda: mean_ceiling(limit, rule.threshold))
    of_floor = proportion_floor if level.proportion else mean_floor
    return _made(lambda: of_floor(limit, rule.threshold))


def _made(make: Callable[[], Procedure]) -> Procedure:
    try:
        return make()
    except ValueError:
        raise Unbound("limit_out_of_range") from None
