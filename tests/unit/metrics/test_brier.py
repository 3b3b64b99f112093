from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.metrics import brier, losses
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import (
    binary_counts,
    multiclass_counts,
    multilabel_counts,
    parameters,
    values,
)
from tests.support.recipes import recipe

PARTS = (brier.brier_reliability, brier.brier_resolution, brier.brier_uncertainty)


def contexts(seed=0, n=200):
    """Return a context and the settings of each task."""
    random = np.random.default_rng(seed)
    score = random.dirichlet([0.5, 1, 1], n)
    y_true = np.array([random.choice(3, p=p) for p in score])
    truth = (random.random((n, 3)) < score).astype(int)
    cases = {
        "binary": (binary_counts(y_true == 1, score[:, 1]), parameters()),
        "multiclass": (multiclass_counts(y_true, score, n_classes=3), parameters(3)),
        "multilabel": (multilabel_counts(truth, score), parameters(3, task="multilabel")),
    }
    return {task: (Context(counts, [p]), p) for task, (counts, p) in cases.items()}


def parts(context, p):
    return [values(f(context), p) for f in PARTS]


def reasons(outcome) -> list[str]:
    return [REASONS[code] for code in outcome.reason[0].tolist()]


def test_reference_numbers():
    p = parameters()
    context = Context(binary_counts(*recipe()), [p])
    of_class = [part["1",] for part in parts(context, p)]
    assert of_class == pytest.approx([0.006493025389, 0.112788600650, 0.238975], abs=1e-9)
    skill = values(brier.brier_skill_score(context), p)
    assert skill["",] == skill["1",] == pytest.approx(0.444797887899, abs=1e-9)


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_parts_add_up_to_the_score(task):
    context, p = contexts()[task]
    score, (reliability, resolution, uncertainty) = (
        values(losses.brier_score(context), p),
        parts(context, p),
    )
    for name in ("", *p.scored):
        total = reliability[name,] - resolution[name,] + uncertainty[name,]
        assert total == pytest.approx(score[name, "all"], abs=1e-15)
        skill = values(brier.brier_skill_score(context), p)[name,]
        assert skill == pytest.approx(1 - score[name, "all"] / uncertainty[name,], abs=1e-12)


def test_resolution_is_that_of_the_literature():
    """Resolution of the bins, less the variance of probabilities within, plus twice their covariance."""
    y, p = recipe()
    place = np.minimum(np.floor(p * 10), 9)
    expected = 0.0
    for k in np.unique(place):
        of = place == k
        expected += of.sum() * ((y[of].mean() - y.mean()) ** 2 - p[of].var())
        expected += 2 * ((y[of] - y[of].mean()) * (p[of] - p[of].mean())).sum()
    context = Context(binary_counts(y, p), [parameters()])
    found = values(brier.brier_resolution(context), parameters())["1",]
    assert found == pytest.approx(expected / len(p), abs=1e-8)


def test_whole_is_the_sum_or_the_mean():
    for task, (context, p) in contexts().items():
        for part in parts(context, p):
            of_classes = [part[name,] for name in p.scored]
            mean_or_sum = np.mean(of_classes) if task == "multilabel" else np.sum(of_classes)
            assert part["",] == pytest.approx(mean_or_sum, abs=1e-15)


def test_prevalence_as_probability_has_no_skill_and_no_resolution():
    y = np.arange(80) % 4 == 0
    context = Context(binary_counts(y, np.full(80, 0.25)), [parameters()])
    assert values(brier.brier_skill_score(context), parameters())["1",] == pytest.approx(0, abs=1e-15)
    assert [part["1",] for part in parts(context, parameters())] == [0, 0, 0.1875]


def test_one_class_has_no_skill_score():
    p = parameters(3)
    score = np.full((4, 3), 1 / 3)
    one = brier.brier_skill_score(Context(multiclass_counts([0] * 4, score, n_classes=3), [p]))
    assert reasons(one) == ["one_class", "no_negatives", "no_positives", "no_positives"]
    two = brier.brier_skill_score(Context(multiclass_counts([0, 0, 1, 1], score, n_classes=3), [p]))
    assert reasons(two) == ["", "", "", "no_positives"]
    binary = brier.brier_skill_score(Context(binary_counts([0, 0], [0.1, 0.2]), [parameters()]))
    assert reasons(binary) == ["no_positives", "no_positives"]
    truth = np.array([[0, 1, 0], [0, 1, 0]])
    labels = Context(multilabel_counts(truth, score[:2]), [parameters(3, task="multilabel")])
    assert reasons(brier.brier_skill_score(labels)) == [
        "one_class",
        "no_positives",
        "no_negatives",
        "no_positives",
    ]


def test_skill_of_few_positives_is_of_low_support():
    y = np.arange(1000) % 100 == 0
    context = Context(binary_counts(y, np.linspace(0, 1, 1000)), [parameters()])
    assert brier.brier_skill_score(context).low_support.all()
    assert not brier.brier_reliability(context).low_support.any()


def test_no_events():
    context = Context(binary_counts([], []), [parameters()])
    for f in (*PARTS, brier.brier_skill_score):
        assert set(reasons(f(context))) == {"no_events"}


@settings(max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1, width=32)), min_size=1, max_size=30))
def test_parts_stay_in_their_ranges(events):
    y, score = zip(*events, strict=True)
    context = Context(binary_counts(y, score), [parameters()])
    reliability, resolution, uncertainty = (part["1",] for part in parts(context, parameters()))
    assert 0 <= reliability <= 1
    assert -0.0526 <= resolution <= uncertainty + 1e-8
    assert 0 <= uncertainty <= 0.25
