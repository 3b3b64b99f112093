"""Starts everything in order, lets the model go wrong after a while, ends everything in reverse."""

from __future__ import annotations

import math
import os
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.live import Live

from monitor.demo.broker import embedded_broker
from monitor.demo.child import Child, child
from monitor.demo.configuration import (
    DEAD_LETTER_TOPIC,
    HOST,
    MODEL,
    PARTITIONS,
    TOPIC,
    USUAL_PORT,
    configuration,
    free_port,
)
from monitor.demo.model import breast_cancer, digits
from monitor.demo.readings import Api, Look
from monitor.demo.screen import FAULT, Situation, conclusion, line, places, screen, table
from monitor.demo.traffic import Stream, Traffic

HEALTHY_SHARE = 0.45
LONGEST_HEALTHY_SECONDS = 60.0
START_SECONDS = 120.0
LOOK_SECONDS = 1.0
LINE_SECONDS = 3.0
LOOKS_FOR_RATE = 5
VERSION = "2026-11-01"
_MONITOR = [sys.executable, "-c", "from monitor.cli import main; main()"]


def run_demo(seconds: float | None = None) -> int:
    """Run until the time is over or the user ends it.

    Parameters
    ----------
    seconds
        How long to go on once events flow; None: until SIGINT, SIGTERM or SIGHUP. The model is healthy
        for 45% of it, for a minute at most.

    Returns
    -------
    int
        0 if the recall of the damaged class fell clearly, else 1.

    Raises
    ------
    MonitorError
        If a part is not installed, cannot be started, or ends before the demo does.
    """
    console = Console(highlight=False)
    with stopped_by_signals() as stop:
        at = _run(seconds, console, stop)
    seen, sentence = conclusion(at)
    console.print("", table(at), "", sentence, sep="\n")
    return 0 if seen else 1


def _run(seconds: float | None, console: Console, stop: threading.Event) -> Situation:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="monitor-demo-")))
        console.print("Starting a broker and the daemon, training a model ...")
        topics = {TOPIC: PARTITIONS, DEAD_LETTER_TOPIC: 1}
        address, broker = stack.enter_context(embedded_broker(folder, topics, stop))
        port = free_port()
        config = folder / "monitor.yaml"
        config.write_text(configuration(address, port, folder / "state"), encoding="utf-8")
        command = [*_MONITOR, "run", "-c", str(config)]
        daemon = stack.enter_context(child("the daemon", command, folder / "daemon.log", _environment()))
        patients = Stream(
            MODEL, VERSION, breast_cancer(), rate=300, seed=1
        )  # trained while the daemon starts
        pictures = Stream("digits", VERSION, digits(), rate=50, seed=2)
        api = Api(f"http://{HOST}:{port}")
        daemon.wait_until(api.ready, START_SECONDS, stop)
        traffic = stack.enter_context(Traffic(address, TOPIC, PARTITIONS, [patients, pictures]))
        parts = Parts(broker, daemon, traffic, patients, api)
        at = Situation(
            page=f"{api.address}/" + ("" if port == USUAL_PORT else f" (port {USUAL_PORT} is taken)"),
            broker=address,
            config=str(config),
            change_at=min(LONGEST_HEALTHY_SECONDS, HEALTHY_SHARE * (seconds or math.inf)),
            now=daemon.wait_until(parts.look, START_SECONDS, stop),
        )
        show = stack.enter_context(_display(console, at))
        return _follow(at, seconds, parts, stop, show)


class Parts(NamedTuple):
    """What runs."""

    broker: Child
    daemon: Child
    traffic: Traffic
    damaged: Stream
    api: Api

    def look(self) -> Look | None:
        """Look at the daemon; raise a MonitorError if a part has ended."""
        self.broker.check()
        self.daemon.check()
        self.traffic.check()
        return self.api.look()


def _follow(
    at: Situation,
    seconds: float | None,
    parts: Parts,
    stop: threading.Event,
    show: Callable[[Situation], None],
) -> Situation:
    """Show the daemon's numbers, and damage a stream when it is time; return the last situation."""
    begun = time.monotonic()
    past = deque([(0.0, at.now.consumed)], maxlen=LOOKS_FOR_RATE + 1)
    while (seconds is None or at.elapsed < seconds) and not stop.wait(LOOK_SECONDS):
        now, elapsed = parts.look() or at.now, time.monotonic() - begun
        past.append((elapsed, now.consumed))
        at = replace(at, now=now, elapsed=elapsed, rate=_slope(past[0], past[-1]))
        if at.before is None and elapsed >= at.change_at and now.complete:
            parts.damaged.fault = FAULT
            at = replace(at, before=now, change_at=elapsed)
        show(at)
    return at


def _slope(first: tuple[float, int], last: tuple[float, int]) -> float:
    return (last[1] - first[1]) / (last[0] - first[0])


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """Give an event that is set, in place of an exception anywhere, when the user ends the demo."""
    stop = threading.Event()
    kept = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # as with nohup
    }
    try:
        yield stop
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


@contextmanager
def _display(console: Console, first: Situation) -> Iterator[Callable[[Situation], None]]:
    """Give what shows a situation: a live display on a terminal, else a line now and then."""
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield lambda at: live.update(screen(at), refresh=True)
        return
    console.print(places(first), soft_wrap=True)
    next_line = 0.0

    def show(at: Situation) -> None:
        nonlocal next_line
        if at.elapsed >= next_line:
            next_line = at.elapsed + LINE_SECONDS
            console.print(line(at), soft_wrap=True)

    yield show


def _environment() -> dict[str, str]:
    """Return our environment without what would change the demo's configuration."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith("MONITOR_")}
