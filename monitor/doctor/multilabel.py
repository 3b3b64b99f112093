"""Scores of labels in another order, or the wrong way round, where several classes are true at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.doctor.evidence import CLEAR, Ranking, ranking, reordered
from monitor.doctor.finding import Finding, Said, Undecided, as_yaml, until_found
from monitor.doctor.observed import Observed

_MOST_CLASSES = 50
"""Every class is compared with every other."""


def check_multilabel(seen: Observed) -> Said:
    """Yield which scores fit the labels of other classes, or are the wrong way round."""
    if seen.spec.task != "multilabel" or len(seen.spec.classes) > _MOST_CLASSES:
        return
    known = seen.labeled & seen.scored
    true, score = seen.true[known], seen.score[known]
    own = {
        code: found
        for code in range(len(seen.spec.classes))
        if (found := ranking(score[:, code], true[:, code])) is not None
    }
    if own:
        yield from until_found([_order(seen, own, true, score), _direction(seen, own)])


def _order(
    seen: Observed, own: dict[int, Ranking], true: NDArray[np.bool_], score: NDArray[np.float32]
) -> Said:
    """Classes whose labels another class's score ranks clearly better than their own does."""
    codes = list(own)
    auc = np.full((len(codes), len(codes)), 0.5)
    for row, code in enumerate(codes):
        for column, other in enumerate(codes):
            found = ranking(score[:, other], true[:, code])
            assert found is not None
            auc[row, column] = found.auc
    clear = CLEAR * np.array([own[code].standard_error for code in codes])
    means = {
        codes[row]: codes[column]
        for row, column in enumerate(auc.argmax(axis=1))
        if auc[:, column].argmax() == row
        and auc[row, column] - max(auc[row, row], 0.5) > np.sqrt(2) * clear[row]
    }
    if len(means) < 2:
        return
    classes = seen.spec.classes
    order, complete = reordered(classes, means)
    first = next(iter(means))
    yield Finding(
        f"scores seem to be sent in the order {as_yaml(order)}, not {as_yaml(classes)}: labels of "
        f"{classes[first]} are ranked by the score read as {classes[means[first]]} (ROC AUC "
        f"{auc[codes.index(first), codes.index(means[first])]:.2f}), not by their own "
        f"({own[first].auc:.2f}).",
        f"write models.{seen.name}.classes: {as_yaml(order)}, or send scores as {{class: probability}}."
        if complete
        else "put classes in the order of scores, or send scores as {class: probability}.",
        model={"classes": order} if complete else {},
    )


def _direction(seen: Observed, own: dict[int, Ranking]) -> Said:
    wrong = {seen.spec.classes[code]: found.auc for code, found in own.items() if found.reversed}
    if wrong:
        worst = min(wrong, key=lambda name: wrong[name])
        yield Finding(
            f"ROC AUC of {len(wrong)} of {len(own)} classes is clearly below 0.5 ({worst} "
            f"{wrong[worst]:.2f}): scores say the opposite of labels.",
            f"send 1 - score for {as_yaml(list(wrong))}.",
        )
    elif any(found.undecided for found in own.values()):
        yield Undecided("whether scores are the wrong way round")
