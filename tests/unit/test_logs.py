"""Log lines for people and for machines."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from datetime import datetime, time

import pytest

from monitor.logs import JsonFormatter, TextFormatter, configure


def record(message: str = "rejected %s", *arguments: object, **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("monitor.daemon", logging.WARNING, "f.py", 1, message, arguments, None)
    vars(made).update(fields)
    return made


def failed(**fields: object) -> logging.LogRecord:
    made = record("failed", **fields)
    try:
        raise ValueError("broken")
    except ValueError:
        made.exc_info = sys.exc_info()
    return made


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)


def test_json_has_one_object_a_line() -> None:
    line = JsonFormatter().format(record("rejected %s\nand more", "x", reason="not_json", offset=7))
    assert "\n" not in line
    entry = json.loads(line)
    assert datetime.fromisoformat(entry.pop("time")).tzinfo is not None
    assert entry == {
        "level": "warning",
        "logger": "monitor.daemon",
        "message": "rejected x\nand more",
        "reason": "not_json",
        "offset": 7,
    }


def test_json_takes_any_field() -> None:
    entry = json.loads(JsonFormatter().format(record("x", where={1}, when=time(1))))
    assert (entry["where"], entry["when"]) == ("{1}", "01:00:00")


def test_text_shows_fields_after_the_message() -> None:
    line = TextFormatter().format(record("rejected %s", "x", reason="not json", offset=7))
    moment, level, rest = line.split(maxsplit=2)
    assert datetime.fromisoformat(moment).tzinfo is not None
    assert (level, rest) == ("warning", "rejected x reason='not json' offset=7")


@pytest.mark.parametrize("made", [failed(), record("failed", traceback="ValueError: broken")])
def test_text_has_a_traceback_below(made: logging.LogRecord) -> None:
    first, *_, last = TextFormatter().format(made).splitlines()
    assert first.endswith("failed")
    assert last == "ValueError: broken"


def test_json_has_a_traceback_as_a_field() -> None:
    assert json.loads(JsonFormatter().format(failed()))["traceback"].endswith("ValueError: broken")


@pytest.mark.parametrize(("log_format", "start"), [("json", "{"), ("text", "2")])
def test_logs_go_to_standard_error(
    root: logging.Logger, capsys: pytest.CaptureFixture[str], log_format: str, start: str
) -> None:
    configure(log_format, "warning")
    logging.getLogger("monitor").info("not shown")
    logging.getLogger("monitor").warning("shown")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(start)
    assert len(err.splitlines()) == 1
