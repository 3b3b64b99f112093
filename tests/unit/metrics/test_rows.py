from __future__ import annotations

import pytest
import torch

from monitor.metrics.rows import by_rows


@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_blocks_of_rows_give_what_all_rows_give(at_once):
    a, b = torch.arange(60.0).view(12, 5), torch.arange(12.0)[:, None]
    sizes = []

    def function(some, other):
        sizes.append(len(some))
        return some.sum(-1), some * other

    total, product = by_rows(function, a, b, at_once=at_once)
    assert torch.equal(total, a.sum(-1))
    assert torch.equal(product, a * b)
    assert max(sizes) == max(1, min(12, at_once // 5))


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
def test_nothing_to_work_on(shape):
    (total,) = by_rows(lambda a: (a.sum(-1),), torch.zeros(shape))
    assert torch.equal(total, torch.zeros(shape[0]))
