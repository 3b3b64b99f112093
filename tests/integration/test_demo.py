"""The demo as a user runs it, for a short while."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import pytest

DEMO = [sys.executable, "-c", "from monitor.cli import main; main()", "demo"]


@pytest.fixture
def demo():
    """Start the demo with options, and end it whatever happens."""
    started = []

    def start(*options):
        process = subprocess.Popen(
            [*DEMO, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Tests that run in the background of a shell are deaf to SIGINT, and so would the demo be.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


def test_it_shows_the_drop_the_alert_the_rollback_and_the_recovery(demo):
    process = demo("--seconds", "20")
    out, err = process.communicate(timeout=280)
    assert process.returncode == 0, out + err
    assert err == ""
    assert re.search(r"http://127\.0\.0\.1:\d+/", out)
    order = [
        "healthy; version 2026-11-08 takes over in",
        "WRONG for",
        "ALERT RecallBelowFloor",
        "came with a valid signature",
    ]
    assert [out.index(each) for each in order] == sorted(out.index(each) for each in order)
    assert "ALERT CalibrationDrift" in out
    assert "overconfident" in out
    assert int(re.findall(r"rejected (\d+)", out)[-1]) > 0
    values = re.search(
        r"malignant: (0\.\d+) \[.+\] by 2026-11-01, (0\.\d+) \[.+\] by 2026-11-08", " ".join(out.split())
    )
    before, after = map(float, values.groups())
    assert before > 0.8 > 0.75 > after


def test_it_ends_on_a_signal_and_says_that_nothing_was_seen(demo):
    process = demo()
    for text in process.stdout:
        if "healthy" in text:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")
    assert "stopped before version 2026-11-08 took over" in " ".join(out.split())
