"""The consumer's settings: ours where the user has none, and those that are nobody's choice."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULTS: Mapping[str, object] = {
    "session_timeout_ms": 10_000,
    "max_poll_records": 2000,
    "metadata_max_age_ms": 10_000,  # how soon a partition that was added is seen
    "reconnect_backoff_max_ms": 1_000,  # kafka-python's 30 s would go on after a broker is back
    "metrics_enabled": False,
}
FORCED: Mapping[str, object] = {
    "enable_auto_commit": False,
    "isolation_level": "read_committed",
    "auto_offset_reset": "none",  # no position is ever chosen without us
    "key_deserializer": None,
    "value_deserializer": None,  # one that raises would make poll() spin for ever
    "check_crcs": True,
}


def consumer_settings(settings: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that a `KafkaConsumer` is made with.

    Parameters
    ----------
    settings
        What the user wrote, by kafka-python's own names.
    """
    merged = {**DEFAULTS, **settings, **FORCED}
    session = int(str(merged["session_timeout_ms"]))
    return {"heartbeat_interval_ms": min(3000, session // 3), **merged}
