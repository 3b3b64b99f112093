"""What single scores and events add to the sums of a tally, as integers.

Rounded at once: sums of integers are the same on every device and in any order.
"""

from __future__ import annotations

from functools import cached_property

import torch

from monitor.events.batch import LOSS_UNIT, PROBABILITY_FLOOR, PROBABILITY_UNIT
from monitor.state import host

_FACTORS = 32
"""Probabilities multiplied before a logarithm: so many of at least PROBABILITY_FLOOR do not underflow."""


class Moments:
    """Squared errors and log losses, float64 (n,), and their squares: int64 (n,), made when asked for."""

    def __init__(self, error: torch.Tensor, loss: torch.Tensor) -> None:
        self._error, self._loss = error, loss

    @cached_property
    def error(self) -> torch.Tensor:
        """Squared errors in PROBABILITY_UNIT."""
        return units(self._error, PROBABILITY_UNIT)

    @cached_property
    def error_square(self) -> torch.Tensor:
        """Their squares in PROBABILITY_UNIT."""
        return units(self._error.square(), PROBABILITY_UNIT)

    @cached_property
    def loss(self) -> torch.Tensor:
        """Log losses in LOSS_UNIT."""
        return units(self._loss, LOSS_UNIT)

    @cached_property
    def loss_square(self) -> torch.Tensor:
        """Their squares in LOSS_UNIT."""
        return units(self._loss.square(), LOSS_UNIT)


def of_scores(p: torch.Tensor, true: torch.Tensor) -> Moments:
    """Return the moments of single probabilities of a class, float64 (n,), bool (n,): whether it is true."""
    return Moments(_error(p, true), -host.log(_of_truth(p, true)))


def of_events(p: torch.Tensor, true: torch.Tensor, *, mean: bool) -> Moments:
    """Return the moments of whole events.

    Parameters
    ----------
    p : float64, shape (R, n)
        Probabilities.
    true : bool, shape (R, n)
        Which classes are true.
    mean
        Whether classes are judged one by one and averaged (multilabel). Else the error is the sum over the
        classes and the loss that of the true class (multiclass).

    Notes
    -----
    Classes are added one after the other, so that an event adds the same in whatever array it stands.
    """
    error, loss = p.new_zeros(p.shape[1]), p.new_zeros(p.shape[1])
    for of_class, y in zip(p, true, strict=True):
        error += _error(of_class, y)
    for first in range(0, len(p), _FACTORS):
        product = torch.ones_like(loss)
        for of_class, y in zip(p[first : first + _FACTORS], true[first : first + _FACTORS], strict=True):
            product *= _of_truth(of_class, y) if mean else torch.where(y, _clipped(of_class), 1.0)
        loss -= host.log(product)
    return Moments(error / len(p), loss / len(p)) if mean else Moments(error, loss)


def units(values: torch.Tensor, unit: float) -> torch.Tensor:
    """Return float64 values in whole units, a power of two: int64."""
    return (values * (1 / unit)).round_().long()


def _error(p: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    return (true.double() - p).square_()


def _of_truth(p: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """Return the clipped probability of what is true."""
    return ((~true).double() - _clipped(p)).abs_()


def _clipped(p: torch.Tensor) -> torch.Tensor:
    return p.clamp(PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)
