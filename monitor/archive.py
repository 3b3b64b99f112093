"""The last reports of model versions that retired: one file each, beside the checkpoints.

A file has two lines of JSON, compressed with gzip: which version it is and when it retired, then the report
as the API gives it, with segments and curves. (With five classes: 2 MB of text in 130 kB.)
"""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import tempfile
import time
import zlib
from collections.abc import Hashable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from monitor.checkpoint.disk import make_folder, sync_folder, write_whole
from monitor.checkpoint.errors import explained
from monitor.evaluation import all_settled, with_bounds
from monitor.memory.plans import fingerprint
from monitor.pipeline import Pipeline, Snapshot
from monitor.report import Report, VersionReport
from monitor.report_json import report_object
from monitor.state.store import Key
from monitor.wording import iso

log = logging.getLogger(__name__)

_SUFFIX = ".jsonl.gz"
_TEMPORARY = ".tmp"
_LEVEL = 6
_LEFT_SECONDS = 3600.0
"""A temporary file as old as this was left by a crash."""


class Archive:
    """Kept reports of one consumer group.

    Parameters
    ----------
    folder
        Of the group's checkpoints; the reports are in ``retired/`` below, which is made when needed.
    keep
        Reports that are kept; the least recently written go first.
    """

    def __init__(self, folder: Path, keep: int = 1000) -> None:
        self.path = folder / "retired"
        self._keep = keep
        self._entries: dict[Path, tuple[int, dict[str, Any]]] = {}

    def add(self, pipeline: Pipeline, snapshot: Snapshot) -> None:
        """Keep the report of every version of a snapshot, in place of an earlier one of the same version.

        Safe on disk on return. Doing it again, as after a crash, changes nothing.

        Parameters
        ----------
        pipeline
            What evaluates; its state is not touched, so that no lock is needed.
        snapshot
            Of the versions that retired, from `Pipeline.advance`.

        Raises
        ------
        CheckpointError
            The disk cannot take it.
        """
        if not snapshot.view.versions:
            return
        report = complete_report(pipeline, snapshot)
        configuration = fingerprint(pipeline.state.plans, pipeline.decoder.positions.topics)
        with explained("write", self.path):
            make_folder(self.path)
            for version in report.versions:
                about = {
                    "model": version.model,
                    "version": version.version,
                    "retired": iso(report.frontier),
                    "since": iso(version.since),
                    "last_event": iso(version.last_event),
                    "labeled_events": version.labeled_events,
                    "unlabeled_events": version.unlabeled_events,
                    "configuration_fingerprint": configuration,
                }
                self._write(_file_name(version.model, version.version), about, _object(report, version))
            sync_folder(self.path)
        self._prune()

    def find(self, model: str | None = None, version: str | None = None) -> list[dict[str, Any]]:
        """Return the reports that match, None matching everything; the most recently written first.

        Returns
        -------
        list of dict
            Objects as the API's, and beside ``reports`` what `add` knows of the version: ``model``,
            ``version``, ``retired`` and so on. A damaged file is left out with a warning.

        Raises
        ------
        CheckpointError
            The folder or a file in it cannot be read.
        """
        if model is not None and version is not None:
            paths: Iterable[Path] = [self.path / _file_name(model, version)]
        else:
            wanted = (model, version)
            paths = [
                path
                for path, entry in self._known().items()
                if all(name in (None, found) for name, found in zip(wanted, _key(entry), strict=True))
            ]
        return [json.loads(found) for path in paths if (found := _read(path, whole=True))]

    def text(self, model: str, version: str) -> bytes | None:
        """Return the object that `find` has of one version as JSON; None where there is none, or damaged.

        Raises
        ------
        CheckpointError
            The file cannot be read.
        """
        return _read(self.path / _file_name(model, version), whole=True)

    def mark(self, model: str, version: str) -> Hashable | None:
        """Return what is another one when the report is written anew; None where there is no report.

        Raises
        ------
        CheckpointError
            As `text`.
        """
        path = self.path / _file_name(model, version)
        with explained("read", path), suppress(FileNotFoundError):
            found = path.stat()
            return found.st_ino, found.st_mtime_ns, found.st_size
        return None

    def names(self) -> list[Key]:
        """Return model and version of every report, the most recently written first.

        Raises
        ------
        CheckpointError
            As `find`.
        """
        return [_key(entry) for entry in self._known().values()]

    def entries(self) -> list[dict[str, Any]]:
        """Return what `add` knows of each of these versions, without the reports.

        Raises
        ------
        CheckpointError
            As `find`.
        """
        return list(self._known().values())

    def _known(self) -> dict[Path, dict[str, Any]]:
        """Return what each file says of its version; only those that changed are read again."""
        with explained("read", self.path):
            paths = self._newest_first(_SUFFIX)
        known, found = self._entries, {}
        for path, modified in paths.items():
            if path in known and known[path][0] == modified:
                found[path] = known[path]
            elif about := _read(path, whole=False):
                found[path] = modified, json.loads(about)
        self._entries = found
        return {path: about for path, (_, about) in found.items()}

    def _newest_first(self, suffix: str) -> dict[Path, int]:
        """Return files with the times, in nanoseconds, at which they were written."""
        found: list[tuple[int, str]] = []
        with suppress(FileNotFoundError), os.scandir(self.path) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # pruned meanwhile
                    if entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                        found.append((entry.stat().st_mtime_ns, entry.name))
        return {self.path / name: modified for modified, name in sorted(found, reverse=True)}

    def _write(self, name: str, *lines: dict[str, Any]) -> None:
        # A name of its own: one that is no longer the owner may be writing the same report.
        descriptor, temporary = tempfile.mkstemp(_TEMPORARY, dir=self.path)
        write_whole(descriptor, Path(temporary), self.path / name, [_compressed(*lines)])

    def _prune(self) -> None:
        # What cannot be removed now will be the next time.
        with suppress(OSError):
            left = (time.time() - _LEFT_SECONDS) * 1e9
            old = [path for path, written in self._newest_first(_TEMPORARY).items() if written < left]
            for path in [*list(self._newest_first(_SUFFIX))[self._keep :], *old]:
                path.unlink(missing_ok=True)


