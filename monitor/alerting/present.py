"""What the engine is told beside events: the settings of all alerts, and how far reading is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from monitor.records import Partition


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for all alerts, in microseconds: the options of the section `alerts`."""

    every: int
    max_age: int
    no_data_after: int


@dataclass(frozen=True, slots=True)
class Present:
    """How far reading is. Nothing of it changes what is decided, only who is told.

    Attributes
    ----------
    now
        Wall-clock time in microseconds; None over files, where nothing is too old.
    current
        Whether what is read now has just been written: what fires is told to people.
    read_after
        Offset of each partition from which on records were read after catching up at the start; None before.
    """

    now: int | None = None
    current: bool = True
    read_after: Mapping[Partition, int] | None = field(default_factory=dict)
