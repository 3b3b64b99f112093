"""Every metric of a set of events by scikit-learn, and by plain numpy where it has no twin.

Independent of monitor: what these functions say is what the exported numbers are held against.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn import metrics as sk

Key = tuple[str, frozenset[tuple[str, str]]]


def expected(
    classes: Sequence[str],
    positive: int | None,
    y_true: np.ndarray,
    y_score: np.ndarray,
    y_pred: np.ndarray,
    *,
    max_fpr: Sequence[float] = (0.05, 0.1),
    beta: float | None = None,
) -> dict[Key, float]:
    """Return every defined metric of n labeled events.

    Parameters
    ----------
    y_true, y_pred : int, shape (n,)
        Codes of classes.
    y_score : float64, shape (n,) or (n, C)
        Probability of the positive class, or of each class.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = dict(_decisions(classes, y_true, y_pred, beta))
        score = y_score.astype(np.float32).astype(np.float64)
        if positive is not None:
            values |= dict(_scores(classes[positive], y_true == positive, score, max_fpr))
            whole = values[_key("brier_score", classes[positive], subset="all")]
            values[_key("brier_score", "", subset="all")] = whole
            values[_key("log_loss", "")] = values[_key("log_loss", classes[positive])]
        else:
            for c, name in enumerate(classes):
                values |= dict(_scores(name, y_true == c, score[:, c], max_fpr))
            values |= dict(_multiclass(classes, y_true, score, values))
    return {key: value for key, value in values.items() if not np.isnan(value)}


def _key(family: str, class_: str | None = None, **labels: str) -> Key:
    if class_ is not None:
        labels["class"] = class_
    return f"classifier_{family}", frozenset(labels.items())


def _decisions(
    classes: Sequence[str], y_true: np.ndarray, y_pred: np.ndarray, beta: float | None
) -> Iterator[tuple[Key, float]]:
    n, codes = len(y_true), list(range(len(classes)))
    matrix = sk.confusion_matrix(y_true, y_pred, labels=codes)
    yield _key("events"), n
    yield _key("accuracy"), sk.accuracy_score(y_true, y_pred)
    yield _key("balanced_accuracy"), sk.balanced_accuracy_score(y_true, y_pred)
    if len(set(y_true)) > 1 and len(set(y_pred)) > 1:
        yield _key("matthews_corrcoef"), sk.matthews_corrcoef(y_true, y_pred)
    for c, name in enumerate(classes):
        true, decided = y_true == c, y_pred == c
        yield _key("class_support", name), true.sum()
        yield _key("prevalence", name), true.mean()
        yield _key("imbalance_ratio", name), true.sum() / (~true).sum() if not true.all() else np.nan
        yield _key("predicted_rate", name), decided.mean()
        options = {"zero_division": np.nan}
        yield _key("precision", name), sk.precision_score(true, decided, **options)
        yield _key("recall", name), sk.recall_score(true, decided, **options)
        yield _key("f1", name), sk.f1_score(true, decided, **options)
        yield _key("specificity", name), sk.recall_score(~true, ~decided, **options)
        yield _key("npv", name), sk.precision_score(~true, ~decided, **options)
        if beta is not None:
            yield _key("fbeta", name, beta=repr(beta)), sk.fbeta_score(true, decided, beta=beta, **options)
        for d, other in enumerate(classes):
            yield _key("window_confusions", true=name, predicted=other), matrix[c, d]
        yield _key("window_confusions", true=name, predicted="other"), 0
    never = any((y_true == c).any() and not (y_pred == c).any() for c in codes)
    for average in ("macro", "weighted", "micro"):
        arguments = {"labels": codes, "average": average, "zero_division": np.nan}
        if not (average == "macro" and never):
            yield _key("precision_average", average=average), sk.precision_score(y_true, y_pred, **arguments)
        yield _key("recall_average", average=average), sk.recall_score(y_true, y_pred, **arguments)
        yield _key("f1_average", average=average), sk.f1_score(y_true, y_pred, **arguments)


def _scores(
    name: str, true: np.ndarray, score: np.ndarray, max_fpr: Sequence[float]
) -> Iterator[tuple[Key, float]]:
    yield _key("score_mean", name), score.mean()
    clipped = score.clip(2**-24, 1 - 2**-24)
    yield _key("log_loss", name), -np.log(np.where(true, clipped, 1 - clipped)).mean()
    yield _key("brier_score", name, subset="all"), sk.brier_score_loss(true, score)
    if true.any():
        yield _key("brier_score", name, subset="positive"), ((1 - score[true]) ** 2).mean()
        yield _key("average_precision", name), sk.average_precision_score(true, score)
    if not true.all():
        yield _key("brier_score", name, subset="negative"), (score[~true] ** 2).mean()
    if not true.any() or true.all():
        return
    yield _key("roc_auc", name), sk.roc_auc_score(true, score)
    fpr, tpr, _ = sk.roc_curve(true, score, drop_intermediate=False)
    for a in max_fpr:
        if (~true).sum() * a < 1:
            continue
        below = fpr <= a
        points = np.append(fpr[below], a), np.append(tpr[below], np.interp(a, fpr, tpr))
        yield _key("partial_roc_auc", name, max_fpr=repr(a)), sk.auc(*points) / a
        yield _key("partial_roc_auc_mcclish", name, max_fpr=repr(a)), sk.roc_auc_score(true, score, max_fpr=a)
        yield _key("recall_at_fpr", name, max_fpr=repr(a)), tpr[below].max()


def _multiclass(
    classes: Sequence[str], y_true: np.ndarray, score: np.ndarray, values: dict[Key, float]
) -> Iterator[tuple[Key, float]]:
    one_hot = y_true[:, None] == np.arange(len(classes))
    yield _key("brier_score", "", subset="all"), ((one_hot - score) ** 2).sum(1).mean()
    yield _key("log_loss", ""), -np.log(score[one_hot].clip(2**-24, 1 - 2**-24)).mean()
    support = one_hot.sum(0)
    for family in ("roc_auc", "average_precision"):
        of_class = np.array([values.get(_key(family, name), np.nan) for name in classes])
        defined = ~np.isnan(of_class)
        if defined.any():
            yield _key(f"{family}_average", average="macro"), of_class[defined].mean()
            weights = support[defined]
            yield (
                _key(f"{family}_average", average="weighted"),
                np.average(of_class[defined], weights=weights),
            )
