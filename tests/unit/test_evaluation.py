"""From events to a report: every value of every window against the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from monitor.evaluation import Evaluation, Wanted, evaluate
from monitor.evaluation import evaluation as module
from monitor.events.batch import Columns, EventBatch, Span
from monitor.events.spec import ModelSpec
from monitor.events.vocabulary import Vocabulary
from monitor.metrics.catalog import CATALOG
from monitor.metrics.context import Context
from monitor.metrics.parameters import Parameters
from monitor.records import Partition
from monitor.report import CUMULATIVE, WindowReport
from monitor.state.store import State
from monitor.state.windows import Plan, WindowSpec
from tests.support.counts import parameters
from tests.support.oracle import expected, tolerance
from tests.support.streams import CPU, POSITIONS, TOPIC

SECOND = 1_000_000
WINDOWS = (
    WindowSpec("last_300", "events", 300),
    WindowSpec("100s", "duration", 100 * SECOND),
)


@dataclass(frozen=True)
class Stream:
    """Events of one model, a second apart; `segment` is the value of its only key."""

    p: Parameters
    y_true: np.ndarray
    y_score: np.ndarray
    y_pred: np.ndarray
    segment: np.ndarray
    logit: bool = False

    def spec(self, name: str) -> ModelSpec:
        return ModelSpec(
            name,
            self.p.task,
            self.p.classes,
            self.p.positive,
            thresholds=self.p.thresholds,
            scores="logit" if self.logit else "probability",
            top_k=self.p.top_k,
            segments=("region",),
        )

    def columns(self, place: int) -> Columns:
        n, many = len(self.y_true), self.p.task == "multilabel"
        decision = np.pad(self.y_pred, ((0, 0), (0, 1))) if many else self.y_pred
        codes = np.int8 if many else np.int16
        return Columns(
            timestamp=np.arange(n, dtype=np.int64) * SECOND,
            position=POSITIONS.base(TOPIC, 0) + place + np.arange(n, dtype=np.int64),
            label=self.y_true.astype(codes),
            decision=decision.astype(codes),
            score=self.y_score.astype(np.float32).reshape(n, -1),
            segments=self.segment.astype(np.int16)[:, None],
        )

    def oracle(self, rows: np.ndarray) -> dict:
        score, raw = self.y_score[rows], None
        if self.logit:
            raw = score.astype(np.float32)
            score = 1 / (1 + np.exp(-raw.astype(np.float64)))
        return expected(self.p, self.y_true[rows], score, self.y_pred[rows], raw)


def evaluated(streams: Mapping[str, Stream], wanted: Wanted | None = None) -> Evaluation:
    plans = {name: Plan(stream.spec(name), WINDOWS, 0, 1 << 18) for name, stream in streams.items()}
    state = State(plans, allowed_lateness=0, retire_after=10**15, device=CPU)
    place, batches = 0, {}
    for name, stream in streams.items():
        batches[name, "1"] = stream.columns(place)
        place += len(stream.y_true)
    last = max(len(stream.y_true) for stream in streams.values()) - 1
    state.apply(EventBatch(batches, (), {Partition(TOPIC, 0): Span(0, place, place, 0, last * SECOND)}))
    names = Vocabulary(2)
    for name in ("eu", "us"):
        names.code(name)
    return evaluate(state.view(), {name: s.p for name, s in streams.items()}, lambda *_: names, 0, wanted)


def check(stream: Stream, windows: list[WindowReport]) -> None:
    """Hold every value of a model's windows against the oracle."""
    n = len(stream.y_true)
    members = {"last_300": np.arange(n - 300, n), "100s": np.arange(n - 100, n), "all": np.arange(n)}
    assert [(w.window, w.segment) for w in windows] == [
        (window, segment) for window in members for segment in ("", "region=eu", "region=us")
    ]
    for window in windows:
        rows = members[window.window]
        if window.segment:
            rows = rows[stream.segment[rows] == (2 if window.segment == "region=eu" else 3)]
        assert window.events == window.labeled == len(rows)
        assert (window.curves is None) == bool(window.segment)
        compare(window, stream.oracle(rows))


