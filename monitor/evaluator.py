"""Evaluates the daemon's pipeline on its schedule, and keeps and publishes the newest report."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from monitor.clock import Clock
from monitor.evaluation import Bounds, all_settled, with_bounds
from monitor.history import Tracks
from monitor.pipeline import Pipeline
from monitor.report import Report
from monitor.state.store import View
from monitor.status import Durations

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """One evaluation, its number, and what can be resampled of it."""

    pipeline: Pipeline
    number: int
    report: Report
    view: View | None


class Evaluator:
    """Runs in the scheduler's threads; what it shows may be read from any.

    Parameters
    ----------
    pipeline
        Returns the present one; called with the lock held.
    lock
        Guards the pipeline.
    clock
        Time.
    publish
        Takes each new report, None when there is none any more.
    stop
        Whether the daemon ends, so that nothing long is to be begun.

    Attributes
    ----------
    report
        The newest, None before the first.
    durations, failed_metrics, error, state_bytes
        How long evaluations took; metrics that failed so far; what is wrong now; bytes held at the last one.
    last
        Monotonic and wall-clock time of the last evaluation.
    """

    def __init__(
        self,
        pipeline: Callable[[], Pipeline],
        lock: threading.Lock,
        clock: Clock,
        publish: Callable[[Report | None], None],
        stop: Callable[[], bool],
    ) -> None:
        self._pipeline = pipeline
        self._lock = lock
        self._clock = clock
        self._publish = publish
        self._stop = stop
        self._publishing = threading.Lock()
        self._newest: _Evaluated | None = None
        self._bounds: tuple[_Evaluated, Bounds] | None = None
        self._evaluations = 0
        self._failing: frozenset[str] = frozenset()
        self.report: Report | None = None
        self.durations = Durations()
        self.failed_metrics = 0
        self.error: str | None = None
        self.state_bytes = 0
        self.last: tuple[float, int] | None = None

    @property
    def tracks(self) -> Tracks:
        """How the headline metrics of what is shown went; nothing before the first report."""
        newest = self._newest
        return {} if newest is None else newest.pipeline.history.tracks

    def evaluate(self) -> None:
        """Evaluate a view of the state and publish the report."""
        started = self._clock.monotonic()
        with self._lock:
            pipeline = self._pipeline()
            snapshot = pipeline.snapshot()
        try:
            evaluation = pipeline.evaluate(snapshot)
        except Exception as error:
            self.error = str(error)
            raise
        with self._lock:
            if pipeline is not self._pipeline():
                return  # the partitions were lost meanwhile: this report is nobody's
            pipeline.adopt(evaluation)
            self.state_bytes = pipeline.state.nbytes()
        self._evaluations += 1
        view = all_settled(snapshot.view, evaluation.settled) if pipeline.resamples else None
        with self._publishing:
            if not self._show(_Evaluated(pipeline, self._evaluations, evaluation.report, view)):
                return
            ended = self._clock.monotonic()
            self.last = ended, self._clock.now()
        pipeline.history.add(evaluation.report)
        self.durations = self.durations.observe(ended - started)
        self._note_failures(evaluation.failures)

    def resample(self) -> None:
        """Add bootstrap intervals to the newest report, and to the next one: then they are too old."""
        evaluated = self._newest
        if evaluated is None or evaluated.view is None:
            return

        def too_late() -> bool:
            return self._evaluations > evaluated.number + 1

        bounds = evaluated.pipeline.resample(evaluated.view, lambda: self._stop() or too_late())
        with self._publishing:
            if bounds is not None and not too_late():
                self._bounds = evaluated, bounds
                if self._newest is not None:
                    self._show(self._newest)
        if too_late():
            log.warning(
                "bootstrap intervals are not shown: they take longer than two evaluations; raise "
                "evaluation.every, or ask for fewer evaluation.bootstrap.replicates or metrics"
            )

    def forget(self) -> None:
        """Show nothing: the state is another instance's now."""
        with self._publishing:
            self._newest = self._bounds = self.report = self.last = None
            self._publish(None)

    def _show(self, evaluated: _Evaluated) -> bool:
        """Publish a report, unless its pipeline was given up meanwhile; needs `_publishing`."""
        with self._lock:
            if evaluated.pipeline is not self._pipeline():
                return False
        report = evaluated.report
        if self._bounds is not None:
            of, bounds = self._bounds
            if of.pipeline is evaluated.pipeline and evaluated.number - of.number <= 1:
                report = with_bounds(report, bounds)
            else:
                self._bounds = None
        self._newest, self.report = evaluated, report
        self._publish(report)
        return True

    def _note_failures(self, failures: Mapping[str, Exception]) -> None:
        """Count metrics that failed, and log each once until it works again."""
        self.failed_metrics += len(failures)
        for name in failures.keys() - self._failing:
            log.error("metric failed", extra={"metric": name}, exc_info=failures[name])
        self._failing = frozenset(failures)
        self.error = f"metrics failed: {', '.join(sorted(failures))}" if failures else None
