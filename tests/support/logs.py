"""Logs of predictions: how each is configured, and how a test reads it without monitor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from monitor.metrics.parameters import Parameters
from tests.support.counts import parameters

SAMPLES = Path(__file__).parents[1] / "data"
WHOLE = Path(__file__).parents[3] / "shared" / "data"
"""Where the whole logs are, if they lie beside the checkout."""

Row = dict[str, Any]
Oracle = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]
"""True and decided classes, probabilities, and logits if scores are those: in the order of `expected`."""

DAY = 86_400_000_000
Y2000 = 946_684_800_000_000


@dataclass(frozen=True)
class Log:
    """Predictions of one model.

    `rows` reads them from a folder, `SAMPLES` or `WHOLE`; `model` and `events` are text for the
    configuration, `p` the same for the oracle; `time` is the event time of a row in microseconds, `place`
    the key of its segment.
    """

    rows: Callable[[Path], list[Row]]
    model: str
    p: Parameters
    events: str
    time: Callable[[Row], int]
    read: Callable[[Sequence[Row]], Oracle]
    place: str
    duration_us: int
    is_positive: Callable[[Row], bool] | None = None
    record_time: bool = False
    """Whether events have no time of their own, but that of their record."""


def stored(file: str) -> Callable[[Path], list[Row]]:
    """Return what reads a file of a folder."""
    return lambda folder: pq.read_table(folder / file).to_pylist()


def text_time(row: Row) -> int:
    return int(np.datetime64(row["timestamp"].replace(" ", "T"), "us").astype(int))


def single_label(
    classes: Sequence[str], label: str, prediction: str, scores: Sequence[str]
) -> Callable[[Sequence[Row]], Oracle]:
    codes = {name: code for code, name in enumerate(classes)}

    def read(rows: Sequence[Row]) -> Oracle:
        true, decided = (np.array([codes[str(row[of])] for row in rows]) for of in (label, prediction))
        return true, np.array([[row[score] for score in scores] for row in rows]), decided, None

    return read


@cache
def _multilabel() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, logits and decisions of a model on its own data, for five labels."""
    features, labels = make_multilabel_classification(
        n_samples=3000, n_classes=5, n_labels=2, length=30, random_state=0
    )
    model = OneVsRestClassifier(LogisticRegression(max_iter=1000)).fit(features[:1000], labels[:1000])
    return labels, model.decision_function(features), model.predict(features)


def multilabel_rows(temperature: float | None) -> Callable[[Path], list[Row]]:
    """Return what makes rows with logits to be divided by a temperature, or with probabilities (None)."""

    def rows(folder: Path) -> list[Row]:
        labels, logits, _ = _multilabel()
        scores = 1 / (1 + np.exp(-logits)) if temperature is None else logits
        return [
            {
                "timestamp": (Y2000 + 1_000_000 * i) // 1000,
                "label": [LABELS[c] for c in np.flatnonzero(labels[i])],
                "scores": dict(zip(LABELS, scores[i].tolist(), strict=True)),
                "segments": {"half": "first" if i < 1500 else "second"},
                "half": "first" if i < 1500 else "second",
            }
            for i in range(len(labels))
        ]

    return rows


def multilabel(temperature: float | None, p: Parameters) -> Callable[[Sequence[Row]], Oracle]:
    def read(rows: Sequence[Row]) -> Oracle:
        true = np.array([[int(name in row["label"]) for name in LABELS] for row in rows])
        raw = np.array([[row["scores"][name] for name in LABELS] for row in rows], np.float32)
        score = raw.astype(np.float64)
        if temperature is not None:
            score = 1 / (1 + np.exp(-score / temperature))
        decided = (score >= np.float32(p.thresholds)).astype(int)
        return true, score, decided, None if temperature is None else raw

    return read


LABELS = ("a", "b", "c", "d", "e")
CARDS = ("prepaid_card", "highstreet_card", "upmarket_card")
CARD_COSTS = ((0.0, 1.0, 4.0), (1.0, 0.0, 1.0), (4.0, 1.0, 0.0))
MULTILABEL = (
    "task: multilabel, classes: [a, b, c, d, e], segments: [half], threshold: {a: 0.5, b: 0.25, c: 0.75}, "
    "costs: {false_negative: 9, false_positive: 4}, min_recall: 0.8, at_k: [50, 0.1], "
    "reference_prevalence: {a: 0.1, b: 0.2, c: 0.3, d: 0.4, e: 0.5}"
)
MULTILABEL_P = parameters(
    5,
    task="multilabel",
    classes=LABELS,
    thresholds=(0.5, 0.25, 0.75, 0.5, 0.5),
    costs=(9.0, 4.0),
    min_recall=0.8,
    at_k=(50, 0.1),
    reference_prevalence=(0.1, 0.2, 0.3, 0.4, 0.5),
)


def _made(model: str, temperature: float | None) -> Log:
    return Log(
        rows=multilabel_rows(temperature),
        model=f"{{{model}",
        p=MULTILABEL_P,
        events="",
        time=lambda row: row["timestamp"] * 1000,
        read=multilabel(temperature, MULTILABEL_P),
        place="half",
        duration_us=1_000_000_000,
    )


LOGS = {
    "employment": Log(
        rows=stored("employment_ma.parquet"),
        model="{task: binary, classes: ['0', '1'], segments: [sex], min_recall: 0.9, at_k: [100, 0.01], "
        "costs: {false_negative: 4, false_positive: 1}, reference_prevalence: 0.3",
        p=parameters(costs=(4.0, 1.0), min_recall=0.9, at_k=(100, 0.01), reference_prevalence=(0.3,)),
        events="fields: {label: employed, score: predicted_probability, segments: {sex: SEX}}",
        time=lambda row: Y2000 + 1000 * row["row"],
        read=single_label("01", "employed", "prediction", ["predicted_probability"]),
        place="SEX",
        duration_us=2_000_000,
        is_positive=lambda row: row["employed"] == 1,
        record_time=True,
    ),
    "car_loan": Log(
        rows=stored("car_loan.parquet"),
        model="{task: binary, classes: ['0', '1'], segments: [salary]",
        p=parameters(costs=None),
        events="timezone: UTC, fields: {label: repaid, score: y_pred_proba, prediction: y_pred, "
        "segments: {salary: salary_range}}",
        time=text_time,
        read=single_label("01", "repaid", "y_pred", ["y_pred_proba"]),
        place="salary_range",
        duration_us=30 * DAY,
        is_positive=lambda row: row["repaid"] == 1,
    ),
    "credit_card": Log(
        rows=stored("credit_card_multiclass.parquet"),
        model=f"{{task: multiclass, classes: [{', '.join(CARDS)}], segments: [channel], top_k: [1, 2], "
        f"at_k: [100, 0.01], costs: {[list(row) for row in CARD_COSTS]}",
        p=parameters(3, classes=CARDS, top_k=(1, 2), at_k=(100, 0.01), costs=CARD_COSTS),
        events="timezone: UTC, fields: {label: y_true, prediction: y_pred, segments: {channel: app_channel}, "
        "scores: {" + ", ".join(f"{card}: y_pred_proba_{card}" for card in CARDS) + "}}",
        time=text_time,
        read=single_label(CARDS, "y_true", "y_pred", [f"y_pred_proba_{card}" for card in CARDS]),
        place="app_channel",
        duration_us=30 * DAY,
    ),
    "multilabel": _made(MULTILABEL, None),
    "multilabel_logits": _made(f"{MULTILABEL}, scores: logit, temperature: 1.5", 1.5),
}
