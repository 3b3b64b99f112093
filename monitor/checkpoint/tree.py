"""Trees of plain data with arrays: taking the arrays out, and putting them back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Tree = dict[str, Any]
"""JSON values (dict, list, str, int, float, bool, None) with numpy arrays anywhere below the top."""

Array = npt.NDArray[Any]
Path = tuple[str | int, ...]
"""Keys and indices that lead from the top of a tree to a leaf."""

DTYPES = {code: np.dtype(f"<{code}") for code in "b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split()}
"""Every dtype that an array may have, by numpy's code, with the byte order that it has in a file."""

MAX_DEPTH = 100


def code(array: Array) -> str:
    """Return the letter and bytes of an array's dtype, whatever its byte order."""
    return array.dtype.str[1:]  # a hundred times as fast as dtype.name


def separate(tree: Tree) -> tuple[Tree, list[tuple[Path, Array]]]:
    """Take the arrays out of a tree.

    Returns
    -------
    plain : dict
        The tree with None in place of each array.
    arrays : list of (path, array)
        The arrays, not copied, in the order of the tree.

    Raises
    ------
    TypeError
        A leaf or key is of a kind that would not come back as it was. (A tuple would be a list, say.)
    ValueError
        A number is not finite, or the tree is more than `MAX_DEPTH` levels deep.
    """
    if type(tree) is not dict:
        raise TypeError(f"a tree is a dict, not {type(tree).__name__}")
    arrays: list[tuple[Path, Array]] = []
    plain: Tree = _separate(tree, (), arrays)
    return plain, arrays


def _separate(node: Any, path: Path, arrays: list[tuple[Path, Array]]) -> Any:
    if node is None or isinstance(node, str | int):
        return node
    if isinstance(node, float):
        if not math.isfinite(node):
            raise ValueError(f"{_words(path)} is {node}")
        return node
    if type(node) is np.ndarray:
        if code(node) not in DTYPES:
            raise TypeError(f"{_words(path)} is an array of {node.dtype}")
        arrays.append((path, node))
        return None
    if len(path) >= MAX_DEPTH:
        raise ValueError(f"more than {MAX_DEPTH} levels at {_words(path[:5])}…")
    if type(node) is list:
        return [_separate(child, (*path, i), arrays) for i, child in enumerate(node)]
    if type(node) is dict:
        for key in node:
            if not isinstance(key, str):
                raise TypeError(f"{_words(path)} has the key {key!r}, which is not a str")
        return {key: _separate(child, (*path, key), arrays) for key, child in node.items()}
    raise TypeError(f"{_words(path)} is of type {type(node).__name__}")


def insert(plain: Tree, path: Sequence[str | int], array: Array) -> None:
    """Put an array back, in place, where `separate` left None.

    Raises
    ------
    ValueError
        There is no None at `path`.
    """
    try:
        *above, last = path
        node: Any = plain
        for step in above:
            node = node[step]
        free = node[last] is None
    except (LookupError, TypeError, ValueError):
        free = False
    if not free:
        raise ValueError(f"no array can stand at {path!r:.200}")
    node[last] = array


def _words(path: Sequence[str | int]) -> str:
    return "".join(f"[{step!r}]" for step in path) or "the top"
