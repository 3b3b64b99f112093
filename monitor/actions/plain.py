"""Plain data: what JSON and a checkpoint can hold, and reading it back without trust."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

Value = TypeVar("Value")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a number that is not finite is None, an array's scalar its number."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item"):  # numpy's integers are no int
        return plain(value.item())
    return str(value)


def iso(timestamp: int) -> str:
    """Return microseconds since the epoch as RFC 3339 has them, in UTC."""
    return (
        (_EPOCH + timedelta(microseconds=timestamp)).isoformat(timespec="microseconds").replace("+00:00", "Z")
    )


def take(tree: Any, key: str, *kinds: type[Value]) -> Value:
    """Return what stands under a key of a tree that may be damaged.

    Raises
    ------
    ValueError
        If it is no mapping, lacks the key, or holds something else than `kinds` there.
    """
    if not isinstance(tree, dict) or key not in tree:
        raise ValueError(f"the actions have no {key}")
    value = tree[key]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ValueError(f"{key} of the actions is {value!r:.100}")
    return value


def take_optional(tree: Any, key: str, kind: type[Value]) -> Value | None:
    """Return what stands under a key, or None where None does; see `take`."""
    return None if isinstance(tree, dict) and tree.get(key, 0) is None else take(tree, key, kind)
