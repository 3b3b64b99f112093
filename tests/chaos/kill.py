"""Kill the daemon at random times while events flow; nothing may be lost or counted twice, no alert changed.

python -m tests.chaos.kill [--times 50] [--seed 1] [--rate 3000]       needs KAFKA_HOME
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from monitor.config import load_config
from tests.chaos import script
from tests.chaos.ending import Ending, check, decided, finish, logged
from tests.chaos.instance import Instance
from tests.chaos.traffic import ALERTS, PARTITIONS, configuration, producing
from tests.support.brokers import Broker, free_ports
from tests.support.digest import run_over_log
from tests.support.nursery import Nursery


def run(
    broker: Broker,
    folder: Path,
    topic: str,
    *,
    times: int,
    seed: int,
    rate: float,
    children: Nursery | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Ending:
    """Kill `times` times in a row, then compare."""
    rng = random.Random(seed)
    broker.create_topic(topic, PARTITIONS)
    broker.create_topic(f"{topic}.dead")
    (port,) = free_ports(1)
    text = configuration(broker.address, topic, folder / "state", port=port, group_instance_id="only")
    instance = Instance("only", folder, text + ALERTS, port, children)
    try:
        with producing(broker.address, topic, seed, rate) as producer:
            for number in range(times):
                instance.start()
                if rng.random() < 0.25:  # before or while it takes over
                    time.sleep(rng.uniform(0.2, 4))
                else:
                    instance.until(instance.owner, 60)
                    time.sleep(rng.uniform(0, 2.5))
                say(f"kill {number + 1}: consumed {instance.consumed():.0f}")
                instance.kill()
            instance.start()
            total = producer.stop()
        config = load_config(folder / "only.yaml", {})
        uninterrupted = run_over_log(broker.address, [topic], config)
        expected = decided(uninterrupted.transitions)
        instance.until(lambda: len(logged(instance)) >= len(expected), 60)  # looks at windows take a while
        finish(instance, total)
    finally:
        if instance.alive:
            instance.kill()
    assert not [line for line in instance.plain() if "Traceback" in line], instance.tail()
    taken = [line.fields["checkpoint"] for line in instance.lines() if line.message == "taking over"]
    say(f"{len(taken)} take-overs, {sum(name is not None for name in taken)} with a checkpoint")
    said = logged(instance)
    assert said == expected, f"{len(said ^ expected)} differ: {sorted(said ^ expected)[:5]}"
    assert {change for change, _, _ in said} >= {"firing", "resolved"}
    return check(broker, topic, folder / "state", folder / "only.yaml", uninterrupted)


if __name__ == "__main__":
    script.main(__doc__, run, "kill", "times", 50)
