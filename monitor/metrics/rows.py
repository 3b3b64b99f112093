"""Rows of groups, a few at a time: float64 arrays of all rows at once would not fit the cache."""

from __future__ import annotations

from collections.abc import Callable

import torch

_ELSEWHERE = 1 << 24
"""Elements of an array at a time on other devices than the CPU."""


def by_rows(
    function: Callable[..., tuple[torch.Tensor, ...]], *arrays: torch.Tensor, at_once: int = 1 << 16
) -> tuple[torch.Tensor, ...]:
    """Return what a function of rows gives, called for as many rows at a time as the cache holds.

    Parameters
    ----------
    function
        Takes some rows of every array, and returns tensors with as many rows.
    *arrays : shape (rows, ...)
        At least one.
    at_once
        Elements of the widest array at a time, on the CPU; always at least a row.
    """
    width = max(array.shape[1:].numel() for array in arrays)
    if arrays[0].device.type != "cpu":
        at_once = _ELSEWHERE
    chunks = (torch.split(array, max(1, at_once // max(width, 1))) for array in arrays)
    parts = [function(*some) for some in zip(*chunks, strict=True)]
    return tuple(torch.cat(pieces) for pieces in zip(*parts, strict=True))
