"""What the scripts of this folder have in common: options, and a broker of their own."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.brokers import ApacheKafka


def main(description: str | None, run: Callable[..., object], name: str, option: str, default: float) -> None:
    """Run a scenario as the command line says, with a broker of its own, and print how it ended.

    `option` is how long it lasts: an argument of `run`, of the type of its default.
    """
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--rate", type=float, default=3000, help="events a second")
    options.add_argument(f"--{option}", type=type(default), default=default)
    chosen = vars(options.parse_args())
    with broker() as (node, folder):
        print(run(node, folder, name, **chosen, say=print))


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
