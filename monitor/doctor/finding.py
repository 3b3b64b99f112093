"""What a check can say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or looks wrong.

    Attributes
    ----------
    text
        What was seen, with numbers, and what it probably means.
    fix
        What to write in monitor.yaml, or to change upstream.
    urgent
        Whether numbers are wrong or missing until it is fixed.
    explains
        Reasons of rejections that need no further word.
    model
        Settings of the model that fit better.
    fields
        Paths of `events.fields` that fit better.
    replaces
        Whether a new entry has to be proposed instead of the configured one.
    unmapped
        Whether a field was not found, so that it helps to know which there are.
    """

    text: str
    fix: str
    urgent: bool = True
    explains: frozenset[str] = frozenset()
    model: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    replaces: bool = False
    unmapped: bool = False


@dataclass(frozen=True, slots=True)
class Undecided:
    """A question that more messages would answer.

    Attributes
    ----------
    question
        What cannot be told, as in "whether scores are the wrong way round".
    """

    question: str


Said = Iterator[Finding | Undecided]


def until_found(checks: Iterable[Said]) -> Said:
    """Yield what checks say, up to the first finding: what follows would be its consequence."""
    for check in checks:
        for said in check:
            yield said
            if isinstance(said, Finding):
                return


def as_yaml(value: str | Mapping[str, str] | Sequence[str], most: int = 10) -> str:
    """Return a name, names or pairs of them as they are written in YAML, cut off after some."""
    if isinstance(value, str):
        return as_yaml([value])[1:-1]
    some = dict(list(value.items())[:most]) if isinstance(value, Mapping) else list(value)[:most]
    text = yaml.safe_dump(some, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000)
    return text.strip() if len(value) <= most else f"{text.strip()[:-1]}, …{text.strip()[-1]}"
