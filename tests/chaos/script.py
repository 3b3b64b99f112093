"""What the scripts of this folder have in common: options, and a broker of their own."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.brokers import ApacheKafka


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--rate", type=float, default=3000, help="events a second")
    return made


@contextmanager
def broker(**settings: object) -> Iterator[tuple[ApacheKafka, Path]]:
    """Start Apache Kafka from KAFKA_HOME, in a folder that is removed at the end.

    Settings are the broker's own, with underscores for dots.
    """
    home = os.environ.get("KAFKA_HOME")
    if not home:
        raise SystemExit("set KAFKA_HOME to the folder of Apache Kafka")
    with tempfile.TemporaryDirectory() as folder:
        node = ApacheKafka(
            Path(home),
            Path(folder) / "kafka",
            settings={key.replace("_", "."): value for key, value in settings.items()},
        )
        try:
            yield node, Path(folder)
        finally:
            node.stop()
