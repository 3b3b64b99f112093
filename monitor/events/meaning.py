"""What label, prediction and scores of one message mean for its model, or why they mean nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.events.classes import Scalar, class_code, class_codes, class_set, unknown_label, vector_order
from monitor.events.decisions import DecisionRule
from monitor.events.scores import Floats, clip, normalise, read_score, read_vectors, rounded
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.events.types import Fields
from monitor.events.values import Refused

Target = int | tuple[int, ...]
"""One row of `Columns.label` or `Columns.decision`."""

Sent = Scalar | list[Scalar] | None


class ValueReader:
    """Reads the fields of messages of one model, one at a time."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._codes = class_codes(spec)
        self._decide = DecisionRule(spec)

    def label(self, value: Sent, version: str) -> Target:
        """Return the true class or classes.

        Raises
        ------
        Refused
            `unknown_label` or `wrong_length`.
        """
        spec, size = self._spec, len(self._spec.classes)
        if spec.task != "multilabel":
            return UNLABELED if value is None else class_code(spec, self._codes, value, version)
        if value is None:
            return (UNLABELED,) * size
        codes = class_set(spec, self._codes, value, version)
        if OTHER in codes:
            raise unknown_label(spec, value[codes.index(OTHER)] if isinstance(value, list) else value)
        return _indicator(codes, size)

    def prediction(self, value: Sent, version: str) -> Target | None:
        """Return the predicted class or classes, None without."""
        spec = self._spec
        if value is None:
            return None
        several = spec.task == "multilabel"
        try:
            if not several:
                return class_code(spec, self._codes, value, version)
            codes = class_set(spec, self._codes, value, version)
        except Refused:  # abstained, or a class we do not know: refusing the event would raise recall
            codes = [OTHER]
        return _indicator(codes, len(spec.classes) + 1) if several else OTHER

    def scores(self, fields: Fields, version: str, prediction: Target | None) -> NDArray[np.float32] | None:
        """Return the scores of the scored classes as one row, None without.

        Raises
        ------
        Refused
            `unknown_label`, `wrong_length`, `out_of_range`, `not_normalised` or `not_finite`.
        """
        spec = self._spec
        if spec.positive is not None and fields.score is not None:
            return self._single("score", fields.score)
        if fields.scores is not None:
            return self._vector(fields.scores, version)
        if spec.positive is None or spec.scores == "logit" or prediction in (None, OTHER):
            return None
        if fields.confidence is None:
            return None
        c = fields.confidence
        return self._single("confidence", c if prediction == spec.positive else 1.0 - c)

    def decision(self, scores: NDArray[np.float32]) -> Target:
        """Return what is decided without a prediction."""
        decided = self._decide(scores)[0].tolist()
        return tuple(decided) if isinstance(decided, list) else int(decided)

    def _single(self, field: str, value: float) -> NDArray[np.float32]:
        score, sound = read_score(self._spec, np.array([value], dtype=np.float64))
        if not sound[0]:
            raise _out_of_range(field, value)
        return rounded(score)[:, None]

    def _vector(self, sent: list[float] | dict[str, float], version: str) -> NDArray[np.float32]:
        spec = self._spec
        if isinstance(sent, list):
            by_class = dict(zip(vector_order(spec, self._codes, version), sent, strict=False))
        else:
            by_class = {class_code(spec, self._codes, name, version): value for name, value in sent.items()}
        if len(sent) != len(spec.classes) or len(by_class) != len(sent):
            raise Refused(
                "wrong_length",
                f"scores: expected one number for each of {len(spec.classes)} classes, got {len(sent)}",
            )
        vector = np.array([[by_class[i] for i in range(len(spec.classes))]], dtype=np.float64)
        scores, sound = read_vectors(spec, vector)
        if not sound[0]:
            raise _unsound(spec, vector)
        return rounded(scores)


def _indicator(codes: list[int], size: int) -> tuple[int, ...]:
    row = [0] * size
    for code in codes:
        row[code] = 1  # OTHER, -1, is the last column
    return tuple(row)


def _unsound(spec: ModelSpec, vector: Floats) -> Refused:
    """Return why `read_vectors` finds a row unsound."""
    if spec.scores == "logit":
        return Refused(
            "not_finite",
            "scores: infinite logits of which no probability follows; send finite ones "
            "(-Infinity is that of a class ruled out)",
        )
    clipped, inside = clip(vector)
    if not inside.all():
        return _out_of_range("scores", vector[~inside][0])
    _, _, total = normalise(clipped)
    return Refused(
        "not_normalised",
        f"scores: their sum is {float(total[0]):.6g}, not 1; if these are logits set scores: logit, "
        "if several classes can be true at once set task: multilabel",
    )


def _out_of_range(field: str, value: float) -> Refused:
    return Refused(
        "out_of_range",
        f"{field}: {float(value):.6g} is no probability in [0, 1]; if these are logits set scores: logit",
    )
