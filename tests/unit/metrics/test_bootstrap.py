"""The bootstrap, against references that resample the events themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from monitor.metrics import bootstrap as module
from monitor.metrics.bootstrap import FAMILIES, Resampled, bootstrap
from monitor.metrics.catalog import CATALOG
from monitor.metrics.context import Context
from monitor.metrics.counts import Counts
from monitor.metrics.outcome import REASONS
from tests.support.counts import batch, binary_counts, multiclass_counts, parameters
from tests.support.recipes import recipe, tied_recipe

NAMES = FAMILIES

# Lower and upper 95% percentile and standard deviation over 12,000 replicates, each event drawn
# Poisson(1) times, derived twice: by scikit-learn with sample weights, and by hand-written ranks on
# repeated events with another seed. The mean of both, which differ by less than .006.
REFERENCE = {
    "R1": {
        "recall": (0.5124, 0.7267, 0.0549),
        "precision": (0.7263, 0.9224, 0.0496),
        "roc_auc": (0.8490, 0.9358, 0.0222),
        "partial_roc_auc": (0.3846, 0.6785, 0.0754),
        "average_precision": (0.7948, 0.9190, 0.0319),
        "brier_score": (0.1059, 0.1610, 0.0140),
        "brier_score of positives": (0.1865, 0.2958, 0.0279),
    },
    "R2": {
        "recall": (0.5775, 0.7843, 0.0527),
        "precision": (0.7333, 0.9173, 0.0470),
        "roc_auc": (0.8448, 0.9336, 0.0227),
        "partial_roc_auc": (0.3688, 0.6681, 0.0764),
        "average_precision": (0.7601, 0.8987, 0.0358),
        "brier_score": (0.1064, 0.1616, 0.0141),
        "brier_score of positives": (0.1868, 0.2958, 0.0278),
    },
}
PLACES = {
    "recall": ("classifier_recall", 1),
    "precision": ("classifier_precision", 1),
    "roc_auc": ("classifier_roc_auc", 0),
    "partial_roc_auc": ("classifier_partial_roc_auc", 1),
    "average_precision": ("classifier_average_precision", 0),
    "brier_score": ("classifier_brier_score", 1),
    "brier_score of positives": ("classifier_brier_score", 2),
}


@pytest.fixture
def few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipes have 79 positives, for which no bounds are shown."""
    monkeypatch.setattr(module, "MIN_RARER", 5)


def context(*cases: Counts) -> Context:
    return Context(batch(cases), [parameters()] * len(cases))


@pytest.mark.usefixtures("few_events")
@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("metric", PLACES)
def test_bounds_are_those_of_resampled_events(name: str, metric: str) -> None:
    y_true, score = {"R1": recipe, "R2": tied_recipe}[name]()
    family, place = PLACES[metric]
    found = bootstrap(context(binary_counts(y_true, score)), [family], 4_000, seed=3)[family].interval
    lower, upper, spread = REFERENCE[name][metric]
    # Quantiles of 4,000 replicates scatter by about 4% of the standard deviation.
    assert float(found.lower[place]) == pytest.approx(lower, abs=0.14 * spread)
    assert float(found.upper[place]) == pytest.approx(upper, abs=0.14 * spread)
    assert float(found.standard_error[place]) == pytest.approx(spread, rel=0.05)


def sample(n: int, prevalence: float, seed: int = 0) -> Counts:
    rng = np.random.default_rng(seed)
    y_true = (rng.random(n) < prevalence).astype(int)
    score = 1 / (1 + np.exp(-np.where(y_true, rng.normal(0.3, 1.5, n), rng.normal(-3.5, 1.3, n))))
    return binary_counts(y_true, score.astype(np.float32))


@pytest.mark.parametrize("prevalence", [0.05, 0.5])
def test_standard_errors_are_those_of_influence_functions(prevalence: float) -> None:
    cases = context(sample(4000, prevalence))
    drawn = bootstrap(cases, NAMES, 1000, seed=1)
    compute = {metric.name: metric.compute for metric in CATALOG}
    for name, interval in drawn.items():
        analytic = cases.shared(compute[name]).interval
        assert analytic is not None
        torch.testing.assert_close(
            interval.interval.standard_error, analytic.standard_error[0], rtol=0.12, atol=0, equal_nan=True
        )


def test_a_case_does_not_depend_on_the_batch() -> None:
    """Neither on the longer padding nor on groups that are merged or not because of others."""
    a, b = sample(400, 0.4), sample(3000, 0.5, seed=1)
    alone = bootstrap(context(a), NAMES, 200, seed=5)
    among = bootstrap(Context(batch([b, a]).case(1), [parameters()]), NAMES, 200, seed=5)
    for name in NAMES:
        assert not alone[name].interval.lower.isnan().all()
        torch.testing.assert_close(
            among[name].interval.lower, alone[name].interval.lower, rtol=0, atol=0, equal_nan=True
        )


def test_the_seed_decides() -> None:
    cases = context(sample(1500, 0.1))
    first, second, third = (
        bootstrap(cases, ["classifier_recall"], 200, seed)["classifier_recall"].interval.lower
        for seed in (1, 1, 2)
    )
    assert first.equal(second)
    assert not first.equal(third)


def why(resampled: Resampled) -> list[str]:
    return [REASONS[code] for code in resampled.no_interval.tolist()]


def test_few_events_of_the_rarer_class_have_no_bounds() -> None:
    drawn = bootstrap(context(sample(1000, 0.05)), NAMES, 100, seed=1)
    assert all(resampled.interval.lower.isnan().all() for resampled in drawn.values())
    assert all(set(why(resampled)) == {"low_support"} for resampled in drawn.values())


def test_no_events_have_no_bounds() -> None:
    drawn = bootstrap(context(binary_counts([], [])), NAMES, 100, seed=1)
    assert all(resampled.interval.lower.isnan().all() for resampled in drawn.values())


@pytest.mark.usefixtures("few_events")
def test_bounds_are_missing_where_many_replicates_have_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_RARER", 0)
    score = np.linspace(0, 0.9, 40)
    y_true = (score > 0.7).astype(int)
    decided_once = (np.arange(40) == 39).astype(int)  # drawn 0 times in 37% of the replicates
    cases = context(binary_counts(y_true, score, decided_once))
    drawn = bootstrap(cases, ["classifier_precision", "classifier_recall"], 500, seed=1)
    assert why(drawn["classifier_precision"])[1] == "low_support"
    assert drawn["classifier_precision"].interval.lower[1].isnan()
    assert not drawn["classifier_recall"].interval.lower[1].isnan()


def test_multiclass_has_bounds_for_each_class_but_not_for_the_whole_brier_score() -> None:
    rng = np.random.default_rng(2)
    y_true = rng.integers(0, 3, 900)
    score = rng.dirichlet(np.ones(3), 900) * 0.5
    score[np.arange(900), y_true] += 0.5
    counts = multiclass_counts(y_true, score, n_classes=3)
    drawn = bootstrap(Context(counts, [parameters(3)]), NAMES, 100, seed=1)
    brier = drawn["classifier_brier_score"]
    assert brier.interval.lower.shape == (10,)
    assert why(brier) == ["no_interval_method", *[""] * 9]
    assert not brier.interval.lower[1:].isnan().any()
    assert drawn["classifier_partial_roc_auc"].interval.lower.shape == (6,)
