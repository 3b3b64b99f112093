"""Without a daemon: the same report from its checkpoint, reports of what retired, and a model forgotten."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from monitor import offline
from monitor.archive import Archive, complete_report
from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder
from monitor.client import NoDaemonError, ReportFormat, fetch_report
from monitor.clock import ManualClock
from monitor.config import Config, ServerConfig, load_config
from monitor.errors import MonitorError
from monitor.memory.cut import cut
from monitor.memory.restore import restore
from monitor.offline import Query, report_elsewhere, reset
from monitor.pipeline import Pipeline
from monitor.records import Partition
from monitor.report import NotInReportError
from monitor.report_csv import report_csv
from monitor.report_json import report_object
from monitor.text_report import render_report
from tests.support.commands import Commands
from tests.support.records import RECORD_MS, batch

CONFIGURATION = """
kafka: {{bootstrap_servers: [b], topics: [t], group_id: g}}
models:
  fraud: {{task: binary, classes: [legit, fraud], segments: [region],
          costs: {{false_negative: 4, false_positive: 1}},
          windows: [{{name: last, events: 50}}, {{name: 1h, duration: 1h}}]}}
  iris: {{task: multiclass, classes: [a, b, c], segments: [region], windows: [{{name: last, events: 50}}]}}
  "*": {{task: binary, classes: ['0', '1']}}
