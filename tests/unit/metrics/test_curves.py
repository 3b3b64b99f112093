from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import f1_score, precision_recall_curve, roc_curve

from monitor.metrics.context import Context
from monitor.metrics.curves import COST_RATIOS, CRITERIA, Curves, curves
from tests.support import sweeps
from tests.support.counts import batch, binary_counts, multiclass_counts, multilabel_counts, parameters

EVENTS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8)), min_size=1, max_size=30)
PREVALENCES = [0.003, 0.2, 0.99]


def sample(n=1000, prevalence=0.2, decimals=7, seed=0):
    random = np.random.default_rng(seed)
    y_true = (random.random(n) < prevalence).astype(int)
    return y_true, random.beta(1 + 2 * y_true, 2).round(decimals).astype(np.float32).astype(float)


def of(counts, p=None) -> Curves:
    p = p or parameters(min_recall=0.9)
    return curves(Context(counts, [p] * len(counts.events)))


def of_binary(y_true, y_score, p=None):
    """Return the curves of one binary case, leading dimensions left out."""
    found = of(binary_counts(y_true, y_score), p)
    return Curves(**{f.name: getattr(found, f.name)[0, 0].numpy() for f in fields(Curves)})


def equal(one: Curves, other: Curves) -> bool:
    return all(
        torch.equal(getattr(one, f.name).nan_to_num(7.5), getattr(other, f.name).nan_to_num(7.5))
        for f in fields(Curves)
    )


@pytest.mark.parametrize("prevalence", PREVALENCES)
@pytest.mark.parametrize("decimals", [1, 2, 7])
def test_points_are_those_of_scikit_learn(prevalence, decimals):
    y_true, y_score = sample(prevalence=prevalence, decimals=decimals)
    found = of_binary(y_true, y_score)
    fpr, tpr, ends = roc_curve(y_true, y_score, drop_intermediate=False)
    at = np.searchsorted(-ends[1:], -found.threshold[1:]) + 1
    assert ends[at].tolist() == found.threshold[1:].tolist()
    assert found.true_positives[1:] / found.positives == pytest.approx(tpr[at])
    assert found.false_positives[1:] / found.negatives == pytest.approx(fpr[at])
    precision, recall, ends = precision_recall_curve(y_true, y_score)
    at = np.searchsorted(ends, found.threshold[1:])
    assert found.true_positives[1:] / found.positives == pytest.approx(recall[at])
    decided = found.true_positives + found.false_positives
    assert found.true_positives[1:] / decided[1:] == pytest.approx(precision[at])


@pytest.mark.parametrize("decimals", [1, 7])
def test_the_mean_probability_is_that_of_the_events_between_two_points(decimals):
    y_true, y_score = sample(decimals=decimals)
    found = of_binary(y_true, y_score)
    assert np.isnan(found.mean_probability[0])
    for above, below, mean in zip(
        found.threshold, found.threshold[1:], found.mean_probability[1:], strict=False
    ):
        between = y_score[(y_score < above) & (y_score >= below)]
        if len(between):
            assert mean == pytest.approx(between.mean(), rel=1e-12)
        else:
            assert np.isnan(mean)


@pytest.mark.parametrize("prevalence", [0, *PREVALENCES, 1])
def test_points_are_evenly_spread_from_nothing_to_everything(prevalence):
    y_true, y_score = sample(prevalence=prevalence)
    found = of_binary(y_true, y_score)
    tp, fp = found.true_positives, found.false_positives
    assert len(tp) == len(fp) == len(found.threshold) == 101
    assert found.threshold[0] == np.nextafter(np.float32(y_score.max()), np.float32(2))
    assert found.threshold[-1] == y_score.min()
    assert (tp[0], fp[0], tp[-1], fp[-1]) == (0, 0, y_true.sum(), (1 - y_true).sum())
    assert (found.positives, found.negatives) == (tp[-1], fp[-1])
    along = tp / max(tp[-1], 1) + fp / max(fp[-1], 1)
    one_event = max(1 / max(tp[-1], 1), 1 / max(fp[-1], 1))
    assert np.diff(along).max() < 0.02 + one_event + 1e-12
    assert (np.diff(found.threshold) <= 0).all()


