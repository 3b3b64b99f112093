"""The demo's traffic alone, for a broker that somebody else runs: ``python -m monitor.demo.generate``."""

from __future__ import annotations

import argparse
import logging
import math
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from typing import NamedTuple

from monitor.demo.configuration import BAD_VERSION, GOOD_VERSION, MODEL, TOPIC
from monitor.demo.model import breast_cancer, digits
from monitor.demo.parts import RELEASES
from monitor.demo.run import stopped_by_signals
from monitor.demo.traffic import Stream, Traffic
from monitor.errors import MonitorError, SourceError
from monitor.logs import configure
from monitor.sources.connection import connect_admin
from monitor.sources.topics import describe, problem_of

LOOK_SECONDS = 5.0
"""Between two looks at the broker."""

log = logging.getLogger(__name__)


class Cycle(NamedTuple):
    """How long the good and the bad version serve, by turns, in seconds."""

    good: float = 180.0
    bad: float = 90.0

    def at(self, elapsed: float) -> tuple[str, float]:
        """Return the version that serves so long after the start, and seconds until the next one does."""
        within = elapsed % (self.good + self.bad)
        if within < self.good:
            return GOOD_VERSION, self.good - within
        return BAD_VERSION, self.good + self.bad - within


class Destination:
    """A topic; says once when it cannot be written, and once when it can again.

    Parameters
    ----------
    bootstrap
        A broker as host:port.
    topic
        The topic's name.
    """

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.bootstrap = bootstrap
        self.topic = topic
        self._problem: str | None = None

    def partitions(self) -> int:
        """Return how many it has; 0 while it cannot be written."""
        try:
            found = self._ask()
        except MonitorError as error:
            if str(error) != self._problem:
                log.warning("waiting: %s", error)
            self._problem = str(error)
            return 0
        if self._problem is not None:
            log.info("%s can be written now", self.topic)
        self._problem = None
        return found

    def _ask(self) -> int:
        settings = {"bootstrap_servers": self.bootstrap}
        with closing(connect_admin(settings)) as admin:
            topic = describe(admin, [self.topic])[self.topic]
        if problem := problem_of(topic, settings, operation="WRITE", key="--topic"):
            raise SourceError(problem)
        return len(topic.partitions)


def generate(to: Destination, cycle: Cycle, stop: threading.Event, seconds: float = math.inf) -> None:
    """Send labeled predictions of the demo's two models until `stop` is set.

    A broker or topic that is not there is waited for. What a broker that goes away does not take is lost,
    as with a serving system that must not wait.

    Parameters
    ----------
    to
        Where they go.
    cycle
        When the bad version serves.
    stop
        Ends it when set.
    seconds
        How long to send.

    Raises
    ------
    MonitorError
        If scikit-learn is not installed, or nothing can be sent any more.
    """
    while not (partitions := to.partitions()):
        if stop.wait(LOOK_SECONDS):
            return
    patients = Stream(MODEL, RELEASES[GOOD_VERSION], breast_cancer(), rate=400, seed=1)
    pictures = Stream("digits", RELEASES[GOOD_VERSION], digits(), rate=50, seed=2)
    with Traffic(to.bootstrap, to.topic, partitions, [patients, pictures]) as traffic:
        log.info("sending to %s at %s", to.topic, to.bootstrap)
        begun = time.monotonic()
        while (elapsed := time.monotonic() - begun) < seconds:
            version, rest = cycle.at(elapsed)
            if version != patients.release.version:
                patients.release = RELEASES[version]
                log.info("version %s of %s serves now", version, MODEL)
            if stop.wait(min(LOOK_SECONDS, rest, seconds - elapsed)):
                return
            traffic.check()
            to.partitions()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it as a command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m monitor.demo.generate", description=__doc__)
    parser.add_argument("--bootstrap", required=True, metavar="HOST:PORT", help="a broker")
    parser.add_argument("--topic", default=TOPIC, help="where to (default: %(default)s)")
    parser.add_argument("--seconds", type=_seconds, default=math.inf, help="end after so long")
    parser.add_argument("--good", type=_seconds, default=Cycle().good, help="seconds of the good version")
    parser.add_argument("--bad", type=_seconds, default=Cycle().bad, help="seconds of the bad version")
    given = parser.parse_args(arguments)
    configure("text", "info")
    try:
        with stopped_by_signals() as stop:
            to = Destination(given.bootstrap, given.topic)
            generate(to, Cycle(given.good, given.bad), stop, given.seconds)
    except MonitorError as error:
        print(f"monitor: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError("is no number of seconds above 0")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
