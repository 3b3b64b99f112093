"""Pipelines with alert rules over made streams: read in any pieces, cut off and restored anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from monitor.alert_assembly import Champions
from monitor.alerting import Alerting, Present
from monitor.alerts.alert import Alert, Key, Transition
from monitor.checkpoint.format import decode, encode
from monitor.clock import ManualClock
from monitor.config import Config
from monitor.deciding import Deciding, Run, at_once
from monitor.evaluation import Evaluation
from monitor.memory.cut import cut
from monitor.memory.restore import Past, restore
from monitor.pipeline import Pipeline
from monitor.records import Partition, RecordBatch
from tests.support.records import RECORD_MS, Raw, raw

START = RECORD_MS / 1000 - 30_000
"""Event time, in seconds, from which on made events count."""

MODELS: Mapping[str, Any] = {
    "fraud": {
        "task": "binary",
        "classes": ["legit", "fraud"],
        "segments": ["region"],
        "windows": [{"name": "last_50", "events": 50}, {"name": "1m", "duration": "1m"}],
    }
}
RULES: Mapping[str, Any] = {
    "Recall": {"model": "fraud", "metric": "recall", "floor": 0.7, "false_alarm_every": 50},
    "RecallOfRegion": {
        "model": "fraud",
        "metric": "recall",
        "segment": "region=*",
        "floor": 0.7,
        "false_alarm_every": 10,
    },
    "Calibration": {"model": "fraud", "detector": "calibration", "false_alarm_every": 200},
    "Cost": {"model": "fraud", "metric": "brier_score", "ceiling": 0.3, "false_alarm_every": 50},
    "Accuracy": {
        "model": "fraud",
        "metric": "accuracy",
        "floor": 0.85,
        "condition": "interval",
        "window": "last_50",
    },
    "Precision": {
        "model": "fraud",
        "metric": "precision",
        "floor": 0.75,
        "condition": "value",
        "window": "1m",
        "min_support": 5,
        "for": 2,
        "hysteresis": 0.05,
    },
    "Best": {
        "model": "fraud",
        "metric": "recall",
        "floor": "best",
        "margin": 0.1,
        "condition": "value",
        "window": "last_50",
        "undefined_for": "20s",
    },
}
"""Of every kind, and quick to judge."""


def configured(rules: Mapping[str, Any] = RULES, *, limits: Any = None, **changes: Any) -> Config:
    """Return a configuration with these rules; further keywords are options of `alerts`, or `models`."""
    return Config.model_validate(
        {
            "kafka": {"bootstrap_servers": ["localhost:9092"], "topics": changes.pop("topics", ["t"])},
            "models": changes.pop("models", MODELS),
            "alerts": {"every": "10s", "no_data_after": "2m", "rules": rules, **changes},
            "events": {"allowed_lateness": "5s"},
            "limits": limits or {},
            "evaluation": {"device": "cpu"},
        }
    )


def event(seconds: float, label: str = "fraud", score: float = 0.9, **fields: Any) -> dict[str, Any]:
    """Return one event of model "fraud", version "1"."""
    return {
        "model": "fraud",
        "version": "1",
        "timestamp": round(START + seconds, 3),
        "label": label,
        "score": score,
        **fields,
    }


def stream(
    *phases: tuple[int, float], seed: int = 0, start: float = 0.0, every: float = 1.0, **fields: Any
) -> list[dict[str, Any]]:
    """Return events, one a second: of each phase so many, with such a recall and as many false alarms."""
    rng = np.random.default_rng(seed)
    made = []
    time = start
    for n, recall in phases:
        for _ in range(n):
            time += every
            fraud, right = rng.random() < 0.5, rng.random() < recall
            score = (0.8 if fraud == right else 0.2) + 0.15 * rng.random()
            region = ("eu", "us")[int(rng.integers(2))]
            made.append(
                event(time, ("legit", "fraud")[fraud], round(score, 3), segments={"region": region}) | fields
            )
    return made


DRIFT = ((150, 0.95), (120, 0.5), (200, 0.97))
"""Phases of a stream that goes wrong, and right again."""

Log = Mapping[Partition, Sequence[Raw]]
PARTITION = Partition("t", 0)


def log_of(values: Iterable[Any], number: Callable[[int], int] = lambda _: 0, topic: str = "t") -> Log:
    """Return a log with these values; `number` returns the partition of the i-th."""
    found: dict[Partition, list[Raw]] = {}
    for i, value in enumerate(values):
        records = found.setdefault(Partition(topic, number(i)), [])
        written = value if isinstance(value, bytes) else json.dumps(value).encode()
        records.append(raw(len(records), written))
    return found


class Reading:
    """Reads a log through a pipeline and decides, as the daemon does.

    Parameters
    ----------
    config
        The configuration.
    run
        As `Deciding` takes it.
    champions
        As `Pipeline` takes them.

    Attributes
    ----------
    transitions
        What happened so far, also before a restart.
    present
        How far reading is said to be.
    pipeline, deciding
        Since the last restart.
    """

    def __init__(self, config: Config, run: Run = at_once, champions: Champions | None = None) -> None:
        self.config = config
        self.present = Present()
        self.transitions: list[Transition] = []
        clock = ManualClock(RECORD_MS * 1000)
        self.pipeline = Pipeline(config, config.kafka.topics, clock, champions=champions)
        self._run, self._champions = run, champions
        self.deciding = Deciding(self.pipeline, run)

    @property
    def alerting(self) -> Alerting:
        """The alerts of the pipeline."""
        assert self.pipeline.alerting is not None
        return self.pipeline.alerting

    def read(self, *batches: RecordBatch, lagging: Collection[Partition] = ()) -> list[Transition]:
        """Take in what a poll brought, and decide."""
        self.pipeline.apply(self.pipeline.decode(batches))
        self.pipeline.advance(lagging)
        return self.decide()

    def decide(self) -> list[Transition]:
        """Decide about what was read."""
        found = self.deciding.turn(self.present)
        self.transitions += found
        return found

    def read_on(self, *values: Any) -> list[Transition]:
        """Read further values from partition 0, and decide."""
        (records,) = log_of(values).values()
        first = self.position(PARTITION)
        moved = [record._replace(offset=first + i) for i, record in enumerate(records)]
        return self.read(RecordBatch(PARTITION, moved))

    def read_all(
        self, log: Log, sizes: Iterator[int] | None = None, most: int | None = None
    ) -> list[Transition]:
        """Read a log from where reading is to its end, aligned by event time; return what happened.

        Parameters
        ----------
        log
            It may have grown since the last call.
        sizes
            How many records of the next partition a poll brings; all by default.
        most
            Number of polls after which it is enough.
        """
        before = len(self.transitions)
        lagging = self._lagging(log)
        while lagging and most != 0:
            most = None if most is None else most - 1
            waiting = self.pipeline.ahead(lagging)
            batches = []
            for partition in sorted(lagging - waiting):
                first = self.position(partition)
                records = log[partition][first:][: None if sizes is None else next(sizes)]
                if records:
                    batches.append(RecordBatch(partition, records))
            lagging = self._read(log, batches)
        return self.transitions[before:]

    def _read(self, log: Log, batches: Sequence[RecordBatch]) -> frozenset[Partition]:
        self.pipeline.apply(self.pipeline.decode(batches))
        lagging = self._lagging(log)
        self.pipeline.advance(lagging)
        self.decide()
        return lagging

    def _lagging(self, log: Log) -> frozenset[Partition]:
        return frozenset(p for p, records in log.items() if self.position(p) < len(records))

    def position(self, partition: Partition) -> int:
        """Return how many records of a partition were read."""
        return self.pipeline.state.next_offsets.get(partition, 0)

    def evaluate(self) -> None:
        """Evaluate what is shown, and keep what was settled for it, as the evaluator does."""
        self.pipeline.adopt(self.pipeline.evaluate(self.pipeline.snapshot()))

    def restart(self, config: Config | None = None) -> Past:
        """Go on from a checkpoint, maybe with another configuration, as another process would."""
        tree = decode(b"".join(encode(cut(self.pipeline, {"t": "an-id"}).tree())))
        past = restore(tree, config or self.config, self.pipeline.clock, self._champions)
        self.pipeline = past.pipeline
        self.deciding = Deciding(self.pipeline, self._run)
        return past

    def alerts(self) -> dict[Key, Alert]:
        """Return every alert as it is now."""
        return {alert.key: alert for alert in self.alerting.view().alerts}

    def alert(self, name: str, version: str = "1", segment: str = "") -> Alert:
        """Return the alert of a rule."""
        (found,) = (
            alert
            for key, alert in self.alerts().items()
            if (key.alert, key.version, key.segment) == (name, version, segment)
        )
        return found


class Later:
    """Runs evaluations when a test says so: `Later` is what `Deciding` calls."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[], Evaluation], Future[Evaluation]]] = []

    def __call__(self, evaluate: Callable[[], Evaluation]) -> Future[Evaluation]:
        future: Future[Evaluation] = Future()
        self._waiting.append((evaluate, future))
        return future

    def __len__(self) -> int:
        return len(self._waiting)

    def forget(self) -> None:
        """Let what waits go, as the end of the process does."""
        self._waiting.clear()

    def finish(self) -> bool:
        """Run what waits; return whether anything did."""
        waiting, self._waiting = self._waiting, []
        for evaluate, future in waiting:
            future.set_result(evaluate())
        return bool(waiting)


def happened(transitions: Iterable[Transition]) -> list[tuple[str, str, float]]:
    """Return the alerts, what became of them, and when, in seconds."""
    return [(t.key.alert, t.change, round(t.moment.timestamp / 1e6 - START, 3)) for t in transitions]