def compare(window: WindowReport, oracle: dict) -> None:
    got = {(v.name, frozenset(v.labels.items())): v for v in window.values if v.value is not None}
    assert set(got) == set(oracle)
    for key, value in oracle.items():
        limit = tolerance(key, oracle)
        assert got[key].value == pytest.approx(value, abs=limit), (window.window, window.segment, key)
        assert got[key].resolution_error is None


def binary(prevalence: float, *, seed: int = 7, logit: bool = False, ties: bool = False, **changes) -> Stream:
    rng = np.random.default_rng(seed)
    y_true = (rng.random(1000) < prevalence).astype(int)
    score = np.clip(rng.normal(0.3 + 0.3 * y_true, 0.2), 0, 1)
    if ties:
        score = score.round(1)
    if logit:
        score = rng.normal(4 * y_true - 2, 2)
    p = parameters(at_k=(20, 0.05), min_recall=0.9, reference_prevalence=(0.1,), **changes)
    y_pred = (score.astype(np.float32) >= (0 if logit else np.float32(p.thresholds[0]))).astype(int)
    return Stream(p, y_true, score, y_pred, rng.integers(2, 4, 1000), logit)


def multiclass(*, seed: int = 8, n: int = 900) -> Stream:
    rng = np.random.default_rng(seed)
    y_true = rng.choice(4, size=n, p=[0.6, 0.3, 0.1, 0])  # the last class never occurs
    logits = rng.normal(size=(n, 4)) + 1.5 * (y_true[:, None] == np.arange(4))
    y_score = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    costs = tuple(tuple(float(abs(i - j)) for j in range(4)) for i in range(4))
    p = parameters(4, at_k=(20, 0.05), top_k=(1, 2), costs=costs, reference_prevalence=(0.1, 0.2, 0.3, 0.4))
    return Stream(p, y_true, y_score, y_score.argmax(1), rng.integers(2, 4, n))


def multilabel(*, seed: int = 9, logit: bool = False, n: int = 800) -> Stream:
    rng = np.random.default_rng(seed)
    y_true = (rng.random((n, 3)) < [0.5, 0.2, 0.02]).astype(int)
    score = rng.normal(2 * y_true - 1.5, 1)
    thresholds = (0.5, 0.25, 0.75)
    if not logit:
        score = 1 / (1 + np.exp(-score))
    limits = np.log(np.divide(thresholds, np.subtract(1, thresholds))) if logit else thresholds
    p = parameters(
        3, task="multilabel", thresholds=thresholds, at_k=(20, 0.05), min_recall=0.9,
        reference_prevalence=(0.1, 0.2, 0.3),
    )  # fmt: skip
    y_pred = (score.astype(np.float32) >= limits).astype(int)
    return Stream(p, y_true, score, y_pred, rng.integers(2, 4, n), logit)


@pytest.mark.parametrize(
    ("prevalence", "ties"), [(0.5, False), (0.5, True), (0.02, False), (0.0, True), (1.0, False)]
)
def test_binary_windows_equal_the_oracle(prevalence: float, ties: bool) -> None:
    stream = binary(prevalence, ties=ties)
    found = evaluated({"m": stream})
    assert not found.failures
    check(stream, list(found.report.windows))


@pytest.mark.parametrize(
    "stream",
    [multiclass(), multilabel(), multilabel(logit=True), binary(0.3, logit=True)],
    ids=["multiclass", "multilabel", "multilabel_logit", "binary_logit"],
)
def test_windows_of_other_tasks_equal_the_oracle(stream: Stream) -> None:
    found = evaluated({"m": stream})
    assert not found.failures
    check(stream, list(found.report.windows))


