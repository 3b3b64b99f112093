"""What is known of events beside what they say: when they were recorded, and which they are."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from monitor.events.batch import Marks
from monitor.events.decoder import Decoder
from monitor.events.position import Positions
from monitor.events.spec import ModelSpec
from monitor.records import Partition, RecordBatch
from tests.support.records import RECORD_MS, batch, raw

SPEC = ModelSpec("fraud", "binary", ("legit", "fraud"), 1, thresholds=(0.5,))
ANY = ModelSpec("*", "binary", ("legit", "fraud"), 1, thresholds=(0.5,))


def read(records: RecordBatch, *specs: ModelSpec, **options: Any) -> dict[tuple[str, str], Marks]:
    specs = specs or (SPEC,)
    decoder = Decoder(
        options.pop("fields", {}), {spec.name: spec for spec in specs}, Positions(["t"]), **options
    )
    result = decoder.decode([records])
    assert result.rejected == ()
    assert list(result.marks) == list(result.columns)
    return dict(result.marks)


def one(messages: list[Any], **options: Any) -> Marks:
    [marks] = read(batch(messages), **options).values()
    return marks


def hashed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def test_an_event_was_recorded_when_its_record_says() -> None:
    message = b'{"score": 0.5, "timestamp": 1764000000}'
    records = RecordBatch(Partition("t", 0), [raw(0, message, RECORD_MS), raw(1, message, -1)])
    [marks] = read(records).values()
    assert marks.recorded.dtype == np.int64
    assert marks.recorded.tolist() == [RECORD_MS * 1000, 1_764_000_000_000_000]


def test_an_event_of_a_file_was_recorded_when_it_happened() -> None:
    marks = one([{"score": 0.5, "timestamp": 1764000000}], now=lambda: RECORD_MS * 1000)
    assert marks.recorded.tolist() == [1_764_000_000_000_000]


def test_ids_are_read_only_where_somebody_asks() -> None:
    assert one([{"score": 0.5, "id": "a"}]).identity is None


@pytest.mark.parametrize("doubtful", [False, True])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("req-1", "req-1"),
        ("ä", "ä"),
        (17, "17"),
        (17.0, "17"),
        (1.5, "1.5"),
        (True, "true"),
        (2**70, str(2**70)),
    ],
)
def test_an_id_is_the_hash_of_its_text(value: Any, text: str, doubtful: bool) -> None:
    message: dict[str, Any] = {"score": 0.5, "id": value}
    if doubtful:  # read by the reference alone
        message["label"] = [1]
    identity = one([message], identities=True).identity
    assert identity is not None
    assert identity.dtype == np.int64
    assert identity.tolist() == [hashed(text)]


@pytest.mark.parametrize("value", [None, "", ["a"], {"a": 1}, float("nan")])
def test_what_is_no_id_is_none(value: Any) -> None:
    identity = one([{"score": 0.5, "id": "a"}, {"score": 0.5, "id": value}, {"score": 0.5}], identities=True)
    assert identity.identity is not None
    assert identity.identity.tolist() == [hashed("a"), 0, 0]


def test_without_any_id_there_are_none() -> None:
    identity = one([{"score": 0.5}, {"score": 0.6}], identities=True).identity
    assert identity is not None
    assert identity.tolist() == [0, 0]


def test_the_id_stands_where_the_mapping_says() -> None:
    message = {"score": 0.5, "id": "no", "meta": {"request": "yes"}}
    identity = one([message], identities=True, fields={"id": "meta.request"}).identity
    assert identity is not None
    assert identity.tolist() == [hashed("yes")]


def test_marks_stay_with_their_events_where_versions_are_told_apart() -> None:
    messages: list[Any] = [
        {
            "model": f"m{i % 3}",
            "version": i % 2,
            "score": 0.5,
            "id": f"e{i}",
            "label": [1] if i % 5 == 0 else 1,
        }
        for i in range(40)
    ]
    records = RecordBatch(
        Partition("t", 0), [r._replace(timestamp=RECORD_MS + r.offset) for r in batch(messages).records]
    )
    decoder = Decoder({}, {"*": ANY}, Positions(["t"]), identities=True)
    result = decoder.decode([records])
    assert len(result.columns) == 6
    for (model, version), columns in result.columns.items():
        own = [i for i in range(40) if (f"m{i % 3}", str(i % 2)) == (model, version)]
        base = Positions(["t"]).base("t", 0)
        assert (columns.position - base).tolist() == own
        marks = result.marks[model, version]
        assert marks.recorded.tolist() == [(RECORD_MS + i) * 1000 for i in own]
        assert marks.identity is not None
        assert marks.identity.tolist() == [hashed(f"e{i}") for i in own]
