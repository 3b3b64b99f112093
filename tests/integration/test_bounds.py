"""What producers send does not decide how much memory or time we take: names without end, huge messages."""

from __future__ import annotations

import ctypes
import gc
import resource
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.pipeline import Pipeline, Snapshot
from monitor.records import Partition, RecordBatch
from monitor.sources.letter import TRUNCATED_TO
from tests.benchmarks.traffic import TOPIC, binary, configuration
from tests.support import daemons
from tests.support.brokers import Broker
from tests.support.daemons import event, running
from tests.support.reading import reading
from tests.support.records import RECORD_MS, Raw

EVENTS = 10_000
POLL = 2000
GROWTH_MB = 0.8
"""If one object of 150 bytes an event were kept, it would be 1.4 MB and more."""

# Fields of a message in which the number of the event takes the place of {0}; the others are sound.
ENDLESS = {
    "models": '"model": "{0:_>150}"',
    "versions": '"version": "{0:_>150}"',
    "numbers as versions": '"version": {0}',
    "segment values": '"segments": {{"region": "{0:_>150}"}}',
    "numbers as segment values": '"segments": {{"region": {0}}}',
    "segment keys": '"segments": {{"{0:_>150}": 1}}',
    "ids": '"id": "{0:_>1000}"',
    "keys": '"{0:_>150}": 1',
    "labels": '"label": "{0:_>150}"',
    "predictions": '"prediction": "{0:_>150}"',
    "classes of scores": '"scores": {{"{0:_>150}": 0.5}}, "score": null',
    "rejected events": '"model": 0, "x": {0}',
}


def message(fields: str) -> str:
    """Return a message with these fields; of keys that come twice the last one counts."""
    return '{{"model": "m", "label": "fraud", "score": 0.5, ' + fields + "}}"


def megabytes() -> float:
    """Return what this process holds, without what the allocator could give back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def feed(
    pipeline: Pipeline, messages: Iterator[str], first: int, spread: float = 0.001, poll: int = POLL
) -> None:
    """Have messages, `spread` seconds apart, consumed as the daemon does, and evaluated at the end."""
    offset = first
    while chunk := [message.encode() for message in islice(messages, poll)]:
        records = [
            Raw(offset + i, RECORD_MS + round((offset + i) * spread * 1000), None, value, ())
            for i, value in enumerate(chunk)
        ]
        offset += len(chunk)
        pipeline.apply(pipeline.decode([RecordBatch(Partition(TOPIC, 0), records)]))
        pipeline.advance(())
    pipeline.adopt(pipeline.evaluate(pipeline.snapshot()))


def growth(pipeline: Pipeline, template: str, events: int, **options: float) -> float:
    """Return by how many MB memory grows with the events after the first tenth."""
    tenth = events // 10
    feed(pipeline, map(template.format, range(tenth)), 0, **options)
    before = megabytes()
    feed(pipeline, map(template.format, range(tenth, events)), tenth, **options)
    return megabytes() - before


def made(**limits: object) -> Pipeline:
    config = configuration({"*": binary(segments=["region"])}, limits={"models": 100, **limits})
    return Pipeline(config, [TOPIC], SystemClock())


def fed(template: str, events: int, limits: Mapping[str, object], **options: float) -> Pipeline:
    """Return a pipeline that has read these events, and did not grow with them.

    The second time counts: what tests before this one left behind may move once.
    """
    for _ in range(2):
        pipeline = made(**limits)
        grown = growth(pipeline, template, events, **options)
        if grown < GROWTH_MB:
            break
    assert grown < GROWTH_MB
    return pipeline


def names(pipeline: Pipeline) -> int:
    """Return how many labels of series the daemon's own counters have."""
    return sum(map(len, (pipeline.rejected, pipeline.state.late, pipeline.state.unlabeled)))


@pytest.mark.parametrize("what", ENDLESS)
def test_memory_does_not_grow_with_the_number_of(what: str) -> None:
    pipeline = fed(message(ENDLESS[what]), EVENTS, {})
    assert sum(pipeline.consumed.values()) == EVENTS
    assert names(pipeline) <= 201


@pytest.mark.slow
@pytest.mark.parametrize("what", ENDLESS)
def test_memory_does_not_grow_with_a_million_of(what: str) -> None:
    assert growth(made(), message(ENDLESS[what]), 1_000_000) < 4 * GROWTH_MB


@pytest.mark.parametrize("what", ["models", "versions"])
def test_memory_does_not_grow_with_what_comes_and_goes(what: str) -> None:
    """A name every ten seconds, each forgotten soon after its only event."""
    unlabeled = message(ENDLESS[what] + ', "label": null')
    limits = {"retire_after": "1m", "versions_per_model": 100}
    pipeline = fed(unlabeled, 3000, limits, spread=10, poll=10)
    assert not pipeline.rejected
    assert len(pipeline.state.view().versions) < 50
    assert names(pipeline) < 50
    assert sum(pipeline.state.unlabeled.values()) == 3000


@pytest.mark.kafka
def test_one_event_of_ten_megabytes_does_not_stop_reading(apache_kafka: Broker, tmp_path: Path) -> None:
    topic = apache_kafka.create_topic("huge", max_message_bytes="20000000")
    dead = apache_kafka.create_topic("huge-dead")
    huge = event(1, padding="x" * 10_000_000)
    apache_kafka.produce(topic, [event(0), huge, event(2)])
    text = daemons.configuration(apache_kafka, topic, dead_letter_topic=dead)
    with running(text, tmp_path) as daemon:
        daemon.wait_for_records(3)
        daemon.wait_until(lambda: daemon.daemon.status().dead_letters.get("sent") == 1, 30)
        assert daemon.daemon.status().events_rejected == {("", "too_large"): 1}
        assert daemon.json("/api/v1/report?window=all")["reports"][0]["events"] == 2
    with reading(apache_kafka.settings, dead, dead) as reader:
        reader.until(lambda: reader.count() == 1)
        (letter,) = reader.records[Partition(dead, 0)]
    assert letter.value == huge[:TRUNCATED_TO]
    assert dict(letter.headers)["truncated"] == str(len(huge)).encode()


def test_a_backlog_is_worked_off_in_aligned_order(
    embedded_broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions whose times run at different speeds: none is read ahead of the others."""
    topic = embedded_broker.create_topic("backlog", partitions=3)
    for partition in range(3):
        values = (event(i * (partition + 1)) for i in range(3000))
        embedded_broker.produce_many(topic, ((value, None) for value in values), partition)
    skews: list[float] = []
    advance = Pipeline.advance

    def spied(self: Pipeline, lagging: Collection[Partition]) -> Snapshot:
        times = [self.state.clocks.partitions[p] for p in lagging if p in self.state.clocks.partitions]
        if times:
            skews.append((max(times) - min(times)) / 1e6)
        return advance(self, lagging)

    monkeypatch.setattr(Pipeline, "advance", spied)
    with running(daemons.configuration(embedded_broker, topic, max_poll_records="100"), tmp_path) as daemon:
        daemon.wait_for_records(9000, 60)
    max_skew, one_poll = 1, 100 * 3
    assert max(skews) > 0
    assert max(skews) <= max_skew + one_poll