def same(windows: Sequence[WindowReport], others: Sequence[WindowReport]) -> None:
    """Fail where windows differ in more than the last digits of floats: sums depend on the padding."""
    plain = {"values": (), "curves": None}
    assert [replace(w, **plain) for w in windows] == [replace(w, **plain) for w in others]
    for window, other in zip(windows, others, strict=True):
        assert [v._replace(value=0, intervals=()) for v in window.values] == [
            v._replace(value=0, intervals=()) for v in other.values
        ]
        np.testing.assert_allclose(numbers(window), numbers(other), rtol=1e-10, atol=1e-12)


def numbers(window: WindowReport) -> list[float]:
    """Return values and bounds, NaN for none."""
    values = [np.nan if v.value is None else v.value for v in window.values]
    return values + [bound for v in window.values for i in v.intervals for bound in i[1:]]


def test_models_of_every_kind_are_evaluated_together_as_alone() -> None:
    streams = {
        "c": binary(0.4),
        "a": binary(0.1, seed=1, costs=(9.0, 2.0), thresholds=(0.25,)),
        "e": multilabel(n=1000),
        "b": binary(0.3, logit=True),
        "d": binary(0.2, seed=2, max_fpr=(0.2,)),
        "f": multiclass(n=1000),
    }
    found = evaluated(streams)
    assert not found.failures
    windows = found.report.windows
    assert list(dict.fromkeys(w.model for w in windows)) == sorted(streams)
    for name, stream in streams.items():
        same([w for w in windows if w.model == name], evaluated({name: stream}).report.windows)