def complete_report(pipeline: Pipeline, snapshot: Snapshot) -> Report:
    """Return the report of a snapshot with the bootstrap intervals that are asked for, which take a while."""
    evaluation = pipeline.evaluate(snapshot)
    for name, error in evaluation.failures.items():
        log.error("metric failed", extra={"metric": name}, exc_info=error)
    if not pipeline.resamples:
        return evaluation.report
    bounds = pipeline.resample(all_settled(snapshot.view, evaluation.settled), lambda: False)
    return with_bounds(evaluation.report, bounds or {})


def _key(entry: dict[str, Any]) -> Key:
    return entry["model"], entry["version"]


def _object(report: Report, version: VersionReport) -> dict[str, Any]:
    windows = report.select(version.model, version.version, segment=None)
    return report_object(report, windows, curves=True)


def _file_name(model: str, version: str) -> str:
    """Return a name for any two texts: they are too long and too free to be one themselves."""
    key = json.dumps([model, version]).encode()
    return hashlib.sha256(key).hexdigest()[:32] + _SUFFIX


def _compressed(*lines: dict[str, Any]) -> bytes:
    text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    return gzip.compress(text.encode(), _LEVEL, mtime=0)


class _About(msgspec.Struct):
    """What there must be, whatever it is."""

    model: msgspec.Raw
    version: msgspec.Raw
    retired: msgspec.Raw


class _Whole(_About):
    reports: msgspec.Raw


def _read(path: Path, *, whole: bool) -> bytes | None:
    """Return what a file says of its version, with the report if wanted; None where it is damaged or gone."""
    with explained("read", path):
        try:
            with gzip.open(path) as file:
                text = file.readline()
                if whole:  # of two objects one
                    text = b"".join((text.rstrip()[:-1], b", ", file.read().lstrip()[1:]))
            msgspec.json.decode(text, type=_Whole if whole else _About)
            return text
        except FileNotFoundError:
            return None
        except (gzip.BadGzipFile, EOFError, zlib.error, msgspec.DecodeError):
            pass
    log.warning("a kept report is damaged and left out; remove it: %s", path)
    return None
