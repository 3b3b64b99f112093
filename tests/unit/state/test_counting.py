"""Windows and cumulative states against counts by plain numpy, for every task."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.state import histogram
from monitor.state.columns import concatenate, empty, upload
from monitor.state.counting import count_cumulative, count_windows
from monitor.state.grouping import ALL
from monitor.state.keys import probability
from monitor.state.scores import scores_and_truth
from monitor.state.settling import settle_all
from monitor.state.version import Version
from monitor.state.windows import Plan
from tests.support.tasks import SPECS, Mix, assert_counted, groups_of, oracle, random_columns, random_events

TASKS = list(SPECS)


def check(spec, windows) -> None:
    counted = count_windows(spec.kind, windows)
    expected = [(w, group) for w, window in enumerate(windows) for group in groups_of(window)]
    assert list(counted.cases) == expected
    for number, (w, group) in enumerate(counted.cases):
        assert_counted(counted, number, oracle(spec, windows[w], group), halves=True)


@pytest.mark.parametrize("task", TASKS)
def test_windows_are_counted_as_one_by_one(task, device) -> None:
    sizes = [40, 0, 1, 173, 2, 90]
    check(SPECS[task], [random_events(SPECS[task], n, seed, device) for seed, n in enumerate(sizes)])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "mix",
    [
        Mix(unlabeled=1),
        Mix(unscored=1),
        Mix(decimals=0),
        Mix(unlabeled=0, unscored=0, decimals=6),
        Mix(keys=0),
    ],
    ids=["unlabeled", "unscored", "all scores alike", "complete", "no segments"],
)
def test_events_without_labels_scores_or_segments(task, mix, device) -> None:
    check(SPECS[task], [random_events(SPECS[task], n, seed, device, mix) for seed, n in enumerate([30, 61])])


@pytest.mark.parametrize("task", TASKS)
def test_empty_windows_alone(task, device) -> None:
    check(SPECS[task], [empty(SPECS[task], device)] * 2)


def test_windows_of_models_with_different_segment_keys(device) -> None:
    spec = SPECS["binary"]
    windows = [random_events(spec, 50, keys, device, Mix(keys=keys)) for keys in (1, 0, 2)]
    check(spec, windows)


@pytest.mark.parametrize("task", TASKS)
def test_cumulative_states_are_the_same_whatever_is_added_together(task, device) -> None:
    spec = SPECS[task]
    plan = Plan(spec, (), 0, 1 << 18)
    versions = [Version.empty(plan, device)] * 4
    arrived = [
        [random_columns(spec, n, 10 * v + step) for step, n in enumerate([30, 0, 55])] for v in range(4)
    ]
    for step in range(3):
        versions = settle_all(versions, [of_version[step] for of_version in arrived], 10**9)
    counted = count_cumulative(versions)
    for number, (v, group) in enumerate(counted.cases):
        events = [upload(columns, device) for columns in arrived[v]]
        assert_counted(counted, number, oracle(spec, concatenate(events), group), halves=False)
    assert [group for v, group in counted.cases if v == 0] == list(versions[0].groups)
    assert not counted.scores.older_positives.any()


@pytest.mark.parametrize("task", TASKS)
def test_bins_say_their_least_score_and_their_middle(task, device, monkeypatch) -> None:
    monkeypatch.setattr(histogram, "CAP", 6)
    spec = SPECS[task]
    columns = random_columns(spec, 200, 1, Mix(0, 0, decimals=6, keys=0))
    (version,) = settle_all([Version.empty(Plan(spec, (), 0, 1 << 18), device)], [columns], 10**9)
    counted = count_cumulative([version])
    groups = counted.scores
    assert not groups.exact.any()
    assert groups.positives.shape[-1] <= 6
    score, _ = scores_and_truth(spec.kind, upload(columns, device))
    for row, p in enumerate(probability(score, spec.kind.temperature)):
        filled = (groups.positives + groups.negatives)[0, row] > 0
        least, middle = groups.threshold[0, row][filled], groups.probability[0, row][filled]
        assert (least.diff() < 0).all()
        assert (least <= middle).all()
        assert (middle[1:] < least[:-1]).all()
        for low, centre, above in zip(least, middle, [2, *least[:-1]], strict=True):
            inside = p[(p >= low) & (p < above)]
            assert float(inside.max()) <= 2 * float(centre) - float(low) + 1e-12
        events = (groups.positives + groups.negatives)[0, row][filled].cumsum(0)
        assert [int((p >= threshold).sum()) for threshold in least] == events.tolist()
    classes = len(spec.scored)
    if spec.task == "binary":
        assert groups.micro_positives.shape[-1] == 0
    else:
        assert not groups.micro_exact[0]
        assert int(groups.micro_positives.sum()) == int(groups.positives[:, :classes].sum())
        assert int(groups.micro_negatives.sum()) == int(groups.negatives[:, :classes].sum())
        assert int(counted.micro.shift[0]) == int(version.histogram.shift[:classes].max())


@pytest.mark.parametrize("task", TASKS)
def test_cases_taken_keep_their_counts(task, device) -> None:
    spec = SPECS[task]
    windows = [random_events(spec, n, n, device) for n in (30, 3, 80)]
    counted = count_windows(spec.kind, windows)
    chosen = [number for number, (_, group) in enumerate(counted.cases) if group != ALL][::-2]
    taken = counted.take(chosen)
    for place, number in enumerate(chosen):
        w, group = counted.cases[number]
        assert taken.cases[place] == (w, group)
        assert_counted(taken, place, oracle(spec, windows[w], group), halves=True)
    assert taken.sizes == [counted.sizes[number] for number in chosen]
    assert taken.scores.positives.shape[-1] == max(taken.sizes)
    assert taken.scores.positives.shape[-1] < counted.scores.positives.shape[-1]


def test_infinite_logits_are_scores_like_others(device) -> None:
    spec = SPECS["logits"]
    columns = random_columns(spec, 6, 0, Mix(0, 0))
    columns.score[:, 0] = np.array([-np.inf, np.inf, 80, 90, -0.0, 0.0], np.float32)
    columns.label[:] = [0, 1, 1, 0, 0, 1]
    counted = count_windows(spec.kind, [upload(columns, device)])
    scores = counted.scores
    assert scores.positives[0, 0].tolist() == [1, 0, 1, 1, 0]  # inf, 90, 80, 0, -inf: none of them tied
    assert scores.negatives[0, 0].tolist() == [0, 1, 0, 1, 1]
    assert scores.threshold[0, 0].tolist() == [1.0, 1.0, 1.0, 0.5, 0.0]
    assert int(counted.tally.squared_error[0].sum()) == 2**30 + 2 * 2**28  # the rest is sure, 90 wrongly
    assert int(counted.tally.cells[0, 0, 15, 0]) == 2
