"""From events to a report: every value of every window against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.evaluation import evaluate
from monitor.events.batch import Columns, EventBatch, Span
from monitor.events.spec import ModelSpec
from monitor.events.vocabulary import Vocabulary
from monitor.metrics.outcome import Parameters
from monitor.records import Partition
from monitor.report import WindowReport
from monitor.state.store import State
from monitor.state.windows import Plan, WindowSpec
from tests.support.oracle import expected
from tests.support.streams import CPU, POSITIONS, TOPIC

SECOND = 1_000_000
WINDOWS = (
    WindowSpec("last_300", "events", 300),
    WindowSpec("100s", "duration", 100 * SECOND),
)
NOT_IN_ORACLE = {"classifier_threshold", "classifier_low_support", "classifier_classes_defined"}


def report_of(classes, positive, y_true, y_score, y_pred, *, spec_windows=WINDOWS) -> list[WindowReport]:
    spec = ModelSpec("m", "binary" if positive is not None else "multiclass", classes, positive)
    state = State(
        {"m": Plan(spec, spec_windows, 0, 1 << 18)}, allowed_lateness=0, retire_after=10**15, device=CPU
    )
    score = y_score.astype(np.float32).reshape(len(y_true), -1)
    codes = np.array(spec.scored)
    clipped = score.astype(np.float64).clip(2**-24, 1 - 2**-24)
    loss = -np.log(np.where(y_true[:, None] == codes, clipped, 1 - clipped))
    n = len(y_true)
    columns = Columns(
        timestamp=np.arange(n, dtype=np.int64) * SECOND,
        position=POSITIONS.base(TOPIC, 0) + np.arange(n, dtype=np.int64),
        label=y_true.astype(np.int16),
        decision=y_pred.astype(np.int16),
        score=score,
        loss=np.rint(loss * 2**26).astype(np.int32),
        segments=np.zeros((n, 0), np.int16),
    )
    spans = {Partition(TOPIC, 0): Span(0, n, n, 0, (n - 1) * SECOND)}
    state.apply(EventBatch({("m", "1"): columns}, (), spans))
    parameters = Parameters(classes, positive, 0.5, (0.05, 0.1), 2.0 if positive is not None else None, 0.95)
    found = evaluate(state.view(), {"m": parameters}, lambda *_: Vocabulary(1), 0)
    assert not found.failures
    return list(found.report.windows)


def compare(window: WindowReport, oracle: dict) -> None:
    got = {
        (v.name, frozenset(v.labels.items())): v.value
        for v in window.values
        if v.value is not None and v.name not in NOT_IN_ORACLE
    }
    assert set(got) == set(oracle)
    for key, value in oracle.items():
        tolerance = 1e-7 if key[0] == "classifier_log_loss" else 1e-9
        assert got[key] == pytest.approx(value, abs=tolerance), key


@pytest.mark.parametrize("prevalence", [0.5, 0.02, 0.0, 1.0])
def test_binary_windows_equal_the_oracle(prevalence: float) -> None:
    rng = np.random.default_rng(7)
    y_true = (rng.random(1000) < prevalence).astype(int)
    y_score = np.clip(rng.normal(0.3 + 0.3 * y_true, 0.2), 0, 1)
    y_pred = (y_score.astype(np.float32) >= np.float32(0.5)).astype(int)
    reports = {w.window: w for w in report_of(("neg", "pos"), 1, y_true, y_score, y_pred)}
    for name, n in (("last_300", 300), ("100s", 100), ("all", 1000)):
        assert reports[name].events == n
        compare(reports[name], expected(("neg", "pos"), 1, y_true[-n:], y_score[-n:], y_pred[-n:], beta=2.0))


def test_multiclass_windows_equal_the_oracle() -> None:
    rng = np.random.default_rng(8)
    classes = ("a", "b", "c", "d")
    y_true = rng.choice(4, size=900, p=[0.6, 0.3, 0.1, 0])  # d never occurs
    logits = rng.normal(size=(900, 4)) + 1.5 * (y_true[:, None] == np.arange(4))
    y_score = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    y_pred = y_score.argmax(1)
    reports = {w.window: w for w in report_of(classes, None, y_true, y_score, y_pred)}
    for name, n in (("last_300", 300), ("100s", 100), ("all", 900)):
        compare(reports[name], expected(classes, None, y_true[-n:], y_score[-n:], y_pred[-n:]))
    assert [w.window for w in report_of(classes, None, y_true, y_score, y_pred)] == [
        "last_300",
        "100s",
        "all",
    ]
