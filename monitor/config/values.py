"""Kinds of values that monitor.yaml is written in; each message says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, StrictFloat, StrictInt

_MICROSECONDS = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000}
_LONGEST = timedelta(days=36_500)
_BYTES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}

NOT_YET = "not supported yet; remove it"

T = TypeVar("T")


@dataclass(frozen=True)
class Words:
    """What the documentation calls a kind of value; the last one of a type counts."""

    text: str


def show(value: object) -> str:
    """Return a value as an error message quotes it; containers may hold secrets and are not quoted."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "...")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return repr(value).removesuffix(".0")
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "this value"


def parse_duration(value: object) -> timedelta:
    """Return the length of time that a text such as "10s", "5m", "1.5h", "7d" or "500ms" stands for.

    Raises
    ------
    ValueError
        If it is no such text, or is longer than 36500 days.
    """
    if isinstance(value, timedelta):
        return value
    text = value if isinstance(value, str) else ""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d)", text, re.ASCII)
    if match is None:
        raise ValueError(
            f"{show(value)} is no duration; write a number and its unit, as in 500ms, 10s, 5m, 1h or 7d"
        )
    microseconds = round(Fraction(match[1]) * _MICROSECONDS[match[2]])
    if microseconds > _LONGEST // timedelta(microseconds=1):
        raise ValueError(f"{show(value)} is too long; write at most {format_duration(_LONGEST)}")
    return timedelta(microseconds=microseconds)


def format_duration(duration: timedelta) -> str:
    """Return a duration as it is written, in the largest unit that keeps it whole."""
    microseconds = duration // timedelta(microseconds=1)
    if microseconds == 0:
        return "0s"
    for unit, size in _MICROSECONDS.items():
        if microseconds % size == 0:
            return f"{microseconds // size}{unit}"
    return f"{microseconds // 1000}.{microseconds % 1000:03d}ms"


def parse_bytes(value: object) -> int:
    """Return the number of bytes that a number, or a text such as "1MB" or "512KiB", stands for.

    Raises
    ------
    ValueError
        If it is neither, or not positive.
    """
    text = str(value) if isinstance(value, int | str) else ""
    match = re.fullmatch(r"(\d{1,15}) ?([a-z]*)", text, re.ASCII | re.IGNORECASE)
    unit = _BYTES.get(match[2].upper()) if match else None
    if match is None or unit is None or int(match[1]) == 0:
        raise ValueError(f"{show(value)} is no size; write a number and its unit, as in 100kB, 1MB or 1MiB")
    return int(match[1]) * unit


def _instant(value: object) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            pass
    if not isinstance(value, datetime):
        raise ValueError(
            f"{show(value)} is no point in time; write it as in 2000-01-01 or 2000-01-01T00:00:00Z"
        )
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _name(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(
            "YAML reads an unquoted yes, no, on, off, true or false as a boolean; write it in quotes"
        )
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(f"{show(value)} is no text; write it in quotes")
    if not value:
        raise ValueError("is empty; write a name")
    return value


def _not_empty(value: T) -> T:
    if not value:
        raise ValueError("is empty; write at least one")
    return value


def _distinct(values: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    twice = next((value for i, value in enumerate(values) if value in values[:i]), None)
    if twice is not None:
        raise ValueError(f"{show(twice)} stands here twice; write it once")
    return values


def _positive_duration(value: timedelta) -> timedelta:
    if not value:
        raise ValueError("is no time at all; write a duration above 0s")
    return value


@dataclass(frozen=True)
class Between:
    """Lets through numbers from `low` to `high`, ends included unless they are open."""

    low: float
    high: float | None
    open_low: bool
    open_high: bool

    @property
    def words(self) -> str:
        """What such a number is called."""
        at_least = f"above {self.low}" if self.open_low else f"of at least {self.low}"
        if self.high is None:
            return f"number {at_least}"
        if self.open_low or self.open_high:
            return f"number {at_least} and {'below' if self.open_high else 'at most'} {self.high}"
        return f"number from {self.low} to {self.high}"

    def __call__(self, value: float) -> float:
        """Return the value; ValueError where it is outside."""
        low, high = self.low, self.high
        if value < low or (self.open_low and value == low):
            beyond = f"{'not above' if self.open_low else 'below'} {low}"
        elif high is not None and (value > high or (self.open_high and value == high)):
            beyond = f"{'not below' if self.open_high else 'above'} {high}"
        else:
            return value
        raise ValueError(f"{show(value)} is {beyond}; write a {self.words}")


def between(low: float, high: float | None = None, *, open_low: bool = False, open_high: bool = False) -> Any:
    """Return a validator of numbers from `low` to `high`, ends included unless they are open."""
    return AfterValidator(Between(low, high, open_low, open_high))


def refuse(value: object, reason: str) -> Any:
    """Return a validator that refuses one value, which would mean something, with the reason."""

    def check(given: object) -> object:
        if given == value and isinstance(given, type(value)):
            raise ValueError(f"{show(value)}: {reason}")
        return given

    return BeforeValidator(check)


def _kind(value: object) -> str:
    return (
        "[mapping]"
        if isinstance(value, Mapping)
        else "[list]"
        if isinstance(value, list | tuple)
        else "[text]"
    )


def by_kind(kinds: str) -> Discriminator:
    """Return what tells the members of a union apart by their tags: [text], [list] or [mapping].

    `kinds` says in an error message what to write.
    """
    return Discriminator(
        _kind, custom_error_type="kind", custom_error_message=f"is of the wrong kind; write {kinds}"
    )


def as_written(default: object) -> Any:
    """Return a field whose default is written as in monitor.yaml, and is read like it."""
    return Field(default, validate_default=True)


DISTINCT = AfterValidator(_distinct)
NOT_EMPTY = AfterValidator(_not_empty)

Duration = Annotated[timedelta, BeforeValidator(parse_duration), Words("duration")]
PositiveDuration = Annotated[Duration, AfterValidator(_positive_duration)]
ByteSize = Annotated[int, BeforeValidator(parse_bytes), Words("size")]
Instant = Annotated[datetime, BeforeValidator(_instant), Words("date or time")]
Name = Annotated[str, BeforeValidator(_name), Words("name")]
FilePath = Annotated[Name, Words("path")]
Names = Annotated[tuple[Name, ...], DISTINCT]
Count = Annotated[StrictInt, between(1)]
WholeNumber = Annotated[StrictInt, between(0)]
Port = Annotated[StrictInt, between(0, 65_535)]
Probability = Annotated[StrictFloat, between(0, 1)]
Rate = Annotated[StrictFloat, between(0, 1, open_low=True)]
ConfidenceLevel = Annotated[StrictFloat, between(0, 1, open_low=True, open_high=True)]
Cost = Annotated[StrictFloat, between(0, open_low=True)]
