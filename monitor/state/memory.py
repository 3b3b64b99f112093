"""The habits of the C allocator."""

from __future__ import annotations

import torch

_LARGEST = (32 << 20) - (1 << 16)
"""Bytes just below the size from which on glibc always asks the system: M_MMAP_THRESHOLD in mallopt(3)."""


def keep_freed_memory() -> None:
    """Let the process keep up to 64 MB that it freed, instead of giving it back and asking for it again.

    Counting and metrics make and drop arrays of megabytes; touching fresh pages took a third of their time.
    glibc keeps freed memory up to twice the largest block freed so far, which is why one is freed here.
    """
    torch.empty(_LARGEST, dtype=torch.uint8)