@pytest.mark.parametrize("cells", [1, 2000])
def test_small_batches_give_the_same_report(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    streams = {name: binary(0.3, seed=seed) for seed, name in enumerate("abc")}
    whole = evaluated(streams).report.windows
    monkeypatch.setattr("monitor.evaluation.batches._CELLS_AT_ONCE", cells)
    monkeypatch.setattr("monitor.evaluation.batches.EVENTS_AT_ONCE", cells)
    same(evaluated(streams).report.windows, whole)


def test_a_window_says_what_it_is_about() -> None:
    stream = multilabel()
    window = evaluated({"m": stream}).report.windows[0]
    assert (window.task, window.classes, window.thresholds) == (
        "multilabel",
        ("0", "1", "2"),
        (0.5, 0.25, 0.75),
    )
    assert (window.costs, window.positive_class) == ((5.0, 1.0), None)
    assert (window.start, window.end, window.complete) == (500 * SECOND, 799 * SECOND, True)
    assert len(window.confusions) == 3
    assert window.decisions == ("0", "1")
    assert window.support == tuple(stream.y_true[-300:].sum(0))


def test_a_window_names_the_columns_of_its_matrix() -> None:
    stream = binary(0.3, classes=("good", "other"))
    assert evaluated({"m": stream}).report.windows[0].decisions == ("good", "other", "(other)")


def test_a_value_says_why_it_has_no_interval() -> None:
    (window, *_) = evaluated({"m": binary(0.02)}).report.windows
    recall = window.find("classifier_recall", class_="1")
    assert [i.method for i in recall.intervals] == ["wilson"]
    assert recall.no_interval is None
    assert recall.low_support
    balanced = window.find("classifier_balanced_accuracy")
    assert (balanced.intervals, balanced.no_interval) == ((), "no_interval_method")
    for value in window.values:
        assert (value.value is None) == (value.undefined is not None)
        assert (value.value is None or bool(value.intervals)) == (value.no_interval is None)


def test_curves_are_those_of_the_window() -> None:
    stream = binary(0.3)
    window = evaluated({"m": stream}).report.windows[0]
    curves = window.curves
    assert curves.threshold.shape[0] == 1
    assert curves.positives[0] == stream.y_true[-300:].sum() == curves.true_positives[0, -1]
    best = {b.criterion: b for b in curves.best_thresholds(0)}
    assert set(best) == {"cost", "f1", "min_fpr_at_recall"}
    for criterion, found in best.items():
        value = window.find("classifier_best_threshold", class_="1", criterion=criterion)
        assert found.threshold == value.value
        assert found.cross_validated_value is not None


def broken(_: object) -> None:
    raise ValueError("broken")


def test_what_fails_is_absent_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Context.shared
    family = next(m for m in CATALOG if m.name == "classifier_roc_auc")

    def shared(self: Context, function: object) -> object:
        return broken(function) if function is family.compute else original(self, function)

    monkeypatch.setattr(Context, "shared", shared)
    monkeypatch.setattr(module, "curves", broken)
    found = evaluated({"m": binary(0.3)})
    assert set(found.failures) >= {"classifier_roc_auc", "curves"}
    (window, *_) = found.report.windows
    assert window.curves is None
    assert not [v for v in window.values if v.name == "classifier_roc_auc"]
    assert window.find("classifier_recall", class_="1") is not None


WRONG = {
    "label sets": lambda of_family: replace(of_family, labels=of_family.labels * 2),
    "interval methods": lambda of_family: replace(
        of_family, interval=replace(of_family.interval, method=("wilson", "effective_n", "wilson"))
    ),
}


@pytest.mark.parametrize("part", WRONG)
def test_a_family_whose_parts_do_not_fit_fails_alone(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    original = Context.shared
    family = next(m for m in CATALOG if m.name == "classifier_recall")

    def shared(self: Context, function: object) -> object:
        found = original(self, function)
        return WRONG[part](found) if function is family.compute else found

    stream = binary(0.3)
    (sound, *_) = evaluated({"m": stream}).report.windows
    monkeypatch.setattr(Context, "shared", shared)
    found = evaluated({"m": stream})
    assert found.failures.keys() == {"classifier_recall"}
    assert part in str(found.failures["classifier_recall"])
    (window, *_) = found.report.windows
    assert window.values == tuple(v for v in sound.values if v.name != "classifier_recall")


@pytest.mark.parametrize("part", ["curves", "metric"])
def test_a_full_device_is_the_callers_problem(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("full")

    if part == "curves":
        monkeypatch.setattr(module, "curves", full)
    else:
        monkeypatch.setattr(Context, "shared", full)
    with pytest.raises(torch.OutOfMemoryError):
        evaluated({"m": binary(0.3)})


@pytest.mark.parametrize("cumulative", [False, True])
@pytest.mark.parametrize("segments", [False, True])
def test_only_what_is_wanted_is_evaluated_and_is_the_same(cumulative: bool, segments: bool) -> None:
    stream = binary(0.3)
    families = frozenset({"classifier_recall", "classifier_brier_score"})
    wanted = Wanted(families, cumulative=cumulative, segments=segments)
    whole = evaluated({"m": stream}).report.windows
    found = evaluated({"m": stream}, wanted).report.windows
    expected = [
        replace(window, curves=None, values=tuple(v for v in window.values if v.name in families))
        for window in whole
        if (cumulative or window.window != CUMULATIVE) and (segments or not window.segment)
    ]
    assert list(found) == expected
    assert {w.window for w in found} == {w.name for w in WINDOWS} | ({CUMULATIVE} if cumulative else set())
    assert any(w.segment for w in found) == segments
    assert {v.name for w in found for v in w.values} == families


def test_before_the_first_event_there_is_nothing() -> None:
    plan = Plan(binary(0.5).spec("m"), WINDOWS, 0, 1 << 18)
    state = State({"m": plan}, allowed_lateness=0, retire_after=10**15, device=CPU)
    found = evaluate(state.view(), {"m": parameters()}, lambda *_: Vocabulary(1), 5)
    assert (found.report.windows, found.report.evaluated_at, list(found.settled)) == ((), 5, [])
