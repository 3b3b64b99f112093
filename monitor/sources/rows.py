"""Rows of JSON Lines, CSV and Parquet files as JSON messages, in chunks."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from json import dumps
from pathlib import Path
from typing import IO, cast

from monitor.errors import SourceError
from monitor.sources.tables import CHUNK_ROWS, Chunk, row_template

CHUNK_BYTES = 1 << 20

_DAMAGES = (OSError, EOFError, zlib.error)
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_SHORT_NUMBER = re.compile(r"-?(\d+\.|\.\d+)", re.ASCII)


def read_rows(path: Path, text_columns: Collection[str]) -> Generator[Chunk, None, None]:
    """Return the rows of a file, which is opened when the first of them is asked for.

    Parameters
    ----------
    path
        `.jsonl`, `.ndjson`, `.json` (one object a line), `.csv`, each also with `.gz`; `.parquet`.
    text_columns
        See `FileSource`.

    Raises
    ------
    SourceError
        If there is no such file, or none that can be read; from the generator, if it is damaged.
    MonitorError
        If Parquet is not installed.
    """
    if not path.is_file():
        raise SourceError(f"{path}: no such file" if not path.exists() else f"{path}: not a file")
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if kind in ("jsonl", "ndjson", "json"):
        return _json_lines(path)
    if kind == "csv":
        return _csv(path, text_columns)
    if kind == "parquet" and path.suffix.lower() != ".gz":
        from monitor.sources.parquet import parquet_rows

        return parquet_rows(path)
    raise SourceError(f"{path}: expected .jsonl, .ndjson, .json or .csv (also with .gz), or .parquet")


def _json_lines(path: Path) -> Generator[Chunk, None, None]:
    """Lines as they stand; empty ones are skipped, those that are no JSON are events that get rejected."""
    rows = 0
    with _opened(path) as (file, done):
        try:
            while lines := file.readlines(CHUNK_BYTES):
                values = [value for line in lines if (value := line.strip())]
                if rows == 0 and values and values[0].startswith(b"["):
                    raise SourceError(
                        f"{path}: holds a JSON array; write one object a line: jq -c '.[]' {path.name}"
                    )
                rows += len(values)
                yield Chunk(values, done(), 1)
        except _DAMAGES as error:
            raise SourceError(f"{path}: cannot be read after row {rows}: {error}") from None


def _csv(path: Path, text_columns: Collection[str]) -> Generator[Chunk, None, None]:
    """Rows as objects: a column "outcome.label" is the label in the outcome, an empty cell is null."""
    with _opened(path) as (file, done):
        reader = csv.reader(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), strict=True)
        try:
            header = next(reader, None)
            if not header:
                raise SourceError(f"{path}: has no header: the first line must name the columns")
            if len(header) == 1 and any(separator in header[0] for separator in ";\t"):
                raise SourceError(
                    f"{path}: the header is one name, {header[0]!r}; separate cells by commas, not by "
                    "semicolons or tabs"
                )
            template = row_template(path, header)
            texts = [any(f"{name}.".startswith(f"{text}.") for text in text_columns) for name in header]
            filled = (row for row in reader if row)
            while rows := list(islice(filled, CHUNK_ROWS)):
                if any(len(row) != len(header) for row in rows):
                    raise SourceError(
                        f"{path}: between lines {reader.line_num - len(rows)} and {reader.line_num} a row "
                        f"has more or fewer cells than the header, which has {len(header)}; cells are "
                        "separated by commas, and quoted where they hold one"
                    )
                cells = ([_cell(cell, text) for cell, text in zip(row, texts, strict=True)] for row in rows)
                yield Chunk([template.format(*row).encode() for row in cells], done(), 1)
        except UnicodeDecodeError:
            raise SourceError(
                f"{path}: is not UTF-8 after line {reader.line_num}; convert it, as with `iconv -t utf-8`, "
                "or end its name in .gz if it is compressed"
            ) from None
        except (*_DAMAGES, csv.Error) as error:
            raise SourceError(f"{path}: cannot be read after line {reader.line_num}: {error}") from None


def _cell(cell: str, text: bool) -> str:
    """Return a cell as JSON."""
    if not cell:
        return "null"
    if not text:
        if _NUMBER.fullmatch(cell):
            return cell
        if _SHORT_NUMBER.fullmatch(cell):  # ".5" and "5.", as some programs write them
            return repr(float(cell))
    return dumps(cell)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], float]]]:
    """Give a file, unpacked, and a function that tells the share of it that was read."""
    try:
        raw = path.open("rb")
    except OSError as error:
        raise SourceError(f"{path}: cannot be opened: {error.strerror}") from None
    with raw:
        size = max(path.stat().st_size, 1)
        file = gzip.GzipFile(fileobj=raw) if path.suffix.lower() == ".gz" else raw
        yield cast(IO[bytes], file), lambda: min(1.0, raw.tell() / size)
