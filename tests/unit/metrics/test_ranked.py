from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics import at_k, influence, ranking, resolution
from monitor.metrics.context import Context
from monitor.metrics.ranked import Ranked, merge, ranked
from monitor.metrics.ranking import Curve
from tests.support.counts import binary_counts, parameters

RATES = torch.tensor([0.03, 0.1, 0.5, 1.0], dtype=torch.float64)


def groups_of(rows: list[list[tuple[int, int]]]) -> Ranked:
    """Return (1, rows, G) groups of (positives, negatives), all older but one, at .99, .98, and so on.

    Rows are padded by groups without events whose threshold must not be used.
    """
    width = max(map(len, rows))
    positives, negatives = (
        torch.tensor([[*(group[side] for group in row), *[0] * (width - len(row))] for row in rows])[None]
        for side in (0, 1)
    )
    events = positives + negatives
    threshold = torch.linspace(0.99, 0.99 - 0.01 * (width - 1), width, dtype=torch.float64).expand(
        events.shape
    )
    older = ((side - 1).clamp(min=0) for side in (positives, negatives))
    return Ranked(positives, negatives, *older, threshold.masked_fill(events == 0, 7.0))


def numbers(groups: Ranked) -> torch.Tensor:
    curve = Curve.from_groups(groups.positives, groups.negatives)
    events = torch.arange(1, int((curve.tp + curve.fp)[..., -1].min()) + 1, dtype=torch.float64)
    rates = RATES.expand(*curve.n_positives.shape, -1)
    found = [
        ranking.partial_roc_auc(curve, rates),
        ranking.recall_at_fpr(curve, rates),
        influence.partial_roc_auc_se(curve, rates),
        resolution.partial_roc_auc_error(curve, rates),
        resolution.recall_at_fpr_error(curve, rates),
        *at_k.expected_hits(curve, events.expand(*curve.n_positives.shape, -1).contiguous()),
    ]
    for function in (
        ranking.roc_auc,
        ranking.average_precision,
        influence.roc_auc_se,
        influence.average_precision_se,
        resolution.roc_auc_error,
        resolution.average_precision_error,
    ):
        found.append(function(curve)[..., None])
    return torch.cat(found, dim=-1)


def ends(groups: Ranked, row: int) -> dict[tuple[int, int], tuple[float, int, int]]:
    """Return the least threshold and the older events by true and false positives decided there."""
    columns = (groups.positives, groups.negatives, groups.older_positives, groups.older_negatives)
    sums = torch.stack([column[0, row].cumsum(0) for column in columns], dim=1).tolist()
    with_events = (groups.positives + groups.negatives)[0, row] > 0
    chosen = zip(sums, groups.threshold[0, row].tolist(), with_events.tolist(), strict=True)
    return {(tp, fp): (at, *older) for (tp, fp, *older), at, counts in chosen if counts}


many_negatives = st.tuples(st.sampled_from([0, 0, 0, 0, 0, 0, 1, 3]), st.integers(0, 3))


@given(st.lists(st.lists(many_negatives, min_size=1, max_size=40), min_size=1, max_size=3))
def test_merging_changes_no_number(rows):
    groups = groups_of(rows)
    merged = merge(groups)
    for name in ("positives", "negatives", "older_positives", "older_negatives"):
        one, other = getattr(groups, name), getattr(merged, name)
        assert one.dtype == other.dtype
        assert torch.equal(one.sum(-1), other.sum(-1)), name
    assert torch.allclose(numbers(groups), numbers(merged), rtol=0, atol=1e-10, equal_nan=True)
    for row in range(len(rows)):
        every, kept = ends(groups, row), ends(merged, row)
        # What remains is a threshold of before, and each number of true positives keeps its first and
        # its last one: those are the only ones that can be best.
        assert kept.items() <= every.items()
        for tp in {tp for tp, _ in every}:
            of_before = [point for point in every if point[0] == tp]
            of_after = [point for point in kept if point[0] == tp]
            assert of_after[-1] == of_before[-1]
            assert tp == 0 or of_after[0] == of_before[0]


def test_rare_positives_leave_few_groups():
    groups = groups_of([[(0, 1)] * 10 + [(1, 0), (1, 2)] + [(0, 2)] * 10, [(0, 3)] * 5])
    merged = merge(groups)
    assert merged.positives.tolist() == [[[0, 1, 0, 1, 0], [0, 0, 0, 0, 0]]]
    assert merged.negatives.tolist() == [[[10, 0, 0, 2, 20], [15, 0, 0, 0, 0]]]
    assert merged.older_negatives.tolist() == [[[0, 0, 0, 1, 10], [10, 0, 0, 0, 0]]]
    assert merged.threshold[0, 0, [0, 1, 3, 4]].tolist() == groups.threshold[0, 0, [9, 10, 11, 21]].tolist()
    assert merged.threshold[0, 1, 0] == groups.threshold[0, 1, 4]


def test_where_it_saves_little_nothing_is_copied():
    groups = groups_of([[(1, 0), (0, 1), (0, 1), (1, 0)]])
    assert merge(groups) is groups


def test_no_groups_and_no_cases_are_no_trouble():
    for shape in ((0, 1, 9), (2, 0, 9), (2, 1, 0)):
        none = torch.zeros(shape, dtype=torch.int64)
        merged = merge(Ranked(none, none, none, none, none.double()))
        assert merged.threshold.shape[:2] == merged.positives.shape[:2] == shape[:2]


def test_a_context_merges_the_scored_classes_once():
    random = np.random.default_rng(0)
    y_true, score = (random.random(300) < 0.05).astype(int), random.random(300).astype(np.float32)
    context = Context(binary_counts(y_true, score), [parameters()])
    groups = context.shared(ranked)
    assert groups.positives.shape[-1] == 2 * y_true.sum() + 1
    assert context.curve.positives.shape == groups.positives.shape
    assert context.ranked.tolist() == [[[300 - y_true.sum(), y_true.sum()]]]
