"""Kinds of values that alert rules are written in."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, StrictFloat

from monitor.config.values import Name, Words, between, parse_duration, show

_TAKEN = ("alert", "alertname", "alertstate", "class", "model", "segment", "severity", "version", "window")
_MOST = 1e12


def _steps_or_time(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise ValueError(f"{show(value)} is below 1; write a number of steps from 1, or a duration")
        return value
    try:
        return parse_duration(value)
    except ValueError:
        raise ValueError(
            f"{show(value)} is neither a number of steps nor a duration; write one of them, as in 3 or 10m"
        ) from None


def _champion(value: object) -> object:
    if value != "champion":
        raise ValueError(
            f"{show(value)} is not champion; write champion, {{version: NAME}} or {{window: NAME}}"
        )
    return value


def _segment(segment: str) -> str:
    key, _, value = segment.partition("=")
    if not (key and value):
        raise ValueError(
            f"{show(segment)} is no segment; write region=eu, or region=* for each value of region"
        )
    return segment


def _metric(name: str) -> str:
    return name.removeprefix("classifier_")


def _number_or_word(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value in ("random", "best") or (is_number and abs(value) <= _MOST):  # type: ignore[arg-type]
        return value
    raise ValueError(f"{show(value)} is no limit; write a number, random or best")


def _label_name(name: str) -> str:
    if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name, re.ASCII) or name.startswith("__"):
        raise ValueError(f"{show(name)} is no label name; write letters, digits and _, as in team")
    if name in _TAKEN:
        raise ValueError("is a label that every alert has; choose another name")
    return name


def _alert_name(name: str) -> str:
    if not name.isprintable():
        raise ValueError("holds characters that cannot be shown; write a name as in RecallBelowFloor")
    return name


NonNegative = Annotated[StrictFloat, between(0)]
Number = Annotated[StrictFloat, between(-_MOST, _MOST), Words("number")]
Metric = Annotated[Name, AfterValidator(_metric)]
Segment = Annotated[Name, AfterValidator(_segment), Words("text")]
StepsOrTime = Annotated[
    int | timedelta, BeforeValidator(_steps_or_time), Words("number of steps, or duration")
]
Floor = Annotated[
    float | Literal["random", "best"], BeforeValidator(_number_or_word), Words("number, `random`, `best`")
]
Champion = Annotated[Literal["champion"], BeforeValidator(_champion)]
LabelName = Annotated[Name, AfterValidator(_label_name)]
AlertName = Annotated[Name, AfterValidator(_alert_name)]
