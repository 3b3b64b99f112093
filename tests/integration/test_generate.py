"""The traffic generator of the compose file on the embedded broker."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition

from monitor.demo import generate as generator
from monitor.demo.configuration import BAD_VERSION, GOOD_VERSION, MODEL
from tests.support.brokers import EmbeddedBroker
from tests.support.chain import wait

TOPIC = "generated"


def events(broker: EmbeddedBroker) -> Iterator[dict[str, Any]]:
    """Yield what is in the topic; some messages are spoilt, as in life."""
    consumer = KafkaConsumer(**broker.settings)
    try:
        partitions = [TopicPartition(TOPIC, number) for number in range(2)]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        left = sum(consumer.end_offsets(partitions).values())
        while left:
            for batch in consumer.poll(500).values():
                left -= len(batch)
                for record in batch:
                    try:
                        yield json.loads(record.value)
                    except ValueError:
                        continue
    finally:
        consumer.close()


def test_it_waits_for_the_topic_and_sends_both_versions(
    embedded_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(generator, "LOOK_SECONDS", 0.2)
    caplog.set_level(logging.INFO, "monitor.demo.generate")
    to = generator.Destination(embedded_broker.address, TOPIC)
    cycle = generator.Cycle(good=1.5, bad=0.5)
    thread = threading.Thread(target=generator.generate, args=(to, cycle, threading.Event(), 2.0))
    thread.start()
    wait(lambda: f"there is no topic '{TOPIC}'" in caplog.text)
    embedded_broker.create_topic(TOPIC, partitions=2)
    thread.join(60)
    assert not thread.is_alive()
    count = Counter((event["model"], event["version"]) for event in events(embedded_broker))
    assert count[MODEL, GOOD_VERSION] > count[MODEL, BAD_VERSION] > 50
    assert count["digits", GOOD_VERSION] > 20
    assert caplog.text.count("waiting") == 1
    assert f"{TOPIC} can be written now" in caplog.text
    assert f"version {BAD_VERSION} of {MODEL} serves now" in caplog.text


def test_it_ends_on_sigterm_while_the_broker_is_away(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-m", "monitor.demo.generate", "--bootstrap", "127.0.0.1:1"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        wait(lambda: "nothing listens there" in log.read_text())
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert "Traceback" not in log.read_text()
    finally:
        process.kill()
        process.wait()
