"""The base of every section of monitor.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, SecretStr, Tag, model_validator
from pydantic.fields import FieldInfo


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

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

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

    @classmethod
    def options(cls) -> Mapping[str, FieldInfo]:
        """Return the options by their names in monitor.yaml."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @classmethod
    def named_entries(cls) -> Any:
        """Return the type of what stands beside the options under any other name, None where nothing may."""
        return None

    @classmethod
    def type_of(cls, key: str) -> Any:
        """Return the type of what stands under a key, None where nothing may."""
        option = cls.options().get(key)
        return cls.named_entries() if option is None else option.annotation

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
    """Return the section that stands at a path, None where there is none.

    A step in brackets is pydantic's: which member of a union was taken, by its tag.
    """
    section: type[Section] | None = root
    annotation: Any = root
    steps = iter(path)
    for key in steps:
        if isinstance(key, str) and key.startswith("["):
            annotation = _tagged(annotation, key)
        elif (annotation := section.type_of(str(key)) if section else None) is None:
            return None
        elif holds_many(annotation):
            next(steps, None)
        section = nested(annotation)
    return section


def _tagged(annotation: Any, tag: str) -> Any:
    """Return the part of a type that has a tag, None where none has."""
    if any(isinstance(part, Tag) and part.tag == tag for part in getattr(annotation, "__metadata__", ())):
        return annotation
    return next((found for part in get_args(annotation) if (found := _tagged(part, tag))), None)
