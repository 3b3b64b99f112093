"""Real classifiers on real measurements, and how one of them goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.errors import MonitorError

MEASUREMENTS = ("mean radius", "mean texture", "mean smoothness", "mean symmetry")
"""What the breast-cancer model sees of a sample; with all thirty measurements it would hardly err."""

NOISE = 0.02
"""Relative standard deviation between two measurements of the same sample."""


@dataclass(frozen=True)
class Classifier:
    """A trained model with the cases, held out from its training, that its traffic is drawn from.

    Attributes
    ----------
    classes
        Their names, in the order of the scores.
    pipeline
        The fitted scikit-learn pipeline.
    cases
        Feature rows, shape (cases, features).
    labels
        Index of each case's true class, shape (cases,).
    """

    classes: tuple[str, ...]
    pipeline: Any
    cases: NDArray[np.float64]
    labels: NDArray[np.int64]

    def draw(self, rng: np.random.Generator, count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return `count` cases, measured again with a little noise, and their true classes."""
        chosen = rng.integers(len(self.labels), size=count)
        noise = np.exp(NOISE * rng.standard_normal((count, self.cases.shape[1])))
        return self.cases[chosen] * noise, self.labels[chosen]

    def scores(self, cases: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each class, shape (cases, classes)."""
        return np.asarray(self.pipeline.predict_proba(cases), dtype=np.float64)


@dataclass(frozen=True)
class Fault:
    """What goes wrong: one measurement reads too small, and the scores are pushed towards 0 and 1.

    Attributes
    ----------
    column
        Which feature.
    factor
        What it is multiplied by.
    temperature
        What logits are divided by; below 1 the model becomes overconfident.
    """

    column: int = MEASUREMENTS.index("mean radius")
    factor: float = 0.75
    temperature: float = 0.5

    def measure(self, cases: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return cases as the damaged instrument measures them."""
        damaged = cases.copy()
        damaged[:, self.column] *= self.factor
        return damaged

    def sharpen(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores, shape (cases, classes), after division of the logits by the temperature."""
        powers = scores ** (1 / self.temperature)
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Release:
    """A version of a model as it is served, with what is wrong with it."""

    version: str
    fault: Fault | None = None


def breast_cancer(seed: int = 0) -> Classifier:
    """Train on a few measurements of cell nuclei; the positive class is "malignant"."""
    data = _sklearn().datasets.load_breast_cancer()
    columns = [list(data.feature_names).index(name) for name in MEASUREMENTS]
    return _train(data.data[:, columns], 1 - data.target, ("benign", "malignant"), seed)


def digits(seed: int = 0) -> Classifier:
    """Train on pictures of handwritten digits: ten classes."""
    data = _sklearn().datasets.load_digits()
    return _train(data.data, data.target, tuple(map(str, data.target_names)), seed)


def _train(
    cases: NDArray[np.float64], labels: NDArray[np.int64], classes: tuple[str, ...], seed: int
) -> Classifier:
    sklearn = _sklearn()
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

    seen, held_out, of_seen, of_held_out = sklearn.model_selection.train_test_split(
        cases, labels, test_size=0.5, random_state=seed, stratify=labels
    )
    pipeline = sklearn.pipeline.make_pipeline(
        sklearn.preprocessing.StandardScaler(), sklearn.linear_model.LogisticRegression()
    )
    with threadpool_limits(1):  # so little work goes many times slower on threads of a busy machine
        pipeline.fit(seen, of_seen)
    return Classifier(classes, pipeline, held_out, of_held_out)


def _sklearn() -> Any:
    try:
        import sklearn.datasets
        import sklearn.linear_model
        import sklearn.model_selection
        import sklearn.pipeline
        import sklearn.preprocessing
    except ImportError as error:
        raise MonitorError(
            f"the demo needs scikit-learn ({error}); install it with `pip install 'monitor[demo]'`"
        ) from None
    return sklearn
