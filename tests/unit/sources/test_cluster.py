"""What is said of brokers that stop answering, and for how long they are waited for."""

from types import SimpleNamespace

import pytest

from monitor.clock import ManualClock
from monitor.errors import SourceError
from monitor.sources.cluster import Cluster

SETTINGS = {"bootstrap_servers": ["kafka-1:9092", "kafka-2:9092"], "sasl_plain_password": "hunter2"}


def test_brokers_that_are_away_are_named_with_since_and_until_when_and_what_to_do(caplog):
    caplog.set_level("INFO")
    clock = ManualClock()
    cluster = Cluster(SETTINGS, ["t"], 120, clock, restart=False)
    cluster._watch = SimpleNamespace(silent_since=None, latest=cluster._seen)
    cluster.look()
    assert cluster.problem is None
    cluster._watch.silent_since = clock.monotonic(), clock.now()
    said = "Kafka at kafka-1:9092,kafka-2:9092 has not answered since 2025-11-29 07:06:40 UTC; "
    remedy = "check that the brokers run and can be reached (monitor check --connect)"
    for _ in range(12):
        cluster.look()
        assert cluster.problem == (
            f"{said}{remedy}; numbers stay as they were, and it is tried again until "
            "2025-11-29 07:08:40 UTC (kafka.give_up_after)"
        )
        clock.advance(10)
    assert [record.getMessage() for record in caplog.records] == [cluster.problem]
    assert "hunter2" not in cluster.problem
    with pytest.raises(SourceError) as given_up:
        cluster.look()
    assert str(given_up.value) == f"{said}{remedy} (given up after 120 s: kafka.give_up_after)"
    cluster._watch = SimpleNamespace(silent_since=None, latest={})
    cluster.look()
    assert cluster.problem is None
    assert caplog.records[-1].getMessage().startswith(f"no longer: {said}")
