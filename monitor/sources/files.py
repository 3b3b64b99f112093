"""Files as a source: each file is a partition, each row a record."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from monitor.records import Partition, RecordBatch
from monitor.sources.base import Poll
from monitor.sources.rows import read_rows
from monitor.sources.tables import Chunk

START_MS = 946_684_800_000
"""Record time of row 0, 2000-01-01T00:00:00Z; each further row is one millisecond later."""


class FileRecord(NamedTuple):
    """One row; see `monitor.records.Record`."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes
    headers: Sequence[tuple[str, bytes | None]]


class FileSource:
    """JSON Lines, CSV and Parquet files, once from beginning to end; see `monitor.sources.base.Source`.

    Parameters
    ----------
    paths
        The files; their order numbers the partitions.
    text_columns
        Columns of CSV whose cells are texts even where they look like numbers, by name or by the
        name of what they lie in: "segments" covers "segments.region".

    Raises
    ------
    SourceError
        If a file is missing or of no known kind.
    MonitorError
        If Parquet is not installed.
    """

    TOPIC = "file"

    def __init__(
        self,
        paths: Sequence[Path],
        text_columns: Iterable[str] = ("id", "model", "version", "segments"),
    ) -> None:
        texts = frozenset(text_columns)
        self._files = {
            Partition(self.TOPIC, i): _File(path, read_rows(path, texts)) for i, path in enumerate(paths)
        }
        self._held: frozenset[Partition] = frozenset()

    def poll(self, timeout: float) -> Poll:
        """Return the next rows of each file that is not held.

        Raises
        ------
        SourceError
            If a file is damaged; the message names it and the row.
        """
        batches = []
        for partition, file in self._files.items():
            if partition not in self._held and (records := file.next()):
                batches.append(RecordBatch(partition, records))
        return Poll(batches)

    def assigned(self) -> frozenset[Partition]:
        """Return one partition a file."""
        return frozenset(self._files)

    def lag(self) -> Mapping[Partition, int]:
        """Return the rows left in each file; 1 where their number is not known before the end."""
        return {partition: file.left for partition, file in self._files.items()}

    def hold(self, partitions: Collection[Partition]) -> None:
        """Read no further from exactly these files until the next call."""
        self._held = frozenset(partitions)

    def commit(self, next_offsets: Mapping[Partition, int]) -> None:
        """Do nothing: nobody else watches how far files are read."""

    def close(self) -> None:
        """Close all files."""
        for file in self._files.values():
            file.close()

    @property
    def finished(self) -> bool:
        """Whether every file was read to its end."""
        return all(file.left == 0 for file in self._files.values())

    @property
    def progress(self) -> float:
        """Share of all bytes that was read, from 0 to 1."""
        total = sum(file.size for file in self._files.values())
        return sum(file.size * file.done for file in self._files.values()) / total if total else 1.0


class _File:
    """One file that is being read: `left` rows at least, share `done` of its bytes."""

    def __init__(self, path: Path, chunks: Generator[Chunk, None, None]) -> None:
        self._path = path
        self._chunks = chunks
        self._rows = 0
        self.size = path.stat().st_size
        self.done = 0.0
        self.left = 1

    def next(self) -> list[FileRecord]:
        """Return the next rows, none at the end."""
        chunk = next(self._chunks, None)
        if chunk is None:
            self.left, self.done = 0, 1.0
            return []
        self.left, self.done = chunk.left, chunk.done
        first, self._rows = self._rows, self._rows + len(chunk.values)
        rows = range(first, self._rows)
        times = range(START_MS + first, START_MS + self._rows)
        return list(map(FileRecord, rows, times, repeat(None), chunk.values, repeat(())))

    def close(self) -> None:
        """Close the file, wherever it was."""
        self._chunks.close()
