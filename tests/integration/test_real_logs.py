"""Prediction logs through a broker: every number of every window against the oracle.

Three are real: samples are in tests/data, the whole logs, which take minutes, may lie beside the checkout.
Two are made: a multilabel one with probabilities and with logits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.brokers import Broker
from tests.support.daemons import running
from tests.support.logs import LOGS, SAMPLES, WHOLE, Log
from tests.support.oracle import expected, tolerance

PARTITIONS = 3
LARGE_RESOLUTION = {"classifier_recall_at_fpr": 5e-3, "classifier_precision_at_k": 1e-2}
"""Families whose proven error may be larger than 2e-3 where scores are binned."""

WITHOUT_RESOLUTION = {
    "classifier_best_threshold": 1e-3,
    "classifier_calibration_slope": 1e-4,
    "classifier_calibration_intercept": 1e-4,
}
"""How far families without a proven error may then be off."""

CONFIGURATION = """
kafka: {{bootstrap_servers: ["{address}"], topics: [{topic}], group_id: {topic}, start: earliest,
        receive_message_max_bytes: 2147483647}}
events: {{{events}}}
models:
  {topic}: {model}, windows: [{windows}]}}
evaluation: {{every: 1s}}
server: {{port: 0}}
export: {{families: all, segments: all, max_series: 100000}}
"""


LONG = (
    pytest.mark.slow,
    pytest.mark.skipif(not WHOLE.is_dir(), reason="needs the whole logs beside the checkout"),
)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        *(pytest.param(name, SAMPLES, id=name) for name in LOGS),
        *(
            pytest.param(name, WHOLE, id=f"{name}-whole", marks=LONG)
            for name in ("employment", "car_loan", "credit_card")
        ),
    ],
)
@pytest.mark.timeout(600)
def test_every_value_equals_the_oracle(
    name: str, folder: Path, embedded_broker: Broker, tmp_path: Path
) -> None:
    log = LOGS[name]
    rows = log.rows(folder)
    ordered = in_order(rows, log)
    topic = f"{name}-{len(rows)}"
    embedded_broker.create_topic(topic, partitions=PARTITIONS, retention_ms="-1")
    for partition in range(PARTITIONS):
        embedded_broker.produce_many(
            topic,
            (
                (message(row), log.time(row) // 1000 if log.record_time else None)
                for row in rows[partition::PARTITIONS]
            ),
            partition,
        )
    last = min(10_000, len(rows) // 2)
    windows = [f"{{name: last_10k, events: {last}}}"]
    windows.append(f"{{name: recent, duration: {log.duration_us // 1_000_000}s}}")
    if log.is_positive is not None:
        windows.append("{name: last_500_positives, positives: 500}")
    configuration = CONFIGURATION.format(
        address=embedded_broker.address,
        topic=topic,
        events=log.events,
        model=log.model,
        windows=", ".join(windows),
    )
    with running(configuration, tmp_path) as daemon:
        daemon.wait_for_records(len(rows), 300)
        (version,) = daemon.json("/api/v1/models")["models"][0]["versions"]
        reports = [
            report
            for segment in version["segments"]
            for report in daemon.json("/api/v1/report?" + urlencode({"segment": segment}))["reports"]
        ]
        scraped = scrape(daemon.get("/metrics").decode())

    names = ["last_10k", "recent", "all"] + (["last_500_positives"] if log.is_positive is not None else [])
    members = {window: of_window(window, ordered, log, last) for window in names}
    seen = set()
    for window in reports:
        part = members[window["window"]]
        if window["segment"]:
            value = window["segment"].partition("=")[2]
            part = [row for row in part if row[log.place] == value]
        assert window["events"] == window["labeled"] == len(part)
        assert window["complete"]
        true, score, decided, raw = log.read(part)
        check_values(window, expected(log.p, true, score, decided, raw), scraped)
        seen.add((window["window"], bool(window["segment"])))
    assert seen == {(w, s) for w in members for s in (False, True)}


def in_order(rows: list[dict[str, Any]], log: Log) -> list[dict[str, Any]]:
    for i, row in enumerate(rows):
        row["row"] = i
    return sorted(rows, key=lambda row: (log.time(row), row["row"] % PARTITIONS, row["row"]))


def message(row: dict[str, Any]) -> bytes:
    return json.dumps({key: value for key, value in row.items() if key != "row"}).encode()


def of_window(window: str, ordered: list[dict[str, Any]], log: Log, last: int) -> list[dict[str, Any]]:
    if window == "all":
        return ordered
    if window == "last_10k":
        return ordered[-last:]
    if window == "recent":
        end = log.time(ordered[-1])
        return [row for row in ordered if log.time(row) > end - log.duration_us]
    positives = [i for i, row in enumerate(ordered) if log.is_positive(row)]
    return ordered[positives[-500] :]


def check_values(window: dict[str, Any], oracle: dict[Any, float], scraped: dict[Any, float]) -> None:
    scope = {k: window[k] for k in ("model", "version", "window", "segment")}
    got = {}
    for metric in window["metrics"]:
        if metric["value"] is None:
            continue
        labels = frozenset((k, v) for k, v in metric["labels"].items() if k not in scope)
        got[metric["name"], labels] = metric
        exported = scraped.get((metric["name"], frozenset(metric["labels"].items())))
        if metric["name"] != "classifier_window_confusions" or metric["value"]:
            assert exported == metric["value"], (metric, exported)
    assert set(got) == set(oracle)
    binned = any("resolution_error" in metric for metric in got.values())
    assert not binned or window["window"] == "all"
    for key, value in oracle.items():
        resolution = got[key].get("resolution_error", 0.0)
        assert resolution < LARGE_RESOLUTION.get(key[0], 2e-3), (scope, key)
        error = tolerance(key, oracle) + resolution
        if binned:
            error += WITHOUT_RESOLUTION.get(key[0], 0.0)
        assert got[key]["value"] == pytest.approx(value, abs=error), (scope, key)


def scrape(text: str) -> dict[Any, float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
