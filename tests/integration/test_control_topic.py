"""Messages on a control topic of a real broker."""

import json
from collections.abc import Iterator
from itertools import count

import pytest

from monitor.actions.topic import TopicMessage
from monitor.errors import MonitorError
from monitor.sources.control_topic import ControlTopic
from tests.support.brokers import Broker
from tests.support.desks import Office, alert
from tests.support.reading import reading

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
    pytest.mark.usefixtures("refused_sockets"),
]

_names = (f"control-{number}" for number in count())


@pytest.fixture
def name() -> str:
    return next(_names)


@pytest.fixture
def control(embedded_broker: Broker, name: str) -> Iterator[ControlTopic]:
    topic = ControlTopic(embedded_broker.settings, name, "actions.rollback.topic", 10)
    yield topic
    topic.close()


def test_a_decision_arrives(embedded_broker: Broker, name: str, control: ControlTopic) -> None:
    embedded_broker.create_topic(name)
    office = Office(sender=TopicMessage(control.post, control.close))
    assert office.act(alert()) == 1
    assert office.statuses == ["done"]
    with reading(embedded_broker.settings, name, name) as reader:
        reader.until(lambda: reader.count() == 1)
        [[record]] = reader.records.values()
    assert record.key == b"fraud"
    assert json.loads(record.value) == office.last.payload()
    assert dict(record.headers) == {"idempotency-key": office.last.idempotency_key.encode()}


def test_a_topic_that_is_missing_is_named_and_not_created(
    embedded_broker: Broker, name: str, control: ControlTopic
) -> None:
    with pytest.raises(MonitorError, match=rf"no topic '{name}'.*actions\.rollback\.topic"):
        control.post(b"k", b"v", [])
    assert name not in embedded_broker.topics()
    embedded_broker.create_topic(name)
    control.post(b"k", b"v", [])


def test_brokers_that_are_away() -> None:
    control = ControlTopic({"bootstrap_servers": "127.0.0.1:1"}, "t", "actions.rollback.topic", 2)
    sender = TopicMessage(control.post, control.close)
    office = Office(sender=sender)
    office.act(alert())
    assert office.statuses == ["pending"]
    assert "127.0.0.1:1" in (office.last.last_error or "")
    control.close()


def test_nothing_is_written_after_closing(embedded_broker: Broker, name: str, control: ControlTopic) -> None:
    embedded_broker.create_topic(name)
    control.post(b"k", b"v", [])
    control.close()
    with pytest.raises(MonitorError, match="stops"):
        control.post(b"k", b"v", [])
