"""Kept reports of retired versions: what is in them, that they are whole, bounded, and found again."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import monitor.archive as archive_module
from monitor.archive import Archive, complete_report
from monitor.checkpoint.errors import CheckpointError
from monitor.clock import ManualClock
from monitor.config import Config, load_config
from monitor.memory.plans import fingerprint
from monitor.pipeline import Pipeline, Snapshot
from monitor.report_json import report_object
from tests.support.records import RECORD_MS, batch

CONFIGURATION = """
kafka: {bootstrap_servers: [b], topics: [t], group_id: g}
models:
  fraud: {task: binary, classes: [legit, fraud], windows: [{name: last, events: 10}], segments: [region]}
  "*": {task: multiclass, classes: [a, b, c], windows: [{name: 2h, duration: 2h}]}
limits: {retire_after: 1h}
"""
START = RECORD_MS / 1000 - 3 * 3600
Make = Callable[..., tuple[Pipeline, Snapshot]]


def configured(folder: Path) -> Config:
    path = folder / "monitor.yaml"
    path.write_text(CONFIGURATION)
    return load_config(path, {})


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return configured(tmp_path)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "state" / "g")


def event(i: int, model: str, version: str) -> dict[str, object]:
    found = {"model": model, "version": version, "timestamp": START + i, "segments": {"region": f"r{i % 2}"}}
    if model == "fraud":
        return {**found, "label": ["legit", "fraud"][i % 3 == 0], "score": (i * 37 % 101) / 100}
    return {**found, "label": "abc"[i % 3], "prediction": "abc"[i % 2]}


def retired(config: Config, *versions: tuple[str, str], events: int = 40) -> tuple[Pipeline, Snapshot]:
    """Return a pipeline whose versions have all retired at once, and what they were at their end."""
    pipeline = Pipeline(config, ["t"], ManualClock(RECORD_MS * 1000 + 7))
    values = [event(i, *versions[i % len(versions)]) for i in range(events)]
    values.append(event(2 * 3600, "later", "1"))
    pipeline.apply(pipeline.decode([batch(values)]))
    return pipeline, pipeline.advance(frozenset())


def files(archive: Archive) -> list[Path]:
    return sorted(archive.path.iterdir())


def version(path: Path) -> str:
    return str(json.loads(gzip.decompress(path.read_bytes()).splitlines()[0])["version"])


FRAUD = ("fraud", "v1"), ("fraud", "")
OTHER = ("other", "v1")


def test_a_kept_report_is_the_whole_one(config: Config, archive: Archive) -> None:
    pipeline, snapshot = retired(config, *FRAUD, ("other", "v1"))
    archive.add(pipeline, snapshot)
    report = pipeline.evaluate(snapshot).report
    assert {key for key in archive.names()} == {*FRAUD, ("other", "v1")}
    for model, version in archive.names():
        [found] = archive.find(model, version)
        assert json.loads(archive.text(model, version) or b"") == found
        whole = report_object(report, report.select(model, version, segment=None), curves=True)
        about = {key: found.pop(key) for key in list(found) if key not in whole}
        assert found == json.loads(json.dumps(whole))
        assert (about["model"], about["version"]) == (model, version)
        assert about["configuration_fingerprint"] == fingerprint(pipeline.state.plans, ["t"])
    fraud = archive.find("fraud", "v1")[0]
    segments = ("", "region=r0", "region=r1")
    assert [(w["window"], w["segment"]) for w in fraud["reports"]] == [
        *(("last", segment) for segment in segments),
        *(("all", segment) for segment in segments),
    ]
    assert fraud["reports"][0]["classification_report"].startswith("model fraud, version v1, window last")
    assert fraud["reports"][0]["thresholds"] == {"fraud": 0.5}
    assert fraud["reports"][0]["curves"]["classes"]


def test_it_says_when_the_version_retired(config: Config, archive: Archive) -> None:
    archive.add(*retired(config, ("fraud", "v1"), ("fraud", "v2")))
    [found] = archive.find("fraud", "v2")
    assert found["retired"] == found["frontier"] == "2025-11-29T06:05:40.000000Z"
    assert found["since"] == "2025-11-29T04:06:41.000000Z"
    assert found["last_event"] == "2025-11-29T04:07:19.000000Z"
    assert (found["labeled_events"], found["unlabeled_events"]) == (20, 0)


def test_nothing_retired_makes_no_file(config: Config, archive: Archive) -> None:
    pipeline, _ = retired(config, OTHER)
    archive.add(pipeline, pipeline.advance(frozenset()))
    assert not archive.path.exists()
    assert archive.names() == archive.find("fraud", "v1") == archive.find() == []
    assert archive.mark("fraud", "v1") is archive.text("fraud", "v1") is None


def test_doing_it_again_changes_nothing(config: Config, archive: Archive) -> None:
    archive.add(*retired(config, *FRAUD))
    before = {path: path.read_bytes() for path in files(archive)}
    archive.add(*retired(config, *FRAUD))
    assert {path: path.read_bytes() for path in files(archive)} == before


def test_a_version_that_retires_again_has_its_latest_report(config: Config, archive: Archive) -> None:
    archive.add(*retired(config, OTHER))
    before = archive.mark(*OTHER)
    assert before == archive.mark(*OTHER)
    archive.add(*retired(config, OTHER, events=60))
    assert before != archive.mark(*OTHER)
    [found] = archive.find(*OTHER)
    assert found["labeled_events"] == 60
    assert len(files(archive)) == 1


def test_any_names_are_kept_and_found(config: Config, archive: Archive) -> None:
    names = [("x" * 200, "y" * 200), ("../../x", "/"), ("ż", "🐢\n"), ("a", "b/c"), ("a/b", "c"), ("a", "")]
    archive.add(*retired(config, *names))
    assert sorted(archive.names()) == sorted(names)
    for name in names:
        assert [(found["model"], found["version"]) for found in archive.find(*name)] == [name]
    assert archive.find("a", "c") == archive.find("A", "") == []
    assert all(path.parent == archive.path and len(path.name) < 50 for path in files(archive))


def test_a_name_is_found_without_the_other(config: Config, archive: Archive) -> None:
    archive.add(*retired(config, *FRAUD, ("other", "v1")))

    def keys(found: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
        return {(each["model"], each["version"]) for each in found}

    assert keys(archive.find("fraud")) == {*FRAUD}
    assert keys(archive.find(version="v1")) == {("fraud", "v1"), ("other", "v1")}
    assert keys(archive.find()) == {*FRAUD, ("other", "v1")}


def test_only_the_newest_are_kept(config: Config, tmp_path: Path) -> None:
    small = Archive(tmp_path / "state" / "g", keep=3)
    for i in range(5):
        small.add(*retired(config, ("other", f"v{i}")))
        for path in files(small):  # times of the file system may be coarse
            number = int(version(path)[1:])
            os.utime(path, ns=(number, number))
        assert len(files(small)) == min(i + 1, 3)
    assert small.names() == [("other", "v4"), ("other", "v3"), ("other", "v2")]


def test_files_are_for_their_owner_alone(config: Config, archive: Archive) -> None:
    archive.add(*retired(config, OTHER))
    assert stat.S_IMODE(archive.path.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(archive)] == [0o600]


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda b: b"",
    lambda b: b[:40],
    lambda b: b[:-10],
    lambda b: b[: len(b) // 2] + bytes([b[len(b) // 2] ^ 1]) + b[len(b) // 2 + 1 :],
    lambda b: b"{}",
    lambda b: gzip.compress(b"{}\n{}\n"),
    lambda b: gzip.compress(b"[]\n[]\n"),
    lambda b: gzip.compress(b"\xff\n"),
    lambda b: gzip.compress(gzip.decompress(b).splitlines()[0]),
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a group's folder with the reports of both versions."""
    folder = tmp_path_factory.mktemp("kept")
    Archive(folder).add(*retired(configured(folder), *FRAUD))
    return folder


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_left_out_with_a_warning(
    tmp_path: Path, kept: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[bytes], bytes]
) -> None:
    archive = Archive(shutil.copytree(kept, tmp_path / "g"))
    path = next(path for path in files(archive) if version(path) == "v1")
    path.write_bytes(damage(path.read_bytes()))
    assert archive.find("fraud", "v1") == []
    assert archive.text("fraud", "v1") is None
    assert [found["version"] for found in archive.find("fraud")] == [""]
    assert ("fraud", "") in archive.names()
    assert f"a kept report is damaged and left out; remove it: {path}" in caplog.messages


