"""Looks into a tree of plain data that may hold anything: each is checked, and raises ValueError alone."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from monitor.events.values import is_text

T = TypeVar("T", bool, int, float, str, list[Any], dict[str, Any])

GREATEST = 1 << 62
"""Bound on whole numbers and times, so that sums and differences of two fit int64."""


def plain(value: object, kind: type[T], what: str) -> T:
    """Return a value of exactly this type; texts can be written as UTF-8, numbers are within `GREATEST`.

    Raises
    ------
    ValueError
        Otherwise. `what` names the value.
    """
    sound = type(value) is kind
    if sound and isinstance(value, str):
        sound = is_text(value)
    elif sound and isinstance(value, int):
        sound = abs(value) < GREATEST
    if not sound:
        raise ValueError(f"{what} is no {kind.__name__}")
    return value  # type: ignore[return-value]


def take(tree: object, key: str, kind: type[T], default: T | None = None) -> T:
    """Return what a dict has under a key.

    Raises
    ------
    ValueError
        If it is missing and has no default, or is of another type.
    """
    found = plain(tree, dict, f"what should hold {key}")
    if key not in found and default is not None:
        return default
    return plain(found.get(key), kind, key)


def maybe(tree: object, key: str, kind: type[T]) -> T | None:
    """Return the same, None where there is None or nothing."""
    return None if plain(tree, dict, f"what should hold {key}").get(key) is None else take(tree, key, kind)


def count(value: object, what: str) -> int:
    """Return a whole number from 0.

    Raises
    ------
    ValueError
        Otherwise.
    """
    number = plain(value, int, what)
    if number < 0:
        raise ValueError(f"{what} is negative")
    return number


def array(tree: object, key: str, dtype: npt.DTypeLike, shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
    """Return the array that a dict has under a key.

    Parameters
    ----------
    dtype
        What it must have.
    shape
        What it must have; None: any length.

    Raises
    ------
    ValueError
        If there is none like that.
    """
    found = plain(tree, dict, f"what should hold {key}").get(key)
    if type(found) is not np.ndarray or found.dtype != np.dtype(dtype) or found.ndim != len(shape):
        raise ValueError(f"{key} is no array of {np.dtype(dtype)} with {len(shape)} dimensions")
    if any(n is not None and n != m for n, m in zip(shape, found.shape, strict=True)):
        raise ValueError(f"{key} has the shape {found.shape} instead of {shape}")
    return found
