"""Scores as 32-bit integer keys that sort like them, and what score and key say of the probability."""

from __future__ import annotations

from functools import cache

import torch

from monitor.state import host

CELLS = 30
"""Equal cells of [0, 1], left-closed, the last one closed."""

KEY_BITS = 32
"""Bits of a key; what stands above them in packed keys is a row."""

KEY_MASK = (1 << KEY_BITS) - 1

_HALF = 0x3F000000  # the bits of float32 0.5
_SIGN = 0x80000000
_INFINITY = 0x7F800000


def score_key(score: torch.Tensor, temperature: float | None) -> torch.Tensor:
    """Return the int64 key of each float32 score; `temperature` is that of `Kind`, here as below."""
    return fold(score) if temperature is None else order(score)


def fold(score: torch.Tensor) -> torch.Tensor:
    """Return int64 keys that grow with the score, as fine near 1 as near 0.

    Parameters
    ----------
    score : float32
        Probabilities. 1 - p is exact in float32 for p >= 0.5 (Sterbenz), so nothing is rounded.
    """
    upper = score >= 0.5
    bits = (upper.float() - score).abs_().view(torch.int32)  # of p, or of 1 - p in the upper half
    return (upper * (2 * _HALF) - bits).abs_()


def order(score: torch.Tensor) -> torch.Tensor:
    """Return int64 keys that grow with the score over all of float32.

    Parameters
    ----------
    score : float32
        Logits, infinite ones included.
    """
    return _flip((score + 0.0).view(torch.int32)).long() + _SIGN  # + 0.0: -0.0 has other bits than 0.0


def _flip(bits: torch.Tensor) -> torch.Tensor:
    """Turn bits of floats to integers that grow with them, or back."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def probability(score: torch.Tensor, temperature: float | None) -> torch.Tensor:
    """Return the float64 probability of each score: 1 / (1 + exp(-logit / temperature)) of a logit."""
    values = score.double()
    if temperature is None:
        return values
    scaled = values / temperature
    small = host.exp(-scaled.abs())  # does not overflow
    return torch.where(scaled < 0, small, 1.0) / (1 + small)


def key_probability(key: torch.Tensor, temperature: float | None) -> torch.Tensor:
    """Return the float64 probability of each key; keys beyond those of all scores count as the last score."""
    if temperature is None:
        bits = key.clamp(0, 2 * _HALF).int()
        upper = bits >= _HALF
        part = (upper.int() * (2 * _HALF) - bits).abs_().view(torch.float32)
        return (upper.float() - part).abs_().double()
    key = key.clamp(_SIGN - 1 - _INFINITY, _SIGN + _INFINITY)
    return probability(_flip((key - _SIGN).int()).view(torch.float32), temperature)


@cache
def cell_keys(temperature: float | None, device: torch.device) -> torch.Tensor:
    """Return the least key of each cell: int64, shape (CELLS,).

    A score is in the cell of its float32 probability, among edges rounded to float32.
    """
    edges = (torch.arange(1, CELLS, dtype=torch.float64) / CELLS).float()
    below, least = torch.full_like(edges, -1).long(), torch.full_like(edges, KEY_MASK).double().long()
    while (least - below > 1).any():
        middle = (below + least) // 2
        reached = key_probability(middle, temperature).float() >= edges
        below, least = torch.where(reached, below, middle), torch.where(reached, middle, least)
    return torch.cat([torch.zeros(1, dtype=torch.int64), least]).to(device)
