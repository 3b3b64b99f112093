from __future__ import annotations

import json
import logging

import pytest
from kafka.errors import KafkaError

from monitor.demo.configuration import MODEL
from monitor.demo.model import Fault, Release, breast_cancer, digits
from monitor.demo.traffic import DAMAGED_SITE, SITES, Stream, Traffic, spoil
from monitor.errors import MonitorError


@pytest.fixture(scope="module")
def classifier():
    return breast_cancer()


def stream(classifier, name=MODEL):
    return Stream(name, Release("v1"), classifier, rate=100, seed=1)


def test_events_are_canonical(classifier):
    event = next(stream(classifier).events(1, 1764400000.123))
    assert event.keys() == {"id", "model", "version", "timestamp", "label", "score", "segments"}
    assert (event["model"], event["version"], event["timestamp"]) == (MODEL, "v1", 1764400000.123)
    assert event["label"] in ("benign", "malignant")
    assert 0 <= event["score"] <= 1
    assert event["segments"]["site"] in SITES


def test_more_than_two_classes_have_a_vector_of_scores():
    for event in stream(digits(), "digits").events(20, 1.0):
        assert len(event["scores"]) == 10
        assert sum(event["scores"]) == pytest.approx(1, abs=1e-5)
        assert "score" not in event


def test_ids_go_on_from_batch_to_batch(classifier):
    events = stream(classifier)
    ids = [event["id"] for count in (2, 0, 3) for event in events.events(count, 1.0)]
    assert ids == [f"{MODEL}-{number}" for number in range(1, 6)]


def test_a_fault_misses_positives_at_its_site_alone(classifier):
    def recall(fault, site):
        damaged = stream(classifier)
        damaged.release = Release("v2", fault)
        events = damaged.events(4000, 1.0)
        found = [
            e["score"] >= 0.5 for e in events if e["label"] == "malignant" and e["segments"]["site"] == site
        ]
        return sum(found) / len(found)

    (other,) = set(SITES) - {DAMAGED_SITE}
    assert recall(Fault(), DAMAGED_SITE) < recall(None, DAMAGED_SITE) - 0.4
    assert recall(Fault(), other) == recall(None, other)


def test_spoilt_messages_are_no_valid_events(classifier):
    event = next(stream(classifier).events(1, 1.0))
    with pytest.raises(json.JSONDecodeError):
        json.loads(spoil(event, 0))
    assert json.loads(spoil(event, 1))["label"] not in classifier.classes
    assert json.loads(spoil(event, 2))["model"] not in (MODEL, "digits")


def test_the_client_has_no_word_of_its_own(monkeypatch):
    def failing(**settings):
        raise KafkaError("away")

    client = logging.getLogger("kafka")
    monkeypatch.setattr(client, "propagate", True)
    monkeypatch.setattr("monitor.demo.traffic.KafkaProducer", failing)
    with Traffic("127.0.0.1:1", "t", 1, []) as traffic:
        traffic.join(10)
        with pytest.raises(MonitorError, match=r"cannot be sent: .*away"):
            traffic.check()
    assert not client.propagate
