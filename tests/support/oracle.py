"""Every metric of a set of events by scikit-learn, and by plain numpy where it has no twin.

Independent of the code of monitor, which only lends the names of settings: what these functions say is
what the exported numbers are held against.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn import metrics as sk

from monitor.metrics.parameters import Parameters
from tests.support import oracle_probabilities, oracle_ranking
from tests.support.oracle_key import Key, key

NAN = {"zero_division": np.nan}
FAMILIES = {"precision": sk.precision_score, "recall": sk.recall_score, "f1": sk.f1_score}


def expected(
    p: Parameters,
    y_true: np.ndarray,
    y_score: np.ndarray,
    y_pred: np.ndarray,
    raw_score: np.ndarray | None = None,
) -> dict[Key, float]:
    """Return every defined metric of n labeled events.

    Parameters
    ----------
    p
        The model's settings.
    y_true, y_pred : int, shape (n,); multilabel: (n, C)
        Codes of classes; 0 and 1 for each class.
    y_score : float64, shape (n,) or (n, C)
        Probability of the positive class, or of each class.
    raw_score : float32, same shape
        Logits, where events have those: they rank, and `y_score` is their sigmoid. Otherwise scores are
        the float32 nearest to `y_score`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = y_score.astype(np.float32).astype(np.float64) if raw_score is None else y_score
        rank = score if raw_score is None else raw_score.astype(np.float64)
        score, rank = score.reshape(len(y_true), -1), rank.reshape(len(y_true), -1)
        true, decided = one_hot(p, y_true), one_hot(p, y_pred)
        values = dict(_classes(p, true, decided))
        values |= dict(_whole(p, y_true, y_pred, true, decided))
        scored = [p.classes.index(name) for name in p.scored]
        values |= dict(oracle_ranking.expected(p, y_true, true[:, scored], score, rank, decided[:, scored]))
        values |= dict(oracle_probabilities.expected(p, true[:, scored], score))
    return {name: value for name, value in values.items() if not np.isnan(value)}


def tolerance(name: Key, values: dict[Key, float]) -> float:
    """Return how far a number may be from the expected one: sums of log losses and squares are rounded."""
    family, labels = name
    if family == "classifier_log_loss":
        return 1e-7
    if family == "classifier_brier_skill_score":
        return 1e-9 / values["classifier_brier_uncertainty", labels]
    return 1e-9


def one_hot(p: Parameters, codes: np.ndarray) -> np.ndarray:
    return codes == 1 if p.task == "multilabel" else codes[:, None] == np.arange(len(p.classes))


def _classes(p: Parameters, y_true: np.ndarray, y_pred: np.ndarray) -> Iterator[tuple[Key, float]]:
    for c, name in enumerate(p.classes):
        true, decided = y_true[:, c], y_pred[:, c]
        recall = sk.recall_score(true, decided, **NAN)
        yield key("class_support", name), true.sum()
        yield key("prevalence", name), true.mean()
        yield key("imbalance_ratio", name), true.sum() / (~true).sum() if not true.all() else np.nan
        yield key("predicted_rate", name), decided.mean()
        yield key("low_support", name), float(true.sum() < 20 or not wilson_width(recall, true.sum()) <= 0.2)
        yield key("precision", name), sk.precision_score(true, decided, **NAN)
        yield key("recall", name), recall
        yield key("f1", name), sk.f1_score(true, decided, **NAN)
        yield key("specificity", name), sk.recall_score(~true, ~decided, **NAN)
        yield key("npv", name), sk.precision_score(~true, ~decided, **NAN)
        yield key("lift", name), recall / decided.mean() if decided.any() else np.nan
        if p.pair_costs is not None:
            false_negative, false_positive = p.pair_costs
            beta = (false_negative / false_positive) ** 0.5
            yield key("fbeta", name, beta=repr(beta)), sk.fbeta_score(true, decided, beta=beta, **NAN)
            if name in p.scored:
                cost = false_negative * (true & ~decided) + false_positive * (~true & decided)
                yield key("expected_cost", name), cost.mean()
    for threshold, name in zip(p.thresholds, p.scored, strict=False):
        yield key("threshold", name), threshold


def wilson_width(share: float, n: int) -> float:
    z = 1.959963984540054
    return 2 * z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n) if n else np.nan


def _whole(
    p: Parameters, y_true: np.ndarray, y_pred: np.ndarray, true: np.ndarray, decided: np.ndarray
) -> Iterator[tuple[Key, float]]:
    codes = list(range(len(p.classes)))
    yield key("events"), len(y_true)
    yield key("accuracy"), sk.accuracy_score(y_true, y_pred)
    for average in ("macro", "weighted"):
        yield key("classes_defined", average=average), true.any(0).sum()
    averages = ["macro", "weighted", "micro"]
    if p.task == "multilabel":
        averages.append("samples")
        matrices = sk.multilabel_confusion_matrix(y_true, y_pred)
        for name, matrix in zip(p.classes, matrices, strict=True):
            for (row, column), count in np.ndenumerate(matrix):
                labels = {"true": str(row), "predicted": str(column)}
                yield key("window_confusions", name, **labels), count
        if p.pair_costs is not None:
            false_negative, false_positive = p.pair_costs
            cost = false_negative * (true & ~decided) + false_positive * (~true & decided)
            yield key("expected_cost", ""), cost.sum(1).mean()
    else:
        yield key("balanced_accuracy"), sk.balanced_accuracy_score(y_true, y_pred)
        if len(set(y_true)) > 1 and len(set(y_pred)) > 1:
            yield key("matthews_corrcoef"), sk.matthews_corrcoef(y_true, y_pred)
        matrix = sk.confusion_matrix(y_true, y_pred, labels=codes)
        for (row, column), count in np.ndenumerate(matrix):
            yield key("window_confusions", true=p.classes[row], predicted=p.classes[column]), count
        for name in p.classes:
            yield key("window_confusions", true=name, predicted="other"), 0
        if p.task == "multiclass" and p.costs is not None:
            yield key("expected_cost", ""), (np.array(p.costs) * matrix).sum() / len(y_true)
    never = (true.any(0) & ~decided.any(0)).any()
    labels = None if p.task == "multilabel" else codes
    for family, score in FAMILIES.items():
        for average in averages:
            if family != "precision" or average != "macro" or not never:
                value = score(y_true, y_pred, labels=labels, average=average, **NAN)
                yield key(f"{family}_average", average=average), value
