"""Rows of Parquet files as JSON messages, through pyarrow."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from json import dumps
from pathlib import Path
from typing import Any

from monitor.errors import MonitorError, SourceError
from monitor.sources.tables import CHUNK_ROWS, Chunk, row_template

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parquet_rows(path: Path) -> Generator[Chunk, None, None]:
    """Return the rows of a file.

    Timestamps become ISO 8601 texts, in UTC where the column has a zone and without one where it has
    none. NaN stays NaN: a label that is unknown, a score that gets rejected. Null is null.

    Raises
    ------
    MonitorError
        If pyarrow is not installed.
    SourceError
        From the generator, if the file cannot be read.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise MonitorError(f"{path}: Parquet needs pyarrow: pip install 'monitor[parquet]'") from None
    return _rows(path, pyarrow)


def _rows(path: Path, pyarrow: Any) -> Generator[Chunk, None, None]:
    read = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            total = file.metadata.num_rows
            template = row_template(path, file.schema_arrow.names)
            for batch in file.iter_batches(CHUNK_ROWS):
                columns = [_written(column, pyarrow) for column in batch.columns]
                read += batch.num_rows
                values = [template.format(*cells).encode() for cells in zip(*columns, strict=True)]
                yield Chunk(values, read / total, total - read)
    except (OSError, pyarrow.ArrowException, ValueError) as error:
        raise SourceError(f"{path}: cannot be read after row {read}: {error}") from None


def _written(column: Any, pyarrow: Any) -> list[str]:
    """Return a column's values as JSON."""
    kind = column.type
    if not pyarrow.types.is_timestamp(kind):
        return [dumps(value, default=_plain) for value in column.to_pylist()]
    # Nanoseconds have no Python type and are cut; what overflows on the way from seconds is an error.
    micros = column.cast(pyarrow.timestamp("us", kind.tz), safe=kind.unit != "ns").cast(pyarrow.int64())
    return [
        "null" if value is None else _timestamp(value, kind.tz is not None) for value in micros.to_pylist()
    ]


def _timestamp(micros: int, zoned: bool) -> str:
    try:
        moment = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return str(micros // 1000)  # beyond the calendar: rejected as implausible
    return dumps((moment if zoned else moment.replace(tzinfo=None)).isoformat())


def _plain(value: object) -> object:
    """Return what JSON can say of a value that it has no type for."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value)
