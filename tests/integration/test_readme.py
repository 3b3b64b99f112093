"""README.md is true: its commands run, its event is one, its families and links exist."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest

from monitor.assembly import decoder
from monitor.clock import SystemClock
from monitor.config import load_config
from monitor.errors import ConfigurationError
from monitor.metrics.catalog import CATALOG
from monitor.series import HELPS
from tests.support.brokers import EmbeddedBroker, free_ports
from tests.support.commands import Commands, started
from tests.support.examples import blocks
from tests.support.records import batch

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "README.md").read_text()
MODELS, KAFKA, ALERTS = [text for language, text in blocks(PAGE) if language == "yaml"]
CONFIG = KAFKA + MODELS
[EVENT] = [text for language, text in blocks(PAGE) if language == "json"]
COMMANDS = [
    command
    for language, text in blocks(PAGE)
    if language == "sh"
    for line in text.splitlines()
    if (command := line.partition("#")[0].strip())
]
PORT = "9464"
SETUP = ". .venv/bin/activate"


def test_files_need_no_section_kafka(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text(MODELS)
    assert list(load_config(path, {}, needs_kafka=False).models) == ["fraud"]
    with pytest.raises(ConfigurationError, match="monitor replay"):
        load_config(path, {})


def test_all_of_it_in_one_file_is_a_configuration(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIG + ALERTS)
    assert list(load_config(path, {}).alerts.rules) == ["RecallBelowFloor"]


def test_its_event_is_one_under_its_configuration(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIG)
    decoded = decoder(load_config(path, {}), ["t"], SystemClock()).decode([batch([EVENT.encode()])])
    assert decoded.rejected == ()
    [(model, version)] = decoded.columns
    assert (model, version) == ("fraud", "2026-11-01")
    columns = decoded.columns[model, version]
    assert columns.timestamp[0] == 1764400000123000
    assert (columns.label[0], columns.score[0, 0]) == (1, pytest.approx(0.87))
    assert columns.segments[0, 0] > 0


def test_its_families_exist() -> None:
    table = PAGE.split("| families (`classifier_…`) |")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", table)
    assert len(named) > 20
    known = {metric.name for metric in CATALOG} | set(HELPS)
    assert {f"classifier_{name}" for name in named} <= known


def test_its_links_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", PAGE) if "://" not in link]
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_its_make_targets_exist() -> None:
    wanted = {command.removeprefix("make ") for command in COMMANDS if command.startswith("make ")}
    assert wanted == {"demo", "test", "setup"}
    for target in wanted:
        asked = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
        assert asked.returncode == 0, asked.stderr


def test_its_report_is_that_of_its_example(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    [command] = re.findall("`(monitor replay -c docs/examples/[^`]+)`", PAGE)
    [report] = [text for language, text in blocks(PAGE) if language == "text"]
    assert f"\n{report}" in Commands(monkeypatch, capsys)(*command.split()[1:]).out


@pytest.fixture
def monitor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Commands:
    """Run commands in the folder of the configuration."""
    monkeypatch.chdir(tmp_path)
    return Commands(monkeypatch, capsys)


@pytest.fixture
def port(embedded_broker: EmbeddedBroker, tmp_path: Path) -> str:
    """Write what README says, for the test's broker; return the port to serve at."""
    [port] = map(str, free_ports(1))
    embedded_broker.create_topic("predictions.labeled")
    events = [
        {**json.loads(EVENT), "score": i * 73 % 200 / 200, "label": ["legit", "fraud"][i % 2]}
        for i in range(200)
    ]
    lines = [json.dumps({**event, "timestamp": time.time()}).encode() for event in events]
    embedded_broker.produce("predictions.labeled", lines)
    config = CONFIG.replace("localhost:9092", embedded_broker.address)
    assert config != CONFIG
    (tmp_path / "monitor.yaml").write_text(f"{config}server: {{port: {port}}}\n")
    (tmp_path / "predictions.jsonl").write_bytes(b"\n".join(lines))
    return port


def test_its_commands_run(port: str, monitor: Commands) -> None:
    outputs = {}
    with ExitStack() as daemons:
        for command in COMMANDS:
            program, *arguments = command.replace(PORT, port).split()
            if "--serve" in arguments:
                assert_served(arguments)
            elif program == "monitor" and arguments[0] == "run":
                process = daemons.enter_context(started(*arguments, MONITOR__EVALUATION__EVERY="1s"))
                wait_for_a_report(port)
            elif program == "monitor":
                done = monitor(*arguments)
                assert (done.code, done.err) == (0, ""), command
                outputs[command] = done.out
            elif program == "curl":  # not every machine has it
                with urllib.request.urlopen(arguments[-1], timeout=30) as answer:
                    outputs[command] = answer.read().decode()
            else:
                assert program == "make" or command == SETUP
        process.terminate()
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in log
    assert "Model fraud" in outputs["monitor check -c monitor.yaml"]
    assert outputs["monitor check -c monitor.yaml --connect"].endswith("Brokers and topics: reached.\n")
    assert "Nothing that these messages show." in outputs["monitor doctor -c monitor.yaml"]
    assert "200 labeled" in outputs["monitor report -c monitor.yaml"]
    scraped = outputs[f"curl -s http://127.0.0.1:{PORT}/metrics"]
    assert 'classifier_recall{class="fraud",model="fraud"' in scraped
    assert "200 records: 0 rejected" in outputs["monitor replay -c monitor.yaml predictions.jsonl"]
    found = json.loads(outputs["monitor replay -c monitor.yaml predictions.jsonl --json"])
    assert found["events"]["consumed"] == 200


def assert_served(arguments: list[str]) -> None:
    with started(*arguments) as process:
        assert process.stderr is not None
        address = re.search(r"http://\S+/", process.stderr.readline())
        assert address is not None
        with urllib.request.urlopen(f"{address[0]}model?model=fraud", timeout=30) as answer:
            assert "last_10k" in answer.read().decode()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def wait_for_a_report(port: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/report", timeout=10) as answer:
                reports = json.load(answer)["reports"]
            if reports and reports[0]["events"] == 200:
                return
        except urllib.error.URLError:
            pass
        assert time.monotonic() < deadline
        time.sleep(0.1)
