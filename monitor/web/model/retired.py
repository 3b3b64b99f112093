"""The last reports of versions that retired, as far as a page needs them.

They are files of megabytes: all but the one that is asked for are read again only after a while.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, cast

from monitor.errors import MonitorError
from monitor.report import WindowReport
from monitor.report_parse import window_report
from monitor.web.site import Retired

MAX_READ = 5
"""Most reports that are read for one page."""

NAMES_FOR = 60_000_000
"""Microseconds for which names are known: a version that retires is listed that much later."""

WINDOWS_FOR = 600_000_000
"""Microseconds for which a report is known: one of a version that came back and retired again is replaced."""

_UNREADABLE = (MonitorError, KeyError, TypeError, ValueError, AttributeError)
_CONFUSIONS = "classifier_window_confusions"


class Known(NamedTuple):
    """Versions of a model of which a report is kept, the most recently written first.

    Attributes
    ----------
    versions
        Names.
    problem
        Why they cannot be read; None where they can.
    """

    versions: tuple[str, ...]
    problem: str | None = None


class Last(NamedTuple):
    """What is compared of a version that retired.

    Attributes
    ----------
    retired
        When, in event time, as ISO 8601.
    window
        The window over all events, without confusions; None where the report does not have it.
    """

    retired: str
    window: WindowReport | None


def known_versions(retired: Retired, model: str, now: int) -> Known:
    """Return which versions of a model have retired; `now` is the wall-clock time in microseconds."""
    names, problem = _names(cast(Hashable, retired), now // NAMES_FOR)
    return Known(tuple(version for name, version in names if name == model), problem)


def kept_report(
    retired: Retired, model: str, version: str
) -> tuple[Mapping[str, Any], list[WindowReport]] | None:
    """Return the last report of a version as the API gives it, and its windows without curves.

    None where there is none to be read; one that another release of the monitor has written in another form
    is none.
    """
    try:
        found = next(iter(retired.find(model, version)), None)
        windows = [] if found is None else [window_report(of) for of in found["reports"]]
    except _UNREADABLE:
        return None
    return None if found is None or not windows else (found, windows)


def last(retired: Retired, model: str, version: str, window: str, now: int) -> Last | None:
    """Return one window of a version that retired, None where there is no report to be read."""
    return _last(cast(Hashable, retired), model, version, window, now // WINDOWS_FOR)


@lru_cache(maxsize=2)
def _names(retired: Retired, _: int) -> tuple[Sequence[tuple[str, str]], str | None]:
    try:
        return retired.names(), None
    except MonitorError as error:
        return (), str(error)


@lru_cache(maxsize=16)
def _last(retired: Retired, model: str, version: str, window: str, _: int) -> Last | None:
    kept = kept_report(retired, model, version)
    if kept is None:
        return None
    about, windows = kept
    found = next((of for of in windows if (of.window, of.segment) == (window, "")), None)
    if found is not None:
        found = replace(found, values=tuple(v for v in found.values if v.name != _CONFUSIONS))
    return Last(about["retired"], found)
