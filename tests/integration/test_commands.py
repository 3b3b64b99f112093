"""The commands that need a broker, as a user runs them, on the embedded one."""

from __future__ import annotations

import csv
import json
import signal
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.brokers import EmbeddedBroker, free_ports
from tests.support.commands import Commands, started

pytestmark = [
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]

CONFIG = """
kafka:
  bootstrap_servers: ["{address}"]
  topics: [{topic}]
  group_id: {topic}
  start: earliest
  give_up_after: 500ms
  receive_message_max_bytes: 2147483647
models: {{fraud: {{task: binary, classes: [legit, fraud]}}}}
evaluation: {{every: 1s}}
checkpoint: {{directory: "{state}"}}
server: {{port: {port}}}
"""
Write = Callable[..., Path]


@pytest.fixture
def monitor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(monkeypatch, capsys)


@pytest.fixture
def write(embedded_broker: EmbeddedBroker, tmp_path: Path) -> Iterator[Write]:
    def write(topic: str, address: str = embedded_broker.address, port: int = 0, rest: str = "") -> Path:
        path = tmp_path / "monitor.yaml"
        path.write_text(
            CONFIG.format(address=address, topic=topic, port=port, state=tmp_path / "state") + rest
        )
        return path

    yield write


def event(i: int) -> bytes:
    return json.dumps({"label": ["legit", "fraud"][i % 3 == 0], "score": (i * 37 % 101) / 100}).encode()


def test_check_reaches_brokers_and_topics(
    monitor: Commands, write: Write, embedded_broker: EmbeddedBroker
) -> None:
    embedded_broker.create_topic("check")
    done = monitor("check", "--connect", "-c", write("check"))
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\n\nBrokers and topics: reached.\n")
    done = monitor("check", "--connect", "-c", write("chekc"))
    assert (done.code, done.err) == (1, "")
    assert "there is no topic 'chekc'" in done.out.splitlines()[-1]
    done = monitor("check", "--connect", "-c", write("check", address="127.0.0.1:1"))
    assert done.code == 1
    assert "nothing listens there; check kafka.bootstrap_servers" in done.out.splitlines()[-1]


def test_doctor_looks_at_as_many_messages_as_asked_for(
    monitor: Commands, write: Write, embedded_broker: EmbeddedBroker
) -> None:
    embedded_broker.create_topic("doctor", partitions=2)
    for partition in range(2):
        embedded_broker.produce("doctor", [*map(event, range(40)), b"xx"], partition)
    done = monitor("doctor", "-c", write("doctor"))
    assert (done.code, done.err) == (0, "")
    assert "Newest messages (20)" in done.out
    assert "doctor/1/40  xx" in done.out
    assert "2 of 20 messages rejected as not_json, such as doctor/0/40" in done.out
    done = monitor("doctor", "-c", write("doctor"), "--messages", "1000")
    assert "Newest messages (82)" in done.out
    assert "fraud: 80 events; labels: legit 52, fraud 28; scores 0 to " in done.out


def test_doctor_on_an_empty_topic_and_without_a_broker(
    monitor: Commands, write: Write, embedded_broker: EmbeddedBroker
) -> None:
    embedded_broker.create_topic("nothing")
    done = monitor("doctor", "-c", write("nothing"))
    assert done.code == 0
    assert "The topics are empty." in done.out
    done = monitor("doctor", "-c", write("nothing", address="127.0.0.1:1"))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("monitor: cannot connect to Kafka at 127.0.0.1:1: nothing listens there")


def test_run_gives_up_on_a_broker_that_is_away(monitor: Commands, write: Write) -> None:
    done = monitor("run", "-c", write("away", address="127.0.0.1:1"))
    assert (done.code, done.out) == (1, "")
    last = done.err.splitlines()[-1]
    assert last.startswith("monitor: cannot connect to Kafka at 127.0.0.1:1: nothing listens there")
    assert last.endswith(": kafka.give_up_after)")


def test_run_says_which_port_is_taken(monitor: Commands, write: Write) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = monitor("run", "-c", write("taken", port=port))
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1] == (
        f"monitor: server.port {port} on 127.0.0.1 is taken by another process; "
        "stop that one or set server.port"
    )


def test_run_report_and_reset(
    monitor: Commands, write: Write, embedded_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    embedded_broker.create_topic("run")
    embedded_broker.produce("run", map(event, range(300)))
    [port] = free_ports(1)
    config = write("run", port=port)
    with started("run", "-c", config, MONITOR__KAFKA__SSL_CHECK_HOSTNAME="false") as process:
        wait_for_events(port, 300)
        done = monitor("report", "-c", config)
        assert (done.code, done.err) == (0, "")
        assert done.out.count("300 labeled") == 3
        one = monitor("report", "-c", config, "--model", "fraud", "--version", "", "--window", "all")
        assert one.out.startswith("model fraud, version (none), window all, all events\n300 events")
        everything = json.loads(monitor("report", "-c", config, "--format", "json").out)
        assert [w["labeled"] for w in everything["reports"]] == [300] * 3
        table = list(csv.DictReader(monitor("report", "-c", config, "--format", "csv").out.splitlines()))
        assert len(table) == sum(len(w["metrics"]) for w in everything["reports"])
        for option, name, known in (
            ("--model", "x", "fraud"),
            ("--version", "v9", ""),
            ("--window", "1d", "1h', 'all', 'last_10k"),
        ):
            done = monitor("report", "-c", config, option, name)
            assert (done.code, done.out) == (1, "")
            assert f"no {option[2:]} {name!r} in the newest report; known: '{known}'" in done.err
        done = monitor("reset", "-c", config, "--model", "fraud")
        assert (done.code, done.out) == (1, "")
        assert "must be stopped for a reset; stop it, then reset again" in done.err
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    lines = err.splitlines()
    assert any("warning kafka.ssl_check_hostname is off" in line for line in lines)
    assert any("SIGHUP refused: a changed configuration needs a restart" in line for line in lines)
    assert lines[-1].endswith(" stopped")
    assert "Traceback" not in err

    done = monitor("report", "-c", config, "--format", "json")
    assert done.code == 0
    assert "monitor: no daemon answers: this is from its checkpoint of " in done.err
    offline = json.loads(done.out)
    assert offline.pop("evaluated_at") >= everything.pop("evaluated_at")
    assert offline == everything
    done = monitor("reset", "-c", config, "--model", "fraud")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Forgotten of model 'fraud': 1 version, 300 events held, 300 labeled events")
    embedded_broker.produce("run", map(event, range(7)))
    with started("run", "-c", config):
        wait_for_events(port, 7)
        everything = json.loads(monitor("report", "-c", config, "--format", "json").out)
    assert [window["labeled"] for window in everything["reports"]] == [7] * 3


def wait_for_events(port: int, events: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/report", timeout=10) as answer:
                reports = json.load(answer)["reports"]
            if reports and reports[0]["events"] >= events:
                return
        except OSError:
            pass
        assert time.monotonic() < deadline
        time.sleep(0.1)
