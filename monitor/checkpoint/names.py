"""How the folder of a group and the files in it are called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote

_EMPTY = "%"
"""Stands for the empty text; no other is quoted to it."""

_NUMBER = "(0|[1-9][0-9]*)"
_MARKER = re.compile(f"epoch-{_NUMBER}")
_CHECKPOINT = re.compile(rf"checkpoint-{_NUMBER}-{_NUMBER}(\.tmp)?")


def folder_name(group_id: str) -> str:
    """Return a file name for any text: percent-encoded, never hidden, never `.` or `..`."""
    name = quote(group_id, safe="", errors="surrogatepass")
    return "%2E" + name[1:] if name.startswith(".") else name or _EMPTY


def group_id(name: str) -> str:
    """Return the text that `folder_name` made `name` of."""
    return "" if name == _EMPTY else unquote(name, errors="surrogatepass")


def marker(epoch: int) -> str:
    """Return the name of the file that claims an epoch."""
    return f"epoch-{epoch}"


class Stamp(NamedTuple):
    """What tells checkpoints apart; the greater one is the newer one."""

    epoch: int
    sequence: int

    @property
    def name(self) -> str:
        """Name of the file."""
        return f"checkpoint-{self.epoch}-{self.sequence}"

    @property
    def temporary(self) -> str:
        """Name of the file while it is written."""
        return f"{self.name}.tmp"


class Listing(NamedTuple):
    """What is in the folder of a group."""

    markers: list[int]
    checkpoints: list[Stamp]
    """Newest first."""
    temporaries: list[Stamp]

    @property
    def highest(self) -> int:
        """Highest epoch that was ever claimed, 0 for none."""
        return max([0, *self.markers, *(stamp.epoch for stamp in self.checkpoints)])


def listing(names: Iterable[str]) -> Listing:
    """Sort file names by what they are, leaving out those that aren't ours."""
    found = Listing([], [], [])
    for name in names:
        if match := _MARKER.fullmatch(name):
            found.markers.append(int(match[1]))
        elif match := _CHECKPOINT.fullmatch(name):
            kind = found.temporaries if match[3] else found.checkpoints
            kind.append(Stamp(int(match[1]), int(match[2])))
    found.checkpoints.sort(reverse=True)
    return found
