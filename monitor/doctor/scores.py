"""What people send as scores that is none: logits, percentages, the confidence in the class decided for."""

from __future__ import annotations

import numpy as np

from monitor.doctor.evidence import (
    CLEAR,
    Mask,
    excess,
    likelihood_gain,
    ranking,
    sigmoid,
)
from monitor.doctor.finding import Finding, Said, Undecided, as_yaml, until_found
from monitor.doctor.observed import Observed, is_number
from monitor.events.scores import RANGE_TOLERANCE, SUM_TOLERANCE

_FEW = 5
"""Fewer messages with scores say nothing about what scores are."""

_ENOUGH = 20
"""Fewer events may well have scores that are alike."""

_MISTAKES = 0.3
"""Share of messages out of range from which on it is no accident, but another scale."""

_SCALE_REASONS = frozenset({"out_of_range", "not_normalised"})


def check_scores(seen: Observed) -> Said:
    """Yield what is wrong with scores: the first of scale, meaning and direction that is."""
    checks = (_missing, _single_score, _scale, _probabilities_as_logits, _constant, _confidence, _reversed)
    return until_found(check(seen) for check in checks)


def _missing(seen: Observed) -> Said:
    if len(seen) and not seen.scored.any() and seen.spec.task != "multiclass":
        yield _no_score(seen)


def _no_score(seen: Observed) -> Finding:
    wanted = "score" if seen.spec.task == "binary" else "scores"
    return Finding(
        f"no message has a score at {seen.path('score')} or scores at {seen.path('scores')}; only metrics of "
        "decisions can be computed.",
        f"map events.fields.{wanted}, or send {wanted} beside the prediction.",
        urgent=False,
        unmapped=True,
    )


def _single_score(seen: Observed) -> Said:
    """A multiclass or multilabel model whose messages have one number each."""
    if seen.spec.task == "binary" or any(seen.column("scores")):
        return
    singles = [v for v in seen.column("score") + seen.column("confidence") if is_number(v)]
    if not singles:
        if len(seen) and not seen.scored.any():
            yield _no_score(seen)
        return
    beside = "beside the prediction " if seen.column("prediction") else ""
    yield Finding(
        f"{len(singles)} of {len(seen.sent)} messages have one score {beside}(from {min(singles):.4g} to "
        f"{max(singles):.4g}), but a {seen.spec.task} model needs one for each of its "
        f"{len(seen.spec.classes)} classes. Probably it is the confidence in the class decided for, which "
        "gives no ROC AUC, no Brier score and no calibration.",
        f"send all of them as scores: a list in the order of {as_yaml(seen.spec.classes)}, or "
        "{class: probability}"
        + ("." if beside else ". With a prediction alone, metrics of decisions can be computed."),
        explains=frozenset({"missing_field"}),
    )


def _scale(seen: Observed) -> Said:
    """Numbers that are no probabilities, where probabilities are configured."""
    vectors = seen.vectors()
    if seen.spec.scores == "logit" or len(vectors) < _FEW:
        return
    low = np.array([min(vector, default=0.0) for vector in vectors])
    high = np.array([max(vector, default=0.0) for vector in vectors])
    outside = (low < -RANGE_TOLERANCE) | (high > 1 + RANGE_TOLERANCE)
    name = seen.path("score" if seen.column("score") and seen.spec.task == "binary" else "scores")
    span = f"{int(outside.sum())} of {len(vectors)} messages have numbers at {name} outside [0, 1] (from "
    span += f"{low.min():.4g} to {high.max():.4g})"
    if outside.mean() >= _MISTAKES:
        slight = low.min() >= -0.1 and high.max() <= 1.1
        if slight:
            yield Finding(
                f"{span}, but hardly: rounding, or a regression's output.",
                "clip them to [0, 1] before they are sent.",
                explains=_SCALE_REASONS,
            )
        elif low.min() < 0:
            yield Finding(
                f"{span}, some negative: they look like logits.",
                f"write models.{seen.name}.scores: logit.",
                explains=_SCALE_REASONS,
                model={"scores": "logit"},
            )
        elif high.max() <= 100 + 1e-3:
            yield Finding(
                f"{span}, none negative or above 100: they look like percentages.",
                "divide them by 100 before they are sent.",
                explains=_SCALE_REASONS,
            )
        else:
            yield Finding(
                f"{span}, none negative: they look like points of a score card.",
                "send the probability that they stand for.",
                explains=_SCALE_REASONS,
            )
    elif seen.spec.task != "multilabel":
        wide = [vector for vector in vectors if len(vector) > 1]
        sums = np.array([sum(vector) for vector in wide])
        off = np.abs(sums - 1) > SUM_TOLERANCE
        if len(wide) >= _FEW and off.mean() >= _MISTAKES:
            yield Finding(
                f"{int(off.sum())} of {len(wide)} messages have scores in [0, 1] whose sum is not 1 (from "
                f"{sums.min():.4g} to {sums.max():.4g}): each class seems to be scored on its own.",
                "send softmax probabilities, which sum to 1; if several classes can be true at once, write "
                f"models.{seen.name}.task: multilabel.",
                explains=frozenset({"not_normalised"}),
            )


