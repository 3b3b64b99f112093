"""Structured logs on standard error, as text for people or JSON for machines."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure(log_format: str, level: str) -> None:
    """Send all logs to standard error.

    Parameters
    ----------
    log_format
        "text" or "json".
    level
        Name of the lowest level that is shown, in any case.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def log_change(logger: logging.Logger, was: str | None, now: str | None) -> None:
    """Log that a problem came up or went away; a lasting one is said once."""
    if now and now != was:
        logger.warning("%s", now)
    elif was and not now:
        logger.info("no longer: %s", was)


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """Return what was passed as `extra`."""
    return {k: v for k, v in vars(record).items() if k not in _STANDARD}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message and the fields of the record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        entry: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


class TextFormatter(logging.Formatter):
    """Time, level, message, then the fields as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line, and a traceback below it where there is one."""
        fields = _fields(record)
        traceback = fields.pop("traceback", None)
        line = f"{_time(record)} {record.levelname.lower():<7} {record.getMessage()}"
        line += "".join(f" {key}={value!r}" for key, value in fields.items())
        if record.exc_info:
            traceback = self.formatException(record.exc_info)
        return f"{line}\n{traceback}" if traceback else line
