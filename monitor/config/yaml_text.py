"""The YAML that configurations are written in: YAML 1.1 as PyYAML reads it, without its silent traps."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml

_MAX_BITS = 1 << 12
"""Of an integer: as text, which messages need, Python refuses those of some 14000."""


class _Loader(yaml.SafeLoader):
    """Refuses duplicate keys, and reads 010, 12:30 and 2026-11-01 as the texts they are.

    YAML 1.1 makes 8, 750 and a date of them, which would quietly rename a class or a version.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 (PyYAML's name and type)
        first: [
            (tag, pattern) for tag, pattern in resolvers if not tag.endswith((":int", ":float", ":timestamp"))
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
            too_long = isinstance(value, int) and value.bit_length() > _MAX_BITS
        except (ArithmeticError, AttributeError, LookupError, ValueError):  # how PyYAML's readers fail
            too_long = True
        if too_long:
            problem = "a number too long, or a value that is not what its tag (such as !!int) says; quote it"
            raise _error(problem, node.start_mark) from None
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        pairs = node.value if isinstance(node, yaml.MappingNode) else []  # which `super` refuses
        for key_node, _ in pairs:
            if key_node.tag != "tag:yaml.org,2002:merge":
                key = _name(self.construct_object(key_node, deep=True), key_node.start_mark)
                if key in seen:
                    raise _error(f"`{key}` stands here twice; write it once", key_node.start_mark)
                seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return {str(key): value for key, value in mapping.items()}


def _name(key: object, mark: yaml.Mark) -> str:
    """Keys are names; a whole number is one, too."""
    if isinstance(key, bool):
        raise _error("an unquoted yes, no, on, off, true or false is a boolean; write it in quotes", mark)
    if not isinstance(key, str | int):
        raise _error("a key is no text; write it in quotes", mark)
    return str(key)


def _error(problem: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, mark)


for _tag, _pattern, _first in (
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def parse_yaml(text: str) -> Any:
    """Return what one YAML document holds; None if nothing.

    Raises
    ------
    ValueError
        With the line and the cause. What the document says is not quoted, for it may be a secret.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        cause = re.sub(r"(alias|anchor|tag|handle) ['\"].*", r"\1", error.problem or "is no YAML")
        if ";" not in cause:  # it is PyYAML's own, without a remedy
            cause += " (indent with spaces; a text that holds characters such as : # * & ! needs quotes)"
        raise ValueError(f"line {mark.line + 1 if mark else 1}: {cause}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(f"line {line}: a control character (#x{error.character:x}) is not allowed") from None
    except (ValueError, OverflowError, RecursionError):
        raise ValueError(
            "line 1: has an escape that is no character, or brackets too deep, to read"
        ) from None
