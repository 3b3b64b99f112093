"""Starts what the demo needs in order, and ends it in reverse: broker, hook, daemon, traffic."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from monitor.demo.broker import embedded_broker
from monitor.demo.child import Child, child
from monitor.demo.configuration import (
    BAD_VERSION,
    DEAD_LETTER_TOPIC,
    GOOD_VERSION,
    HOST,
    MODEL,
    PARTITIONS,
    TOPIC,
    configuration,
    free_port,
)
from monitor.demo.hook import Hook
from monitor.demo.model import Release, breast_cancer, digits
from monitor.demo.readings import Api, Look
from monitor.demo.story import FAULT
from monitor.demo.traffic import Stream, Traffic

START_SECONDS = 120.0
RELEASES = {GOOD_VERSION: Release(GOOD_VERSION), BAD_VERSION: Release(BAD_VERSION, FAULT)}
_MONITOR = [sys.executable, "-c", "from monitor.cli import main; main()"]


class Parts(NamedTuple):
    """What runs.

    Attributes
    ----------
    config, act_token_file
        Paths of the daemon's configuration, and of what people need to act on its page.
    port
        Of the page.
    patients
        The traffic that a test, or the story, lets go wrong.
    """

    config: Path
    act_token_file: Path
    port: int
    broker: Child
    daemon: Child
    traffic: Traffic
    patients: Stream
    hook: Hook
    api: Api

    def look(self) -> Look | None:
        """Look at the daemon; raise a MonitorError if a part has ended."""
        self.broker.check()
        self.daemon.check()
        self.traffic.check()
        return self.api.look()


@contextmanager
def running_parts(stop: threading.Event, port: int | None = None) -> Iterator[Parts]:
    """Run everything while the block runs; the good version serves.

    Parameters
    ----------
    stop
        Ends waiting when set.
    port
        Where the daemon serves; None: the usual one, or another where that is taken.

    Raises
    ------
    MonitorError
        If a part is not installed, or cannot be started.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="monitor-demo-")))
        topics = {TOPIC: PARTITIONS, DEAD_LETTER_TOPIC: 1}
        address, broker = stack.enter_context(embedded_broker(folder, topics, stop))
        port = free_port() if port is None else port
        config, secret_file = folder / "monitor.yaml", folder / "hook-secret"
        act_token_file = folder / "act-token"
        secret = _secret(secret_file)
        _secret(act_token_file)
        patients = Stream(MODEL, RELEASES[GOOD_VERSION], breast_cancer(), rate=400, seed=1)
        hook = stack.enter_context(Hook(secret, partial(_roll_back, {MODEL: patients})))
        text = configuration(address, port, folder / "state", hook.url, secret_file, act_token_file)
        config.write_text(text, encoding="utf-8")
        command = [*_MONITOR, "run", "-c", str(config)]
        daemon = stack.enter_context(child("the daemon", command, folder / "daemon.log", _environment()))
        pictures = Stream("digits", RELEASES[GOOD_VERSION], digits(), rate=50, seed=2)  # while it starts
        api = Api(f"http://{HOST}:{port}")
        daemon.wait_until(api.ready, START_SECONDS, stop)
        traffic = stack.enter_context(Traffic(address, TOPIC, PARTITIONS, [patients, pictures]))
        yield Parts(config, act_token_file, port, broker, daemon, traffic, patients, hook, api)


def _secret(path: Path) -> str:
    """Write a new secret into a file that others cannot read; return it."""
    secret = secrets.token_hex()
    path.touch(0o600)
    path.write_text(secret, encoding="utf-8")
    return secret


def _roll_back(streams: Mapping[str, Stream], model: str, bad_version: str, target: str | None) -> None:
    """Move a model's traffic to another version."""
    stream = streams[model]
    if stream.release.version != bad_version:
        raise ValueError(f"version {stream.release.version} of {model} is live, not {bad_version}")
    if target not in RELEASES:
        raise ValueError(f"there is no version {target} of {model} to go back to")
    stream.release = RELEASES[target]


def _environment() -> dict[str, str]:
    """Return our environment without what would change the demo's configuration."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith("MONITOR_")}
