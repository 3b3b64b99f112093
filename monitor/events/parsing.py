"""From the bytes of one message to a JSON object, and to what stands at a path in it."""

from __future__ import annotations

import json
from typing import Any

from monitor.events.fields import Path
from monitor.events.values import Refused, shown

MAX_DEPTH = 256
"""Deepest nesting of a message; without a limit of ours it would depend on the stack of the caller."""


def parse_object(value: bytes | None, event_bytes: int) -> dict[str, Any]:
    """Return the JSON object in a record's value.

    Raises
    ------
    Refused
        `not_json`, `not_an_object` or `too_large`.
    """
    if value is None:
        raise Refused("not_json", "the record has no value (a tombstone)")
    if len(value) > event_bytes:
        raise Refused("too_large", f"{len(value)} bytes; limits.event_bytes allows {event_bytes}")
    if value[:1] == b"\0":
        raise Refused(
            "not_json", "the first byte is 0: looks like schema-registry Avro or Protobuf; send JSON"
        )
    try:
        parsed = _JSON.decode(value.decode())
        deep = _is_deep(parsed)
    except UnicodeDecodeError as error:
        raise Refused("not_json", f"byte {error.start} is not valid UTF-8") from None
    except RecursionError:
        deep = True
    except ValueError as error:
        raise Refused("not_json", "the message is empty" if not value else str(error)) from None
    if deep:
        raise Refused("not_json", f"nested deeper than {MAX_DEPTH} levels")
    if not isinstance(parsed, dict):
        raise Refused("not_an_object", f"expected one JSON object a message, got {shown(parsed)}")
    return parsed


def _integer(digits: str) -> int | float:
    """Read an integer as JSON has it: of any length, which int() refuses and float() makes infinite."""
    return int(digits) if len(digits) <= 300 else float(digits)


_JSON = json.JSONDecoder(parse_int=_integer)


def _is_deep(parsed: object) -> bool:
    """Tell whether more than MAX_DEPTH objects and lists stand inside each other."""
    level = [parsed]
    for _ in range(MAX_DEPTH + 1):
        nested: list[object] = []
        holders = False
        for node in level:
            if isinstance(node, dict | list):
                holders = True
                nested.extend(node.values() if isinstance(node, dict) else node)
        if not holders:
            return False
        level = nested
    return True


def value_at(message: dict[str, Any], path: Path | None) -> Any:
    """Return what stands at a path, None where there is nothing.

    Raises
    ------
    Refused
        `wrong_type` where the path leads through something that is no object.
    """
    if path is None:
        return None
    node: Any = message
    for depth, key in enumerate(path):
        if node is None:
            return None
        if not isinstance(node, dict):
            raise Refused(
                "wrong_type",
                f"{'.'.join(path[:depth])}: expected an object that holds {key}, got {shown(node)}",
            )
        node = node.get(key)
    return node
