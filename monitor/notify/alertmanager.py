"""Posts what fires to every Alertmanager that is listed, each from a thread of its own."""

from __future__ import annotations

import json
import logging
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from monitor.actions.http import Client, Endpoint, HttpError
from monitor.alerts.alert import Alert
from monitor.clock import Clock
from monitor.notify.payload import Notice, Told

log = logging.getLogger(__name__)

PATH = "/api/v2/alerts"
TIMEOUT = 5.0
RETRY = 5.0
"""Seconds until a post that failed is tried again."""

CLOSE_SECONDS = 2.0

Alerts = Callable[[], Sequence[Alert] | None]


class Notifier:
    """Tells Alertmanagers what fires: each minute, and at once when something begins or ends.

    Alertmanager takes an alert for resolved when it has not heard of it for five minutes. So nothing is said
    when this ends: the next instance goes on, and the alert with it.

    Parameters
    ----------
    urls
        Of Alertmanagers, without `/api/v2/alerts`. One that is down does not delay the others.
    alerts
        Returns the alerts as they are; None where this instance does not speak for them, as on a standby.
        Called in threads of the notifier.
    clock
        Time.
    every
        Seconds between posts while nothing changes.
    generator_url
        Link back to the monitor, "" for none.
    context
        For TLS; None: the authorities of the system.
    """

    def __init__(
        self,
        urls: Sequence[str],
        alerts: Alerts,
        clock: Clock,
        *,
        every: float = 60.0,
        generator_url: str = "",
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._targets = [_Target(url, alerts, clock, every, generator_url, context) for url in urls]

    def start(self) -> None:
        """Start posting."""
        for target in self._targets:
            target.start()

    def notice(self) -> None:
        """Look at once whether something began or ended; may be called from any thread, never waits."""
        for target in self._targets:
            target.wake()

    def close(self) -> None:
        """End without a further post."""
        for target in self._targets:
            target.close()
        for target in self._targets:
            target.join(CLOSE_SECONDS)

    @property
    def alive(self) -> bool:
        """Whether every thread is running."""
        return all(target.is_alive() for target in self._targets)

    @property
    def results(self) -> Mapping[tuple[str, str], int]:
        """Posts by (target, result), which is "sent" or "failed"."""
        total: Counter[tuple[str, str]] = Counter()
        for target in self._targets:
            total.update(target.results())
        return total

    @property
    def problem(self) -> str | None:
        """Which Alertmanagers could not be told at the last attempt, and why; None while all can be."""
        return "; ".join(problem for target in self._targets if (problem := target.problem)) or None


class _Target(threading.Thread):
    """One Alertmanager."""

    def __init__(
        self,
        url: str,
        alerts: Alerts,
        clock: Clock,
        every: float,
        generator_url: str,
        context: ssl.SSLContext | None,
    ) -> None:
        super().__init__(name="notifier", daemon=True)
        self._endpoint = Endpoint.of(url)
        self._path = self._endpoint.path.rstrip("/") + PATH
        self._client = Client(self._endpoint, TIMEOUT, context)
        self._alerts = alerts
        self._clock = clock
        self._every = every
        self._generator_url = generator_url
        self._told = Told()
        self._sent, self._failed = 0, 0
        self._wake = threading.Event()
        self._closing = threading.Event()
        self.problem: str | None = None

    def results(self) -> dict[tuple[str, str], int]:
        """Return the posts by result; both are there from the beginning, for rates."""
        return {(str(self._endpoint), "sent"): self._sent, (str(self._endpoint), "failed"): self._failed}

    def wake(self) -> None:
        self._wake.set()

    def close(self) -> None:
        self._closing.set()
        self._wake.set()
        self._client.close()

    def run(self) -> None:
        due = self._clock.monotonic()
        while True:
            self._wake.wait(max(0.0, due - self._clock.monotonic()))
            self._wake.clear()
            if self._closing.is_set():
                return
            before = self._told.which
            try:
                notices = self._told.update(self._alerts(), self._clock.now())
            except Exception as error:  # whatever one alert is, the next are told
                log.exception("alerts could not be read")
                self.problem = f"an error in the monitor itself: {type(error).__name__}"
                due = self._clock.monotonic() + RETRY
                continue
            now = self._clock.monotonic()
            # Woken while an Alertmanager is away, it is tried again with what is new, not before it is due.
            if now >= due or (self._told.which != before and self.problem is None):
                due = now + (self._every if self._post(notices) else RETRY)

    def _post(self, notices: Sequence[Notice]) -> bool:
        """Post what there is to say; return whether that worked."""
        if not notices:
            self.problem = None
            return True
        now = self._clock.now()
        body = json.dumps([notice.tree(now, self._generator_url) for notice in notices]).encode()
        try:
            answer = self._client.request("POST", self._path, {"Content-Type": "application/json"}, body)
            refusal = f"{self._endpoint}: answered {answer.status} {answer.reason}"
            problem = None if answer.status == 200 else refusal
        except HttpError as error:
            problem = str(error)
        if self._closing.is_set():
            return False
        if problem is None:
            self._sent += 1
            if self.problem is not None:
                log.info("alertmanager is told again", extra={"target": str(self._endpoint)})
        else:
            self._failed += 1
            if self.problem is None:
                log.warning("alertmanager cannot be told", extra={"reason": problem})
        self.problem = problem
        return problem is None
