"""The place that one key of a rule has: its detector, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.alerts.alert import Evidence, Key
from monitor.alerts.rule import Rule
from monitor.detection import Statistic
from monitor.watch.binding import Bound
from monitor.watch.detector import Detector, Look, Plan
from monitor.watch.ranking import Ranking
from monitor.watch.remembering import Remembered, memory_of, remembered


@dataclass(slots=True)
class Post:
    """A place.

    Attributes
    ----------
    key, rule
        Whose.
    since
        Event time of its beginning.
    detector
        None where the rule cannot watch, for `reason`.
    ranking
        What observes, where that depends on the past.
    reason
        A code.
    firing, direction
        Of the detector before, while there is none.
    """

    key: Key
    rule: Rule
    since: int
    detector: Detector | None = None
    ranking: Ranking | None = None
    reason: str | None = None
    firing: bool = False
    direction: str = ""

    @classmethod
    def of(cls, key: Key, rule: Rule, since: int, bound: Bound | str) -> Post:
        """Return a new place; `bound` how the rule watches, or why it cannot."""
        if isinstance(bound, str):
            return cls(key, rule, since, reason=bound)
        plan = Plan(rule, key, bound.procedure, bound.terms, bound.cost, bound.after)
        ranking = None if bound.ranking is None else bound.ranking()
        return cls(key, rule, since, Detector(plan, since), ranking)

    def go_on(self, firing: bool, direction: str) -> None:
        """Fire until that is cleared, if the place fired before."""
        if self.detector is None:
            self.firing, self.direction = firing, direction
            return
        procedure = self.detector.plan.procedure
        if firing and direction in procedure.clearing:
            fresh = Statistic.fresh(procedure, firing=True, direction=direction)
            self.detector.memory.statistic = fresh

    def renewed(self, bound: Bound | str) -> Post:
        """Return the place with another detector, which goes on firing."""
        if self.detector is None:
            post = Post.of(self.key, self.rule, self.since, bound)
            post.go_on(self.firing, self.direction)
        else:
            memory = self.detector.memory
            post = Post.of(self.key, self.rule, memory.last, bound)
            post.go_on(memory.statistic.firing, memory.statistic.direction)
        return post

    def look(self) -> Look:
        """Return the detector as it is now, also one that cannot judge."""
        if self.detector is None:
            evidence = Evidence(undefined=self.reason)
            return Look(
                self.rule, self.key, self.firing, False, self.reason, evidence, self.since, self.since
            )
        return self.detector.look(None if self.ranking is None else self.ranking.reason)

    def remembered(self) -> Remembered:
        """Return what is to be remembered."""
        return remembered(
            self.key,
            self.since,
            "" if self.detector is None else _mark(self.detector.plan),
            None if self.detector is None else self.detector.memory,
            {} if self.ranking is None else self.ranking.arrays(),
            firing=self.firing,
            direction=self.direction,
        )

    def resume(self, row: Remembered) -> None:
        """Go on from what was remembered: where limits are others, only with what fired.

        Raises
        ------
        ValueError
            It is of no detector like that.
        """
        if self.detector is None or row.mark != _mark(self.detector.plan):
            self.go_on(row.firing, row.direction)
            return
        self.detector.memory = memory_of(row, self.detector.plan)
        if self.ranking is not None:
            self.ranking.resume({"reference": row.reference, "filling": row.filling})


def _mark(plan: Plan) -> str:
    """Return what a detector's limit is made of beside its rule."""
    return f"{plan.terms} {plan.after}"
