"""What holds at the end of every run, whatever happened in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaConsumer, TopicPartition

from monitor.alerts.alert import Key, Transition
from monitor.config import load_config
from monitor.sources.topics import describe
from monitor.wording import iso
from tests.chaos.instance import Instance
from tests.support.brokers import Broker
from tests.support.digest import (
    Digest,
    Uninterrupted,
    differences,
    digest_of_folder,
    records,
    run_over_log,
    sha256,
)

Decided = tuple[str, str, tuple[str, ...]]
"""What became of an alert, when in event time, and its labels."""


class Ending(NamedTuple):
    """Both digests, and what was in the topics."""

    kept: Digest
    expected: Digest
    rejected: int
    letters: int
    decided: Collection[Decided]
    """What happened to alerts without an interruption."""

    def __str__(self) -> str:
        events = sum(self.expected["consumed"].values())
        return (
            f"{events} records, {self.rejected} rejected, {self.letters} dead letters, "
            f"{len(self.decided)} changes of alerts; "
            f"state {sha256(self.kept)[:16]}, uninterrupted {sha256(self.expected)[:16]}"
        )


def finish(instance: Instance, total: int, seconds: float = 60) -> None:
    """Let the owner read to the end of the log, of `total` records in all, and stop it in good order."""
    instance.until(lambda: instance.caught_up() and instance.consumed() >= total, seconds)
    assert instance.consumed() == total
    assert instance.stop() == 0, instance.tail()


def check(
    broker: Broker, topic: str, folder: Path, config_file: Path, run: Uninterrupted | None = None
) -> Ending:
    """Compare the newest checkpoint with the log, and the dead letters with what the log has of such.

    `run` is that over the log, where it is known already.
    """
    config = load_config(config_file, {})
    run = run or run_over_log(broker.address, [topic], config)
    expected, rejected = run.digest(), set(run.rejected)
    kept = digest_of_folder(folder, config)
    assert kept["consumed"] == expected["consumed"], "the last checkpoint is missing"
    assert kept == expected, "\n".join(differences(kept, expected))
    wanted = {f"{topic_id(broker, name)}/{partition}/{offset}" for name, partition, offset in rejected}
    found = letters(broker.address, f"{topic}.dead")
    assert wanted <= set(found), f"{len(wanted - set(found))} of {len(wanted)} dead letters are missing"
    assert set(found) <= wanted
    return Ending(kept, expected, len(wanted), len(found), decided(run.transitions))


def decided(transitions: Iterable[Transition]) -> set[Decided]:
    """Return what happened to alerts as `logged` does."""
    return {
        (t.change, iso(t.moment.timestamp) or "", tuple(value for value in t.key if value))
        for t in transitions
    }


def logged(instance: Instance) -> set[Decided]:
    """Return what an instance says has happened to alerts, in all its lives."""
    return {
        (
            line.message.removeprefix("alert "),
            line.fields["event_time"],
            tuple(line.fields[name] for name in Key("", "", "", "", "", "").labels if name in line.fields),
        )
        for line in instance.lines()
        if line.message.startswith("alert ")
    }


def topic_id(broker: Broker, topic: str) -> str | None:
    with broker.admin() as admin:
        return describe(admin, [topic])[topic].topic_id


def letters(address: str, topic: str) -> list[str]:
    """Return the ids of all dead letters."""
    partition = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=address, enable_auto_commit=False)
    try:
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        found = [record for batch in records(consumer, partition) for record in batch]
        return [dict(record.headers)["monitor-id"].decode() for record in found]
    finally:
        consumer.close(autocommit=False)