def test_reliability_agrees_with_scikit_learn_and_scipy():
    y_true, y_score = sample(3000)
    found = of_binary(y_true, y_score).reliability
    events, mean, rate, lower, upper = found[found[:, 0] > 0].T
    expected_rate, expected_mean = calibration_curve(y_true, y_score, n_bins=15)
    assert rate == pytest.approx(expected_rate, abs=1e-12)
    assert mean == pytest.approx(expected_mean, abs=1e-9)
    assert events.sum() == 3000
    wilson = [
        binomtest(round(n * r), int(n)).proportion_ci(method="wilson")
        for n, r in zip(events, rate, strict=True)
    ]
    assert lower == pytest.approx([w.low for w in wilson], abs=1e-12)
    assert upper == pytest.approx([w.high for w in wilson], abs=1e-12)


def test_cells_without_events_are_undefined():
    found = of_binary([1, 0], [1.0, 0.0]).reliability
    assert found[:, 0].tolist() == [1] + [0] * 13 + [1]
    assert np.isnan(found[1:14, 1:]).all()
    assert found[0, 1:3].tolist() == [0, 0]
    assert found[14, 1:3].tolist() == [1, 1]


@pytest.mark.parametrize("prevalence", PREVALENCES)
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9])
def test_decay_is_f1_of_the_highest_scores(prevalence, threshold):
    y_true, y_score = sample(333, prevalence)
    assert len(set(y_score)) == 333
    order = np.argsort(-y_score)
    expected = []
    for k in range(1, 101):
        chosen = order[: -(-333 * k // 100)]
        decided = y_score[chosen] >= np.float32(threshold)
        defined = y_true[chosen].any() or decided.any()
        expected.append(f1_score(y_true[chosen], decided, zero_division=0.0) if defined else np.nan)
    found = of_binary(y_true, y_score, parameters(thresholds=(threshold,))).decay
    assert found.tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_ties_decay_by_expectation():
    # All decided: of k events k/4 are expected to be positives.
    y_true = [1, 0, 0, 0] * 25
    assert of_binary(y_true, [0.75] * 100).decay == pytest.approx(2 * 0.25 / 1.25, abs=1e-12)
    assert of_binary(y_true, [0.25] * 100).decay == pytest.approx(0, abs=1e-12)
    half = [0.75] * 50 + [0.25] * 50
    k = np.arange(1, 101)
    tp, positives = np.minimum(k, 50) * 13 / 50, np.minimum(k, 50) * 13 / 50 + np.maximum(k - 50, 0) * 12 / 50
    expected = 2 * tp / (np.minimum(k, 50) + positives)
    assert of_binary(y_true, half).decay == pytest.approx(expected, abs=1e-12)


def test_a_fall_before_ten_percent_is_flagged():
    score = np.linspace(1, 0.5, 100)
    good = [1] * 60 + [0] * 40
    early, late, never = good.copy(), good.copy(), [0] * 100
    early[1:9] = [0] * 8  # F1 among the first nine: 2 / 10
    late[5:60] = [0] * 55
    falls = of_binary(early, score).decay_falls
    decay = of_binary(early, score).decay
    assert decay[falls - 1] <= decay[0] / 2 < decay[falls - 2]
    for never_early in (late, good, never):
        assert of_binary(never_early, score).decay_falls == 0
    assert of_binary(late, score).decay[15:].max() < 0.5


@pytest.mark.parametrize("prevalence", PREVALENCES)
def test_cost_ratios(prevalence):
    y_true, y_score = sample(400, prevalence, 2)
    found = of_binary(y_true, y_score)
    ends = sweeps.thresholds(y_score)
    for k, ratio in enumerate(COST_RATIOS):
        cost = np.array([sweeps.cost(ratio, 1)(*sweeps.confusion(y_true, y_score, t)) for t in ends])
        nearly = ends[cost <= 1.05 * cost.min() + 1e-12]
        assert found.cost[k] == pytest.approx(cost.min(), abs=1e-12)
        assert found.cost_threshold[k] == ends[cost.argmin()]
        assert (found.cost_from[k], found.cost_to[k]) == (nearly.min(), nearly.max())


@given(EVENTS)
def test_the_least_cost_is_at_most_that_of_nothing_and_of_everything(events):
    y_true, y_score = np.array([y for y, _ in events]), np.array([s for _, s in events]) / 8
    found, ratio = of_binary(y_true, y_score), np.array(COST_RATIOS)
    assert (found.cost <= ratio * y_true.mean() + 1e-12).all()
    assert (found.cost <= (1 - y_true).mean() + 1e-12).all()
    assert (found.cost_from <= found.cost_threshold).all()
    assert (found.cost_threshold <= found.cost_to).all()


@given(EVENTS, st.sampled_from([(5.0, 1.0), (0.25, 3.0)]), st.sampled_from([0.3, 1.0]), st.integers(0, 8))
def test_best_thresholds_are_chosen_on_the_older_half_and_judged_on_the_newer(
    events, costs, min_recall, eighths
):
    y_true, y_score = np.array([y for y, _ in events]), np.array([s for _, s in events]) / 8
    own = eighths / 8
    p = parameters(costs=costs, min_recall=min_recall, thresholds=(own,))
    found = of_binary(y_true, y_score, p).best
    older = np.arange(len(y_true)) < len(y_true) // 2
    judge = {"cost": sweeps.cost(*costs), "f1": sweeps.f1, "min_fpr_at_recall": sweeps.fpr}

    def chosen(criterion, of):
        possible = of.any() and (criterion == "cost" or y_true[of].any())
        return sweeps.best(y_true[of], y_score[of], criterion, costs, min_recall) if possible else np.nan

    def value(criterion, threshold, of):
        counted = sweeps.confusion(y_true[of], y_score[of], threshold)
        undefined = np.isnan(threshold) or (criterion == "f1" and sum(counted[:3]) == 0)
        return np.nan if undefined else judge[criterion](*counted)

    for row, criterion in zip(found, CRITERIA, strict=True):
        of_all = chosen(criterion, older | True)
        expected = [
            of_all,
            value(criterion, of_all, older | True),
            value(criterion, chosen(criterion, older), ~older),
            value(criterion, own if older.any() else np.nan, ~older),
        ]
        assert row.tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_nothing_of_the_older_half_is_something_of_the_newer():
    # The older half says: nothing is worth deciding for. The newer half has a greater score.
    found = of_binary([0, 0, 0, 1], [0.5, 0.25, 0.75, 0.875], parameters(costs=(1.0, 1.0))).best
    assert found[0, 2] == 0.5  # 0.75 is a false alarm


def test_without_halves_there_is_no_judgement():
    counts = binary_counts(*sample(100))
    without = {
        name: torch.zeros_like(getattr(counts, name)) for name in ("older_positives", "older_negatives")
    }
    found = of(replace(counts, **without)).best[0, 0]
    assert not found[:, :2].isnan().any()
    assert found[:, 2:].isnan().all()


def test_what_is_not_configured_is_undefined():
    found = of(binary_counts(*sample(100)), parameters(costs=None)).best[0, 0]
    assert found.isnan().all(1).tolist() == [True, False, True]


def test_bins():
    y_true, y_score = sample(500)
    ends = np.floor(y_score * 16) / 16
    binned = of(binary_counts(y_true, y_score, bins=16))
    of_ends = of(binary_counts(y_true, ends))
    assert binned.threshold[0, 0, 0] == 1 + 2**-23
    assert torch.equal(binned.threshold[..., 1:], of_ends.threshold[..., 1:])
    assert torch.equal(binned.true_positives, of_ends.true_positives)
    something = binned.cost_from <= 1
    assert torch.equal(binned.cost_from[something], of_ends.cost_from[something])
    assert torch.equal(binned.best[..., 1:], of_ends.best[..., 1:])


def test_multiclass():
    random = np.random.default_rng(0)
    y_true = random.integers(0, 3, 300)
    y_score = random.dirichlet(1 + 4 * np.eye(3)[0], 300) @ np.ones((3, 3)) / 9 + np.eye(3)[y_true] * 0.2
    y_score = (y_score + random.random((300, 3)) / 10).astype(np.float32).astype(float)
    y_score /= y_score.sum(1, keepdims=True)
    p = parameters(3, costs=((0.0, 1.0, 1.0),) * 3, min_recall=0.9)
    found = of(multiclass_counts(y_true, y_score, n_classes=3), p)
    assert found.threshold.shape == (1, 3, 101)
    assert found.reliability.shape == (1, 4, 15, 5)
    right = (y_score.argmax(1) == y_true)[np.argsort(-y_score.max(1))]
    expected = [right[: 3 * k].mean() for k in range(1, 101)]
    assert found.decay[0].tolist() == [pytest.approx(expected)]
    assert found.best[..., 0, :].isnan().all()
    assert found.best[..., 3].isnan().all()
    for c in range(3):
        alone = of(binary_counts(y_true == c, y_score[:, c]), parameters(costs=None, min_recall=0.9))
        assert torch.equal(found.threshold[:, c], alone.threshold[:, 0])
        assert torch.equal(found.best[:, c, 1:, :3], alone.best[:, 0, 1:, :3])
        assert torch.equal(found.cost[:, c], alone.cost[:, 0])


def test_every_label_of_multilabel_is_a_binary_model():
    random = np.random.default_rng(0)
    y_true = random.integers(0, 2, (200, 2))
    y_score = random.beta(1 + y_true, 2).astype(np.float32).astype(float)
    p = parameters(2, task="multilabel", min_recall=0.9, thresholds=(0.25, 0.75))
    found = of(multilabel_counts(y_true, y_score), p)
    for c, threshold in enumerate(p.thresholds):
        binary = parameters(min_recall=0.9, thresholds=(threshold,))
        alone = of(binary_counts(y_true[:, c], y_score[:, c]), binary)
        label = Curves(**{f.name: getattr(found, f.name)[:, c : c + 1] for f in fields(Curves)})
        assert equal(label, alone)


def test_cases_of_a_batch_are_independent():
    cases, models = [], []
    for k, prevalence in enumerate([0, 0.003, 0.01, 0.3, 1]):
        cases.append(binary_counts(*sample(100 * 4**k // 3, prevalence, 3, seed=k)))
        models.append(parameters(costs=(1.0 + k, 2.0), min_recall=0.2 * (k or 1), thresholds=(0.1 * k,)))
    found = curves(Context(batch(cases), models))
    for k, (case, p) in enumerate(zip(cases, models, strict=True)):
        of_case = Curves(**{f.name: getattr(found, f.name)[k : k + 1] for f in fields(Curves)})
        assert equal(of_case, of(case, p))


@pytest.mark.parametrize("counts", [binary_counts([], []), binary_counts([1], [np.nan], [1])])
def test_without_scores_everything_is_undefined(counts):
    found = of(counts)
    assert found.true_positives.shape == (1, 1, 101)
    assert not (found.true_positives.any() or found.false_positives.any() or found.decay_falls.any())
    assert not found.reliability[..., 0].any()
    for name in "threshold mean_probability decay cost_threshold cost cost_from cost_to best".split():
        assert getattr(found, name).isnan().all(), name


def test_the_size_is_bounded():
    found = of(binary_counts(*sample(20_000, decimals=3)))
    assert sum(getattr(found, f.name).nbytes for f in fields(Curves)) < 6000