def _probabilities_as_logits(seen: Observed) -> Said:
    """Probabilities, where logits are configured."""
    vectors = seen.vectors()
    if seen.spec.scores != "logit" or len(vectors) < _FEW:
        return
    if not all(0 <= number <= 1 for vector in vectors for number in vector):
        return
    wide = min(map(len, vectors)) > 1
    if wide and seen.spec.task != "multilabel":
        certain = all(abs(sum(vector) - 1) <= SUM_TOLERANCE for vector in vectors)
        also = " and each list sums to 1"
    else:
        known = seen.labeled & seen.scored
        raw, true = seen.score[known].astype(np.float64), seen.true[known]
        as_logits = sigmoid(raw / seen.spec.temperature)
        certain = len(raw) >= _ENOUGH and likelihood_gain(raw, as_logits, true) > CLEAR
        also = " and fits the labels better as a probability"
    if certain:
        yield Finding(
            f"scores are read as logits, but each of the {len(vectors)} is within [0, 1]{also}.",
            f"write models.{seen.name}.scores: probability (and remove temperature).",
            model={"scores": "probability", "temperature": None},
        )
    else:
        yield Undecided("whether scores are probabilities and no logits")


def _constant(seen: Observed) -> Said:
    score = seen.score[seen.scored]
    if len(score) >= _ENOUGH // 2 and (score == score[0]).all():
        where = "score" if seen.column("score") else "scores"
        # The scores of one message differ, where they are a vector: the first stands for all.
        yield Finding(
            f"every score is {score[0, 0]:.6g}: the model answers with a constant, or another field is read.",
            f"check events.fields.{where} (now {seen.path(where)}).",
        )


def _confidence(seen: Observed) -> Said:
    """The greater of p and 1 - p, sent as the probability of the positive class."""
    if seen.spec.task != "binary" or not seen.column("score"):
        return
    known = seen.scored & seen.labeled
    p = seen.probability[:, 0]
    if known.sum() < _ENOUGH or p[seen.scored].min() < 0.5:
        return
    positive = seen.spec.classes[seen.spec.scored[0]]
    true = seen.true[known, 0]
    errors = excess(p[known], true)
    if errors < 2 and not _overlap(seen, p):
        return
    if errors < CLEAR + 1 and not _overlap(seen, p):
        yield Undecided("whether scores are the confidence in the class decided for")
        return
    text = (
        f"no score is below 0.5, but {int((~true).sum())} of {len(true)} labels are not {positive}: scores "
        f"are probably the confidence in the class decided for, not the probability of {positive}"
    )
    if seen.column("prediction"):
        path = seen.path("score")
        yield Finding(
            f"{text}.",
            f"map it as confidence (events.fields: {{confidence: {path}}}), which is read with the "
            f"prediction; or send the probability of {positive}.",
            fields={"confidence": path},
        )
    else:
        yield Finding(
            f"{text} (or positive_class is the wrong way round).",
            f"send the probability of {positive}, or a prediction beside it and map it as confidence "
            f"(events.fields: {{confidence: {seen.path('score')}}}).",
        )


def _overlap(seen: Observed, p: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    """Tell whether events that were decided negative have scores like those decided positive."""
    sent = seen.scored & seen.predicted & (seen.decision >= 0)
    decided: Mask = seen.decision[sent] == seen.spec.scored[0]
    found = ranking(p[sent], decided)
    return found is not None and min(decided.sum(), (~decided).sum()) >= _FEW and found.auc < 0.9


def _reversed(seen: Observed) -> Said:
    """Scores that put the positives last."""
    if seen.spec.task != "binary":
        return
    known = seen.labeled & seen.scored
    true = seen.true[known, 0]
    found = ranking(seen.score[known, 0], true)
    if found is not None and found.reversed:
        yield _wrong_way_round(seen, found.auc, int(true.sum()), len(true))
    elif found is not None and found.undecided:
        yield Undecided("whether scores are the wrong way round")


def _wrong_way_round(seen: Observed, auc: float, positives: int, total: int) -> Finding:
    classes = seen.spec.classes
    positive, negative = classes[seen.spec.scored[0]], classes[1 - seen.spec.scored[0]]
    fix = (
        f"write models.{seen.name}.positive_class: {as_yaml(negative)}; or, to watch {positive}, send "
        "1 - score."
    )
    if seen.spec.integers == "indices" and all(isinstance(v, int | float) for v in seen.column("label")):
        fix += f" If it is the labels: 0 is read as {classes[0]}, 1 as {classes[1]}, in the order of classes."
    return Finding(
        f"scores are the wrong way round: ROC AUC is {auc:.2f} ({positives} of {total} labels are "
        f"{positive}). They seem to be probabilities of {negative}.",
        fix,
        model={"positive_class": negative},
    )
