"""The demo, for tests that look at it from outside."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from monitor.demo.configuration import BAD_VERSION, GOOD_VERSION
from monitor.demo.parts import RELEASES, Parts
from monitor.demo.story import Story

SECONDS = 90.0
"""Most that each step may take; it takes a few."""


@dataclass
class Demo:
    """The demo, healthy at first."""

    parts: Parts
    stop: threading.Event
    over: bool = False

    def go_wrong(self) -> None:
        """Let the bad version take over, and wait until it was rolled back; nothing the second time."""
        if self.over:
            return
        story = Story()

        def healthy() -> bool | None:
            look = self.parts.look()
            return True if look is not None and look.window(GOOD_VERSION).complete else None

        def told() -> bool | None:
            nonlocal story
            if (look := self.parts.look()) is not None:
                story = story.follow(time.time(), look, self.parts.hook.done)
            return True if story.lacks is None and story.recovered else None

        self.parts.daemon.wait_until(healthy, SECONDS, self.stop)
        look = self.parts.look()
        assert look is not None
        self.parts.patients.release = RELEASES[BAD_VERSION]
        story = story.change(time.time(), look)
        self.parts.daemon.wait_until(told, SECONDS, self.stop)
        self.over = True
