from dataclasses import fields

import numpy as np
import pytest
import torch

from monitor.metrics.counts import Counts
from monitor.metrics.empty import empty_counts
from tests.support.counts import make_counts, multilabel_counts, parameters

NONE = np.zeros(0, int)


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_the_counts_of_no_event_have_the_shapes_of_counts(task):
    if task == "binary":
        p, expected = parameters(), make_counts(NONE, np.zeros((0, 1)), NONE, n_classes=2)
    elif task == "multiclass":
        p = parameters(3, top_k=(1, 2))
        expected = make_counts(NONE, np.zeros((0, 3)), NONE, n_classes=3, top_k=(1, 2), task="multiclass")
    else:
        p, expected = parameters(3, task=task), multilabel_counts(np.zeros((0, 3), int), np.zeros((0, 3)))
    counts = empty_counts(p)
    for field in fields(Counts):
        found, wanted = getattr(counts, field.name), getattr(expected, field.name)
        assert found.dtype == wanted.dtype, field.name
        assert torch.equal(found, wanted), field.name
