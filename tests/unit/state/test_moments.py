"""Moments of scores and events, in whole units."""

from __future__ import annotations

import numpy as np
import torch

from monitor.state import moments

FLOOR = 2.0**-24


def test_moments_of_scores_are_rounded_to_units(device) -> None:
    p = torch.tensor([0.0, 0.3, 1.0, 0.3], dtype=torch.float64, device=device)
    found = moments.of_scores(p, torch.tensor([True, True, True, False], device=device))
    loss = -np.log([FLOOR, 0.3, 1 - FLOOR, 0.7])
    assert found.error.tolist() == [2**30, round(0.49 * 2**30), 0, round(0.09 * 2**30)]
    assert found.error_square.tolist() == [2**30, round(0.49**2 * 2**30), 0, round(0.09**2 * 2**30)]
    assert found.loss.tolist() == np.rint(loss * 2**26).tolist()
    assert found.loss_square.tolist() == np.rint(loss**2 * 2**26).tolist()


def test_the_error_of_a_whole_event_is_the_sum_and_its_loss_that_of_the_true_class(device) -> None:
    p = torch.tensor([[0.5], [0.25], [0.25]], dtype=torch.float64, device=device)
    found = moments.of_events(p, torch.tensor([[False], [True], [False]], device=device), mean=False)
    assert found.error.tolist() == [round((0.25 + 0.5625 + 0.0625) * 2**30)]
    assert found.loss.tolist() == [round(-np.log(0.25) * 2**26)]


def test_many_labels_that_are_all_wrong_have_a_finite_mean_loss(device) -> None:
    p = torch.zeros((100, 1), dtype=torch.float64, device=device)
    found = moments.of_events(p, torch.ones((100, 1), dtype=torch.bool, device=device), mean=True)
    assert found.error.tolist() == [2**30]
    assert abs(found.loss.item() - round(24 * np.log(2) * 2**26)) <= 1


def test_an_event_adds_the_same_in_whatever_array_it_stands(device) -> None:
    rng = np.random.default_rng(0)
    p = torch.as_tensor(rng.random((9, 300)), device=device)
    true = torch.as_tensor(rng.random((9, 300)) < 0.3, device=device)
    together = moments.of_events(p, true, mean=True)
    alone = [moments.of_events(p[:, i : i + 1], true[:, i : i + 1], mean=True) for i in range(300)]
    for name in ("error", "error_square", "loss", "loss_square"):
        assert getattr(together, name).tolist() == [getattr(one, name).item() for one in alone]
