"""Two readers, one meaning: whatever the bytes are, the fast path says what the reference says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.events.batch import Columns, EventBatch
from monitor.events.decoder import Decoder
from monitor.events.fields import FieldPaths
from monitor.events.layout import Messages
from monitor.events.position import Positions
from monitor.events.spec import ModelSpec
from monitor.records import Partition, RecordBatch
from tests.support.properties import examples
from tests.support.records import RECORD_MS, raw


class DoubtEverything:
    """Stands in for the layout: every message goes to the reference reader."""

    def decode(self, values: Sequence[bytes | None]) -> tuple[Messages, list[int]]:
        return Messages([], {}, FieldPaths({}, {}, {})), list(range(len(values)))


BINARY = ModelSpec(
    "fraud",
    "binary",
    ("legit", "fraud"),
    1,
    thresholds=(0.5,),
    aliases={"POS": "fraud"},
    segments=("region",),
)
DIGITS = ModelSpec("digits", "multiclass", ("0", "1", "3"), integers="names", segments=("region", "shop"))
IRIS = ModelSpec(
    "iris", "multiclass", ("a", "b", "c"), version_classes={"2": ("c", "a", "b")}, aliases={"first": "a"}
)
TAGS = ModelSpec(
    "tags",
    "multilabel",
    ("a", "b", "c"),
    thresholds=(0.5, 0.3, 1.0),
    aliases={"first": "a"},
    version_classes={"2": ("c", "a", "b")},
    segments=("region",),
)
PAIR = ModelSpec("pair", "multilabel", ("0", "3"), thresholds=(0.5, 0.0), integers="names")
MARGIN = replace(BINARY, name="margin", scores="logit", temperature=1.5, thresholds=(0.6,))
SOFTMAX = replace(IRIS, name="softmax", scores="logit", temperature=0.7)
MARGINS = replace(TAGS, name="margins", scores="logit", temperature=2.0, thresholds=(0.0, 0.6, 1.0))
ANY = ModelSpec("*", "binary", ("0", "1"), 0, integers="names", thresholds=(0.3,))

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "one": {"fields": {}, "models": {"fraud": BINARY}},
    "many": {
        "fields": {"segments": {"shop": "shop.id"}},
        "models": {"fraud": BINARY, "digits": DIGITS, "iris": IRIS, "*": ANY},
        "max_models": 4,
        "max_versions": 2,
        "segment_values": 2,
        "default_model": "iris",
    },
    "nested": {
        "fields": {
            "label": "outcome.label",
            "confidence": "segments.region",
            "segments": {"region": "version"},
        },
        "models": {"fraud": BINARY, "*": ANY},
        "timezone": "Europe/Berlin",
    },
    "multiclass": {"fields": {}, "models": {"iris": IRIS, "digits": DIGITS}, "event_bytes": 300},
    "mapped": {
        "fields": {"scores": {"a": "probabilities.a", "b": "score", "c": "probabilities.c"}},
        "models": {"iris": IRIS, "*": IRIS},
        "now": lambda: 1_764_400_000_000_000,
    },
    "multilabel": {
        "fields": {"segments": {"region": "prediction"}},
        "models": {"tags": TAGS, "pair": PAIR, "fraud": BINARY},
    },
    "mapped multilabel": {
        "fields": {
            "label": "outcome.label",
            "scores": {"a": "probabilities.a", "b": "score", "c": "probabilities.c"},
        },
        "models": {"tags": TAGS, "margins": MARGINS, "iris": IRIS},
    },
    "logits": {"fields": {}, "models": {"margin": MARGIN, "softmax": SOFTMAX, "margins": MARGINS}},
}

edges = [0.0, 1.0, 0.5, 0.3, -1e-6, 1 + 1e-6, -2e-6, 1 + 2e-6, 2.0, float("nan"), float("inf"), 1e-30, 1 / 3]
logits = [0.0, -0.0, -1.5, 0.608197662, 0.8109302162, 80.0, -1e39, 1e308, -1e308, float("inf"), -float("inf")]
number = st.one_of(
    st.sampled_from(logits),
    st.sampled_from(edges),
    st.floats(0, 1),
    st.integers(-2, 3),
    st.sampled_from([10**30, 2**53 + 1, 10**305]),
)
text = st.sampled_from(
    ["", "a", "b", "c", "first", "fraud", "legit", "POS", "0", "1", "3", "other", "ö", "\ud800"]
)
scalar = st.one_of(text, number, st.booleans(), st.none())
junk = st.one_of(scalar, st.lists(scalar, max_size=4), st.dictionaries(text, scalar, max_size=3))


@st.composite
def vectors(draw: st.DrawFn) -> Any:
    weights = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    total = sum(weights) or 1
    return [w / total * draw(st.sampled_from([1, 1, 1, 1 + 1e-12, 1 + 5e-4, 1.002])) for w in weights]


timestamp = st.one_of(
    st.sampled_from(
        [
            *(RECORD_MS, RECORD_MS / 1000, RECORD_MS / 1000 + 300, RECORD_MS / 1000 + 300.000001, 1e11, 1e14),
            *(
                946684800,
                946684799.9999996,
                946684799.9999994,
                -5,
                1e18,
                "1764400000",
                "2025-11-29",
                "2025-03-30T02:30",
            ),
            *(
                "2025-11-29T07:06:40Z",
                "2025-11-29T07:06:40.1234567+01:00",
                "0001-01-01T00:00:00+14:00",
                "nope",
            ),
        ]
    ),
    st.floats(1.7643e9, 1.7645e9),
    st.floats(1.7643e12, 1.7645e12),
    st.datetimes().map(lambda d: d.isoformat()),
)


def labels(spec: ModelSpec) -> st.SearchStrategy[Any]:
    """Labels in the shapes that are accepted, and a few that are not for each model."""
    classes = spec.classes
    one = st.sampled_from([*classes, 0, 1, 1.0, True, None, [classes[0]], [1] + [0] * (len(classes) - 1)])
    if spec.task != "multilabel":
        return one
    zero_one = st.sampled_from([0, 1, 0, 1, 1.0, True, False])
    return st.one_of(
        one,
        st.lists(st.sampled_from(classes), max_size=4),
        st.lists(zero_one, min_size=len(classes), max_size=len(classes)),
        st.lists(zero_one | st.sampled_from([2, 3, "first"]), max_size=4),
    )


def scores_of(spec: ModelSpec) -> st.SearchStrategy[list[float]]:
    """A score of each class."""
    size = len(spec.classes)
    if spec.scores == "logit":
        return st.lists(st.sampled_from(logits[:6]) | st.sampled_from(logits), min_size=size, max_size=size)
    if spec.task == "multilabel":
        return st.lists(st.sampled_from([*edges[:6] * 3, 1 / 3, 2.0]), min_size=size, max_size=size)
    weights = st.lists(st.integers(1, 9), min_size=size, max_size=size)
    return weights.map(lambda ws: [w / sum(ws) for w in ws])


@st.composite
def sound(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A message as its model wants it, in one of the shapes that are accepted."""
    models: dict[str, ModelSpec] = CONFIGURATIONS[name]["models"]
    model = draw(st.sampled_from([*models, *models, "x", "y", "z"]))
    spec = models.get(model) or models.get("*") or next(iter(models.values()))
    classes = spec.classes
    label = labels(spec)
    value: dict[str, Any] = {"model": model, "version": draw(st.sampled_from(["1", "2", 3, "", None, 2.0]))}
    value["label"] = draw(label)
    value["timestamp"] = RECORD_MS / 1000 + draw(st.floats(-1e6, 299))
    shape = draw(st.sampled_from(["score", "score", "scores", "map", "prediction", "confidence"]))
    vector = draw(scores_of(spec))
    if shape == "score" and len(classes) == 2:
        value["score"] = draw(st.sampled_from(logits if spec.scores == "logit" else [*edges[:6], 1 / 3]))
    elif shape in ("prediction", "confidence"):
        value["prediction"] = draw(st.one_of(label, st.sampled_from(["nobody", ""])))
        if shape == "confidence":
            value["confidence"] = vector[0]
    else:
        value["scores"] = dict(zip(classes, vector, strict=True)) if shape == "map" else vector
    value["id"] = draw(scalar)
    value["segments"] = draw(st.fixed_dictionaries({}, optional={"region": scalar, "shop": scalar}))
    return value


