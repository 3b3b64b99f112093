"""Instances of one group on one folder come, go, die and sleep at random; one at a time may own the state.

python -m tests.chaos.standbys [--seconds 300] [--seed 1] [--rate 2000]       needs KAFKA_HOME

Two of them are dynamic members, two share one group_instance_id, which is a mistake that must not cost an
event either. Whoever ended is started again, as a supervisor would.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from monitor.tenure import COMMIT_SECONDS
from tests.chaos import script
from tests.chaos.ending import Ending, check, finish
from tests.chaos.instance import Instance, Line
from tests.chaos.traffic import PARTITIONS, configuration, producing
from tests.support.brokers import Broker, free_ports
from tests.support.nursery import Nursery

MEMBERS: dict[str, dict[str, object]] = {
    "a": {},
    "b": {},
    "twin-1": {"group_instance_id": "twin"},
    "twin-2": {"group_instance_id": "twin"},
}
SESSION_MS = 4000
LOOK_EVERY = 0.3


class Watch:
    """Asks every instance again and again whether it is the owner."""

    def __init__(self, instances: list[Instance]) -> None:
        self.seen: dict[str, list[tuple[float, bool]]] = {i.name: [] for i in instances}
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._look, args=(i,)) for i in instances]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _look(self, instance: Instance) -> None:
        while not self._stop.wait(LOOK_EVERY):
            owner = instance.owner(timeout=1)  # False where nobody answers
            self.seen[instance.name].append((time.monotonic(), owner))

    def longest_overlap(self) -> float:
        """Return for how long at most two said at once, without a break, that they are the owner."""
        spans = [span for seen in self.seen.values() for span in _spans(seen)]
        overlaps = [
            min(end, other_end) - max(begin, other_begin)
            for i, (begin, end) in enumerate(spans)
            for other_begin, other_end in spans[i + 1 :]
        ]
        return max(0.0, max(overlaps, default=0.0))


def _spans(seen: list[tuple[float, bool]]) -> list[tuple[float, float]]:
    """Return from when to when an instance said that it is the owner."""
    spans: list[tuple[float, float]] = []
    for (_, before), (at, owner) in pairwise([(0.0, False), *seen]):
        if owner and before:
            spans[-1] = (spans[-1][0], at)
        elif owner:
            spans.append((at, at))
    return spans


class Written(NamedTuple):
    """A checkpoint, as the log of its writer tells of it."""

    time: float
    epoch: int
    name: str


def written(lines: list[Line]) -> Iterator[Written]:
    """Yield the checkpoints that one instance wrote, in all its lives."""
    epoch = 0
    for line in lines:
        if line.message in ("taking over", "claimed"):
            epoch = line.fields["epoch"]
        elif line.message == "checkpoint written":
            yield Written(line.time, epoch, f"checkpoint-{epoch}-{line.fields['sequence']}")


def check_epochs(instances: list[Instance]) -> int:
    """Check that who took over went on from the newest state; return how often somebody did.

    A file that a former owner still wrote after the first file of a higher epoch must never be gone on from.
    """
    logs = [list(instance.lines()) for instance in instances]
    files = sorted(file for lines in logs for file in written(lines))
    taken = [line for lines in logs for line in lines if line.message == "taking over"]
    epochs = [line.fields["epoch"] for line in taken]
    assert len(set(epochs)) == len(epochs), f"claimed twice: {sorted(epochs)}"
    for line in taken:
        restored, began = line.fields["checkpoint"], line.time - line.fields["seconds"]
        known = [file for file in files if file.time < began]
        if restored is None:
            assert not known, f"{line} begins anew although there were {known}"
            continue
        epoch = int(restored.split("-")[1])
        assert epoch < line.fields["epoch"]
        assert epoch >= max((file.epoch for file in known), default=0), f"{line} although there were {known}"
    return len(taken)


def shake(instances: list[Instance], rng: random.Random, seconds: float, say: Callable[[str], None]) -> None:
    """Do something to one of the instances again and again, most often to the owner."""
    end = time.monotonic() + seconds
    asleep: dict[str, float] = {}
    while time.monotonic() < end:
        patience = time.monotonic() + 2 * SESSION_MS / 1000
        while time.monotonic() < patience and not (owners := _owners(instances, asleep)):
            time.sleep(LOOK_EVERY)
        time.sleep(rng.uniform(0, 2))
        for instance in instances:
            if instance.name in asleep and asleep[instance.name] < time.monotonic():
                del asleep[instance.name]
                instance.resume()
                say(f"{instance.name} wakes up")
        awake = [instance for instance in instances if instance.name not in asleep]
        chosen = rng.choice([i for i in owners if i in awake] if owners and rng.random() < 0.6 else awake)
        if not chosen.alive:
            chosen.start()
            say(f"{chosen.name} starts")
            continue
        what = rng.choice(["kill", "stop", "pause"]) if len(asleep) < 2 else "kill"
        say(f"{chosen.name}{' (owner)' if chosen in owners else ''}: {what}")
        if what == "pause":
            chosen.pause()
            asleep[chosen.name] = time.monotonic() + SESSION_MS / 1000 * rng.uniform(1.2, 2.5)
        elif what == "kill":
            chosen.kill()
        else:
            chosen.stop()
    for instance in instances:
        if instance.name in asleep:
            instance.resume()


def _owners(instances: list[Instance], asleep: Collection[str]) -> list[Instance]:
    return [i for i in instances if i.name not in asleep and i.alive and i.owner(timeout=1)]


def run(
    broker: Broker,
    folder: Path,
    topic: str,
    *,
    seconds: float,
    seed: int,
    rate: float,
    children: Nursery | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Ending:
    """Shake for so many seconds, then compare."""
    broker.create_topic(topic, PARTITIONS)
    broker.create_topic(f"{topic}.dead")
    instances = []
    for (name, settings), port in zip(MEMBERS.items(), free_ports(len(MEMBERS)), strict=True):
        text = configuration(
            broker.address, topic, folder / "state", port=port, session_ms=SESSION_MS, **settings
        )
        instances.append(Instance(name, folder, text, port, children))
    with ExitStack() as parts:
        for instance in instances:
            parts.callback(lambda i=instance: i.alive and i.kill())
        producer = parts.enter_context(producing(broker.address, topic, seed, rate))
        for instance in instances[:3]:
            instance.start()
        watch = Watch(instances)
        parts.callback(watch.stop)
        shake(instances, random.Random(seed), seconds, say)
        total = producer.stop()
        finish(settle(instances), total)
    for instance in instances:
        say(f"{instance.name}: exits {instance.exits}")
        # -15: asked to end before it could listen.
        assert set(instance.exits) <= {0, 1, -9, -15}, instance.exits
        assert not [line for line in instance.plain() if "Traceback" in line], instance.tail()
    taken = check_epochs(instances)
    overlap = watch.longest_overlap()
    say(f"{taken} take-overs; two said at once for {overlap:.1f} s at most that they are the owner")
    assert overlap <= SESSION_MS / 1000 + COMMIT_SECONDS  # who slept learns it from the next commit
    return check(broker, topic, folder / "state", folder / "a.yaml")


def settle(instances: list[Instance], seconds: float = 60) -> Instance:
    """Have one instance go on alone, and return it."""
    deadline = time.monotonic() + seconds
    time.sleep(SESSION_MS / 1000)  # who slept learns meanwhile what it missed
    if not any(instance.alive for instance in instances):
        instances[0].start()
    while True:
        owners = [instance for instance in instances if instance.alive and instance.owner()]
        if len(owners) == 1:
            break
        if not any(instance.alive for instance in instances):
            instances[0].start()
        assert time.monotonic() < deadline, [i.tail() for i in instances]
        time.sleep(0.2)
    for instance in instances:
        if instance.alive and instance is not owners[0]:
            instance.stop()
    return owners[0]


if __name__ == "__main__":
    script.main(__doc__, run, "standbys", "seconds", 300.0)
