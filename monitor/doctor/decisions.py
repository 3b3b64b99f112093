"""Decisions that do not fit labels or scores: classes in another order, another threshold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from monitor.doctor.evidence import cut, relabelling, reordered, round_between
from monitor.doctor.finding import Finding, Said, as_yaml, until_found
from monitor.doctor.observed import Observed
from monitor.events.spec import UNLABELED

_SHOWN = 5
_FEW_DIFFER = 0.02
"""Share of decisions beside the threshold that may be rounding."""


def check_decisions(seen: Observed) -> Said:
    """Yield what is wrong with decisions."""
    return until_found(check(seen) for check in (_label_map, _score_order, _threshold))


def _label_map(seen: Observed) -> Said:
    """Labels that mean another class than the decisions of the same events."""
    if seen.spec.task == "multilabel" or (seen.spec.task == "binary" and seen.scored.any()):
        return  # scores say more: `monitor.doctor.scores`
    known = (seen.label != UNLABELED) & (seen.decision >= 0)
    means = relabelling(seen.label[known], seen.decision[known], len(seen.spec.classes))
    if not means:
        return
    label, decision = seen.label[known], seen.decision[known]
    moved = np.isin(label, list(means))
    agree = sum(int(((label == true) & (decision == other)).sum()) for true, other in means.items())
    now = int((label == decision)[moved].sum())
    counts = f"{agree} of {int(moved.sum())} decisions are right so, {now} as they are read"
    texts = all(isinstance(value, str) for value in seen.column("label"))
    if texts and not seen.predicted.any() and seen.scored.all():
        yield _reordered(seen, means, counts)
        return
    numbers = seen.spec.integers == "indices" and not texts
    pairs = [
        f"{true if numbers else seen.spec.classes[true]} means {seen.spec.classes[other]}"
        for true, other in sorted(means.items())
    ]
    from_one = numbers and all(other == true - 1 for true, other in means.items())
    yield Finding(
        f"labels seem to mean other classes than decisions: {', '.join(pairs[:_SHOWN])}"
        f"{' and so on' if len(pairs) > _SHOWN else ''} ({counts}).",
        f"number labels from 0 to {len(seen.spec.classes) - 1} instead of from 1, or send class names."
        if from_one
        else "send class names for labels and predictions, or number both in the order of "
        f"{as_yaml(seen.spec.classes)}, from 0.",
    )


def _score_order(seen: Observed) -> Said:
    """Vectors of scores whose greatest is for another class than the prediction beside them."""
    known = seen.predicted & seen.scored & (seen.decision >= 0) if seen.spec.task == "multiclass" else None
    if known is None or not known.any():
        return
    decided, greatest = seen.decision[known], seen.score[known].argmax(axis=1)
    means = relabelling(decided, greatest, len(seen.spec.classes))
    differ = int((decided != greatest).sum())
    if means:
        agree = sum(int(((decided == c) & (greatest == other)).sum()) for c, other in means.items())
        agree += int(((decided == greatest) & ~np.isin(decided, list(means))).sum())
        yield _reordered(
            seen,
            means,
            f"{agree} of {len(decided)} predictions are the class with the greatest score so, "
            f"{len(decided) - differ} as they are read",
        )
    elif differ > max(1, _FEW_DIFFER * len(decided)):
        yield Finding(
            f"{differ} of {len(decided)} predictions are not the class with the greatest score.",
            "none needed if the service decides by other rules: the prediction is what counts. Otherwise "
            f"check the order of scores: {as_yaml(seen.spec.classes)}.",
            urgent=False,
        )


def _reordered(seen: Observed, means: Mapping[int, int], counts: str) -> Finding:
    """Say in which order scores are sent."""
    order, complete = reordered(seen.spec.classes, means)
    return Finding(
        f"scores seem to be sent in the order {as_yaml(order)}, not {as_yaml(seen.spec.classes)}: {counts}.",
        f"write models.{seen.name}.classes: {as_yaml(order)}, or send scores as {{class: probability}}."
        if complete
        else "put classes in the order of scores, or send scores as {class: probability}.",
        model={"classes": order} if complete else {},
    )


def _threshold(seen: Observed) -> Said:
    """Predictions of a binary model that are not `score >= threshold`."""
    if seen.spec.task != "binary":
        return
    positive, threshold = seen.spec.scored[0], seen.spec.thresholds[0]
    known = seen.predicted & seen.scored & (seen.decision >= 0)
    if not known.any():
        return
    p, decided = seen.probability[known, 0].astype(np.float32), seen.decision[known] == positive
    differ, between = cut(p, decided, threshold)
    if differ <= max(1, _FEW_DIFFER * len(decided)):
        return
    text = f"{differ} of {len(decided)} predictions are not what threshold {threshold:.6g} makes of the score"
    if between is not None:
        other = round_between(*between)
        yield Finding(
            f"{text}; every threshold from {between[0]:.4g} to {between[1]:.4g} explains them all.",
            f"write models.{seen.name}.threshold: {other:g}. (Predictions count as they are sent; the "
            "threshold is for events without one, and is reported as the one in use.)",
            urgent=False,
            model={"threshold": other},
        )
    else:
        yield Finding(
            f"{text}, and no other threshold explains them.",
            "none needed if the service decides by more than the score: predictions count as they are sent. "
            "Otherwise check that score and prediction are of the same model.",
            urgent=False,
        )
