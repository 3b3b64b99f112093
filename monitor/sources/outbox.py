"""Letters on their way: how many wait, which are settled, whether there is room."""

from __future__ import annotations

from collections import Counter, deque
from typing import NamedTuple

from monitor.sources.letter import Letter

MAX_PENDING = 10_000
MAX_PENDING_BYTES = 1 << 26


class Posted(NamedTuple):
    """A letter, and the mark that it stands behind."""

    letter: Letter
    mark: int


class Outbox:
    """Keeps account of letters. Not thread-safe: callers hold their lock.

    Parameters
    ----------
    capacity
        Letters from which on it is full.
    bytes_capacity
        Bytes from which on it is full.

    Attributes
    ----------
    in_flight : int
        Letters that were taken and are not settled.
    crowded : bool
        Set when it gets full, until half of it is gone.
    """

    def __init__(self, capacity: int = MAX_PENDING, bytes_capacity: int = MAX_PENDING_BYTES) -> None:
        self.in_flight = 0
        self.crowded = False
        self._capacity = capacity
        self._bytes_capacity = bytes_capacity
        self._waiting: deque[Posted] = deque()
        self._bytes = 0
        self._mark = 0
        self._unsettled: Counter[int] = Counter()  # letters by the mark before them

    def __len__(self) -> int:
        """Return the number of letters that are not settled."""
        return len(self._waiting) + self.in_flight

    @property
    def waiting(self) -> int:
        """Letters that nobody has taken."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether there is no room."""
        return len(self) >= self._capacity or self._bytes >= self._bytes_capacity

    def mark(self) -> int:
        """Return a mark behind everything added so far."""
        self._mark += 1
        return self._mark

    def settled(self, mark: int) -> bool:
        """Whether every letter before a mark is settled. Letters need not be settled in order."""
        return all(before >= mark for before in self._unsettled)

    def add(self, letter: Letter) -> None:
        """Let a new letter wait."""
        self._append(Posted(letter, self._mark))
        self._unsettled[self._mark] += 1
        self.crowded |= self.full

    def take(self) -> Posted:
        """Return the letter that waits longest."""
        self.in_flight += 1
        return self._waiting.popleft()

    def again(self, posted: Posted, letter: Letter) -> None:
        """Let a taken letter wait anew, as it was or shorter."""
        self._remove(posted)
        self._append(Posted(letter, posted.mark))

    def settle(self, posted: Posted) -> None:
        """Forget a taken letter: it needs nothing more."""
        self._remove(posted)
        self._unsettled[posted.mark] -= 1
        if not self._unsettled[posted.mark]:
            del self._unsettled[posted.mark]
        self.crowded &= len(self) > self._capacity // 2 or self._bytes > self._bytes_capacity // 2

    def _append(self, posted: Posted) -> None:
        self._waiting.append(posted)
        self._bytes += posted.letter.size

    def _remove(self, posted: Posted) -> None:
        self.in_flight -= 1
        self._bytes -= posted.letter.size