odd = {
    "id": junk,
    "model": junk,
    "version": junk,
    "timestamp": timestamp | junk,
    "label": junk,
    "score": number | junk,
    "scores": vectors() | junk,
    "prediction": junk,
    "confidence": number | junk,
    "segments": junk,
    "outcome": st.fixed_dictionaries({}, optional={"label": scalar}) | junk,
    "shop": st.fixed_dictionaries({"id": scalar}) | junk,
    "probabilities": st.fixed_dictionaries({}, optional={"a": number, "c": number}),
    "weight": st.sampled_from([None, 1]),
    "extra": st.sampled_from(["x" * 600, [[[[]]]] * 200, "\ud800", 10**310]),
}


@st.composite
def messages(draw: st.DrawFn, name: str) -> bytes:
    value = draw(sound(name))
    if draw(st.integers(0, 2)) == 0:
        for field in draw(st.sets(st.sampled_from(sorted(odd)), min_size=1, max_size=2)):
            value[field] = draw(odd[field])
    raw = json.dumps(value, ensure_ascii=draw(st.booleans())).encode(errors="surrogatepass")
    if draw(st.integers(0, 15)) == 0:
        cut = draw(st.integers(0, len(raw)))
        raw = raw[:cut] + draw(st.binary(max_size=2)) + raw[cut + draw(st.integers(0, 2)) :]
    return raw


