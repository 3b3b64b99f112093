"""Messages: each ends in a column or is rejected for a documented reason, by both readers alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

import numpy as np

from monitor.events.batch import EventBatch
from monitor.events.decoder import Decoder
from monitor.events.spec import ModelSpec
from tests.fuzz.mutation import changed_bytes, changed_tree
from tests.property.test_decoder import CONFIGURATIONS, assert_same, batches_of, decoder
from tests.support.records import RECORD_MS
from tests.unit.events.test_reasons import CASES

REASONS = {reason for reason, *_ in CASES} | {"too_many_models"}
NAMES = sorted(CONFIGURATIONS)
TOMBSTONE = b"tombstone"
LONGEST_DETAIL = 250


def fuzz_decoder(data: bytes) -> None:
    """Decode; the first byte chooses a configuration, each line of the rest is a message."""
    name = NAMES[data[0] % len(NAMES) if data else 0]
    fast, reference = _decoders(name)
    values = [None if line == TOMBSTONE else line for line in data[1:].split(b"\n")]
    batches = batches_of(values, len(values) // 2)
    result = fast.decode(batches)
    assert_same(result, reference.decode(batches))
    assert +fast.limits_reached == +reference.limits_reached
    check(result, CONFIGURATIONS[name]["models"], len(values))
    for made in (fast, reference):  # as good as new, and building one takes longer than all of the above
        made.limits_reached.clear()
        for version in result.columns:
            made.forget(*version)


@cache
def _decoders(name: str) -> tuple[Decoder, Decoder]:
    return decoder(name), decoder(name, doubting=True)


def check(result: EventBatch, models: Mapping[str, ModelSpec], records: int) -> None:
    """Hold that nothing is lost, and that columns hold only what can be counted."""
    for rejected in result.rejected:
        assert rejected.reason in REASONS
        assert rejected.detail.isascii() and len(rejected.detail) < LONGEST_DETAIL
    events = 0
    for (model, _), columns in result.columns.items():
        events += len(columns.timestamp)
        assert columns.label.min() >= -1
        known = columns.score[~np.isnan(columns.score)]
        assert models.get(model, models.get("*")).raw_logits or ((known >= 0) & (known <= 1)).all()
    assert events + len(result.rejected) == records


def make_input(rng: Random) -> bytes:
    """Return up to eight messages for one of the configurations."""
    lines = [_message(rng) for _ in range(rng.randint(1, 8))]
    return bytes([rng.randrange(len(NAMES))]) + b"\n".join(lines)


def _message(rng: Random) -> bytes:
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice([TOMBSTONE, rng.randbytes(rng.randrange(20))])
    if kind < 4:
        return _event(rng)
    return changed_bytes(rng, rng.choice([_event(rng), rng.choice(DOCUMENTED)]), _event(rng), TOKENS)


def _event(rng: Random) -> bytes:
    text = json.dumps(changed_tree(rng, EVENTS), ensure_ascii=rng.random() < 0.5)
    return text.encode(errors="surrogatepass")


def _events() -> list[dict[str, Any]]:
    """Return events of every model in every shape that is accepted."""
    found = []
    for configuration in CONFIGURATIONS.values():
        for spec in configuration["models"].values():
            count = len(spec.classes)
            scores = [round(1 / count, 6)] * (count - 1)
            scores.append(1 - sum(scores))
            by_class = dict(zip(spec.classes, scores, strict=True))
            event = {"model": spec.name, "version": "2", "timestamp": RECORD_MS / 1000}
            event |= {"label": spec.classes[-1], "segments": {"region": "eu", "shop": 3}}
            found += [
                event | {"scores": scores},
                event | {"scores": by_class, "label": 0},
                event | {"prediction": spec.classes[0], "label": [0] * (count - 1) + [1]},
                event | {"score": 0.25, "timestamp": "2025-11-29T07:06:40Z"},
                event | {"outcome": {"label": spec.classes[0]}, "probabilities": by_class, "score": 0.5},
            ]
    return found


EVENTS = _events()
DOCUMENTED = [value for _, _, value, _ in CASES if value and len(value) < 2000]
TOKENS = [
    *(b"[" * 300, b'{"a":' * 300, b"9" * 400, b"-", b"1e999", b"-1e-999", b"0x1", b"1.", b".5", b"01", b"+1"),
    *(b"NaN", b"Infinity", b"-Infinity", b"null", b"true", b"\\u", b"\\ud800", b"\\udc00\\ud800", b"\\x"),
    *(b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xef\xbb\xbf", b"\0", b"\x7f", b'"', b"{", b"}", b"]", b","),
    *(b'"model":"fraud",', b'"label":1,', b'"score":0.5,', b'"score":1e-7,', b'"weight":1,', b'"":{},'),
    *(b"\n", b"\n" + TOMBSTONE + b"\n", b"\n\n", b"\t", b"\r", b" " * 1000, b"//", b"'", b"\\", b":"),
]
