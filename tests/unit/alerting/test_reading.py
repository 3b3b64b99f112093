"""The same stream raises the same alerts at the same events, however it is read."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from monitor.alerting import Present
from monitor.alerts.alert import Transition
from monitor.records import RecordBatch
from tests.support.alerting import (
    DRIFT,
    MODELS,
    PARTITION,
    RULES,
    START,
    Later,
    Log,
    Reading,
    configured,
    event,
    happened,
    log_of,
    stream,
)
from tests.support.digest import alerts

EXAMPLES = settings(max_examples=4, phases=[Phase.explicit, Phase.reuse, Phase.generate])
"""None is looked for that is simpler: each takes a second."""

EVERY_KIND = {
    **RULES,
    "Challenger": {
        "model": "*",
        "metric": "recall",
        "class": "fraud",
        "compare_to": "champion",
        "margin": 0.02,
        "false_alarm_every": 10,
    },
    "Older": {
        "model": "fraud",
        "metric": "accuracy",
        "condition": "value",
        "window": "last_50",
        "compare_to": {"window": "5m"},
        "margin": 0.1,
    },
    "AnySegment": {
        "model": "*",
        "metric": "accuracy",
        "segment": "region=*",
        "floor": 0.8,
        "condition": "value",
        "window": "1m",
        "for": "20s",
        "cooldown": "1m",
        "min_support": 5,
    },
    "Panes": {
        "model": "fraud",
        "metric": "accuracy",
        "floor": 0.7,
        "false_alarm_every": 10,
        "observation": 7,
    },
    "Patient": {
        "model": "fraud",
        "metric": "specificity",
        "floor": 0.7,
        "false_alarm_every": 20,
        "cooldown": "1m",
        "undefined_for": "30s",
    },
}
MODEL = {**MODELS["fraud"], "champion": "1"}
CONFIG = configured(
    EVERY_KIND,
    models={
        "fraud": {**MODEL, "windows": [*MODEL["windows"], {"name": "5m", "duration": "5m"}]},
        "*": {**MODEL, "label_maturity": "15s", "windows": MODEL["windows"]},
    },
    max_matches=3,
)


@cache
def made(seed: int) -> list[dict[str, Any]]:
    """Return events of two versions and two other models with a drop, a silence, up to 4 s out of order."""
    rng = random.Random(seed)
    values = [
        *stream((55, 0.95), (45, 0.3), (60, 0.97), seed=seed),
        *stream((60, 0.9), seed=seed + 1, start=300),  # after a silence
        *stream((70, 0.5), seed=seed + 2, start=40.3, version="2"),
        *stream((30, 0.9), (40, 0.3), seed=seed + 3, start=60.6, model="other"),
        *stream((30, 0.5), seed=seed + 4, start=310.8, model="another", version=""),
    ]
    for value in values:
        value["id"] = f"{round(value['timestamp'] - START)}"
        if rng.random() < 0.1:
            value["label"] = None
    return sorted(values, key=lambda value: value["timestamp"] + rng.random() * 4)


def at_events(transitions: Sequence[Transition]) -> list[Transition]:
    """Return transitions without the places of their events, which are others in other partitions."""
    return [replace(t, moment=t.moment._replace(position=0)) for t in transitions]


@cache
def expected(seed: int, partitions: int) -> tuple[Log, Reading]:
    """Return a log, and what one poll of it all gives."""
    rng = random.Random(seed)
    log = log_of(made(seed), lambda _: rng.randrange(partitions))
    whole = Reading(CONFIG)
    whole.read_all(log)
    return log, whole


def each_alert(transitions: Sequence[Transition]) -> dict[Any, list[Transition]]:
    """Return the transitions of each alert: models of different maturity are not decided on at one time."""
    found: dict[Any, list[Transition]] = {}
    for transition in transitions:
        found.setdefault(transition.key, []).append(transition)
    return found


def assert_same(reading: Reading, whole: Reading) -> None:
    assert each_alert(reading.transitions) == each_alert(whole.transitions)
    assert alerts(reading.pipeline) == alerts(whole.pipeline)


def test_every_rule_says_something() -> None:
    _, whole = expected(0, 1)
    assert {t.key.alert.removesuffix("Undefined") for t in whole.transitions} == set(EVERY_KIND)
    assert {t.change for t in whole.transitions} == {"pending", "firing", "resolved", "no_data", "inactive"}


@pytest.mark.parametrize("size", [10, 10_000])
def test_however_many_events_are_read_at_once(size: int) -> None:
    log, whole = expected(0, 1)
    reading = Reading(CONFIG)
    reading.read_all(log, iter(lambda: size, None))
    assert_same(reading, whole)


@pytest.mark.parametrize("every", [10, 10_000])
def test_however_often_it_is_evaluated(every: int) -> None:
    log, whole = expected(0, 1)
    reading = Reading(CONFIG)
    for n, record in enumerate(log[PARTITION], 1):
        reading.read(RecordBatch(PARTITION, [record]))
        if n % every == 0:
            reading.evaluate()
    assert_same(reading, whole)


def polls(data: st.DataObject) -> Iterator[int]:
    sizes = data.draw(st.lists(st.integers(1, 60), min_size=3, max_size=12))
    while True:
        yield from sizes


@EXAMPLES
@given(st.data(), st.integers(0, 2), st.integers(1, 3))
def test_whatever_a_poll_brings_of_each_partition(data: st.DataObject, seed: int, partitions: int) -> None:
    log, whole = expected(seed, partitions)
    reading = Reading(CONFIG)
    reading.read_all(log, polls(data))
    assert_same(reading, whole)


@EXAMPLES
@given(st.data(), st.integers(0, 2), st.integers(1, 4))
def test_whatever_partition_an_event_is_in(data: st.DataObject, seed: int, partitions: int) -> None:
    """Read as it is written: no partition is known to lag, the frontier waits for disorder alone."""
    _, whole = expected(seed, 1)
    reading = Reading(CONFIG)
    rng = random.Random(seed + partitions)
    sizes, rest, offsets = polls(data), list(made(seed)), [0] * partitions
    while rest:
        poll, rest = rest[: (size := next(sizes))], rest[size:]
        log = log_of(poll, lambda _: rng.randrange(partitions))
        batches = []
        for partition, records in log.items():
            first = offsets[partition.partition]
            offsets[partition.partition] += len(records)
            moved = [record._replace(offset=first + i) for i, record in enumerate(records)]
            batches.append(RecordBatch(partition, moved))
        reading.read(*batches)
    assert each_alert(at_events(reading.transitions)) == each_alert(at_events(whole.transitions))


@EXAMPLES
@given(st.data(), st.integers(0, 2), st.integers(1, 2))
def test_wherever_it_is_cut_off_and_restored(data: st.DataObject, seed: int, partitions: int) -> None:
    """Also while windows are evaluated: what that would have said is lost, and found again."""
    log, whole = expected(seed, partitions)
    later = Later()
    reading = Reading(CONFIG, later)
    sizes = polls(data)
    while any(reading.position(partition) < len(records) for partition, records in log.items()):
        reading.read_all(log, sizes, most=data.draw(st.integers(1, 4)))
        if data.draw(st.booleans()):
            later.finish()
            reading.decide()
        if data.draw(st.booleans()):
            reading.restart()
            later.forget()
        if data.draw(st.booleans()):
            reading.evaluate()
    reading.decide()
    while later.finish():
        reading.decide()
    assert_same(reading, whole)


def test_conditions_see_the_windows_as_they_were_at_the_mark() -> None:
    """The evidence at a mark is what a pipeline shows that has read no further."""
    values = stream(*DRIFT)
    config = configured({name: RULES[name] for name in ("Accuracy", "Precision")})
    reading = Reading(config)
    reading.read_all(log_of(values))
    firing = [t for t in reading.transitions if t.change in ("firing", "resolved")]
    assert len(firing) == 4
    for transition in firing:
        mark = transition.moment.timestamp / 1e6
        short = Reading(config)
        known = [value for value in values if value["timestamp"] <= mark]
        assert known[-1]["timestamp"] == mark, "the watermark is the mark"
        short.pipeline.apply(short.pipeline.decode([RecordBatch(p, r) for p, r in log_of(known).items()]))
        report = short.pipeline.evaluate(short.pipeline.snapshot()).report
        (window,) = (w for w in report.windows if w.window == transition.key.window and not w.segment)
        name = {"Accuracy": "classifier_accuracy", "Precision": "classifier_precision"}[transition.key.alert]
        (value,) = (v for v in window.values if v.name == name and v.labels.get("class", "fraud") == "fraud")
        assert (transition.evidence.value, transition.evidence.support) == (value.value, value.support)
        assert (transition.evidence.lower, transition.evidence.upper) == (
            value.intervals[0].lower,
            value.intervals[0].upper,
        )


def test_labels_that_come_one_by_one_within_their_maturity_are_all_seen() -> None:
    """Misses become known long after hits: a detector that left them out would see the hits alone."""
    models = {"fraud": {**MODELS["fraud"], "label_maturity": "60s"}}
    values = [*stream(*DRIFT), *stream((90, 0.97), start=sum(seconds for seconds, _ in DRIFT))]

    def known(value: dict[str, Any]) -> float:
        missed = value["label"] == "fraud" and value["score"] < 0.5
        return value["timestamp"] + (55 if missed else 0)

    at_once, one_by_one = Reading(configured(models=models)), Reading(configured(models=models))
    for value in values:
        at_once.read_on(value)
    for value in sorted(values, key=known):
        one_by_one.read_on(value)
    found = [(t.key, t.change, t.moment.timestamp, t.evidence.value) for t in one_by_one.transitions]
    assert found == [(t.key, t.change, t.moment.timestamp, t.evidence.value) for t in at_once.transitions]
    assert {"firing", "resolved"} <= {change for _, change, _, _ in found}
    assert one_by_one.pipeline.state.late == {}


def test_late_events_change_nothing() -> None:
    values = stream(*DRIFT)
    reading, other = Reading(configured()), Reading(configured())
    for n, value in enumerate(values):
        reading.read_on(value)
        other.read_on(value)
        if n % 50 == 49:  # by then far behind the windows
            other.read_on(*(event(n / 100, "fraud", 0.1) for _ in range(20)))
    assert other.pipeline.state.late["fraud"] > 0
    assert happened(other.transitions) == happened(reading.transitions)


def test_how_far_reading_is_changes_nothing_but_who_is_told() -> None:
    log, _ = expected(0, 1)
    rules = {name: rule for name, rule in EVERY_KIND.items() if "condition" not in rule}
    config = configured(rules, models={"*": MODEL}, max_matches=3)
    one, other = Reading(config), Reading(config)
    other.present = Present(now=0, current=False, read_after=None)
    one.read_all(log)
    other.read_all(log, iter(lambda: 10, None))
    assert {t.historic for t in one.transitions} == {False}
    assert {t.historic for t in other.transitions} == {True}
    told = [replace(t, historic=False) for t in other.transitions if "Undefined" not in t.key.alert]
    assert each_alert(told) == each_alert([t for t in one.transitions if "Undefined" not in t.key.alert])