def raw_values(name: str) -> st.SearchStrategy[list[bytes | None]]:
    """The values of some records, for a configuration."""
    plain = sound(name).map(lambda value: json.dumps(value).encode())
    return st.one_of(
        st.lists(plain, min_size=1, max_size=12),
        st.lists(messages(name), min_size=1, max_size=12),
        st.lists(messages(name) | st.binary(max_size=8) | st.none(), min_size=1, max_size=6),
    )


def batches_of(values: Sequence[bytes | None], split: int) -> list[RecordBatch]:
    records = [raw(i, value) for i, value in enumerate(values)]
    parts = (records[:split], records[split:])
    return [RecordBatch(Partition("t", p), part) for p, part in enumerate(parts) if part]


def assert_same(one: EventBatch, other: EventBatch) -> None:
    assert one.rejected == other.rejected
    assert one.spans == other.spans
    assert list(one.columns) == list(other.columns) or set(one.columns) == set(other.columns)
    assert list(one.marks) == list(one.columns)
    for name, columns in one.columns.items():
        for mine, others in zip(one.marks[name], other.marks[name], strict=True):
            assert mine is not None and others is not None
            assert (mine.dtype, mine.tolist()) == (others.dtype, others.tolist())
            assert len(mine) == len(columns)
        for field in Columns.__slots__:
            ours, theirs = getattr(columns, field), getattr(other.columns[name], field)
            assert ours.dtype == theirs.dtype
            assert ours.shape == theirs.shape
            assert ours.tobytes() == theirs.tobytes(), field


def decoder(name: str, doubting: bool = False) -> Decoder:
    made = Decoder(positions=Positions(["t"]), identities=True, **CONFIGURATIONS[name])
    if doubting:
        made._layout = DoubtEverything()  # type: ignore[assignment]
    return made


@pytest.mark.parametrize("name", CONFIGURATIONS)
@examples(25)
@given(data=st.data(), split=st.integers(0, 12))
def test_the_fast_path_agrees_with_the_reference(name: str, data: st.DataObject, split: int) -> None:
    values = data.draw(raw_values(name))
    fast, slow = decoder(name), decoder(name, doubting=True)
    for _ in range(2):
        assert_same(fast.decode(batches_of(values, split)), slow.decode(batches_of(values, split)))
    assert +fast.limits_reached == +slow.limits_reached


@pytest.mark.parametrize("name", CONFIGURATIONS)
@examples(15)
@given(data=st.data(), split=st.integers(0, 12))
def test_every_record_is_accounted_for_once(name: str, data: st.DataObject, split: int) -> None:
    batches = batches_of(data.draw(raw_values(name)), split)
    result = decoder(name).decode(batches)
    positions = Positions(["t"])
    valid = [int(p) for columns in result.columns.values() for p in columns.position]
    rejected = [positions.base(*r.partition) + r.record.offset for r in result.rejected]
    read = [positions.base(*b.partition) + r.offset for b in batches for r in b.records]
    assert sorted(valid + rejected) == read
    assert {p: (s.first, s.next, s.records) for p, s in result.spans.items()} == {
        b.partition: (b.records[0].offset, b.records[-1].offset + 1, len(b.records)) for b in batches
    }


@pytest.mark.parametrize("name", ["many", "multilabel", "logits"])
@examples(20)
@given(data=st.data(), split=st.integers(0, 12))
def test_batching_changes_nothing(name: str, data: st.DataObject, split: int) -> None:
    records = [raw(i, value) for i, value in enumerate(data.draw(raw_values(name)))]
    whole = decoder(name).decode([RecordBatch(Partition("t", 0), records)])
    piecewise = decoder(name)
    pieces = [
        piecewise.decode([RecordBatch(Partition("t", 0), part)])
        for part in (records[:split], records[split:])
        if part
    ]
    assert whole.rejected == tuple(r for piece in pieces for r in piece.rejected)
    for key, columns in whole.columns.items():
        found = [piece.columns[key] for piece in pieces if key in piece.columns]
        for field in Columns.__slots__:
            joined = np.concatenate([getattr(c, field) for c in found])
            assert getattr(columns, field).tobytes() == joined.tobytes(), field
