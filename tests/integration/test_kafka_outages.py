"""Brokers that are away, hang, come back, or come back with less: nothing is lost, nothing read twice."""

import re
import time

import pytest

from monitor.errors import SourceError
from monitor.records import Partition
from tests.support.reading import load, numbered, reading

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]

IMPATIENT = {"bootstrap_timeout_ms": 500, "metadata_max_age_ms": 500, "session_timeout_ms": 45_000}


@pytest.fixture
def topic(apache_kafka, request):
    return apache_kafka.create_topic(re.sub(r"\W+", "-", request.node.name))


@pytest.fixture(autouse=True)
def watch_often(monkeypatch):
    """Look at the topics several times a second."""
    monkeypatch.setattr("monitor.sources.topics.WATCH_EVERY", 0.3)


def said(caplog, text):
    """Log lines of ours above debug level that hold a text."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("monitor") and record.levelname != "DEBUG" and text in record.getMessage()
    ]


def test_broker_that_is_killed_under_load_comes_back(apache_kafka, topic, caplog):
    zero = Partition(topic, 0)
    settings = {**apache_kafka.settings, **IMPATIENT}
    with (
        reading(settings, topic, topic, give_up_after=120) as reader,
        reading(settings, topic, f"{topic}-late", give_up_after=120) as late,
        reading(settings, topic, f"{topic}-impatient", give_up_after=3) as impatient,
    ):
        with load(apache_kafka.servers("PLAINTEXT"), topic) as written:
            reader.until_with([impatient], lambda: reader.count() > 50 < impatient.count())
            assert reader.source.commit({zero: 20})
            apache_kafka.kill()
            killed = time.monotonic()
            try:
                with pytest.raises(
                    SourceError, match=r"Kafka at .+ has not .+given up after \d+ s: kafka\.give_up"
                ):
                    reader.until_with([late, impatient], lambda: False)
                assert not reader.source.commit({zero: 30})
                reader.until_with([late], lambda: time.monotonic() - killed > 7)
                assert "has not answered since 20" in reader.source.problem
                assert "nothing listens there; check kafka.bootstrap_servers" in late.source.problem
                assert not late.source.joined
            finally:
                apache_kafka.start()
            back = written.count
            reader.until_with([late], lambda: reader.count() > back < late.count(), seconds=60)
        reader.until_with([late], lambda: reader.count() >= written.count <= late.count(), seconds=60)
        reader.until(lambda: reader.source.commit({zero: 40}))
        for each in (reader, late):
            each.until(lambda each=each: each.source.problem is None)
            assert each.values() == {zero: numbered(written.count)}
            assert each.revoked == []
            assert each.source.joined
    assert len(said(caplog, "nothing listens there")) == 1
    assert len(said(caplog, "numbers stay as they were, and it is tried again")) == 2
    assert not said(caplog, "commits fail")


def test_broker_that_hangs_under_load_goes_on(apache_kafka, topic):
    zero = Partition(topic, 0)
    settings = {**apache_kafka.settings, "request_timeout_ms": 3000, "session_timeout_ms": 45_000}
    with reading(settings, topic, topic, give_up_after=60) as reader:
        with load(apache_kafka.servers("PLAINTEXT"), topic) as written:
            reader.until(lambda: reader.count() > 50)
            apache_kafka.freeze()
            try:
                reader.until(lambda: reader.source.problem is not None)
                for call in (
                    lambda: reader.poll(0.2),
                    reader.source.lag,
                    reader.source.positions,
                    lambda: reader.source.commit({zero: 50}),
                ):
                    began = time.monotonic()
                    call()
                    assert time.monotonic() - began < 15  # the broker hangs for good
            finally:
                apache_kafka.thaw()
            reader.until(lambda: reader.source.problem is None, seconds=60)
        reader.until(lambda: reader.count() >= written.count, seconds=60)
        assert reader.values() == {zero: numbered(written.count)}
        reader.until(lambda: reader.source.commit({zero: written.count}))


def cut_log(broker, topic, offset):
    """Take a stopped broker the records from an offset on, as a disk does that lost its last writes."""
    (folder,) = broker.nodes[0].folder.glob(f"data/{topic}-0")
    (log,) = folder.glob("*.log")
    data, kept = log.read_bytes(), 0
    while int.from_bytes(data[kept : kept + 8]) < offset:  # a batch: base offset, length of the rest
        kept += 12 + int.from_bytes(data[kept + 8 : kept + 12])
    log.write_bytes(data[:kept])
    for other in folder.iterdir():
        if other.suffix in (".index", ".timeindex", ".snapshot"):
            other.unlink()
    (broker.nodes[0].folder / "data" / ".kafka_cleanshutdown").unlink()


def test_broker_that_comes_back_with_a_shorter_log(apache_kafka, topic):
    zero = Partition(topic, 0)
    settings = {**apache_kafka.settings, **IMPATIENT}
    for value in numbered(30):
        apache_kafka.produce(topic, [value])  # a batch each
    with reading(settings, topic, topic, give_up_after=120) as reader:
        reader.until(lambda: reader.count() == 30)
        apache_kafka.stop()
        try:
            cut_log(apache_kafka, topic, 20)
        finally:
            apache_kafka.start()
        apache_kafka.produce(topic, [b"new"] * 15)
        reader.until(lambda: reader.count() == 45, seconds=60)
        assert reader.truncated == {zero: 20}
        assert [record.offset for record in reader.records[zero]] == [*range(30), *range(20, 35)]
        assert reader.source.log_truncations == 1
        assert reader.source.positions() == {zero: 35}
    with reading(settings, topic, topic, take_over=lambda _: {zero: 50}) as reader:
        reader.until(lambda: bool(reader.truncated))
        assert reader.truncated == {zero: 35}
