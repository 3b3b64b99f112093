"""Ids of events as integers, so that two messages about one event can be found."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from monitor.events.values import as_text

NO_IDENTITY = 0
"""Stands for an event without an id."""

_BYTES = 8
_NONE = bytes(_BYTES)

Id = str | int | float | bool | None


def identity_of(value: Id) -> int:
    """Return a hash of 64 bits of an id as text; `NO_IDENTITY` of None and of an empty text."""
    return int(identities([value], 1)[0])


def identities(values: Sequence[Id] | None, n: int) -> NDArray[np.int64]:
    """Return `identity_of` n ids, None for n times none: int64, shape (n,)."""
    if values is None:
        return np.full(n, NO_IDENTITY)
    texts = [value if type(value) is str else "" if value is None else as_text(value) for value in values]
    hashes = [blake2b(text.encode(), digest_size=_BYTES).digest() if text else _NONE for text in texts]
    return np.frombuffer(b"".join(hashes), "<i8").astype(np.int64)
