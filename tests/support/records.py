"""Raw records for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from monitor.records import Partition, RecordBatch

RECORD_MS = 1_764_400_000_000


class Raw(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


def raw(offset: int, value: bytes | None, timestamp: int = RECORD_MS) -> Raw:
    return Raw(offset, timestamp, None, value, ())


def batch(values: Iterable[Any], first: int = 0, partition: int = 0) -> RecordBatch:
    """Records of one partition of topic "t", from bytes, None or objects to be written as JSON."""
    written = [v if v is None or isinstance(v, bytes) else json.dumps(v).encode() for v in values]
    return RecordBatch(Partition("t", partition), [raw(first + i, v) for i, v in enumerate(written)])
