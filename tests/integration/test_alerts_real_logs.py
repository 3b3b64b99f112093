"""Models that get worse at a known row of a real log: alerts fire there, from files and through a broker.

Needs the whole logs beside the checkout (`tests/support/logs.py`); of the samples only what is long enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.alerting import Present
from monitor.alerts.alert import Transition
from monitor.baseline import store_baseline
from monitor.clock import SystemClock
from monitor.config import Config, load_config
from monitor.deciding import Deciding
from monitor.events.position import OFFSET_BITS
from monitor.make_baseline import make_baseline
from monitor.pipeline import Pipeline
from monitor.replay import Replay
from tests.support.brokers import Broker
from tests.support.logs import CARDS, SAMPLES, WHOLE, Y2000
from tests.support.reading import reading

whole_logs = pytest.mark.skipif(not WHOLE.is_dir(), reason="needs the whole logs beside the checkout")

Happened = list[tuple[str, int]]
"""What became of the alert, and the id of the event that decided; silences are left out."""


class Drift(NamedTuple):
    """A log whose ids are its row numbers, how its model is configured, and a part with the change."""

    events: str
    model: str
    rule: Callable[[pa.Table], str]
    part: tuple[int, int]


def floor_of_first_year(log: pa.Table) -> float:
    """Return the recall of class 1 in the reference year, less 0.15."""
    rows = log.select(["year", "employed", "prediction"]).to_pylist()
    decided = [row["prediction"] for row in rows if (row["year"], row["employed"]) == (2015, 1)]
    return sum(decided) / len(decided) - 0.15


DRIFTS = {
    "credit_card_multiclass": Drift(
        "timezone: UTC, fields: {label: y_true, prediction: y_pred, scores: {"
        + ", ".join(f"{card}: y_pred_proba_{card}" for card in CARDS)
        + "}}",
        f"task: multiclass, classes: [{', '.join(CARDS)}]",
        lambda _: "metric: recall, class: prepaid_card, floor: 0.70, false_alarm_every: 10000",
        (84_000, 92_000),
    ),
    "car_loan": Drift(
        "timezone: UTC, fields: {label: repaid, score: y_pred_proba, prediction: y_pred}",
        "task: binary, classes: ['0', '1']",
        lambda _: "detector: calibration, baseline: first, false_alarm_every: 100000",
        (66_000, 79_000),
    ),
    "employment_ma": Drift(
        "fields: {label: employed, score: predicted_probability, prediction: prediction}",
        "task: binary, classes: ['0', '1']",
        lambda log: (
            f"metric: recall, class: '1', floor: {floor_of_first_year(log):.6f}, false_alarm_every: 10000"
        ),
        (200_000, 214_000),
    ),
}


def configured(name: str, folder: Path, log: pa.Table) -> Config:
    """Return the configuration; the baseline is made of the first 30,000 rows of the log."""
    drift = DRIFTS[name]
    text = f"kafka: {{bootstrap_servers: [b], topics: [{name}]}}\nevents: {{{drift.events}}}\n"
    text += f"models: {{m: {{{drift.model}, windows: []}}}}\n"
    rule = drift.rule(log)
    if "baseline" in rule:
        pq.write_table(log.slice(0, 30_000), folder / "first.parquet")
        made = make_baseline(load(folder, text), [folder / "first.parquet"])
        store_baseline(made, folder / "first.baseline")
        text += f"baselines: {{first: {folder / 'first.baseline'}}}\n"
    return load(folder, f"{text}alerts: {{rules: {{Drift: {{model: m, {rule}}}}}}}\n")


def load(folder: Path, text: str) -> Config:
    (folder / "monitor.yaml").write_text(text)
    return load_config(folder / "monitor.yaml", {})


def replayed(config: Config, path: Path, first: int = 0) -> Happened:
    """Return what happens in a file whose first row has a number."""
    replay = Replay(config, [path])
    replay.run()
    return [
        (t.change, first + replay.number(t.moment.position))
        for t in replay.transitions
        if t.change in ("firing", "resolved")
    ]


@pytest.fixture
def happened(tmp_path: Path) -> Callable[[str], Happened]:
    def found(name: str) -> Happened:
        path = WHOLE / f"{name}.parquet"
        return replayed(configured(name, tmp_path, pq.read_table(path)), path)

    return found


@whole_logs
def test_recall_of_a_class_falls(happened: Callable[[str], Happened]) -> None:
    ((change, row),) = happened("credit_card_multiclass")
    assert change == "firing"
    assert 90_000 <= row < 90_300


@whole_logs
def test_probabilities_lose_their_calibration(happened: Callable[[str], Happened]) -> None:
    (change, row), *_ = happened("car_loan")
    assert change == "firing"
    assert 70_000 <= row < 80_000


@whole_logs
@pytest.mark.slow
def test_a_model_fails_for_a_block_of_people(happened: Callable[[str], Happened]) -> None:
    (fired, start), (resolved, end) = happened("employment_ma")
    assert (fired, resolved) == ("firing", "resolved")
    assert 202_400 <= start < 202_700
    assert 212_450 <= end < 215_000


def test_a_sample_shows_it_too(tmp_path: Path) -> None:
    path = SAMPLES / "credit_card_multiclass.parquet"
    ((change, row),) = replayed(configured("credit_card_multiclass", tmp_path, pq.read_table(path)), path)
    assert change == "firing"
    assert 3_000 <= row < 3_400, "every 30th row: the change is at 3,000"


def consumed(config: Config, broker: Broker, topic: str, id_of: Callable[[int, int], int]) -> Happened:
    """Return what happens in a topic that is read to its end; `id_of` a partition and an offset."""
    pipeline = Pipeline(config, [topic], SystemClock())
    deciding = Deciding(pipeline)
    transitions: list[Transition] = []
    with reading(broker.settings, topic, topic) as reader:
        source = reader.source
        while not reader.caught_up():
            pipeline.apply(pipeline.decode(source.poll(0.2).batches))
            lagging = frozenset(partition for partition, records in source.lag().items() if records > 0)
            if source.assigned():
                pipeline.advance(lagging)
            transitions += deciding.turn(Present())
            source.hold(pipeline.ahead(lagging))
    pipeline.state.clocks.end()
    transitions += deciding.turn(Present())

    def id_at(position: int) -> int:
        partition = pipeline.decoder.positions.partition(position >> OFFSET_BITS).partition
        return id_of(partition, position & ((1 << OFFSET_BITS) - 1))

    return [(t.change, id_at(t.moment.position)) for t in transitions if t.change in ("firing", "resolved")]


def produce(broker: Broker, topic: str, rows: Sequence[dict[str, Any]], partitions: int) -> list[list[int]]:
    """Write rows to partitions in turn; return the ids that stand in each."""
    broker.create_topic(topic, partitions)
    ids = []
    for partition in range(partitions):
        mine = rows[partition::partitions]
        ids.append([row["id"] for row in mine])
        broker.produce_many(topic, ((json.dumps(row).encode(), None) for row in mine), partition)
    return ids


SHORT = [("credit_card_multiclass", 1), ("car_loan", 4), ("employment_ma", 12)]
LONG = pytest.mark.slow, pytest.mark.timeout(900)


def test_through_a_broker_a_sample_fires_at_the_same_event(embedded_broker: Broker, tmp_path: Path) -> None:
    name = "credit_card_multiclass"
    log = pq.read_table(SAMPLES / f"{name}.parquet")
    config = configured(name, tmp_path, log)
    from_file = replayed(config, SAMPLES / f"{name}.parquet")
    rows = [{**row, "id": number} for number, row in enumerate(log.to_pylist())]
    check(config, from_file, rows, embedded_broker, f"{name}.sample", 3)


@whole_logs
@pytest.mark.parametrize(
    ("name", "partitions"),
    [
        pytest.param(name, n, marks=() if (name, n) in SHORT else pytest.mark.slow)
        for name in DRIFTS
        for n in (1, 4, 12)
    ],
)
@pytest.mark.parametrize("extent", ["part", pytest.param("whole", marks=LONG)])
def test_through_a_broker_it_is_the_same_event(
    name: str, extent: str, partitions: int, embedded_broker: Broker, tmp_path: Path
) -> None:
    log = pq.read_table(WHOLE / f"{name}.parquet")
    first, last = DRIFTS[name].part if extent == "part" else (0, len(log))
    config = configured(name, tmp_path, log)
    part = log.slice(first, last - first)
    pq.write_table(part, tmp_path / "part.parquet")
    from_file = replayed(config, tmp_path / "part.parquet", first)
    rows = part.to_pylist()
    if "timestamp" not in rows[0]:  # a file without times: one row a millisecond
        for number, row in enumerate(rows):
            row["timestamp"] = Y2000 // 1000 + number
    check(config, from_file, rows, embedded_broker, f"{name}.{extent}.{partitions}", partitions)


def check(
    config: Config,
    from_file: Happened,
    rows: Sequence[dict[str, Any]],
    broker: Broker,
    topic: str,
    partitions: int,
) -> None:
    ids = produce(broker, topic, rows, partitions)
    assert from_file
    assert consumed(config, broker, topic, lambda p, offset: ids[p][offset]) == from_file
