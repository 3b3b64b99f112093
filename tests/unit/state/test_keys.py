"""Keys of scores: they sort like the scores, and say again what the scores were."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from monitor.state.keys import CELLS, cell_keys, fold, key_probability, order, probability, score_key

CPU = torch.device("cpu")
BELOW, ABOVE = np.nextafter(np.float32(0.5), np.float32([0, 1]))
PROBABILITIES = np.float32([0, 1e-45, 1e-30, 0.1, BELOW, 0.5, ABOVE, 0.9, 1 - 2**-24, 1])
LOGITS = np.float32([-np.inf, -3e38, -90, -1, -1e-45, 0, 1e-45, 0.5, 1, 20, 25, 90, 3e38, np.inf])


@pytest.mark.parametrize(("key", "scores"), [(fold, PROBABILITIES), (order, LOGITS)])
def test_keys_grow_with_the_score_and_tell_all_floats_apart(key, scores, device) -> None:
    keys = key(torch.as_tensor(scores, device=device))
    assert (keys.diff() > 0).all()
    assert 0 <= int(keys.min()) <= int(keys.max()) < 2**32
    assert key(torch.tensor([-0.0])) == key(torch.tensor([0.0]))


def test_a_key_says_what_the_probability_was(device) -> None:
    scores = torch.as_tensor(
        np.r_[PROBABILITIES, np.random.default_rng(0).random(1000, np.float32)], device=device
    )
    assert torch.equal(key_probability(fold(scores), None), scores.double())


def test_a_key_says_what_the_logit_was(device) -> None:
    scores = torch.as_tensor(LOGITS, device=device)
    p = key_probability(order(scores), 2.5)
    assert torch.equal(p, probability(scores, 2.5))
    expected = 1 / (1 + np.exp(-np.float64(LOGITS[3:-1]) / 2.5))
    np.testing.assert_allclose(p[3:-1].cpu().numpy(), expected, rtol=1e-15)
    assert p[[0, -1]].tolist() == [0, 1]


def test_keys_beyond_the_scores_are_the_last_score() -> None:
    ends = torch.tensor([0, 2**32 - 1])
    assert key_probability(ends, None).tolist() == [0, 1]
    assert key_probability(ends, 1.0).tolist() == [0, 1]


@pytest.mark.parametrize("temperature", [None, 0.3, 1.0, 7.0])
def test_scores_are_in_the_cell_of_their_float32_probability(temperature) -> None:
    edges = (np.arange(1, CELLS) / CELLS).astype(np.float32)
    if temperature is None:
        scores = torch.as_tensor(np.r_[0, np.nextafter(edges, np.float32(0)), edges, 1].astype(np.float32))
    else:
        scores = torch.linspace(-8, 8, 5000)
    expected = np.searchsorted(edges, probability(scores, temperature).float().numpy(), side="right")
    found = torch.searchsorted(cell_keys(temperature, CPU), score_key(scores, temperature), right=True) - 1
    assert found.tolist() == expected.tolist()
