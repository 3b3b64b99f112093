"""Expected numbers of how scores rank, and of the thresholds on them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

import numpy as np
from sklearn import metrics as sk

from monitor.metrics.parameters import Parameters
from tests.support.oracle_key import Key, key


def expected(
    p: Parameters,
    y_true: np.ndarray,
    true: np.ndarray,
    score: np.ndarray,
    rank: np.ndarray,
    decided: np.ndarray,
) -> Iterator[tuple[Key, float]]:
    """Yield values; `true`, `score`, `rank` and `decided` have a column for each scored class."""
    values: dict[Key, float] = {}
    for c, name in enumerate(p.scored):
        values[key("score_mean", name)] = score[:, c].mean()
        values |= dict(_ranking(p, name, true[:, c], rank[:, c]))
        values |= dict(_at_k(p, name, true[:, c], rank[:, c]))
        values |= dict(_best_thresholds(p, name, true[:, c], score[:, c], rank[:, c]))
        if p.reference_prevalence is not None:
            pi = p.reference_prevalence[c]
            values |= dict(_at_reference(pi, name, true[:, c], rank[:, c], decided[:, c]))
    yield from values.items()
    if p.task != "binary":
        yield from _averages(p, true, rank, values)
    if p.task == "multiclass":
        own = np.take_along_axis(rank, y_true[:, None], 1)
        above, tied = (rank > own).sum(1), (rank == own).sum(1)
        for k in p.top_k:
            if k < len(p.classes):
                yield key("top_k_accuracy", k=repr(k)), np.clip((k - above) / tied, 0, 1).mean()


def _ranking(p: Parameters, name: str, true: np.ndarray, rank: np.ndarray) -> Iterator[tuple[Key, float]]:
    if true.any():
        yield key("average_precision", name), sk.average_precision_score(true, rank)
    if not true.any() or true.all():
        return
    yield key("roc_auc", name), sk.roc_auc_score(true, rank)
    fpr, tpr, _ = sk.roc_curve(true, rank, drop_intermediate=False)
    for a in p.max_fpr:
        if (~true).sum() * a < 1:
            continue
        below = fpr <= a
        points = np.append(fpr[below], a), np.append(tpr[below], np.interp(a, fpr, tpr))
        yield key("partial_roc_auc", name, max_fpr=repr(a)), sk.auc(*points) / a
        yield key("partial_roc_auc_mcclish", name, max_fpr=repr(a)), sk.roc_auc_score(true, rank, max_fpr=a)
        yield key("recall_at_fpr", name, max_fpr=repr(a)), tpr[below].max()


def _at_k(p: Parameters, name: str, true: np.ndarray, rank: np.ndarray) -> Iterator[tuple[Key, float]]:
    """Yield what k events taken from the top find, if ties are broken at random: by expectation."""
    for k in p.at_k:
        n = ceil(Fraction(repr(k)) * len(true)) if isinstance(k, float) else k
        if not 0 < n <= len(true):
            continue
        last = np.sort(rank)[::-1][n - 1]
        above, tied = rank > last, rank == last
        hits = true[above].sum() + (n - above.sum()) * true[tied].mean()
        yield key("precision_at_k", name, k=repr(k)), hits / n
        if true.any():
            yield key("recall_at_k", name, k=repr(k)), hits / true.sum()


def _best_thresholds(
    p: Parameters, name: str, true: np.ndarray, score: np.ndarray, rank: np.ndarray
) -> Iterator[tuple[Key, float]]:
    _, first, place = np.unique(rank, return_index=True, return_inverse=True)
    nothing = float(np.nextafter(np.float32(score.max()), np.float32(np.inf)))
    thresholds = np.concatenate([[nothing], score[first][::-1]])
    hits, alarms = (
        np.concatenate([[0], np.bincount(place[side], minlength=len(first))[::-1].cumsum()])
        for side in (true, ~true)
    )
    if p.pair_costs is not None:
        false_negative, false_positive = p.pair_costs
        cost = false_negative * (true.sum() - hits) + false_positive * alarms
        yield key("best_threshold", name, criterion="cost"), thresholds[cost.argmin()]
    if true.any():
        f1 = 2 * hits / (hits + alarms + true.sum())
        yield key("best_threshold", name, criterion="f1"), thresholds[f1.argmax()]
        if p.min_recall is not None:
            reached = hits / true.sum() >= p.min_recall
            yield key("best_threshold", name, criterion="min_fpr_at_recall"), thresholds[reached.argmax()]


def _at_reference(
    pi: float, name: str, true: np.ndarray, rank: np.ndarray, decided: np.ndarray
) -> Iterator[tuple[Key, float]]:
    if not true.any() or true.all():
        return
    tpr, fpr = decided[true].mean(), decided[~true].mean()
    if tpr or fpr:
        precision = pi * tpr / (pi * tpr + (1 - pi) * fpr)
        yield key("precision_at_reference_prevalence", name), precision
    weights = np.where(true, pi / true.mean(), (1 - pi) / (1 - true.mean()))
    average = sk.average_precision_score(true, rank, sample_weight=weights)
    yield key("average_precision_at_reference_prevalence", name), average


def _averages(
    p: Parameters, true: np.ndarray, rank: np.ndarray, values: dict[Key, float]
) -> Iterator[tuple[Key, float]]:
    scores = {"roc_auc": sk.roc_auc_score, "average_precision": sk.average_precision_score}
    for family, score in scores.items():
        of_class = np.array([values.get(key(family, name), np.nan) for name in p.scored])
        defined = ~np.isnan(of_class)
        if defined.any():
            weights = true.sum(0)[defined]
            yield key(f"{family}_average", average="macro"), of_class[defined].mean()
            yield (
                key(f"{family}_average", average="weighted"),
                np.average(of_class[defined], weights=weights),
            )
        if true.any() and (family != "roc_auc" or not true.all()):
            yield key(f"{family}_average", average="micro"), score(true.ravel(), rank.ravel())
