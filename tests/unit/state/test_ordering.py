"""Sums over ranges of sorted values."""

from __future__ import annotations

import torch

from monitor.state.ordering import Segments


def test_sums_over_ranges_of_which_some_are_empty(device) -> None:
    starts = torch.tensor([0, 0, 2, 2, 5, 7, 7], device=device)
    values = torch.tensor([1, 2, 4, 8, 16, 32, 64], device=device)
    assert Segments(starts, 7).sum(values).tolist() == [0, 3, 0, 28, 96, 0, 0]


def test_sums_without_values(device) -> None:
    starts = torch.zeros(3, dtype=torch.int64, device=device)
    assert Segments(starts, 0).sum(starts[:0]).tolist() == [0, 0, 0]


def test_differences_of_running_sums_are_exact_where_these_overflow() -> None:
    values = torch.full((64,), 2**60)
    segments = Segments(torch.arange(0, 64, 4), 64)
    assert torch.equal(segments.differences(values), segments.sum(values))
    assert segments.sum(values).tolist() == [2**62] * 16
