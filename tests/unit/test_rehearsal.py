"""Alerts and actions over files: what would have been done, and how often rules may raise in vain."""

from __future__ import annotations

from typing import Any

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.pipeline import Pipeline
from monitor.records import RecordBatch
from monitor.rehearsal import Rehearsal
from tests.support.alerting import MODELS, RULES, configured, log_of, stream
from tests.support.records import RECORD_MS

MODEL = {"fraud": {**MODELS["fraud"], "label_maturity": "0s"}}


def with_actions() -> Config:
    rollback = {"type": "webhook", "url": "https://hooks.example/", "secret_file": "hook.key"}
    return Config.model_validate(
        {
            "kafka": {"bootstrap_servers": ["localhost:9092"], "topics": ["t"]},
            "models": MODEL,
            "alerts": {"rules": {"Recall": {**RULES["Recall"], "actions": ["rollback"]}}},
            "actions": {"rollback": rollback},
            "events": {"allowed_lateness": "5s"},
            "evaluation": {"device": "cpu"},
        }
    )


def rehearsed(config: Config, values: list[dict[str, Any]], at_once: int = 10) -> Rehearsal:
    pipeline = Pipeline(config, ["t"], ManualClock(RECORD_MS * 1000))
    rehearsal = Rehearsal(config, pipeline)
    for partition, records in log_of(values).items():
        for i in range(0, len(records), at_once):
            pipeline.apply(pipeline.decode([RecordBatch(partition, records[i : i + at_once])]))
            pipeline.advance(frozenset())
            rehearsal.turn()
    pipeline.state.clocks.end()
    rehearsal.turn()
    return rehearsal


DROP = [*stream((100, 0.97)), *stream((300, 0.3), start=100, version="2"), *stream((50, 0.97), start=400)]


def test_transitions_and_actions_are_those_of_the_events() -> None:
    rehearsal = rehearsed(with_actions(), DROP)
    assert [(t.key.version, t.change) for t in rehearsal.transitions][:1] == [("2", "firing")]
    assert not any(t.historic for t in rehearsal.transitions)
    (done,) = rehearsal.actions()
    assert (done["action"], done["status"], done["model"]) == ("rollback", "dry_run", "fraud")
    assert (done["bad_version"], done["target_version"]) == ("2", "1")
    assert "rollback of fraud: from version 2 to 1" in rehearsal.text()


def test_without_actions_or_drops_there_is_nothing_to_say() -> None:
    rehearsal = rehearsed(configured({"Recall": RULES["Recall"]}), stream((100, 0.97)))
    assert rehearsal.transitions == []
    assert rehearsal.actions() == []
    assert rehearsal.text() == ""


def test_rates_are_of_observations_in_event_time() -> None:
    values = stream((301, 0.97))
    rehearsal = rehearsed(configured({"Recall": RULES["Recall"]}), values)
    (rate,) = rehearsal.rates()
    assert rate.rule.name == "Recall"
    assert rate.observations == sum(value["label"] == "fraud" for value in values)
    assert rate.microseconds == 300_000_000


def test_before_the_first_event_there_are_no_rates() -> None:
    config = configured({"Recall": RULES["Recall"]})
    rehearsal = Rehearsal(config, Pipeline(config, ["t"], ManualClock(0)))
    rehearsal.turn()
    assert rehearsal.rates() == ()


def test_rules_on_resampled_intervals_look_at_those() -> None:
    drop = [*stream((900, 0.97)), *stream((900, 0.3), start=900)]
    rule = {
        "model": "fraud",
        "metric": "recall",
        "floor": 0.8,
        "condition": "interval",
        "method": "bootstrap",
    }
    config = Config.model_validate(
        {
            "kafka": {"bootstrap_servers": ["localhost:9092"], "topics": ["t"]},
            "models": {"fraud": {**MODEL["fraud"], "windows": [{"name": "last_800", "events": 800}]}},
            "alerts": {"rules": {"Resampled": rule}, "every": "60s"},
            "events": {"allowed_lateness": "5s"},
            "evaluation": {"device": "cpu", "bootstrap": {"metrics": ["recall"], "replicates": 100}},
        }
    )
    [fired, *_] = rehearsed(config, drop).transitions
    assert (fired.change, fired.evidence.method) == ("firing", "bootstrap")
