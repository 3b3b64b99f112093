"""Inputs near those that are right: texts and trees of a corpus, changed in a few places.

Everything follows from a `random.Random`: drawing with Hypothesis takes milliseconds an input, which is more
than most targets take.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, [], {}, [[]], {"a": {}}, [None], [1, 2], ["a", "b"], [0.5, 0.5], {"a": 1, "b": 2}),
    *(0, -1, 1, 2, 0.5, -0.0, 1e-320, 1e308, float("inf"), -float("inf"), float("nan")),
    *(2**15, 2**31, 2**40, 2**53 + 1, 2**62, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 10**310),
    *("", " ", "a", "0", "nan", "é", "\0", "\n", "\ud800", "\u202e", "x" * 300, "%", "../..", "\\ud800"),
)
"""Values that are at an edge of something, or of another type than anything."""


def changed_tree(rng: Random, trees: Sequence[Any], odd: Sequence[Any] = ODD) -> Any:
    """Return one of some JSON trees, up to three of its nodes replaced, copied elsewhere, renamed or gone."""
    tree = copy.deepcopy(rng.choice(trees))
    for _ in range(rng.randrange(4)):
        found = list(places(tree))
        if not found:
            break
        holder, key = rng.choice(found)
        match rng.randrange(6):
            case 0 | 1 | 2:
                holder[key] = copy.deepcopy(rng.choice(odd))
            case 3:
                other, its_key = rng.choice(found)
                holder[key] = copy.deepcopy(other[its_key])
            case 4 if isinstance(holder, dict):
                holder[str(rng.choice(odd))] = holder.pop(key)
            case _:
                del holder[key]
    return tree


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every holder with each of its keys, from the top down."""
    if isinstance(node, dict | list):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        yield from ((node, key) for key in keys)
        for key in keys:
            yield from places(node[key])


def changed_bytes(rng: Random, data: bytes, other: bytes, tokens: Sequence[bytes]) -> bytes:
    """Return a text with up to four changes, by bits, noise, tokens, pieces and the end of another."""
    text = bytearray(data)
    for _ in range(rng.randrange(5)):
        begin = rng.randint(0, len(text))
        end = min(len(text), begin + rng.choice([0, 1, 1, 2, 4, 12, 100]))
        match rng.randrange(8):
            case 0 if begin < len(text):
                text[begin] ^= 1 << rng.randrange(8)
            case 1:
                text[begin:end] = rng.randbytes(rng.randrange(5))
            case 2 | 3:
                text[begin:end] = rng.choice(tokens)
            case 4:
                text[begin:begin] = text[begin:end] * rng.choice([1, 2, 50])
            case 5:
                del text[begin:end]
            case 6:
                del text[begin:]
            case _:
                text[begin:] = other[rng.randint(0, len(other)) :]
    return bytes(text)