limits: {{retire_after: 3h}}
checkpoint: {{directory: "{state}"}}
server: {{port: 1}}
"""
START = RECORD_MS / 1000 - 5 * 3600
IDS = {"t": "topic-id"}


def load(folder: Path, **changes: str) -> Config:
    path = folder / "monitor.yaml"
    text = CONFIGURATION.format(state=folder / "state")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return load_config(path, {})


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(tmp_path)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(RECORD_MS * 1000)


@pytest.fixture
def pipeline(config: Config, clock: ManualClock) -> Pipeline:
    return Pipeline(config, ["t"], clock)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def nobody() -> NoDaemonError:
    with pytest.raises(NoDaemonError) as caught:
        fetch_report(ServerConfig(port=1))
    return caught.value


def event(i: int, model: str, version: str) -> dict[str, object]:
    found: dict[str, object] = {"model": model, "version": version, "timestamp": START + i}
    found["segments"] = {"region": f"r{i % 3}"}
    if model == "iris":
        scores = [(i * 37 + k * 1013) % 1009 + 1 for k in range(3)]
        return {**found, "label": "abc"[i % 7 % 3], "scores": [score / sum(scores) for score in scores]}
    if model == "fraud":
        return {**found, "label": ["legit", "fraud"][i * 7 % 5 == 0], "score": (i * 37 % 101) / 100}
    return {**found, "label": i % 2, "score": i % 10 / 10}


def consume(pipeline: Pipeline, *models: str, events: int = 300, begin: int = 0, version: str = "v1") -> None:
    values = [event(begin + i, models[i % len(models)], version) for i in range(events)]
    first = pipeline.state.next_offsets.get(Partition("t", 0), 0)
    pipeline.apply(pipeline.decode([batch(values, first)]))
    assert not pipeline.rejected


def save(config: Config, pipeline: Pipeline) -> Path:
    folder = Folder(config.checkpoint.directory, config.kafka.group_id)
    folder.write(folder.claim(), 1, cut(pipeline, IDS).tree())
    return folder.path


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()}


JSON, TEXT, CSV = ReportFormat.JSON, ReportFormat.TEXT, ReportFormat.CSV


def test_the_report_of_a_checkpoint_is_that_of_the_daemon_bit_by_bit(
    config: Config, pipeline: Pipeline, clock: ManualClock, nobody: NoDaemonError
) -> None:
    consume(pipeline, "fraud", "iris")
    pipeline.advance(frozenset())
    report = pipeline.evaluate(pipeline.snapshot()).report
    save(config, pipeline)
    clock.advance(100)

    def offline(format: ReportFormat, *query: str) -> str:
        return report_elsewhere(config, nobody, Query(*query), format, lambda _: None, clock)

    assert json.loads(offline(JSON)) == json.loads(json.dumps(report_object(report, report.select())))
    assert {window.complete for window in report.select(window="last")} == {True}
    assert offline(TEXT, "iris", "v1") == render_report(report, "iris", "v1")
    assert offline(CSV, "fraud", "v1", "last") == report_csv(report.select("fraud", "v1", "last"))


def test_bootstrap_intervals_are_those_of_the_daemon(
    clock: ManualClock, nobody: NoDaemonError, tmp_path: Path
) -> None:
    bootstrap = "evaluation: {bootstrap: {replicates: 100, metrics: [recall]}}\n"
    config = load(tmp_path, **{"checkpoint:": f"{bootstrap}checkpoint:"})
    pipeline = Pipeline(config, ["t"], clock)
    consume(pipeline, "other")
    pipeline.advance(frozenset())
    report = complete_report(pipeline, pipeline.snapshot())
    save(config, pipeline)
    text = report_elsewhere(config, nobody, Query(), JSON, lambda _: None, clock)
    assert json.loads(text) == json.loads(json.dumps(report_object(report, report.select())))
    assert '"method": "bootstrap"' in text


def test_it_says_which_checkpoint_this_is_and_what_does_not_fit(
    config: Config,
    pipeline: Pipeline,
    clock: ManualClock,
    nobody: NoDaemonError,
    said: list[str],
    tmp_path: Path,
) -> None:
    consume(pipeline, "fraud", "iris")
    folder = save(config, pipeline)
    (folder / "checkpoint-1-2").write_bytes(b"damaged")
    clock.advance(3725)
    changed = load(tmp_path, **{"[a, b, c]": "[a, b, c, d]"})
    found = json.loads(report_elsewhere(changed, nobody, Query(), JSON, said.append, clock))
    assert {window["model"] for window in found["reports"]} == {"fraud"}
    assert said[0] == (
        "no daemon answers: this is from its checkpoint of 2025-11-29 07:06:40 UTC, 1:02:05 old: "
        f"{folder / 'checkpoint-1-1'}"
    )
    assert said[1].startswith(f"a newer checkpoint is passed over: {folder / 'checkpoint-1-2'} is damaged: ")
    [change] = said[2:]
    assert change.startswith("the checkpoint does not fit the configuration: ")
    assert "iris" in change


def test_nothing_is_written_and_no_epoch_claimed(
    config: Config, pipeline: Pipeline, clock: ManualClock, nobody: NoDaemonError, tmp_path: Path
) -> None:
    consume(pipeline, "other")
    save(config, pipeline)
    before = everything(tmp_path)
    report_elsewhere(config, nobody, Query(), TEXT, lambda _: None, clock)
    with pytest.raises(NotInReportError):
        report_elsewhere(config, nobody, Query("other", "v9"), TEXT, lambda _: None, clock)
    assert everything(tmp_path) == before


def test_neither_daemon_nor_checkpoint(config: Config, nobody: NoDaemonError, tmp_path: Path) -> None:
    with pytest.raises(MonitorError) as caught:
        report_elsewhere(config, nobody, Query(), TEXT, lambda _: None)
    message = str(caught.value)
    assert message.startswith("no daemon answers at http://127.0.0.1:1 ")
    assert "start it with `monitor run`" in message
    assert message.endswith(
        f"; there is no checkpoint in {tmp_path / 'state' / 'g'}: set checkpoint.directory and "
        "kafka.group_id to those of the daemon"
    )
    assert not (tmp_path / "state").exists()


def test_only_damaged_checkpoints(config: Config, pipeline: Pipeline, nobody: NoDaemonError) -> None:
    folder = save(config, pipeline)
    (folder / "checkpoint-1-1").write_bytes(b"damaged")
    for attempt in (
        lambda: report_elsewhere(config, nobody, Query(), TEXT, lambda _: None),
        lambda: reset(config, "fraud", lambda _: None),
    ):
        with pytest.raises(CheckpointError, match="there are checkpoints, but none can be restored"):
            attempt()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Query("x"), "no model 'x' in the newest report; known: 'more', 'other'"),
        (Query("more", "v9"), "no version 'v9' in the newest report; known: 'v1'"),
        (Query("more", "v1", "1d"), "no window '1d' in the newest report; known: '1h', 'all', 'last_10k'"),
    ],
)
def test_unknown_names(
    config: Config, pipeline: Pipeline, nobody: NoDaemonError, query: Query, message: str
) -> None:
    consume(pipeline, "more", "other")
    save(config, pipeline)
    with pytest.raises(NotInReportError) as caught:
        report_elsewhere(config, nobody, query, TEXT, lambda _: None)
    assert str(caught.value) == message


def retire(config: Config, pipeline: Pipeline, *models: str, version: str = "v1") -> dict[str, Any]:
    """Let a version retire, keep its report, and return what that is."""
    consume(pipeline, *models, version=version)
    consume(pipeline, "later", begin=4 * 3600, events=1, version="v2")
    snapshot = pipeline.advance(frozenset())
    assert {v.model for v in snapshot.view.versions} == set(models)
    Archive(save(config, pipeline)).add(pipeline, snapshot)
    report = complete_report(pipeline, snapshot)
    return {model: (report, report.select(model, version)) for model in models}


NOT_FOUND = MonitorError("the daemon at http://127.0.0.1:9464 says: no version 'v1'")


@pytest.mark.parametrize("daemon", [True, False])
def test_a_version_that_retired_has_its_kept_report(
    config: Config, pipeline: Pipeline, nobody: NoDaemonError, said: list[str], daemon: bool
) -> None:
    report, windows = retire(config, pipeline, "other")["other"]
    refusal = NOT_FOUND if daemon else nobody

    def kept(format: ReportFormat, window: str | None = None) -> str:
        said.clear()
        text = report_elsewhere(config, refusal, Query("other", "v1", window), format, said.append)
        assert said[-1] == "version 'v1' of model 'other' retired at 2025-11-29T06:05:40.000000Z"
        assert len(said) == 1 if daemon else 2
        return text

    found = json.loads(kept(JSON))
    assert found["retired"] == found["frontier"] == "2025-11-29T06:05:40.000000Z"
    for window in found["reports"]:
        assert window.pop("curves")
        assert "1" in window.pop("recalibration")
    assert found["reports"] == json.loads(json.dumps(report_object(report, windows)["reports"]))
    assert kept(TEXT) == render_report(report, "other", "v1")
    assert kept(CSV) == report_csv(windows)
    assert csv_windows(kept(CSV, "1h")) == {"1h"}
    with pytest.raises(NotInReportError, match="no window '1d' in the newest report; known: '1h', 'all', 'l"):
        kept(TEXT, "1d")


def csv_windows(table: str) -> set[str]:
    return {row["window"] for row in csv.DictReader(table.splitlines())}


def test_a_version_that_retired_without_any_checkpoint(
    config: Config, pipeline: Pipeline, nobody: NoDaemonError
) -> None:
    retire(config, pipeline, "other")
    for path in Folder(config.checkpoint.directory, config.kafka.group_id).files():
        path.unlink()
    text = report_elsewhere(config, nobody, Query(version="v1"), TEXT, lambda _: None)
    assert text.startswith("model other, version v1, window ")


def test_a_version_that_retired_in_several_models(config: Config, pipeline: Pipeline) -> None:
    retire(config, pipeline, "other", "more")
    with pytest.raises(MonitorError, match="retired in several models: 'more', 'other'; name one with --mod"):
        report_elsewhere(config, NOT_FOUND, Query(version="v1"), TEXT, lambda _: None)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        (Query("other", "v9"), "; kept are reports of retired versions: 'v1'"),
        (Query(version="v9"), "; kept are reports of retired versions: 'v1'"),
        (Query("fraud", "v9"), ""),
        (Query("other"), ""),
        (Query(), ""),
    ],
)
def test_what_the_daemon_says_stands_where_nothing_is_kept(
    config: Config, pipeline: Pipeline, query: Query, hint: str
) -> None:
    retire(config, pipeline, "other")
    with pytest.raises(MonitorError) as caught:
        report_elsewhere(config, NOT_FOUND, query, TEXT, lambda _: None)
    assert str(caught.value) == f"{NOT_FOUND}{hint}"


def test_an_archive_that_cannot_be_read_does_not_hide_what_the_daemon_says(
    config: Config, pipeline: Pipeline, said: list[str]
) -> None:
    (save(config, pipeline) / "retired").write_text("a file")
    with pytest.raises(MonitorError, match=r"says: no version 'v1'$"):
        report_elsewhere(config, NOT_FOUND, Query("fraud", "v1"), TEXT, said.append)
    [line] = said
    assert line.startswith("cannot read ")


@pytest.fixture
def monitor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(monkeypatch, capsys)


def test_the_commands(config: Config, pipeline: Pipeline, monitor: Commands, tmp_path: Path) -> None:
    retire(config, pipeline, "other")
    path = tmp_path / "monitor.yaml"
    done = monitor("report", "-c", path, "--window", "all")
    assert done.code == 0
    assert done.out.startswith("model later, version v2, window all, all events\n1 events")
    assert done.err.startswith(
        "monitor: no daemon answers: this is from its checkpoint of 2025-11-29 07:06:40 U"
    )
    done = monitor("report", "-c", path, "--version", "v1", "--format", "json")
    assert (done.code, json.loads(done.out)["retired"]) == (0, "2025-11-29T06:05:40.000000Z")
    assert done.err.splitlines()[-1].startswith(
        "monitor: version 'v1' of model 'other' retired at 2025-11-29"
    )
    done = monitor("report", "-c", path, "--version", "v9")
    assert (done.code, done.out) == (1, "")
    assert "monitor: no version 'v9' in the newest report; known: 'v2'; kept are reports" in done.err
    done = monitor("reset", "-c", path, "--model", "other")
    assert (done.code, done.out) == (1, "")
    assert "monitor: no model 'other' in the checkpoint" in done.err
    done = monitor("reset", "-c", path, "--model", "later")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Forgotten of model 'later': 1 version, 1 events held, 1 labeled event")
    assert monitor("reset", "-c", path).code == 2


def test_a_daemon_that_answers_is_asked_without_torch(config: Config, tmp_path: Path) -> None:
    code = (
        "import sys; from monitor import cli\n"
        "cli.fetch_report = lambda *asked: ' '.join(asked[-1])\n"  # the models that there may be
        "try: cli.main()\n"
        "finally: assert not {'torch', 'numpy'} & sys.modules.keys()"
    )
    command = [sys.executable, "-c", code, "report", "-c", str(tmp_path / "monitor.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, " ".join(config.models), "")


def restored(config: Config) -> Pipeline:
    folder = Folder(config.checkpoint.directory, config.kafka.group_id)
    found = folder.newest(lambda tree: restore(tree, config, ManualClock()))
    assert found is not None
    assert found.content is not None
    assert found.path is not None
    assert found.path.name == f"checkpoint-{folder.highest()}-1"
    return found.content.pipeline


def test_a_model_is_forgotten_and_reading_goes_on(config: Config, pipeline: Pipeline) -> None:
    consume(pipeline, "fraud", "iris")
    consume(pipeline, "fraud", begin=300, version="v2")
    pipeline.advance(frozenset())
    folder = save(config, pipeline)
    text = reset(config, "fraud", lambda _: None)
    assert text == (
        "Forgotten of model 'fraud': 2 versions, 450 events held, 450 labeled events counted in all.\n"
        "Reading goes on where it was; the model's windows are incomplete until they have filled again.\n"
    )
    assert (folder / "epoch-2").exists()
    after = restored(config)
    assert after.state.next_offsets == pipeline.state.next_offsets
    assert after.consumed == pipeline.consumed
    assert {(v.model, v.version) for v in after.snapshot().view.versions} == {("iris", "v1")}
    consume(after, "fraud", "iris", begin=600, events=200)
    after.advance(frozenset())
    report = after.evaluate(after.snapshot()).report
    # The window of 50 events is full again, the one of an hour reaches back to what is forgotten.
    windows = report.select(window="last")
    assert {(w.model, w.events, w.complete) for w in windows} == {("fraud", 50, True), ("iris", 50, True)}
    [hour] = report.select("fraud", window="1h")
    assert (hour.events, hour.complete) == (100, False)


def test_a_model_that_is_no_longer_configured_is_forgotten(
    config: Config, pipeline: Pipeline, tmp_path: Path, said: list[str]
) -> None:
    consume(pipeline, "fraud", "iris")
    save(config, pipeline)
    text = CONFIGURATION.format(state=tmp_path / "state")
    lines = [line for line in text.splitlines() if not line.startswith(("  iris", '  "*"'))]
    (tmp_path / "monitor.yaml").write_text("\n".join(lines))
    less = load_config(tmp_path / "monitor.yaml", {})
    assert reset(less, "iris", said.append).startswith(
        "Forgotten of model 'iris': 1 version, 150 events held"
    )
    assert {v.model for v in restored(config).snapshot().view.versions} == {"fraud"}
    assert any("iris" in line for line in said)


def test_a_name_that_is_not_known_changes_nothing(config: Config, pipeline: Pipeline, tmp_path: Path) -> None:
    consume(pipeline, "fraud", "iris")
    folder = save(config, pipeline)
    before = everything(tmp_path)
    with pytest.raises(MonitorError) as caught:
        reset(config, "fruad", lambda _: None)
    assert str(caught.value) == (
        f"no model 'fruad' in the checkpoint {folder / 'checkpoint-1-1'}; known: 'fraud', 'iris'"
    )
    assert everything(tmp_path) == before


def test_nothing_to_forget(config: Config, tmp_path: Path) -> None:
    with pytest.raises(MonitorError, match=r"nothing to forget: there is no checkpoint in .*: set"):
        reset(config, "fraud", lambda _: None)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            None,
            "the daemon at server.host 127.0.0.1, server.port 1 must be stopped for a reset; stop it",
        ),
        (MonitorError("it says: no"), "the daemon must be stopped for a reset; it says: no"),
    ],
)
def test_a_daemon_that_answers_keeps_its_state(
    config: Config,
    pipeline: Pipeline,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: MonitorError | None,
    message: str,
) -> None:
    def fetch_report(_: ServerConfig, *, models: Collection[str]) -> str:
        assert set(models) == set(config.models)  # a daemon of others is no reason
        if answer is not None:
            raise answer
        return ""

    monkeypatch.setattr(offline, "fetch_report", fetch_report)
    consume(pipeline, "fraud")
    save(config, pipeline)
    before = everything(tmp_path)
    with pytest.raises(MonitorError) as caught:
        reset(config, "fraud", lambda _: None)
    assert str(caught.value).startswith(message)
    assert everything(tmp_path) == before


def test_who_takes_over_meanwhile_is_not_overwritten(
    config: Config, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    consume(pipeline, "fraud")
    folder = save(config, pipeline)
    claim = Folder.claim

    def overtaken(self: Folder) -> int:
        mine = claim(self)
        claim(self)
        return mine

    monkeypatch.setattr(Folder, "claim", overtaken)
    with pytest.raises(MonitorError, match="another process has taken the state over"):
        reset(config, "fraud", lambda _: None)
    assert [path.name for path in folder.glob("checkpoint-*")] == ["checkpoint-1-1"]
