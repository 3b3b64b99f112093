"""What is wrong with a configuration, in one line each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from monitor.config.section import Problem, ProblemsError, Section, section_at
from monitor.config.values import show


def explain(error: ValidationError, root: type[Section]) -> Iterator[Problem]:
    """Yield the problems that pydantic found, in words of monitor.yaml and without secret values."""
    for details in error.errors(include_url=False):
        cause = details.get("ctx", {}).get("error")
        where = tuple(step for step in details["loc"] if not _is_mark(step))
        if isinstance(cause, ProblemsError):
            for path, message in cause.problems:
                yield Problem((*where, *path), message)
        elif details["type"] != "default_factory_not_called":  # a consequence of another problem
            yield Problem(where, _message(details, root))


def written(path: Iterable[str | int]) -> str:
    """Return a path as a reader of YAML would write it: models.fraud.windows[0].events."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def one_line(text: str) -> str:
    """Return a text with what would break the line, or a terminal, escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _is_mark(step: str | int) -> bool:
    """Return whether a step is pydantic's own: [key], and the tags of unions."""
    return isinstance(step, str) and step.startswith("[")


def _message(details: ErrorDetails, root: type[Section]) -> str:
    kind, value = details["type"], details["input"]
    context: dict[str, Any] = details.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "extra_forbidden":
        return _unknown_key(section_at(root, details["loc"][:-1]) or root, str(details["loc"][-1]))
    if kind == "missing":
        return "is missing; it has no default"
    if kind == "literal_error":
        return f"{show(value)} is none of {context['expected']}"
    if kind == "tuple_type":
        return f"{show(value)} is no list; write it in brackets, as in [a, b]"
    if kind in _NO_SUCH_KIND:
        # No value here: it may be a secret, or hold one.
        return _NO_SUCH_KIND[kind]
    return details["msg"]


_NO_SUCH_KIND = {
    "string_type": "is no text; write it in quotes",
    "dict_type": "is no mapping; write keys and values, as in {key: value}",
    "model_type": "is no section; write keys and values under it",
    "bool_type": "is neither true nor false; write one of them, without quotes",
    "int_type": "is no whole number; write one without quotes or point",
    "float_type": "is no number; write one without quotes",
    "finite_number": "is no finite number; write one",
    "too_long": "has too many items",
}


def _unknown_key(section: type[Section], key: str) -> str:
    if key in section.refused:
        return section.refused[key]
    known = [*section.options(), *section.refused, *(f"{secret}_file" for secret in section.secrets())]
    close = difflib.get_close_matches(key, known, n=1)
    return f"unknown key; did you mean `{close[0]}`?" if close else "unknown key; remove it"
