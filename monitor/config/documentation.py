"""The options in docs/configuration.md, from the models that read them.

`python -m monitor.config.documentation docs/configuration.md` brings it up to date. What an option means is
the docstring below it; what its values are called is the last `Words` of its type. A table stands between
`<!-- options: PREFIX -->` and `<!-- end -->`, and has the options of this prefix that no longer one claims;
`<!-- options: PREFIX of CLASS -->` has those of them that the class declares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import get_annotations
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

import yaml
from pydantic import AfterValidator, SecretStr
from pydantic_core import PydanticUndefined

from monitor.config.root import Config
from monitor.config.section import Section, holds_many, nested
from monitor.config.values import Between, Words

COMPUTED = {"models.NAME.positive_class": "last of `classes`", "alerts.every": "`evaluation.every`"}
"""Defaults that other options decide."""

_TABLE = re.compile(r"(<!-- options: (\S+)(?: of (\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
_PLAIN = {bool: "boolean", int: "number", float: "number", str: "text", SecretStr: "text", type(None): "null"}


class Option(NamedTuple):
    """One option: where it stands, which class declares it, and what may be written."""

    path: str
    owner: str
    type: str
    default: str
    meaning: str

    @property
    def row(self) -> str:
        """The option's line of a table."""
        default = self.default if self.path in COMPUTED or self.default == "required" else f"`{self.default}`"
        return f"| `{self.path}` | {self.type} | {default} | {self.meaning} |\n"


def options(section: type[Section] = Config, prefix: str = "") -> Iterator[Option]:
    """Yield every option of a section and of those in it, in the order of the models."""
    for name, field in section.model_fields.items():
        path = prefix + (field.alias or name)
        inner, many = nested(field.annotation), holds_many(field.annotation)
        if inner is None or many or field.default is None:
            default = COMPUTED.get(path) or _default(field.default)
            kind = _type_words(field.annotation, tuple(field.metadata))
            meaning = " ".join((field.description or "").split())
            yield Option(path, _owner(section, name), kind, default, meaning)
        if inner is not None:
            step = "" if not many else "[]" if get_origin(field.annotation) is tuple else ".NAME"
            yield from options(inner, f"{path}{step}.")
    if (entries := section.named_entries()) is not None:
        yield from _entries(get_args(get_args(entries)[0]), f"{prefix}NAME.")


def _entries(kinds: tuple[Any, ...], prefix: str) -> Iterator[Option]:
    """Yield the options of sections that stand in the same place; what some lack says which have it."""
    found: dict[str, dict[str, Option]] = {}
    names = [get_args(kind)[1].tag.strip("[]") for kind in kinds]
    for name, kind in zip(names, kinds, strict=True):
        for option in options(nested(kind) or Section, prefix):
            found.setdefault(option.path, {})[name] = option
    for having in found.values():
        first = next(iter(having.values()))
        types = ", ".join(dict.fromkeys(option.type for option in having.values()))
        meanings: dict[str, list[str]] = {}
        for name, option in having.items():
            meanings.setdefault(option.meaning, []).append(name)
        meaning = (
            first.meaning
            if list(meanings.values()) == [names]
            else "; ".join(f"{', '.join(which)}: {text}" for text, which in meanings.items())
        )
        yield first._replace(type=types, meaning=meaning)


def tables(page: str) -> str:
    """Return the page with the present options between its markers."""
    markers = [(match[2], match[3]) for match in _TABLE.finditer(page)]
    rows = dict.fromkeys(markers, "")
    for option in options():
        claims = [m for m in markers if _within(option.path, m[0]) and m[1] in (None, option.owner)]
        if claims:
            rows[max(claims, key=lambda m: (len(m[0]), m[1] is not None))] += option.row
    head = "| option | type | default | meaning |\n| --- | --- | --- | --- |\n"
    return _TABLE.sub(lambda match: f"{match[1]}\n{head}{rows[match[2], match[3]]}\n{match[4]}", page)


def _within(path: str, prefix: str) -> bool:
    return f"{path}.".startswith(f"{prefix}.")


def _owner(section: type[Section], name: str) -> str:
    """Return the name of the class that declares a field."""
    return next(base.__name__ for base in section.__mro__ if name in get_annotations(base))


def _default(value: object) -> str:
    """Return a default as it is written in YAML."""
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, str):
        return value
    value = list(value) if isinstance(value, tuple) else value
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000)
    return text.removesuffix("\n").removesuffix("\n...")


def _type_words(kind: Any, metadata: tuple[Any, ...] = ()) -> str:
    """Return what the values of a type are called."""
    if hasattr(kind, "__metadata__"):
        return _type_words(kind.__origin__, (*kind.__metadata__, *metadata))
    for mark in reversed(metadata):
        if isinstance(mark, Words):
            return mark.text
        if isinstance(mark, AfterValidator) and isinstance(mark.func, Between):
            return mark.func.words
    if nested(kind) is kind:
        return "section"
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return ", ".join(f"`{str(part).lower() if part is True else part}`" for part in parts)
    if origin is tuple:
        return f"list of {_plural(_type_words(parts[0]))}"
    if holds_many(kind):
        return f"mapping of {_type_words(parts[0])} to {_type_words(parts[1])}"
    members = [_type_words(part) for part in parts if part is not type(None)]
    if type(None) in parts:
        members.append("null")
    text = ", or ".join(members) if any(" " in member for member in members) else " or ".join(members)
    return f"{text}; secret" if SecretStr in parts else text


def _plural(words: str) -> str:
    first, _, rest = words.partition(" ")
    if not first.isalpha():
        return words
    return f"{first}{'es' if first.endswith('s') else 's'} {rest}".rstrip()


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(tables(path.read_text("utf-8")), "utf-8")
