"""Shows the demo: lets the model go wrong after a while, and says what happens."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from rich.console import Console
from rich.live import Live

from monitor.demo.configuration import BAD_VERSION, GOOD_VERSION, USUAL_PORT
from monitor.demo.parts import RELEASES, START_SECONDS, Parts, running_parts
from monitor.demo.screen import Situation, conclusion, happened, line, places, screen, table, told
from monitor.demo.story import Happening

HEALTHY_SHARE = 0.45
LONGEST_HEALTHY_SECONDS = 60.0
LOOK_SECONDS = 1.0
LINE_SECONDS = 3.0
LOOKS_FOR_RATE = 5


def run_demo(seconds: float | None = None) -> int:
    """Run until the time is over or the user ends it.

    Parameters
    ----------
    seconds
        How long to go on once events flow; None: until SIGINT, SIGTERM or SIGHUP. The good version serves
        for 45% of it, for a minute at most.

    Returns
    -------
    int
        0 if the bad version raised its alert and a signed rollback arrived, else 1.

    Raises
    ------
    MonitorError
        If a part is not installed, cannot be started, or ends before the demo does.
    """
    console = Console(highlight=False)
    with stopped_by_signals() as stop:
        at = _run(seconds, console, stop)
    console.print("", happened(at), "", table(at), "", conclusion(at), sep="\n")
    return 0 if at.story.lacks is None else 1


def _run(seconds: float | None, console: Console, stop: threading.Event) -> Situation:
    with ExitStack() as stack:
        console.print("Starting a broker and the daemon, training a model ...")
        parts = stack.enter_context(running_parts(stop))
        now = parts.daemon.wait_until(parts.look, START_SECONDS, stop)
        begun = time.time()
        at = Situation(
            address=parts.api.address,
            note="" if parts.port == USUAL_PORT else f" (port {USUAL_PORT} is taken)",
            config=str(parts.config),
            act_token_file=str(parts.act_token_file),
            begun=begun,
            change_at=begun + min(LONGEST_HEALTHY_SECONDS, HEALTHY_SHARE * (seconds or math.inf)),
            time=begun,
            now=now,
        )
        show = stack.enter_context(_display(console, at))
        return _follow(at, seconds, parts, stop, show)


def _follow(
    at: Situation,
    seconds: float | None,
    parts: Parts,
    stop: threading.Event,
    show: Callable[[Situation], None],
) -> Situation:
    """Show what the daemon says, and release the bad version when it is time; return the last situation."""
    past = deque([(at.time, at.now.consumed)], maxlen=LOOKS_FOR_RATE + 1)
    while (seconds is None or at.elapsed < seconds) and not stop.wait(LOOK_SECONDS):
        look, now = parts.look() or at.now, time.time()
        past.append((now, look.consumed))
        story = at.story.follow(now, look, parts.hook.done)
        if story.changed is None and now >= at.change_at and look.window(GOOD_VERSION).complete:
            parts.patients.release = RELEASES[BAD_VERSION]
            story = story.change(now, look)
        at = replace(at, now=look, time=now, story=story, rate=_slope(past[0], past[-1]))
        show(at)
    return at


def _slope(first: tuple[float, int], last: tuple[float, int]) -> float:
    return (last[1] - first[1]) / max(last[0] - first[0], 1e-3)


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
    told_already: set[Happening] = set()

    def show(at: Situation) -> None:
        nonlocal next_line
        for each in at.story.happenings:  # what is found later may have happened earlier
            if each not in told_already:
                console.print(told(at, each), soft_wrap=True)
                told_already.add(each)
        if at.elapsed >= next_line:
            next_line = at.elapsed + LINE_SECONDS
            console.print(line(at), soft_wrap=True)

    yield show
