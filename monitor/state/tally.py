"""Integer counts of events by case: what windows and the cumulative state have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch

from monitor.events.spec import Kind
from monitor.state.keys import CELLS


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of S cases; every tensor is int64.

    The meaning and, with S for B, the shape of each is that of the field of the same name in
    `monitor.metrics.counts.Counts`.
    """

    events: torch.Tensor
    decisions: torch.Tensor
    confusion: torch.Tensor
    right: torch.Tensor
    samples: torch.Tensor
    top_k: torch.Tensor
    score_events: torch.Tensor
    score_sum: torch.Tensor
    squared_error: torch.Tensor
    loss: torch.Tensor
    whole: torch.Tensor
    cells: torch.Tensor

    @staticmethod
    def empty(kind: Kind, cases: int, device: torch.device) -> Tally:
        """Return the counts of no events."""
        return Tally(
            **{
                name: torch.zeros((cases, *shape), dtype=torch.int64, device=device)
                for name, shape in shapes(kind).items()
            }
        )

    def __len__(self) -> int:
        """Return the number of cases."""
        return self.events.shape[0]

    def __add__(self, other: Tally) -> Tally:
        """Return the sums of as many cases."""
        return Tally(*(a + b for a, b in zip(self.tensors(), other.tensors(), strict=True)))

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Return the fields in order."""
        return tuple(getattr(self, name) for name in NAMES)

    def map(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Tally:
        """Return this with every field changed alike."""
        return Tally(*(change(tensor) for tensor in self.tensors()))

    def grown(self, cases: int) -> Tally:
        """Return this with empty cases appended up to `cases`."""
        lacking = cases - len(self)
        if lacking <= 0:
            return self
        return self.map(lambda t: torch.cat([t, t.new_zeros((lacking, *t.shape[1:]))]))

    def split(self, sizes: Sequence[int]) -> list[Tally]:
        """Return copies of parts with so many cases each."""
        columns = ([part.clone() for part in torch.split(t, list(sizes))] for t in self.tensors())
        return [Tally(*parts) for parts in zip(*columns, strict=True)]

    def nbytes(self) -> int:
        """Return the bytes held."""
        return sum(t.nbytes for t in self.tensors())


NAMES = tuple(f.name for f in fields(Tally))


def shapes(kind: Kind) -> dict[str, tuple[int, ...]]:
    """Return the shape of each field for one case."""
    c, r = kind.classes, len(kind.scored)
    return {
        "events": (),
        "decisions": (c + 1,),
        "confusion": (c, 2, 2) if kind.task == "multilabel" else (c, c + 1),
        "right": (),
        "samples": (3, 2),
        "top_k": (len(kind.top_k),),
        "score_events": (),
        "score_sum": (r,),
        "squared_error": (r, 2),
        "loss": (r, 2),
        "whole": (2, 2),
        "cells": (score_rows(kind), CELLS, 5),
    }


def joined(parts: Sequence[Tally]) -> Tally:
    """Return the cases of all parts, one after the other."""
    return Tally(*(torch.cat(tensors) for tensors in zip(*(p.tensors() for p in parts), strict=True)))


def score_rows(kind: Kind) -> int:
    """Return the number of rows of scores: the scored classes and, multiclass, the top label."""
    return len(kind.scored) + (kind.task == "multiclass")
