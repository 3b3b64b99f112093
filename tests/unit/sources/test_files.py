from __future__ import annotations

import builtins
import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from monitor.errors import MonitorError, SourceError
from monitor.records import Partition
from monitor.sources import rows
from monitor.sources.files import START_MS, FileRecord, FileSource


def read(source: FileSource) -> dict[Partition, list[FileRecord]]:
    found: dict[Partition, list[FileRecord]] = {partition: [] for partition in source.assigned()}
    while not source.finished:
        for partition, records in source.poll(0).batches:
            assert records
            found[partition] += records
    return found


def messages(path: Path, **options: Any) -> list[Any]:
    [records] = read(FileSource([path], **options)).values()
    return [json.loads(record.value) for record in records]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def written(name: str, text: str | bytes) -> Path:
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return written


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "a.jsonl.gz", "A.JSONL"])
def test_lines_are_records_as_they_stand(name: str, write: Any) -> None:
    path = write(name, '{"a": 1}\n\n not json \r\n{"a": 2}')
    [records] = read(FileSource([path])).values()
    assert [r.value for r in records] == [b'{"a": 1}', b"not json", b'{"a": 2}']
    assert [r.offset for r in records] == [0, 1, 2]
    assert [r.timestamp for r in records] == [START_MS, START_MS + 1, START_MS + 2]
    assert (records[0].key, records[0].headers) == (None, ())
    assert datetime.fromtimestamp(START_MS / 1000, UTC).isoformat() == "2000-01-01T00:00:00+00:00"


def test_files_are_partitions_in_the_order_given(write: Any) -> None:
    paths = [write("b.jsonl", "1\n2\n"), write("a.jsonl", "3\n"), write("empty.jsonl", "")]
    found = read(FileSource(paths))
    assert {p: [r.value for r in records] for p, records in found.items()} == {
        Partition("file", 0): [b"1", b"2"],
        Partition("file", 1): [b"3"],
        Partition("file", 2): [],
    }


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_columns_are_keys_and_dots_nest(name: str, write: Any) -> None:
    text = (
        "\ufeffid,version,outcome.label,score,segments.zip,outcome.at,note\r\n"
        '007,1.0,1,0.5,01234,2025-01-01,"a ""b"", {c}\nd"\r\n'
        "8,2,fraud,.5,7,,1e3\n"
        "\n"
        "9,,0123,nan,,,é\n"
    )
    assert messages(write(name, text)) == [
        {
            "id": "007",
            "version": "1.0",
            "outcome": {"label": 1, "at": "2025-01-01"},
            "score": 0.5,
            "segments": {"zip": "01234"},
            "note": 'a "b", {c}\nd',
        },
        {
            "id": "8",
            "version": "2",
            "outcome": {"label": "fraud", "at": None},
            "score": 0.5,
            "segments": {"zip": "7"},
            "note": 1000.0,
        },
        {
            "id": "9",
            "version": None,
            "outcome": {"label": "0123", "at": None},
            "score": "nan",
            "segments": {"zip": None},
            "note": "é",
        },
    ]


def test_text_columns_are_those_that_are_mapped(write: Any) -> None:
    path = write("a.csv", "model,meta.v,meta,versions\n1,2,3,4\n")
    assert messages(path, text_columns=["meta.v", "version"]) == [
        {"model": 1, "meta.v": "2", "meta": 3, "versions": 4}
    ]


def test_odd_column_names_are_kept(write: Any) -> None:
    assert messages(write("a.csv", ',{x},"a""b",%s\n1,2,3,4\n')) == [{"": 1, "{x}": 2, 'a"b': 3, "%s": 4}]


def test_long_files_come_in_chunks(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "CHUNK_ROWS", 2)
    monkeypatch.setattr(rows, "CHUNK_BYTES", 4)
    table, lines = write("a.csv", "n\n1\n2\n3\n"), write("a.jsonl", "11\n22\n33\n")
    source = FileSource([table, lines])
    assert (source.progress, source.finished) == (0.0, False)
    sizes, progress = [], []
    while not source.finished:
        sizes.append([len(b.records) for b in source.poll(0).batches])
        progress.append(source.progress)
    assert sizes == [[2, 2], [1, 1], []]
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    offsets = [r.offset for r in read(FileSource([table]))[Partition("file", 0)]]
    assert offsets == [0, 1, 2]


