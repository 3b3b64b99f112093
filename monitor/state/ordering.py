"""Sorting of int64 keys, and sums over what is sorted; on the CPU by numpy, several times faster."""

from __future__ import annotations

import numpy as np
import torch


def sort(keys: torch.Tensor) -> torch.Tensor:
    """Return the keys in ascending order."""
    if keys.device.type == "cpu":
        return torch.from_numpy(np.sort(keys.numpy()))
    return torch.sort(keys).values


def stable_argsort(keys: torch.Tensor) -> torch.Tensor:
    """Return the indices that put the keys in ascending order, equal ones in the order they have.

    On the CPU this is linear where the keys come in ascending runs, as events of partitions do.
    """
    if keys.device.type == "cpu":
        return torch.from_numpy(np.argsort(keys.numpy(), kind="stable"))
    return torch.argsort(keys, stable=True)


class Segments:
    """Adds up int64 values over ranges that lie one after the other.

    Parameters
    ----------
    starts : int64, shape (m,)
        Where each range begins, ascending; the first begins at 0 unless all are empty.
    size
        Where the last range ends: the number of values.
    """

    def __init__(self, starts: torch.Tensor, size: int) -> None:
        self._bounds = torch.cat([starts, starts.new_tensor([size])])
        # `reduceat` takes an empty range for one value: leave the empty ones out.
        filled = (self._bounds.diff() > 0).cpu().numpy()
        self._filled, self._starts = filled, starts.cpu().numpy()[filled]

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sums: int64, shape (m,)."""
        if values.device.type != "cpu":
            return self.differences(values)
        sums = np.zeros(len(self._filled), np.int64)
        if len(self._starts):
            sums[self._filled] = np.add.reduceat(values.numpy(), self._starts)
        return torch.from_numpy(sums)

    def differences(self, values: torch.Tensor) -> torch.Tensor:
        """Return the same as differences of running sums: exact, even where these overflow."""
        running = torch.cat([values.new_zeros(1), values.cumsum(0)])
        return running.index_select(0, self._bounds).diff()