def test_a_write_that_fails_leaves_the_former_report(
    config: Config, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.add(*retired(config, OTHER))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CheckpointError, match=r"cannot write .*: No space left .*; free some"):
            archive.add(*retired(config, OTHER, events=60))
    assert len(files(archive)) == 1
    assert archive.find(*OTHER)[0]["labeled_events"] == 40


def test_what_a_crash_left_is_removed_later(config: Config, archive: Archive) -> None:
    archive.add(*retired(config, OTHER))
    old, new = archive.path / "tmpold.tmp", archive.path / "tmpnew.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert archive.names() == [OTHER]
    archive.add(*retired(config, OTHER))
    assert not old.exists()
    assert new.exists()  # somebody may be writing it


def test_a_folder_that_cannot_be_read_is_said(config: Config, archive: Archive) -> None:
    archive.path.parent.mkdir(parents=True)
    archive.path.write_text("a file")
    with pytest.raises(CheckpointError, match=r"cannot read .*: Not a directory; set checkpoint.directory"):
        archive.names()
    with pytest.raises(CheckpointError, match=r"cannot write .*; set checkpoint.directory"):
        archive.add(*retired(config, OTHER))


def test_bootstrap_intervals_are_in_it_where_they_are_asked_for(config: Config) -> None:
    bootstrap = {"replicates": 100, "metrics": ["recall"]}
    asking = Config.model_validate(
        {**config.model_dump(exclude_unset=True), "evaluation": {"bootstrap": bootstrap}}
    )
    report = complete_report(*retired(asking, ("fraud", "v1"), events=300))
    [window] = report.select(window="all")
    for name in ("legit", "fraud"):
        value = window.find("classifier_recall", class_=name)
        assert value is not None
        assert "bootstrap" in [interval.method for interval in value.intervals]


def test_what_was_looked_at_before_is_read_again_only_where_it_changed(
    config: Config, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.add(*retired(config, ("a", "v1"), ("b", "v1")))
    first = archive.entries()
    assert [(entry["model"], entry["version"]) for entry in first] == archive.names()
    assert set(first[0]) >= {"retired", "since", "last_event", "labeled_events"} and "reports" not in first[0]
    read: list[Path] = []
    original = archive_module._read
    monkeypatch.setattr(
        archive_module, "_read", lambda path, whole: read.append(path) or original(path, whole=whole)
    )
    assert archive.entries() == first and read == []
    archive.add(*retired(config, ("b", "v1")))
    assert archive.names()[0] == ("b", "v1") and len(read) == 1
