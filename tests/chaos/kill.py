"""Kill the daemon at random times while events flow; nothing may be lost or counted twice.

python -m tests.chaos.kill [--times 50] [--seed 1] [--rate 3000]       needs KAFKA_HOME
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from tests.chaos import script
from tests.chaos.ending import Ending, check, finish
from tests.chaos.instance import Instance
from tests.chaos.traffic import PARTITIONS, configuration, producing
from tests.support.brokers import Broker, free_ports


def run(
    broker: Broker,
    folder: Path,
    topic: str,
    *,
    times: int,
    seed: int,
    rate: float,
    say: Callable[[str], None] = lambda _: None,
) -> Ending:
    """Kill `times` times in a row, then compare."""
    rng = random.Random(seed)
    broker.create_topic(topic, PARTITIONS)
    broker.create_topic(f"{topic}.dead")
    (port,) = free_ports(1)
    text = configuration(broker.address, topic, folder / "state", port=port, group_instance_id="only")
    instance = Instance("only", folder, text, port)
    try:
        with producing(broker.address, topic, seed, rate) as producer:
            for number in range(times):
                instance.start()
                if rng.random() < 0.25:  # before or while it takes over
                    time.sleep(rng.uniform(0.2, 4))
                else:
                    instance.until(instance.owner, 30)
                    time.sleep(rng.uniform(0, 2.5))
                say(f"kill {number + 1}: consumed {instance.consumed():.0f}")
                instance.kill()
            instance.start()
            total = producer.stop()
        finish(instance, total)
    finally:
        if instance.alive:
            instance.kill()
    assert not [line for line in instance.plain() if "Traceback" in line], instance.tail()
    taken = [line.fields["checkpoint"] for line in instance.lines() if line.message == "taking over"]
    say(f"{len(taken)} take-overs, {sum(name is not None for name in taken)} with a checkpoint")
    return check(broker, topic, folder / "state", folder / "only.yaml")


if __name__ == "__main__":
    script.main(__doc__, run, "kill", "times", 50)
