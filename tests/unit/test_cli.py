"""The commands as a new user meets them: what is wrong is said in one message, with the right exit code."""

from __future__ import annotations

import io
import json
import socket
import sys
from pathlib import Path

import pytest

from monitor.replay import Replay
from tests.support.commands import Commands, started

CONFIG = """
kafka: {bootstrap_servers: [localhost:9092], topics: [predictions.labeled]}
models: {fraud: {task: binary, classes: [legit, fraud]}}
"""
COMMANDS = ("run", "check", "doctor", "replay", "baseline", "report", "reset", "rules", "dashboard", "demo")


@pytest.fixture
def monitor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Commands:
    """Run commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(monkeypatch, capsys)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIG)
    return path


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def events(n: int) -> str:
    rows = ({"label": ["legit", "fraud"][i % 2], "score": (i % 100) / 100} for i in range(n))
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_help_names_every_command(monitor: Commands) -> None:
    done = monitor("--help")
    assert done.code == 0
    for command in COMMANDS:
        assert f" {command} " in done.out
    assert "Exit status" in done.out
    assert monitor().code == 2
    assert "Usage:" in monitor().out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_help(monitor: Commands, command: str) -> None:
    done = monitor(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"monitor {command}" in done.out


def test_version(monitor: Commands) -> None:
    assert monitor("--version").out.startswith("monitor ")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["check", "--nonsense"], "No such option"),
        (["replay"], "Missing argument"),
        (["doctor", "--messages", "0"], "--messages"),
        (["doctor", "--messages", "many"], "--messages"),
        (["demo", "--seconds", "1"], "--seconds"),
        (["replay", "x.jsonl", "--change-at", "soon"], "'soon' is no time; write one such as 2026-11-01"),
    ],
)
def test_a_wrong_command_line_ends_with_2(monitor: Commands, arguments: list[str], text: str) -> None:
    done = monitor(*arguments)
    assert done.code == 2
    assert text in done.err


@pytest.mark.parametrize("command", ["run", "check", "doctor", "replay", "report"])
def test_no_configuration(monitor: Commands, command: str) -> None:
    done = monitor(command, *(["x.jsonl"] if command == "replay" else []))
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "monitor: monitor.yaml: no such file; write one (README.md has an example), or name yours: -c PATH\n"
    )


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("kafka: {topics: [", ["monitor.yaml: line 1"]),
        ("", ["is empty; write at least the sections kafka and models"]),
        (b"models: \xff", ["not UTF-8"]),
        (
            CONFIG.replace("classes", "clases"),
            ["models.fraud.clases: unknown key; did you mean `classes`?", "models.fraud.classes: is missing"],
        ),
        (
            CONFIG + "export: {families: [classifier_recal]}",
            ["export.families[0]: 'classifier_recal' is no family; did you mean classifier_recall?"],
        ),
        (
            CONFIG + "events: {fields: {label: a, score: a.b}}",
            ["events.fields.score: a.b lies inside a, which is mapped to label"],
        ),
        (CONFIG + "evaluation: {every: soon}", ["evaluation.every: 'soon' is no duration"]),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_wrong_configuration_ends_with_2(
    monitor: Commands, config: Path, command: str, text: str, messages: list[str]
) -> None:
    write(config, text)
    done = monitor(command)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("monitor: ")
    for message in messages:
        assert message in done.err


def test_a_folder_is_no_configuration(monitor: Commands, tmp_path: Path) -> None:
    done = monitor("check", "-c", tmp_path)
    assert done.code == 2
    assert "cannot be read" in done.err


def test_check_says_what_a_configuration_means(monitor: Commands, config: Path) -> None:
    done = monitor("check")
    assert (done.code, done.err) == (0, "")
    for key in ("classes", "windows", "memory", "series", "all limits reached", "message size"):
        assert f"  {key} " in done.out
    assert done.out.endswith("forgotten\n")


def test_check_shows_warnings(monitor: Commands, config: Path) -> None:
    write(config, CONFIG + "server: {host: 0.0.0.0}")
    assert "Warning: server.host 0.0.0.0 can be reached from other machines" in monitor("check").out


def test_check_says_which_files_cannot_be_used(monitor: Commands, config: Path, tmp_path: Path) -> None:
    config.write_text(
        CONFIG
        + "server: {act_token_file: act-token}\nbaselines: {last: last.baseline}\n"
        + "alerts: {rules: {RecallLow: {model: fraud, metric: recall, floor: 0.5}}}"
    )
    done = monitor("check")
    assert (done.code, done.err) == (1, "")
    assert "\n\nProblem: server.act_token_file: act-token cannot be read: No such file" in done.out
    assert "\nProblem: baselines.last: last.baseline: no such file; make it with" in done.out
    assert [path.name for path in tmp_path.iterdir()] == ["monitor.yaml"]


def test_check_leaves_out_files_of_another_machine(monitor: Commands, config: Path) -> None:
    config.write_text(CONFIG + "server: {act_token_file: act-token}")
    done = monitor("check", "--no-files")
    assert done.code == 0
    assert "Problem" not in done.out


def test_check_refuses_the_names_of_alerts_about_the_monitor_itself(monitor: Commands, config: Path) -> None:
    config.write_text(CONFIG + "alerts: {rules: {MonitorDown: {model: fraud, metric: accuracy, floor: 0.5}}}")
    done = monitor("check")
    assert (done.code, done.out) == (2, "")
    assert "MonitorDown is what an alert about the monitor itself is called" in done.err


def test_the_configuration_can_be_named_by_the_environment(
    monitor: Commands, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.rename(config.with_name("mine.yaml"))
    monkeypatch.setenv("MONITOR_CONFIG", "mine.yaml")
    assert monitor("check").code == 0


@pytest.mark.parametrize(
    ("name", "content", "code", "text"),
    [
        ("absent.jsonl", None, 1, "absent.jsonl: no such file"),
        ("rows.txt", "x", 1, "expected .jsonl, .ndjson, .json or .csv"),
        ("rows.parquet", "garbage", 1, "rows.parquet: cannot be read"),
        ("rows.jsonl.gz", "garbage", 1, "rows.jsonl.gz: cannot be read"),
        ("rows.csv", "", 1, "has no header"),
        ("rows.csv", "label,score\nfraud\n", 1, "more or fewer cells"),
        ("rows.jsonl", "[]", 1, "holds a JSON array"),
        ("rows.jsonl", "", 1, "no row in the files: nothing to report; name files that have rows"),
        ("rows.jsonl", "{}", 1, "no valid event: nothing to report; 1 of 1 rows are missing_field"),
        ("rows.csv", "a,b\n1,2\n", 1, "missing_field, such as rows.csv, row 0 (from 0): neither score"),
        ("rows.csv", "a,b\n1,2\n", 1, "map fields with events.fields: the rows have a, b"),
        ("rows.jsonl", '{"score": 0.5}', 1, "no event has a label: metrics need the true class"),
        ("rows.jsonl", '{"score": 0.5, "label": "fruad"}', 1, "'fruad' is none of the classes"),
        ("rows.jsonl", '{"model": "x", "score": 0.5}', 1, "'x' is not configured"),
        ("rows.jsonl", '{"score": 0.5, "label": "fraud"}', 0, "no labeled event of another class"),
    ],
)
def test_replay_says_what_is_wrong_with_a_file(
    monitor: Commands, config: Path, tmp_path: Path, name: str, content: str | None, code: int, text: str
) -> None:
    if content is not None:
        write(tmp_path / name, content)
    done = monitor("replay", name)
    assert done.code == code
    assert text in (done.err if code else done.out)
    assert bool(done.err) == bool(code)


def test_replay_of_a_version_that_retired_and_one_without_labels_is_a_replay(
    monitor: Commands, config: Path, tmp_path: Path
) -> None:
    config.write_text(CONFIG + "limits: {retire_after: 1d}")
    old = [{"version": "1", "timestamp": 1.7e9 + n, "score": 0.5, "label": "fraud"} for n in range(20)]
    new = [{"version": "2", "timestamp": 1.7e9 + 864_000 + n, "score": 0.5} for n in range(20)]
    write(tmp_path / "rows.jsonl", "\n".join(map(json.dumps, [*old, *new])))
    done = monitor("replay", "rows.jsonl")
    assert (done.code, done.err) == (0, "")
    assert "20 unlabeled" in done.out
    assert "without an event for limits.retire_after: " in done.out


def test_replay_of_nothing_valid_is_one_object_too(monitor: Commands, config: Path, tmp_path: Path) -> None:
    write(tmp_path / "rows.csv", "y,score\n1,7\n0,8\n1,0.5\n")
    done = monitor("replay", "rows.csv", "--json")
    assert (done.code, json.loads(done.out)["events"]["rejected"]) == (1, {"out_of_range": 2})
    assert done.err == (
        "monitor: no event has a label: metrics need the true class; check events.fields.label; 2 of 3 rows "
        "are out_of_range, such as rows.csv, row 0 (from 0): score: 7 is no probability in [0, 1]; if these "
        "are logits set scores: logit; to map fields with events.fields: the rows have score, y\n"
    )


def test_replay_prints_one_object_for_machines(monitor: Commands, config: Path, tmp_path: Path) -> None:
    write(tmp_path / "rows.jsonl", events(100))
    done = monitor("replay", "rows.jsonl", "--json")
    found = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert list(found) == ["events", "metrics", "alerts", "actions"]
    assert found["events"] == {"consumed": 100, "rejected": {}, "unlabeled": 0, "late": 0}


RULE = "alerts: {rules: {Low: {model: fraud, metric: accuracy, floor: 0.1}}}"


@pytest.mark.parametrize(
    ("rule", "change", "text"),
    [
        (RULE, "2026-11-01T08:00:30+01:00", "After the change at 2026-11-01 07:00:30 UTC (event 30):"),
        (RULE, "2026-11-01 07:00:30", "After the change at 2026-11-01 07:00:30 UTC (event 30):"),
        (RULE, "2026-11-02", "--change-at: no event since 2026-11-02 00:00:00 UTC"),
        ("", "2026-11-01", "--change-at: no alert is configured"),
    ],
)
def test_replay_speaks_of_the_change_that_was_named(
    monitor: Commands, config: Path, tmp_path: Path, rule: str, change: str, text: str
) -> None:
    config.write_text(CONFIG + rule)
    rows = ({"timestamp": 1793516400 + i, "label": "fraud", "score": 0.9} for i in range(60))
    write(tmp_path / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    done = monitor("replay", "rows.jsonl", "--change-at", change)
    assert (done.code, done.err) == (0, "")
    assert text in done.out


def test_replay_tells_of_actions_in_its_summary_alone(
    monitor: Commands, config: Path, tmp_path: Path
) -> None:
    config.write_text(
        CONFIG.replace("fraud]", "fraud], label_maturity: 0s")
        + RULE.replace("0.1", "0.9, actions: [tell]")
        + "\nactions: {tell: {type: kafka, topic: control}}"
    )
    rows = ({"timestamp": 1793516400 + i, "label": "fraud", "score": 0.1} for i in range(300))
    write(tmp_path / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    done = monitor("replay", "rows.jsonl")
    assert "Actions that would have been taken:" in done.out
    assert done.err == ""


def test_an_interrupt_is_quiet(
    monitor: Commands, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Replay, "run", interrupted)
    write(tmp_path / "rows.jsonl", events(1))
    done = monitor("replay", "rows.jsonl")
    assert (done.code, done.out) == (130, "")
    assert len(done.err) < 20


def test_a_reader_that_goes_away_is_no_error(config: Path, tmp_path: Path) -> None:
    keys = ", ".join(f"k{i}" for i in range(20))
    write(config, CONFIG.replace("fraud]}}", f"fraud], segments: [{keys}]}}}}"))
    row = {"label": "fraud", "score": 0.5, "segments": {f"k{i}": "x" for i in range(20)}}
    write(tmp_path / "rows.jsonl", json.dumps(row) + "\n")
    with started("replay", "-c", config, "--json", tmp_path / "rows.jsonl") as process:
        assert process.stdout is not None
        assert process.stdout.read(10) == '{"events":'
        process.stdout.close()
        process.wait(60)
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_letters_that_a_terminal_lacks_are_escaped(
    monitor: Commands, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(config, CONFIG.replace("fraud", "żart"))
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="latin-1", write_through=True))
    assert monitor("check").code == 0
    assert b"Model \\u017cart" in printed.getvalue()


def test_report_without_a_daemon(monitor: Commands, config: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        write(config, CONFIG + f"server: {{port: {port}}}")
        done = monitor("report")
    assert (done.code, done.out) == (1, "")
    assert f"no daemon answers at http://127.0.0.1:{port}" in done.err
    assert "start it with `monitor run`" in done.err
