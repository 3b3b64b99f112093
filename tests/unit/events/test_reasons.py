"""Every documented reason for which a message is no event, each with its text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from monitor.events.decoder import Decoder
from monitor.events.position import Positions
from monitor.events.spec import ModelSpec
from monitor.records import Partition, RecordBatch
from tests.support.records import RECORD_MS, raw

BINARY = ModelSpec("fraud", "binary", ("legit", "fraud"), 1, thresholds=(0.5,))
MULTI = ModelSpec("iris", "multiclass", ("a", "b", "c"))
TAGS = ModelSpec("tags", "multilabel", ("a", "b", "c"), thresholds=(0.5,) * 3)
MODELS = {
    spec.name: spec
    for spec in (
        *(BINARY, MULTI, TAGS),
        replace(BINARY, name="margin", scores="logit"),
        replace(MULTI, name="softmax", scores="logit"),
        replace(TAGS, name="margins", scores="logit"),
    )
}
GOOD: dict[str, Any] = {"model": "fraud", "timestamp": RECORD_MS / 1000, "label": "fraud", "score": 0.5}


def but(**changes: Any) -> bytes:
    """The good message with some fields changed, or left out where they are `...`."""
    return json.dumps({k: v for k, v in (GOOD | changes).items() if v is not ...}).encode()


def iris(**changes: Any) -> bytes:
    return but(**({"model": "iris", "label": "a", "score": ..., "scores": [0.2, 0.3, 0.5]} | changes))


def tags(**changes: Any) -> bytes:
    return iris(**({"model": "tags", "label": ["a"], "scores": [0.9, 0.9, 0.1]} | changes))


INF, NAN = float("inf"), float("nan")
CASES = [
    ("not_json", "tombstone", None, ""),
    ("not_json", "the message is empty", b"", ""),
    ("not_json", "looks like schema-registry Avro or Protobuf", b"\x00\x00\x00\x00\x07abc", ""),
    ("not_json", "byte 8 is not valid UTF-8", b'{"note":\xff}', ""),
    ("not_json", "UTF-8", but(note="x").replace(b'"x"', b'"\xe9"'), ""),
    ("not_json", "Expecting", but()[:-1], ""),
    ("not_json", "deeper than 256", b'{"x": ' + b"[" * 300 + b"]" * 300 + b"}", ""),
    ("not_json", "deeper than 256", b"[" * 100_000, ""),
    ("not_an_object", "got a list of 1", b"[1]", ""),
    ("not_an_object", "got 7", b"7", ""),
    ("missing_field", "neither score nor prediction", but(score=...), "fraud"),
    ("missing_field", "neither score nor prediction", but(score=None, confidence=0.5), "fraud"),
    ("missing_field", "neither scores nor prediction", iris(scores=..., score=0.5), "iris"),
    ("missing_field", "no model is named", but(model=...), ""),
    ("missing_field", "no model is named", but(model=""), ""),
    ("wrong_type", "score: expected a number (vectors belong in scores)", but(score="0.5"), "fraud"),
    ("wrong_type", "score: expected a number", but(score=True), "fraud"),
    ("wrong_type", "scores: expected a list of numbers", iris(scores=[0.5, None, 0.5]), "iris"),
    ("wrong_type", "label: expected a class name", but(label={"name": "fraud"}), "fraud"),
    ("wrong_type", "version: expected a text or a number, got true", but(version=True), "fraud"),
    ("wrong_type", "model: expected a text, got a list of 1", but(model=["fraud"]), ""),
    ("wrong_type", "got a list of 2 with a null", but(label=["fraud", None]), "fraud"),
    ("wrong_type", "'yesterday' is no ISO 8601 time", but(timestamp="yesterday"), "fraud"),
    ("wrong_type", "prediction: expected a class name", but(prediction={"class": "fraud"}), "fraud"),
    ("wrong_type", "label: expected a class name", but(label="\ud800"), "fraud"),
    ("unknown_model", "'credit' is not configured", but(model="credit"), ""),
    ("unknown_label", "'fruad' is none of the classes 'legit', 'fraud'", but(label="fruad"), "fraud"),
    ("unknown_label", "2 is none of the classes", but(label=2), "fraud"),
    ("unknown_label", "'' is none of the classes", but(label=""), "fraud"),
    ("unknown_label", "a 0/1 vector names one class, this one 2", but(label=[1, 1]), "fraud"),
    ("unknown_label", "'d' is none of the classes", iris(scores={"a": 0.5, "b": 0.5, "d": 0}), "iris"),
    ("not_finite", "score: expected a number", but(score=NAN), "fraud"),
    ("not_finite", "got inf", but(score=0.5).replace(b"0.5", b"1e999"), "fraud"),
    ("not_finite", "got inf", but(score=0.5).replace(b"0.5", b"9" * 400), "fraud"),
    ("not_finite", "a list of 3 with a NaN", iris(scores=[0.5, 0.5, NAN]), "iris"),
    ("out_of_range", "score: 1.5 is no probability in [0, 1]; if these are logits", but(score=1.5), "fraud"),
    ("out_of_range", "score: -2e-06", but(score=-2e-6), "fraud"),
    ("out_of_range", "confidence: 7", but(score=..., prediction="fraud", confidence=7), "fraud"),
    ("out_of_range", "scores: -0.5", iris(scores=[-0.5, 0.5, 1]), "iris"),
    ("wrong_length", "each of 3 classes, got 2", iris(scores=[0.5, 0.5]), "iris"),
    ("wrong_length", "each of 3 classes, got 2", iris(scores={"a": 0.5, "b": 0.5}), "iris"),
    ("wrong_length", "one class, or a 0/1 vector of 2, got a list of 3", but(label=[0, 1, 0]), "fraud"),
    ("not_normalised", "their sum is 1.1, not 1", iris(scores=[0.5, 0.5, 0.1]), "iris"),
    ("not_normalised", "if several classes can be true at once", iris(scores=[1, 1, 0]), "iris"),
    ("not_normalised", "their sum is 1.5", iris(scores={"a": 0.5, "b": 0.5, "c": 0.5}), "iris"),
    ("out_of_range", "scores: 2 is no", tags(scores={"a": 2, "b": 0.5, "c": 0.5}), "tags"),
    ("wrong_length", "if several can be true, set task: multilabel", iris(label=["a", "b"]), "iris"),
    ("unknown_label", "'d' is none of the classes 'a', 'b', 'c'", tags(label=["a", "d"]), "tags"),
    ("unknown_label", "'d' is none of the classes", tags(label="d"), "tags"),
    ("unknown_label", "3 is none of the classes", tags(label=[0, 3]), "tags"),
    ("unknown_label", "0.5 is none of the classes", tags(label=[0, 0.5, 1]), "tags"),
    ("unknown_label", "'d' is none of the classes", tags(scores={"a": 0.5, "b": 0.5, "d": 0}), "tags"),
    ("wrong_length", "expected a 0/1 vector of 3, got one of 4", tags(label=[0, 1, 0, 0]), "tags"),
    ("wrong_length", "expected a 0/1 vector of 3, got one of 2", tags(label=[True, True]), "tags"),
    ("wrong_length", "each of 3 classes, got 2", tags(scores=[0.5, 0.5]), "tags"),
    ("wrong_length", "each of 3 classes, got 2", tags(scores={"a": 0.5, "b": 0.5}), "tags"),
    ("wrong_type", "label: expected a class name, an integer, a list", tags(label=[1, None, 0]), "tags"),
    ("wrong_type", "label: expected a class name, an integer, a list", tags(label=[["a"]]), "tags"),
    ("out_of_range", "scores: 1.5 is no probability", tags(scores=[0.5, 1.5, 0.5]), "tags"),
    ("not_finite", "a list of 3 with a NaN", tags(scores=[0.5, INF, 0.5]), "tags"),
    ("not_finite", "label: expected a class name", tags(label=[NAN]), "tags"),
    ("missing_field", "neither scores nor prediction", tags(scores=..., score=0.5, confidence=0.5), "tags"),
    ("not_finite", "score: expected a number", but(model="margin", score=NAN), "margin"),
    ("not_finite", "a list of 3 with a NaN", tags(model="margins", scores=[0, 1, NAN]), "margins"),
    ("not_finite", "no probability follows", but(model="margin", score=..., scores=[INF, INF]), "margin"),
    ("not_finite", "send finite ones", iris(model="softmax", scores=[INF, 0, 0]), "softmax"),
    ("not_finite", "no probability follows", iris(model="softmax", scores=[-INF] * 3), "softmax"),
    ("missing_field", "neither score nor", but(model="margin", score=..., confidence=0.5), "margin"),
    ("naive_timestamp", "names no zone; set events.timezone", but(timestamp="2025-11-29T07:00:00"), "fraud"),
    ("implausible_timestamp", "0 is before events.min_timestamp", but(timestamp=0), "fraud"),
    ("implausible_timestamp", "is too large; send epoch seconds", but(timestamp=RECORD_MS * 1000), "fraud"),
    ("future_timestamp", "later than its record", but(timestamp=RECORD_MS / 1000 + 301), "fraud"),
    ("too_large", "1010 bytes; limits.event_bytes allows 1000", b" " * 1010, ""),
    ("unexpected_weight", "events have no weights", but(weight=1.0), "fraud"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "text", "value", "model"), CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)]
)
def test_a_refusal_says_what_is_wrong(reason: str, text: str, value: bytes | None, model: str) -> None:
    decoder = Decoder({}, MODELS, Positions(["t"]), event_bytes=1000)
    if len(value or b"") > 1000 and reason != "too_large":
        decoder = Decoder({}, MODELS, Positions(["t"]))
    [rejected] = decoder.decode([RecordBatch(Partition("t", 0), [raw(0, value)])]).rejected
    assert (rejected.reason, rejected.model) == (reason, model)
    assert text in rejected.detail
    assert len(rejected.detail) < 250
    assert rejected.detail.isascii()


def test_a_model_over_the_limit_is_refused() -> None:
    decoder = Decoder({}, {"*": BINARY}, Positions(["t"]), max_models=1)
    values = [but(model="one"), but(model="two"), but(model="one")]
    batch = decoder.decode([RecordBatch(Partition("t", 0), [raw(i, v) for i, v in enumerate(values)])])
    [rejected] = batch.rejected
    assert (rejected.reason, rejected.model, rejected.record.offset) == ("too_many_models", "", 1)
    assert "limits.models allows 1" in rejected.detail


def test_every_documented_reason_has_a_case() -> None:
    documented = {
        *("not_json", "not_an_object", "missing_field", "wrong_type", "unknown_model", "unknown_label"),
        *("not_finite", "out_of_range", "wrong_length", "not_normalised", "naive_timestamp"),
        *("implausible_timestamp", "future_timestamp", "too_large", "too_many_models", "unexpected_weight"),
    }
    assert {case[0] for case in CASES} | {"too_many_models"} == documented
