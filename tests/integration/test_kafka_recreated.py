"""A topic that is another one than that of the checkpoint, seen by the daemon."""

from __future__ import annotations

from pathlib import Path
from urllib.error import HTTPError

import pytest

from monitor.errors import SourceError
from tests.support.brokers import ApacheKafka
from tests.support.daemons import Running, configuration, event, running

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]

REFUSED = r"deleted and created again \(its id was .* and is now .*\).*kafka\.on_topic_recreated: restart"


@pytest.fixture(autouse=True)
def watch_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the topics several times a second."""
    monkeypatch.setattr("monitor.sources.topics.WATCH_EVERY", 0.3)


def events_of(daemon: Running) -> int:
    try:
        reports = daemon.json("/api/v1/report?model=fraud&window=all")["reports"]
    except HTTPError:  # there is no report yet
        return 0
    return max((report["events"] for report in reports), default=0)


@pytest.mark.parametrize("records", [3, 30])
def test_recreated_while_the_daemon_was_away(apache_kafka: ApacheKafka, tmp_path: Path, records: int) -> None:
    topic = apache_kafka.create_topic(f"recreated-away-{records}")
    apache_kafka.produce(topic, [event(i) for i in range(10)])
    with running(configuration(apache_kafka, topic), tmp_path) as daemon:
        daemon.wait_for_records(10)
    apache_kafka.recreate_topic(topic)
    apache_kafka.produce(topic, [event(i) for i in range(100, 100 + records)])
    with (
        pytest.raises(SourceError, match=REFUSED),
        running(configuration(apache_kafka, topic), tmp_path) as daemon,
    ):
        daemon.thread.join(30)
    # What comes of kafka.start is of no account: the new topic is read from its beginning.
    anew = configuration(apache_kafka, topic, on_topic_recreated="restart").replace("earliest", "latest")
    with running(anew, tmp_path) as daemon:
        daemon.wait_for_records(records)
        assert events_of(daemon) == records
    with running(anew, tmp_path) as daemon:  # whose checkpoint knows the new topic
        daemon.wait_for_records(records)
        assert events_of(daemon) == records


@pytest.mark.parametrize("records", [3, 30])
def test_recreated_while_the_daemon_runs(apache_kafka: ApacheKafka, tmp_path: Path, records: int) -> None:
    topic = apache_kafka.create_topic(f"recreated-{records}")
    apache_kafka.produce(topic, [event(i) for i in range(10)])
    anew = configuration(apache_kafka, topic, on_topic_recreated="restart")
    with running(anew, tmp_path) as daemon:
        daemon.wait_for_records(10)
        apache_kafka.recreate_topic(topic)
        apache_kafka.produce(topic, [event(i) for i in range(100, 100 + records)])
        daemon.wait_until(lambda: events_of(daemon) == records, 30)
        assert daemon.daemon.status().role == "owner"
