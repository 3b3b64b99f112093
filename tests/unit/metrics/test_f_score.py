from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import fbeta_score

from monitor.metrics import f_score
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import batch, binary_counts, matrix_counts, multilabel_counts, parameters, values
from tests.support.recipes import RARE, recipe, tied_recipe


def context_of(matrix, **changes) -> Context:
    return Context(matrix_counts(matrix), [parameters(len(matrix), **changes)])


def read(metric, context) -> dict[tuple[str, ...], float]:
    return values(metric(context), context.parameters[0])


def reasons(outcome, name="reason") -> list[str]:
    return [REASONS[code] for code in getattr(outcome, name)[0].tolist()]


@pytest.mark.parametrize(
    ("data", "expected"),
    [(recipe, (0.710144927536, 0.647577092511)), (tied_recipe, (0.75, 0.704347826087))],
)
def test_reference_numbers(data, expected):
    context = Context(binary_counts(*data()), [parameters()])
    got = [metric(context).value[0, 1].item() for metric in (f_score.f1, f_score.fbeta)]
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("data", "metric", "expected"),
    [
        (recipe, f_score.f1, (0.0438626495, 0.6180814808, 0.7876408120)),
        (recipe, f_score.fbeta, (0.0510805627, 0.5431844077, 0.7395522797)),
        (tied_recipe, f_score.f1, (0.0403435765, 0.6637296100, 0.8201354281)),
        (tied_recipe, f_score.fbeta, (0.0478976131, 0.6037251838, 0.7883763491)),
    ],
)
def test_reference_intervals(data, metric, expected):
    """From a numerical gradient over the multinomial and the score equation solved by bisection, too."""
    interval = metric(Context(binary_counts(*data()), [parameters()])).interval
    got = [tensor[0, 1].item() for tensor in (interval.standard_error, interval.lower, interval.upper)]
    assert got == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("data", [recipe, tied_recipe])
@pytest.mark.parametrize(("metric", "beta"), [(f_score.f1, 1), (f_score.fbeta, 5**0.5)])
def test_standard_error_is_the_jackknifes(data, metric, beta):
    """Its derivatives are taken by leaving out one event, here of many repetitions of the same events."""
    y_true, score = data()
    cells = np.array([[np.sum((y_true == t) & ((score >= 0.5) == p)) for p in (0, 1)] for t in (0, 1)]) * 1000
    context = context_of(cells)

    def f(matrix):
        (_, fp), (fn, tp) = matrix
        return (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)

    n = cells.sum()
    left_out = np.array([[f(cells - np.eye(4)[2 * t + p].reshape(2, 2)) for p in (0, 1)] for t in (0, 1)])
    mean = (cells * left_out).sum() / n
    jackknife = np.sqrt((n - 1) / n * (cells * (left_out - mean) ** 2).sum())
    assert metric(context).interval.standard_error[0, 1].item() == pytest.approx(jackknife, rel=1e-4)


def test_f1_carries_its_counts():
    outcome = f_score.f1(context_of(RARE))
    assert outcome.numerator.tolist() == [[1920, 16]]
    assert outcome.denominator.tolist() == [[1952, 48]]
    assert outcome.support.tolist() == [[992, 40]]


def test_interval_encloses_the_value():
    for metric in (f_score.f1, f_score.fbeta):
        outcome = metric(context_of(RARE))
        assert outcome.interval.method == "effective_n"
        assert (outcome.interval.lower < outcome.value).all()
        assert (outcome.value < outcome.interval.upper).all()


def test_five_events_of_the_class_make_an_interval():
    outcome = f_score.f1(context_of([[90, 2], [1, 3]]))
    assert reasons(outcome, "no_interval") == ["", "low_support"]
    assert outcome.interval.lower.isnan().tolist() == [[False, True]]
    assert reasons(f_score.f1(context_of([[90, 2], [1, 4]])), "no_interval") == ["", ""]


def test_no_interval_without_negatives():
    outcome = f_score.f1(context_of([[0, 0], [10, 30]]))
    assert reasons(outcome, "no_interval") == ["low_support", "no_negatives"]


def test_support_is_low_below_twenty_events_of_the_class():
    assert f_score.f1(context_of([[8999, 1], [0, 19]])).low_support.tolist() == [[False, True]]
    assert f_score.f1(context_of([[9000, 0], [0, 20]])).low_support.tolist() == [[False, False]]


def test_undefined_only_without_decisions_and_events_of_the_class():
    absent, false_alarms = context_of([[3, 0], [0, 0]]), context_of([[3, 1], [0, 0]])
    for metric in (f_score.f1, f_score.fbeta):
        assert reasons(metric(absent)) == ["", "no_decisions_or_positives"]
        assert metric(false_alarms).value[0, 1] == 0


def test_models_of_a_batch_have_their_own_beta():
    p = [parameters(costs=(5.0, 1.0)), parameters(costs=(1.0, 2.0))]
    outcome = f_score.fbeta(Context(batch([matrix_counts([[50, 9], [4, 30]])] * 2), p))
    true, predicted = np.repeat([0, 0, 1, 1], [50, 9, 4, 30]), np.repeat([0, 1, 0, 1], [50, 9, 4, 30])
    expected = [fbeta_score(true, predicted, beta=beta) for beta in (5**0.5, 0.5**0.5)]
    assert outcome.value[:, 1].tolist() == pytest.approx(expected, abs=1e-12)
    assert [list(values(outcome, model)) for model in p] == [
        [("0", repr(5**0.5)), ("1", repr(5**0.5))],
        [("0", repr(0.5**0.5)), ("1", repr(0.5**0.5))],
    ]


@pytest.mark.parametrize(
    ("n_classes", "costs"), [(2, None), (3, None), (3, ((0.0, 1.0, 2.0), (1.0, 0.0, 2.0), (1.0, 1.0, 0.0)))]
)
def test_no_pair_of_costs_no_fbeta(n_classes, costs):
    context = context_of(np.eye(n_classes, dtype=int), costs=costs)
    assert read(f_score.fbeta, context) == {}


@pytest.mark.parametrize("seed", range(3))
def test_multilabel_is_scikit_learns_label_by_label(seed):
    random = np.random.default_rng(seed)
    true = (random.random((60, 4)) < (0.6, 0.3, 0.1, 0)).astype(int)
    predicted = ((random.random((60, 4)) < 0.3 + 0.4 * true) * (1, 1, 1, 0)).astype(int)
    context = Context(multilabel_counts(true, predicted), [parameters(4, task="multilabel")])
    for metric, beta in [(f_score.f1, 1), (f_score.fbeta, 5**0.5)]:
        expected = fbeta_score(true, predicted, beta=beta, average=None, zero_division=np.nan)
        assert metric(context).value[0].numpy() == pytest.approx(expected, nan_ok=True)
