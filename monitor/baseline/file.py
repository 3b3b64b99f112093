"""A stored reference as a file: JSON, whole or not there, every part checked when it is read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor import __version__
from monitor.baseline.baseline import PROPORTIONS, Baseline, Groups, Interval, StoredValue
from monitor.checkpoint.disk import sync_folder, write_whole
from monitor.errors import ConfigurationError
from monitor.state.reading import count, maybe, plain, take

FORMAT = 1
"""Raised where older versions of monitor would read a file wrongly; what only adds keys leaves it."""

_KIND = "monitor baseline"


def store_baseline(baseline: Baseline, path: Path) -> int:
    """Write a baseline in place of what was there; return its bytes.

    Raises
    ------
    ConfigurationError
        It cannot be written there.
    """
    text = json.dumps(_tree(baseline), allow_nan=False, separators=(",", ":"))
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        size = write_whole(descriptor, temporary, path, [text.encode(), b"\n"])
        sync_folder(path.parent)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be written: {error.strerror}; name another file: -o FILE"
        ) from None
    return size


def load_baseline(path: str | Path, name: str = "") -> Baseline:
    """Read a baseline.

    Parameters
    ----------
    path
        What `monitor baseline` wrote.
    name
        Of the entry in `baselines`, for messages.

    Raises
    ------
    ConfigurationError
        It is missing, damaged, no baseline, or of a later version.
    """
    where = f"baselines.{name}: {path}" if name else str(path)
    make = f"make it with `monitor baseline -c monitor.yaml FILE… -o {path}`"
    try:
        tree = json.loads(Path(path).read_bytes())
    except FileNotFoundError:
        raise ConfigurationError(f"{where}: no such file; {make}") from None
    except OSError as error:
        raise ConfigurationError(f"{where}: cannot be read: {error.strerror}; {make}") from None
    except (ValueError, RecursionError):
        raise ConfigurationError(f"{where}: is no stored reference, or damaged; {make}") from None
    if not isinstance(tree, dict) or tree.get("kind") != _KIND:
        raise ConfigurationError(f"{where}: is no stored reference; {make}")
    if tree.get("format") != FORMAT:
        raise ConfigurationError(
            f"{where}: has format {tree.get('format')!r}, this version reads {FORMAT}; {make}"
        )
    try:
        return _baseline(tree)
    except ValueError as error:
        raise ConfigurationError(f"{where}: is damaged: {error}; {make}") from None


def _tree(baseline: Baseline) -> dict[str, Any]:
    return {
        "kind": _KIND,
        "format": FORMAT,
        "monitor": baseline.made_by,
        "model": baseline.model,
        "version": baseline.version,
        "meaning": dict(baseline.meaning),
        "events": baseline.events,
        "labeled": baseline.labeled,
        "first_event": baseline.first_event,
        "last_event": baseline.last_event,
        "confidence_level": baseline.confidence_level,
        "values": [
            {**value._asdict(), "interval": None if value.interval is None else value.interval._asdict()}
            for value in baseline.values
        ],
        "scores": {
            name: {
                "exact": groups.exact,
                "score": groups.scores.tolist(),
                "positives": groups.positives.tolist(),
                "events": groups.events.tolist(),
            }
            for name, groups in baseline.scored.items()
        },
    }


def _baseline(tree: object) -> Baseline:
    return Baseline(
        model=take(tree, "model", str),
        version=take(tree, "version", str),
        meaning=take(tree, "meaning", dict),
        events=count(take(tree, "events", int), "events"),
        labeled=count(take(tree, "labeled", int), "labeled"),
        first_event=take(tree, "first_event", int),
        last_event=take(tree, "last_event", int),
        confidence_level=_finite(tree, "confidence_level"),
        scored={name: _groups(groups) for name, groups in take(tree, "scores", dict).items()},
        values=tuple(map(_value, take(tree, "values", list))),
        made_by=take(tree, "monitor", str, __version__),
    )


def _value(tree: object) -> StoredValue:
    interval = maybe(tree, "interval", dict)
    found = StoredValue(
        family=take(tree, "family", str),
        labels={name: plain(text, str, "a label") for name, text in take(tree, "labels", dict).items()},
        value=_finite(tree, "value"),
        support=count(take(tree, "support", int), "support"),
        numerator=_maybe_finite(tree, "numerator"),
        denominator=_maybe_finite(tree, "denominator"),
        interval=None
        if interval is None
        else Interval(take(interval, "method", str), _finite(interval, "lower"), _finite(interval, "upper")),
    )
    if found.family in PROPORTIONS and not 0 <= (found.numerator or 0) <= (found.denominator or 0) != 0:
        raise ValueError(f"{found.family} is no share of events")
    return found


def _groups(tree: object) -> Groups:
    scores = np.array([_number(score, "a score") for score in take(tree, "score", list)], np.float64)
    positives, events = (_counts(take(tree, key, list), key) for key in ("positives", "events"))
    if not len(scores) == len(positives) == len(events):
        raise ValueError("scores, positives and events are not equally many")
    if len(scores) and (scores[0] < 0 or scores[-1] > 1 or (np.diff(scores) <= 0).any()):
        raise ValueError("scores are no ascending probabilities")
    if (positives > events).any():
        raise ValueError("a score has more positives than events")
    return Groups(scores, positives, events, take(tree, "exact", bool))


def _counts(values: Iterable[object], what: str) -> NDArray[np.int64]:
    return np.array([count(value, what) for value in values], np.int64)


def _maybe_finite(tree: object, key: str) -> float | None:
    return None if plain(tree, dict, "a value").get(key) is None else _finite(tree, key)


def _finite(tree: object, key: str) -> float:
    return _number(plain(tree, dict, f"what should hold {key}").get(key), key)


def _number(value: object, what: str) -> float:
    """Return a finite number; JSON of other makers may write a whole one without a point."""
    number = float(value) if type(value) is int else plain(value, float, what)
    if not np.isfinite(number):
        raise ValueError(f"{what} is not finite")
    return number
