"""Compressed topics, and records that cannot be unpacked."""

import kafka.codec
import pytest
from kafka import KafkaProducer
from kafka.record import default_records

from monitor.errors import SourceError
from monitor.records import Partition
from tests.support.reading import numbered, reading

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]

CODECS = ("gzip", "snappy", "lz4", "zstd")


@pytest.fixture(scope="module")
def compressed(apache_kafka):
    """Topics with a hundred records each, by codec; the first partition of each is not compressed."""
    topics = {codec: apache_kafka.create_topic(f"compressed-{codec}", 2) for codec in CODECS}
    for codec, topic in topics.items():
        apache_kafka.produce(topic, numbered(10), 0)
        producer = KafkaProducer(bootstrap_servers=apache_kafka.address, compression_type=codec, linger_ms=50)
        for value in numbered(100):
            producer.send(topic, value * 10, partition=1)
        producer.close(10)
    return topics


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_is_read(apache_kafka, compressed, codec):
    topic = compressed[codec]
    with reading(apache_kafka.settings, topic, topic) as reader:
        reader.until(lambda: reader.count() == 110)
        assert reader.values()[Partition(topic, 1)] == [value * 10 for value in numbered(100)]


def test_codec_that_is_not_installed_ends_in_one_message(apache_kafka, compressed, monkeypatch):
    monkeypatch.setattr(kafka.codec, "zstd", None)
    topic = compressed["zstd"]
    with reading(apache_kafka.settings, topic, "without-zstd") as reader:
        with pytest.raises(SourceError, match=r"cannot be unpacked .*zstd.*; pip install zstandard"):
            reader.until(lambda: False)


def test_records_that_are_damaged_end_in_one_message_that_says_where(apache_kafka, compressed, monkeypatch):
    def damaged(_):
        raise ValueError("bad magic")

    monkeypatch.setattr(default_records, "zstd_decode", damaged)
    topic = compressed["zstd"]
    with reading(apache_kafka.settings, topic, "damaged") as reader:
        with pytest.raises(
            SourceError, match=rf"{topic}/1: a record at offset 0 .*ValueError: bad magic.*delete-records"
        ):
            reader.until(lambda: False)


def test_damage_is_found_though_its_partition_is_held_meanwhile(apache_kafka, compressed, monkeypatch):
    monkeypatch.setattr(kafka.codec, "zstd", None)
    topic = compressed["zstd"]
    with reading(apache_kafka.settings, topic, "held") as reader:
        with pytest.raises(SourceError, match="cannot be unpacked"):
            reader.until(lambda: reader.count() == 10)  # the first partition; the client keeps the error
            reader.source.hold([Partition(topic, 1)])
            reader.poll()
            reader.source.hold([])
            reader.until(lambda: False, seconds=5)
