"""The last reports of versions that retired, as far as a page needs them.

With many classes they are tens of megabytes: of all values those are parsed that are shown, once for each
file. What is remembered takes some 0.7 kB a value: at most 50 MB with a hundred classes, three windows and a
few segments.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple, cast

import msgspec

from monitor.errors import MonitorError
from monitor.presets import DEFAULT, PRESETS, families
from monitor.report import WindowReport
from monitor.report_parse import window_report
from monitor.web.site import Retired

MAX_READ = 5
"""Most versions whose report is read for one page, beside the one that is shown."""

NAMES_FOR = 60_000_000
"""Microseconds for which names are known: a version that retires is listed that much later."""

_PAGES = 4
"""Windows and segments of retired versions that are remembered as their pages show them."""

_ROWS = 16
"""Versions of which is remembered what may stand in tables."""

_OTHER_FORM = (KeyError, TypeError, ValueError, AttributeError, msgspec.DecodeError)
_FIRST = families(pick for preset in (DEFAULT, *PRESETS.values()) for pick in preset.first)

_CONFUSIONS = "classifier_window_confusions"
_LARGE = {"metrics", "confusion", "classification_report", "curves", "recalibration"}
_NO_CONFUSION = {"predicted": (), "counts": ()}

_Parts = Mapping[str, msgspec.Raw]


class _Kept(msgspec.Struct):
    """A report, its windows still text."""

    retired: str
    reports: list[dict[str, msgspec.Raw]]
    confidence_level: float | None = None


class _Named(msgspec.Struct):
    """A value, as far as it tells whether it is wanted."""

    name: str


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
    retired: Retired, model: str, version: str, asked: Mapping[str, str]
) -> tuple[Mapping[str, Any], list[WindowReport]] | None:
    """Return what is known of a version that retired, and its windows without curves.

    None where there is no report to be read; one that another release of the monitor has written in another
    form is none.

    Parameters
    ----------
    retired
        Kept reports.
    model, version
        Names.
    asked
        ``window`` and ``segment``, where they are asked for: that segment and all events of that window have
        all values, other segments of it what may come first; other windows are there by name.
    """
    try:
        key = cast(Hashable, retired), model, version, asked.get("window"), asked.get("segment", "")
        return _report(*key, retired.mark(model, version))
    except MonitorError:  # not remembered: the disk may be back
        return None


def last(retired: Retired, model: str, version: str, window: str) -> Last | None:
    """Return one window of a version that retired, None where there is no report to be read."""
    try:
        found = _wholes(cast(Hashable, retired), model, version, retired.mark(model, version))
    except MonitorError:
        return None
    return None if found is None else Last(found[0], found[1].get(window))


@lru_cache(maxsize=2)
def _names(retired: Retired, _: int) -> tuple[Sequence[tuple[str, str]], str | None]:
    try:
        return retired.names(), None
    except MonitorError as error:
        return (), str(error)


@lru_cache(maxsize=_PAGES)
def _report(
    retired: Retired, model: str, version: str, window: str | None, segment: str, _: Hashable
) -> tuple[Mapping[str, Any], list[WindowReport]] | None:
    with suppress(*_OTHER_FORM):
        kept = _read(retired, model, version)
        window = window or _text(kept.reports[0], "window")
        about = {"retired": kept.retired, "confidence_level": kept.confidence_level}
        return about, list(_windows(kept.reports, window, segment))
    return None


def _windows(reports: Sequence[_Parts], window: str, segment: str) -> Iterator[WindowReport]:
    for parts in reports:
        if _text(parts, "window") != window:
            yield _window(parts, frozenset())
        else:
            yield _window(parts, None if _text(parts, "segment") in ("", segment) else _FIRST)


@lru_cache(maxsize=_ROWS)
def _wholes(
    retired: Retired, model: str, version: str, _: Hashable
) -> tuple[str, dict[str, WindowReport]] | None:
    with suppress(*_OTHER_FORM):
        kept = _read(retired, model, version)
        whole = (_window(parts, _FIRST) for parts in kept.reports if not _text(parts, "segment"))
        return kept.retired, {window.window: window for window in whole}
    return None


def _read(retired: Retired, model: str, version: str) -> _Kept:
    kept = msgspec.json.decode(retired.text(model, version) or b"", type=_Kept)
    if not kept.reports:
        raise ValueError("nothing in it")
    return kept


def _window(parts: _Parts, wanted: Collection[str] | None) -> WindowReport:
    """Return a window with values of these families; None is those of the page, and the confusion matrix."""
    found = {name: msgspec.json.decode(text) for name, text in parts.items() if name not in _LARGE}
    found["confusion"] = _NO_CONFUSION if wanted is not None else msgspec.json.decode(parts["confusion"])
    texts = msgspec.json.decode(parts["metrics"], type=list[msgspec.Raw]) if wanted != frozenset() else []
    found["metrics"] = [msgspec.json.decode(text) for text in texts if _is_wanted(text, wanted)]
    return window_report(found)


def _is_wanted(value: msgspec.Raw, wanted: Collection[str] | None) -> bool:
    name = msgspec.json.decode(value, type=_Named).name
    return name != _CONFUSIONS if wanted is None else name in wanted


def _text(parts: _Parts, name: str) -> str:
    return msgspec.json.decode(parts[name], type=str)
