"""Lets alerts follow what a pipeline has read: detectors here, looks at windows where `run` runs them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future

from monitor.alerting import Present
from monitor.alerts.alert import Transition
from monitor.evaluation import Evaluation
from monitor.pipeline import Pipeline, Snapshot
from monitor.report import Report

log = logging.getLogger(__name__)

Run = Callable[[Callable[[], Evaluation]], "Future[Evaluation]"]


def at_once(evaluate: Callable[[], Evaluation]) -> Future[Evaluation]:
    """Run an evaluation here and now."""
    done: Future[Evaluation] = Future()
    try:
        done.set_result(evaluate())
    except Exception as error:
        done.set_exception(error)
    return done


class Deciding:
    """The decisions of one pipeline, in the order of event time.

    While the windows of a mark are evaluated elsewhere nothing further is decided: what follows would come
    before it.

    Parameters
    ----------
    pipeline
        Must not change during a call of `turn`.
    run
        Runs an evaluation, which needs no lock: `at_once`, or an executor's way to do it later.

    Attributes
    ----------
    until
        Event time up to which everything is decided; None before the first decision.
    failed
        Evaluations, and metrics of one, that failed.
    """

    def __init__(self, pipeline: Pipeline, run: Run = at_once) -> None:
        self._pipeline = pipeline
        self._run = run
        self._pending: tuple[int, Future[Evaluation]] | None = None
        self.until: int | None = None
        self.failed = 0

    @property
    def waits(self) -> bool:
        """Whether windows are being evaluated."""
        return self._pending is not None

    def turn(self, present: Present) -> list[Transition]:
        """Decide up to the frontier, or up to a mark whose windows are still to be evaluated."""
        alerting, state = self._pipeline.alerting, self._pipeline.state
        frontier = state.clocks.frontier
        if alerting is None or frontier is None:
            return []
        transitions: list[Transition] = []
        while True:
            if self._pending is not None:
                mark, evaluation = self._pending
                if not evaluation.done():
                    break
                self._pending = None
                transitions += alerting.look(mark, self._report(mark, evaluation), present)
                self.until = mark
            elif (due := alerting.due(frontier, present)) is None:
                transitions += alerting.decide(frontier, present)
                self.until = frontier
                if present.current:
                    alerting.tell()
                break
            else:
                transitions += alerting.decide(due, present)
                snapshot = self._pipeline.snapshot_at(due)
                if snapshot is None:
                    transitions += alerting.look(due, None, present)
                    self.until = due
                else:
                    self._pending = due, self._run(_evaluation(self._pipeline, snapshot))
        state.look_back = alerting.looks_back
        return transitions

    def _report(self, mark: int, evaluation: Future[Evaluation]) -> Report | None:
        """Return the report of a mark; None, which steps no condition, where it failed."""
        try:
            found = evaluation.result()
        except Exception:  # the next mark may be a better one; nothing else is to stop for it
            log.exception("the windows that alerts look at could not be evaluated", extra={"mark": mark})
            self.failed += 1
            return None
        for name, error in found.failures.items():
            log.error("metric failed", extra={"metric": name, "mark": mark}, exc_info=error)
            self.failed += 1
        return found.report


def _evaluation(pipeline: Pipeline, snapshot: Snapshot) -> Callable[[], Evaluation]:
    return lambda: pipeline.evaluate(snapshot)
