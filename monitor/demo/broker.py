"""A broker for the demo, started here and gone with it."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError

from monitor.demo.child import Child, child
from monitor.errors import MonitorError
from monitor.sources.connection import quiet

START_SECONDS = 30.0
_ADDRESS = re.compile(r"^\s*kafka\s+(127\.0\.0\.1:\d+)", re.MULTILINE)


@contextmanager
def embedded_broker(
    folder: Path, topics: Mapping[str, int], stop: threading.Event
) -> Iterator[tuple[str, Child]]:
    """Run a broker that speaks Kafka's protocol, while the block runs.

    Parameters
    ----------
    folder
        Where it may keep its data.
    topics
        Number of partitions by name of the topics to create.
    stop
        Ends the wait for its start when set.

    Yields
    ------
    tuple
        Address as host:port, and the process.

    Raises
    ------
    MonitorError
        If it is not installed or does not start.
    """
    try:
        package = files("noida_db")
    except ModuleNotFoundError:
        raise MonitorError(
            "the demo's broker is the package noida-db; install it with `pip install 'monitor[demo]'`"
        ) from None
    # Not the console script: it does not pass SIGTERM on.
    with as_file(package / "noida-db") as binary:
        if not os.access(binary, os.X_OK):  # not every installer keeps the bit
            binary = Path(shutil.copy(binary, folder))
            binary.chmod(0o755)
        options = ["--only", "kafka", "--kafka-port", "0", "--data-dir", str(folder / "broker")]
        with child("the broker", [str(binary), "start", *options], folder / "broker.log") as process:
            address = process.wait_until(lambda: _address(process.log), START_SECONDS, stop)
            process.wait_until(lambda: _create(address, topics), START_SECONDS, stop)
            yield address, process


def _address(log: Path) -> str | None:
    found = _ADDRESS.search(log.read_text(errors="replace"))
    return found[1] if found else None


def _create(address: str, topics: Mapping[str, int]) -> bool | None:
    """Create the topics; None where the broker does not answer yet."""
    quiet()
    try:
        admin = KafkaAdminClient(bootstrap_servers=address, bootstrap_timeout_ms=2000)
    except KafkaError:
        return None
    try:
        # This broker drops old records within a second unless told to keep them.
        keep = {"retention.ms": "-1"}
        admin.create_topics([NewTopic(name, count, 1, topic_configs=keep) for name, count in topics.items()])
    finally:
        admin.close()
    return True
