"""The base of every section of monitor.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, SecretStr, model_validator


class Problem(NamedTuple):
    """One thing that is wrong: keys and list indices from where it was found, and what to do."""

    path: tuple[str | int, ...]
    message: str


class ProblemsError(ValueError):
    """Several problems of one section; pydantic keeps it and `explain` unfolds it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = problems


class Section(BaseModel):
    """A section: immutable, unknown keys refused, an empty one read as all defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)

    refused: ClassVar[Mapping[str, str]] = {}
    """Keys that exist elsewhere or come later, and why they cannot be set here."""

    @model_validator(mode="before")
    @classmethod
    def _empty_is_default(cls, data: object) -> object:
        return {} if data is None else data

    @model_validator(mode="after")
    def _no_problems(self) -> Self:
        if problems := list(self.problems()):
            raise ProblemsError(problems)
        return self

    @classmethod
    def secrets(cls) -> tuple[str, ...]:
        """Return the keys whose values are never shown, each of which may be read from a file."""
        return tuple(
            key for key, field in cls.model_fields.items() if SecretStr in get_args(field.annotation)
        )

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong between keys that are each right."""
        return iter(())


def nested(annotation: Any) -> type[Section] | None:
    """Return the section that a field's type is, or holds as an item or value."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for part in get_args(annotation) if (found := nested(part))), None)


def holds_many(annotation: Any) -> bool:
    """Return whether a field of this type is a list or a mapping of further values."""
    origin = get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, tuple | Mapping)


def section_at(root: type[Section], path: Sequence[str | int]) -> type[Section] | None:
    """Return the section that stands at a path, None where there is none."""
    section: type[Section] | None = root
    steps = iter(path)
    for key in steps:
        field = section.model_fields.get(str(key)) if section else None
        if field is None:
            return None
        section = nested(field.annotation)
        if holds_many(field.annotation):
            next(steps, None)
    return section
