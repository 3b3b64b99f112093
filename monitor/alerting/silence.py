"""When a version fell silent, and when it spoke again. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def silences(times: NDArray[np.int64], until: int, patience: int) -> Iterator[tuple[int, int]]:
    """Yield when a version was to be judged, and by which event.

    Parameters
    ----------
    times : int64, shape (n,)
        Event times in microseconds of the version's last event so far and of further ones, ascending.
    until
        Event time up to which it is known that there are no others.
    patience
        Microseconds without an event after which it is silent.

    Yields
    ------
    time, place
        At the end of the patience, and at the event that ended a silence; the place of its newest event
        then among `times`.
    """
    for before in np.flatnonzero(np.diff(times) >= patience).tolist():
        yield int(times[before]) + patience, before
        yield int(times[before + 1]), before + 1
    if len(times) and until - int(times[-1]) >= patience:
        yield int(times[-1]) + patience, len(times) - 1
