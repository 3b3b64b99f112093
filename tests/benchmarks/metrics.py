"""Time of all metrics with analytic intervals of 1, 10, 100 and 500 models, in one evaluation each.

Every model has one binary window and the cumulative state of the same events. Two times: of all metrics of
the windows alone, from columns to values; and of `evaluate`, which adds the cumulative state and the
curves that people draw. Beside them scikit-learn's for seven of the metrics, without intervals, in the
same run.

Run from the repository: python -m tests.benchmarks.metrics [events of a window] [share of positives]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from sklearn import metrics as sklearn_metrics

from monitor.daemon import collect_rarely
from monitor.evaluation import evaluate
from monitor.evaluation.batches import batches
from monitor.evaluation.spans import spans
from monitor.evaluation.values import family_values
from monitor.events.batch import Columns, EventBatch
from monitor.events.spec import ModelSpec
from monitor.metrics.catalog import compute_all
from monitor.metrics.context import Context
from monitor.metrics.parameters import Parameters
from monitor.state.store import State
from monitor.state.windows import Plan, WindowSpec

MODELS = (1, 10, 100, 500)
SETTINGS = {"max_fpr": (0.05, 0.1), "costs": (40.0, 1.0), "at_k": (100, 0.01), "min_recall": 0.9}


def sample(n: int, prevalence: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and continuous scores of a calibrated-looking model with a ROC AUC of .97."""
    random = np.random.default_rng(seed)
    y_true = (random.random(n) < prevalence).astype(np.int16)
    logit = np.where(y_true == 1, random.normal(0.3, 1.5, n), random.normal(-3.5, 1.3, n))
    return y_true, (1 / (1 + np.exp(-logit))).astype(np.float32)


def columns(y_true: np.ndarray, score: np.ndarray) -> Columns:
    """Return them as decoded events."""
    place = np.arange(len(y_true), dtype=np.int64)
    decision = (score >= 0.5).astype(np.int16)
    return Columns(place, place, y_true, decision, score[:, None], np.zeros((len(y_true), 0), np.int16))


def filled(models: int, n: int, prevalence: float) -> tuple[State, dict[str, Parameters]]:
    """Return a state of so many models, each with its own name, threshold and costs."""
    plans, parameters, events = {}, {}, {}
    for i in range(models):
        name, classes, threshold = f"m{i}", (f"legit {i}", f"fraud {i}"), (0.5 + i / 10_000,)
        spec = ModelSpec(name, "binary", classes, positive=1, thresholds=threshold)
        plans[name] = Plan(spec, (WindowSpec("last", "events", n),), 0, n)
        parameters[name] = Parameters("binary", classes, 1, threshold, **SETTINGS)  # type: ignore[arg-type]
        events[name, "1"] = columns(*sample(n, prevalence, i))
    state = State(plans, allowed_lateness=0, retire_after=10**15, device=torch.device("cpu"))
    state.apply(EventBatch(events))
    state.clocks.watermark = n
    return state, parameters


def milliseconds(function: Callable[[], object], repeats: int) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1000 * median(times)


def windows_alone(state: State, parameters: dict[str, Parameters]) -> int:
    """Compute every metric of the sliding windows; return how many values there are."""
    view = state.view()
    settled = [(version, version.base) for version in view.versions]
    values = 0
    for batch in batches([span for span in spans(view, settled) if span.events is not None], parameters):
        for metric, outcome in compute_all(Context(batch.counts, batch.parameters)):
            if isinstance(outcome, Exception):
                raise outcome
            of_cases = family_values(metric.name, outcome, batch.parameters, range(len(batch.cases)))
            values += sum(map(len, of_cases))
    return values


def by_scikit_learn(y_true: np.ndarray, score: np.ndarray) -> None:
    """Compute seven metrics."""
    y_pred = score >= 0.5
    sklearn_metrics.roc_auc_score(y_true, score)
    sklearn_metrics.average_precision_score(y_true, score)
    sklearn_metrics.roc_auc_score(y_true, score, max_fpr=0.1)
    sklearn_metrics.brier_score_loss(y_true, score)
    sklearn_metrics.log_loss(y_true, score)
    sklearn_metrics.recall_score(y_true, y_pred)
    sklearn_metrics.precision_score(y_true, y_pred)


def main(n: int, prevalence: float) -> None:
    """Print times and ratios."""
    torch.set_num_threads(1)
    collect_rarely()  # as the daemon does
    y_true, score = sample(n, prevalence, 0)
    theirs = milliseconds(lambda: by_scikit_learn(y_true, score), 15)
    print(f"windows of {n} events, {prevalence:.0%} positive, one thread")
    print(f"scikit-learn, seven metrics of one window: {theirs:.1f} ms")
    for models in MODELS:
        state, parameters = filled(models, n, prevalence)
        for version, settled in evaluate(state.view(), parameters, _no_segments, 0).settled:
            state.adopt(version, settled)
        values = windows_alone(state, parameters)
        repeats = 5 if models > 10 else 15
        alone = milliseconds(lambda state=state, p=parameters: windows_alone(state, p), repeats)
        whole = milliseconds(
            lambda state=state, p=parameters: evaluate(state.view(), p, _no_segments, 0), repeats
        )
        print(
            f"{models:>4} models: windows alone {alone:8.1f} ms, {alone / models:6.2f} ms a model, {values} "
            f"values, scikit-learn takes {theirs * models / alone:4.1f} times as long for its seven; "
            f"whole evaluation {whole:8.1f} ms"
        )


def _no_segments(model: str, key: str) -> object:
    raise KeyError(model, key)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 10_000,
        float(sys.argv[2]) if len(sys.argv) > 2 else 0.05,
    )
