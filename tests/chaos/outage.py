"""The broker is stopped, killed and paused under a running daemon; nothing may be lost or counted twice.

python -m tests.chaos.outage [--seconds 30] [--seed 1] [--rate 3000]       needs KAFKA_HOME
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.chaos import script
from tests.chaos.ending import Ending, check, finish
from tests.chaos.instance import Instance
from tests.chaos.traffic import PARTITIONS, configuration, producing
from tests.support.brokers import ApacheKafka, free_ports
from tests.support.nursery import Nursery


def outages(broker: ApacheKafka) -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
    """Return how each outage begins and ends."""
    return {
        "stopped": (broker.stop, broker.start),
        "killed": (broker.kill, broker.start),
        "paused": (broker.freeze, broker.thaw),
    }


def run(
    broker: ApacheKafka,
    folder: Path,
    topic: str,
    *,
    kinds: tuple[str, ...] = ("stopped", "killed", "paused"),
    seconds: float,
    seed: int,
    rate: float,
    children: Nursery | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Ending:
    """Let the broker be away for so many seconds in each way, then compare."""
    broker.create_topic(topic, PARTITIONS)
    broker.create_topic(f"{topic}.dead")
    (port,) = free_ports(1)
    text = configuration(broker.address, topic, folder / "state", port=port)
    instance = Instance("only", folder, text, port, children)
    with ExitStack() as parts:
        parts.callback(lambda: instance.alive and instance.kill())
        producer = parts.enter_context(producing(broker.address, topic, seed, rate))
        instance.start()
        instance.until(lambda: instance.consumed() > 0, 60)
        for kind in kinds:
            begin, end = outages(broker)[kind]
            time.sleep(2)
            before = instance.consumed()
            begin()
            try:
                began = time.monotonic()
                _during(instance, began, seconds, kind, say)
            finally:
                end()
            ended = time.monotonic()
            instance.until(lambda: instance.get("/healthz")[0] == 200, 60)
            assert instance.series()["monitor_kafka_up"] == 1
            instance.until(lambda before=before: instance.consumed() > before, 60)  # type: ignore[misc]
            say(f"{kind}: reading again {time.monotonic() - ended:.1f} s after it is back")
        finish(instance, producer.stop())
    assert instance.exits == [0]
    assert not [line for line in instance.plain() if "Traceback" in line], instance.tail()
    return check(broker, topic, folder / "state", folder / "only.yaml")


def _during(instance: Instance, began: float, seconds: float, kind: str, say: Callable[[str], None]) -> None:
    """Watch the probes while the broker is away."""
    said = None
    while time.monotonic() < began + seconds or said is None:
        assert instance.alive, instance.tail()
        status, body = instance.get("/healthz")
        if status == 503 and "broker" in body and said is None:
            said = time.monotonic() - began
            say(f"{kind}: /healthz says after {said:.1f} s: {body.strip()}")
            assert instance.series()["monitor_kafka_up"] == 0
        assert instance.get("/livez")[0] == 200
        assert time.monotonic() < began + 60, "/healthz does not say that the broker is away"
        time.sleep(0.2)


if __name__ == "__main__":
    script.main(__doc__, run, "outage", "seconds", 30.0)
