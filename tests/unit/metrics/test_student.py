from __future__ import annotations

import pytest
import torch
from scipy.stats import t

from monitor.metrics.student import TABLE, t_quantile


@pytest.mark.parametrize("confidence_level", [0.5, 0.8, 0.95, 0.99, 0.999])
def test_scipy_agrees(confidence_level):
    degrees = torch.tensor([*range(1, 3 * TABLE), 10**4, 10**6, 10**9])
    expected = t.ppf((1 + confidence_level) / 2, degrees.numpy())
    assert t_quantile(degrees, confidence_level).tolist() == pytest.approx(expected.tolist(), rel=1e-10)


def test_no_degrees_of_freedom_no_quantile():
    quantiles = t_quantile(torch.tensor([[-1, 0, 1]]), 0.95)
    assert quantiles.shape == (1, 3)
    assert quantiles.isnan().tolist() == [[True, True, False]]
