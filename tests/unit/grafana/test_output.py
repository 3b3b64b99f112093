from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.errors import ConfigurationError
from monitor.grafana import write_dashboards
from tests.support.commands import Commands

MADE = {"a.json": {"title": "ż"}, "b.json": {"panels": []}}


def test_files_are_written_anew_and_nothing_stays_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    for _ in range(2):
        assert write_dashboards(MADE, folder) == f"{folder}/a.json\n{folder}/b.json\n"
    assert {path.name: json.loads(path.read_text()) for path in folder.iterdir()} == MADE


def test_without_a_folder_they_are_printed() -> None:
    assert json.loads(write_dashboards(MADE, None)) == MADE


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match=r"file/x.* cannot be written: .+; name another folder: -o"):
        write_dashboards(MADE, tmp_path / "file" / "x")
    (tmp_path / "a.json").mkdir()
    with pytest.raises(ConfigurationError, match=r"a\.json"):
        write_dashboards(MADE, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "file"]


def test_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "monitor.yaml"
    config.write_text(
        "kafka: {bootstrap_servers: [localhost:9092], topics: [t]}\n"
        "models: {m: {task: binary, classes: [a, b]}}\n"
    )
    monitor = Commands(monkeypatch, capsys)
    options = ("--page", "https://page.example.com", "--runbooks", "https://runbooks.example.com")
    printed = monitor("dashboard", "-c", config, "--job", "mine", *options)
    assert (printed.code, printed.err) == (0, "")
    done = monitor("dashboard", "-c", config, "--job", "mine", *options, "-o", tmp_path / "out")
    written = {path.name: json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()}
    assert json.loads(printed.out) == written
    assert sorted(done.out.split()) == sorted(str(tmp_path / "out" / name) for name in written)
    variables = {each["name"]: each for each in written["monitor-model.json"]["templating"]["list"]}
    first = {name: variables[name]["current"]["value"] for name in ("job", "page", "runbooks")}
    assert first == {"job": "mine", "page": options[1], "runbooks": options[3]}