def test_a_held_file_waits(write: Any) -> None:
    source = FileSource([write("a.jsonl", "1\n"), write("b.jsonl", "2\n")])
    first, second = Partition("file", 0), Partition("file", 1)
    source.hold([first])
    assert [b.partition for b in source.poll(0).batches] == [second]
    assert source.poll(0).batches == []
    assert source.lag() == {first: 1, second: 0}
    source.hold([])
    assert [b.partition for b in source.poll(0).batches] == [first]
    source.commit({first: 1})
    source.close()


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.txt", "1", "expected .jsonl, .ndjson, .json or .csv"),
        ("a.parquet.gz", "1", "expected .jsonl"),
        ("a.json", "[\n{}\n]", "holds a JSON array; write one object a line: jq -c '.[]' a.json"),
        ("a.csv", "", "has no header"),
        ("a.csv", "a,b,a\n", 'two columns are called "a"'),
        ("a.csv", "a,b\n1,2\n3\n", "between lines 1 and 3 a row has more or fewer cells than the header"),
        ("a.csv", "a,b\n1,2,3\n", "more or fewer cells"),
        ("a.csv", b"a,b\n1,\xff\n", "is not UTF-8 after line 0; convert it, as with `iconv -t utf-8`"),
        ("a.csv", "a;b\n1;2\n", "the header is one name, 'a;b'; separate cells by commas"),
        ("a.csv", 'a,b\n1,"2\n', "cannot be read after line 2: unexpected end of data"),
        ("a.parquet", "no parquet", "cannot be read after row 0"),
    ],
)
def test_what_cannot_be_read_is_named(
    name: str, data: str | bytes, text: str, write: Any, tmp_path: Path
) -> None:
    with pytest.raises(SourceError) as error:
        if name.endswith(".parquet.gz"):
            write(name, data)
        read(FileSource([write(name, data)]))
    assert str(error.value).startswith(str(tmp_path / name))
    assert text in str(error.value)


def test_missing_files_are_named_before_anything_is_read(write: Any, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"b\.jsonl: no such file"):
        FileSource([write("a.jsonl", "1\n"), tmp_path / "b.jsonl"])
    with pytest.raises(SourceError, match="not a file"):
        FileSource([tmp_path])


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv.gz"])
@pytest.mark.parametrize(
    "damage", [lambda d: d[:-30], lambda d: b"plain text\n", lambda d: d[:40] + b"xxxx" + d[44:]]
)
def test_damaged_archives_are_named(name: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(
        damage(gzip.compress("".join(f"{i * 7919 % 1000},x{i}\n" for i in range(2000)).encode()))
    )
    with pytest.raises(SourceError, match=r"gz: cannot be read after (row|line) \d+: "):
        read(FileSource([path]))


def test_a_file_that_may_not_be_read_is_named(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write("a.jsonl", "1\n")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match=r"a\.jsonl: cannot be opened: Permission denied"):
        read(FileSource([path]))


def test_parquet_rows_are_typed(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    noon = datetime(2025, 1, 1, 12, 0, 0, 123456, UTC)
    table = pa.table(
        {
            "model": pa.array(["fraud", None]).dictionary_encode(),
            "outcome.label": pa.array([1, None], pa.int64()),
            "score": pa.array([0.5, float("nan")]),
            "at": pa.array([noon, None], pa.timestamp("us", "Europe/Berlin")),
            "naive": pa.array([1735732800123456789, 2**62], pa.timestamp("ns")),
            "far": pa.array([0, 2**60], pa.timestamp("us", "UTC")),
            "day": pa.array([date(2025, 1, 1), None]),
            "price": pa.array([Decimal("1.50"), None]),
            "blob": pa.array([b"ok", b"\xff"]),
            "flag": pa.array([True, False]),
            "nested": pa.array([{"a": 1}, None]),
            "p": pa.array([[0.25, 0.75], None]),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    first, second = messages(path)
    assert first == {
        "model": "fraud",
        "outcome": {"label": 1},
        "score": 0.5,
        "at": "2025-01-01T12:00:00.123456+00:00",
        "naive": "2025-01-01T12:00:00.123456",
        "far": "1970-01-01T00:00:00+00:00",
        "day": "2025-01-01",
        "price": 1.5,
        "blob": "ok",
        "flag": True,
        "nested": {"a": 1},
        "p": [0.25, 0.75],
    }
    assert second["score"] != second["score"]  # NaN stays NaN, for the decoder to refuse
    assert second["outcome"] == {"label": None}
    assert second["far"] == 2**60 // 1000
    assert second["blob"] == "\ufffd"


def test_the_lag_of_parquet_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    from monitor.sources import parquet

    monkeypatch.setattr(parquet, "CHUNK_ROWS", 4)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": list(range(10))}), path)
    source = FileSource([path])
    lags = []
    while not source.finished:
        source.poll(0)
        lags.append(source.lag()[Partition("file", 0)])
    assert lags == [6, 2, 0]
    assert source.progress == 1.0


def test_parquet_without_pyarrow_says_what_to_install(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MonitorError, match=r"pip install 'monitor\[parquet\]'"):
        FileSource([write("a.parquet", "")])
