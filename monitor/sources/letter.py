"""One dead letter: a rejected record as it is sent on."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from monitor.records import Partition, Record

TRUNCATED_TO = 100_000
"""Bytes that are kept of a value that the broker does not take whole."""


class RejectedRecord(Protocol):
    """A record that is no valid event."""

    @property
    def partition(self) -> Partition:
        """Where it stands."""

    @property
    def record(self) -> Record:
        """The record as read."""

    @property
    def reason(self) -> str:
        """Reason from the fixed list."""

    @property
    def detail(self) -> str:
        """What exactly is wrong."""


class Letter(NamedTuple):
    """A message for the dead-letter topic."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]

    @property
    def size(self) -> int:
        """Bytes of key, value and headers."""
        headers = sum(len(name) + len(value) for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers

    def truncated(self) -> Letter | None:
        """Return the beginning of the letter, None where it is that already."""
        if self.value is None or len(self.value) <= TRUNCATED_TO:
            return None
        return self._replace(
            value=self.value[:TRUNCATED_TO],
            headers=[*self.headers, ("truncated", str(len(self.value)).encode())],
        )


def letter(rejected: RejectedRecord, topic_id: str | None = None) -> Letter:
    """Make the message that goes to the dead-letter topic.

    Key, value and headers are the record's own, byte by byte. Added are `monitor-id`
    (topic id, or the topic's name where there is none, / partition / offset), which tells a repeated letter,
    `monitor-reason` and `monitor-detail`; `monitor-null-header` names a header whose value was null, which
    kafka-python cannot send.
    """
    record, partition = rejected.record, rejected.partition
    place = f"{topic_id or partition.topic}/{partition.partition}/{record.offset}"
    headers = [(name, b"" if value is None else value) for name, value in record.headers]
    headers += [("monitor-null-header", name.encode()) for name, value in record.headers if value is None]
    headers += [
        ("monitor-id", place.encode()),
        ("monitor-reason", rejected.reason.encode()),
        ("monitor-detail", rejected.detail[:1000].encode(errors="replace")),
    ]
    value = b"" if record.key is None and record.value is None else record.value
    return Letter(record.key, value, headers)
