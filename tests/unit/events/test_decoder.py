from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from monitor.errors import ConfigurationError, SourceError
from monitor.events.batch import Columns, Span
from monitor.events.decoder import Decoder
from monitor.events.position import Positions
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.events.vocabulary import MISSING, OTHER_VALUE
from monitor.records import Partition, RecordBatch
from tests.support.records import RECORD_MS, batch, raw

BINARY = ModelSpec(
    "fraud",
    "binary",
    ("legit", "fraud"),
    1,
    thresholds=(0.5,),
    segments=("region",),
    aliases={"POS": "fraud"},
)
MULTI = ModelSpec("iris", "multiclass", ("a", "b", "c"), version_classes={"2": ("c", "a", "b")})
DIGITS = ModelSpec("digits", "multiclass", ("0", "1", "3"), integers="names")
US = 1_000_000


def make(*specs: ModelSpec, fields: dict[str, Any] | None = None, **options: Any) -> Decoder:
    return Decoder(
        fields or {}, {spec.name: spec for spec in specs or (BINARY,)}, Positions(["t"]), **options
    )


def read(messages: list[Any], *specs: ModelSpec, **options: Any) -> Columns:
    """Decode events of one model and version, none of which is refused."""
    result = make(*specs, **options).decode([batch(messages)])
    assert result.rejected == ()
    [columns] = result.columns.values()
    return columns


@pytest.mark.parametrize(
    ("label", "code"),
    [
        ("legit", 0),
        ("fraud", 1),
        ("POS", 1),
        (0, 0),
        (1, 1),
        (1.0, 1),
        (True, 1),
        (False, 0),
        (["fraud"], 1),
        ([1], 1),
        ([0, 1], 1),
        ([1.0, 0.0], 0),
        ([False, True], 1),
        (None, UNLABELED),
        (float("nan"), UNLABELED),
    ],
)
def test_a_label_is_a_name_an_alias_an_index_or_a_vector(label: Any, code: int) -> None:
    assert read([{"label": label, "score": 0.5}]).label.tolist() == [code]


def test_integers_are_names_where_the_configuration_says_so() -> None:
    labels = [0, 1, 3, "3", 3.0, True, [0, 0, 1], [3]]
    columns = read([{"label": label, "prediction": label} for label in labels], DIGITS)
    assert columns.label.tolist() == [0, 1, 2, 2, 2, 1, 2, 2]
    assert columns.decision.tolist() == columns.label.tolist()
    assert np.isnan(columns.score).all()


def test_an_absent_label_is_an_unlabeled_event() -> None:
    columns = read([{"score": 0.9}])
    assert (columns.label.tolist(), columns.decision.tolist()) == ([UNLABELED], [1])


@pytest.mark.parametrize("prediction", ["nobody", "", 7, 0.5, [], [1, 1], ["x"], float("nan")])
@pytest.mark.parametrize("label", ["fraud", None])
def test_a_prediction_of_no_class_is_a_miss_and_no_refusal(prediction: Any, label: Any) -> None:
    columns = read([{"label": label, "prediction": prediction, "score": 0.9}])
    assert columns.decision.tolist() == [OTHER]
    assert columns.score.tolist() == [[np.float32(0.9)]]


def test_the_decision_is_the_prediction_else_the_threshold_else_the_argmax() -> None:
    messages: list[Any] = [
        {"score": 0.9, "prediction": "legit"},
        {"score": 0.9, "prediction": None},
        {"score": 0.5},
        {"score": 0.4999999},
        {"prediction": 1},
    ]
    assert read(messages).decision.tolist() == [0, 1, 1, 0, 1]
    tied = [
        {"scores": [0.4, 0.2, 0.4]},
        {"scores": [0.2, 0.4, 0.4]},
        {"scores": [0.1, 0.1, 0.8], "prediction": "a"},
    ]
    assert read(tied, MULTI).decision.tolist() == [0, 1, 0]


def test_score_and_threshold_meet_as_float32() -> None:
    spec = ModelSpec("m", "binary", ("n", "p"), 1, thresholds=(0.9,))
    assert float(np.float32(0.9)) < 0.9
    columns = read([{"score": 0.9}, {"score": float(np.nextafter(np.float32(0.9), np.float32(0)))}], spec)
    assert columns.decision.tolist() == [1, 0]


def test_confidence_belongs_to_the_predicted_class() -> None:
    messages = [
        {"prediction": "fraud", "confidence": 0.75},
        {"prediction": "legit", "confidence": 0.75},
        {"prediction": "nobody", "confidence": 0.75},
        {"prediction": "legit", "confidence": 0.75, "score": 0.125},
    ]
    assert read(messages).score[:, 0].tolist()[:2] == [0.75, 0.25]
    assert np.isnan(read(messages).score[2, 0])
    assert read(messages).score[3, 0] == 0.125


def test_confidence_gives_no_scores_to_a_multiclass_model() -> None:
    assert np.isnan(read([{"prediction": "a", "confidence": 0.75}], MULTI).score).all()


@pytest.mark.parametrize("scores", [[0.2, 0.8], {"legit": 0.2, "fraud": 0.8}, {"POS": 0.8, "legit": 0.2}])
def test_a_binary_model_keeps_the_positive_class_of_a_vector(scores: Any) -> None:
    assert read([{"scores": scores}]).score.tolist() == [[np.float32(0.8)]]


def test_a_vector_is_in_the_order_of_its_version() -> None:
    versions = [("1", [0.5, 0.3, 0.2]), ("2", [0.2, 0.5, 0.3]), ("2", {"a": 0.5, "b": 0.3, "c": 0.2})]
    result = make(MULTI).decode([batch([{"version": v, "scores": s} for v, s in versions])])
    expected = np.array([0.5, 0.3, 0.2], dtype=np.float32).tolist()
    assert result.columns["iris", "1"].score.tolist() == [expected]
    assert result.columns["iris", "2"].score.tolist() == [expected, expected]


def test_class_scores_may_stand_in_fields_of_their_own() -> None:
    fields = {"scores": {"a": "p_a", "b": "p.b", "c": "p_c"}}
    messages = [{"p_a": 0.5, "p": {"b": 0.3}, "p_c": 0.2}, {"prediction": "c"}]
    columns = read(messages, MULTI, fields=fields)
    assert columns.score[0].tolist() == np.array([0.5, 0.3, 0.2], dtype=np.float32).tolist()
    assert columns.decision.tolist() == [0, 2]


def test_probabilities_are_clipped_a_little_and_normalised_a_little() -> None:
    assert read([{"score": -1e-6}, {"score": 1 + 1e-6}]).score.tolist() == [[0.0], [1.0]]
    [row] = read([{"scores": [0.5004, 0.3, 0.2]}], MULTI).score
    assert row.tolist() == (np.array([0.5004, 0.3, 0.2]) / 1.0004).astype(np.float32).tolist()
    exact = [0.1, 0.2, 0.7]  # sums to 1 within rounding: kept as it is
    assert read([{"scores": exact}], MULTI).score[0].tolist() == np.float32(exact).tolist()


@pytest.mark.parametrize(
    ("timestamp", "micros"),
    [
        (1764400000, 1764400000 * US),
        (1764400000.123456, 1764400000123456),
        (1764400000123, 1764400000123000),
        (1764400000123.457, 1764400000123457),
        ("2025-11-29T07:06:40Z", 1764400000 * US),
        ("2025-11-29T08:06:40.123456+01:00", 1764400000123456),
        ("2025-11-29 07:06:40.1234565Z", 1764400000123457),
        (None, RECORD_MS * 1000),
    ],
)
def test_times_are_exact_microseconds(timestamp: Any, micros: int) -> None:
    assert read([{"timestamp": timestamp, "score": 0.5}]).timestamp.tolist() == [micros]


def test_a_text_without_a_zone_is_in_the_configured_one() -> None:
    columns = read([{"timestamp": "2025-11-29T08:06:40", "score": 0.5}], timezone="Europe/Berlin")
    assert columns.timestamp.tolist() == [1764400000 * US]
    with pytest.raises(ConfigurationError, match=r"events\.timezone: 'Mars/Base' is not a known zone"):
        make(timezone="Mars/Base")


def test_the_future_begins_after_the_record_or_after_now() -> None:
    late = {"timestamp": 1764400000 + 301, "score": 0.5}
    assert make().decode([batch([late])]).rejected[0].reason == "future_timestamp"
    assert read([late], now=lambda: (1764400000 + 1) * US).timestamp.tolist() == [1764400301 * US]
    assert read([late], max_future_us=None).timestamp.tolist() == [1764400301 * US]
    [rejected] = make(now=lambda: 1764400000 * US).decode([batch([late])]).rejected
    assert "later than now" in rejected.detail


def test_fields_are_found_at_dotted_paths() -> None:
    fields = {
        "label": "outcome.label",
        "score": "model.probability",
        "timestamp": "meta.at",
        "version": "meta.v",
    }
    message = {
        "outcome": {"label": "fraud"},
        "model": {"probability": 0.75},
        "meta": {"at": 1764400000, "v": 3},
    }
    result = make(fields=fields).decode([batch([message, message | {"outcome": None}])])
    assert result.rejected == ()
    columns = result.columns["fraud", "3"]
    assert columns.label.tolist() == [1, UNLABELED]
    assert columns.score.tolist() == [[0.75], [0.75]]


@pytest.mark.parametrize(
    ("version", "text"), [("v1", "v1"), (3, "3"), (3.0, "3"), (2.5, "2.5"), (None, ""), ("", "")]
)
def test_a_version_is_a_text(version: Any, text: str) -> None:
    assert list(make().decode([batch([{"version": version, "score": 0.5}])]).columns) == [("fraud", text)]


def test_the_model_may_be_left_out_where_it_is_clear() -> None:
    message = {"score": 0.5}
    wildcard = ModelSpec("*", "binary", ("0", "1"), 1, thresholds=(0.5,))
    assert list(make(BINARY, wildcard).decode([batch([message])]).columns) == [("fraud", "")]
    assert make(wildcard).decode([batch([message])]).rejected[0].reason == "missing_field"
    assert list(make(wildcard, default_model="m").decode([batch([message])]).columns) == [("m", "")]


def test_models_and_versions_are_told_apart_in_the_order_read() -> None:
    wildcard = ModelSpec("*", "binary", ("0", "1"), 1, thresholds=(0.5,))
    named = [("fraud", "1"), ("x", "1"), ("fraud", "2"), ("fraud", "1"), ("y", "1"), ("x", "1")]
    messages = [{"model": m, "version": v, "score": i / 8} for i, (m, v) in enumerate(named)]
    messages[3]["label"] = ["fraud"]  # read by the other reader, and still in its place
    columns = make(BINARY, wildcard).decode([batch(messages)]).columns
    assert {name: c.score[:, 0].tolist() for name, c in columns.items()} == {
        ("fraud", "1"): [0, 3 / 8],
        ("fraud", "2"): [2 / 8],
        ("x", "1"): [1 / 8, 5 / 8],
        ("y", "1"): [4 / 8],
    }
    assert columns["fraud", "1"].position.tolist() == [0, 3]


def test_segments_are_coded_by_value() -> None:
    values = ["eu", "us", "eu", 1, True, 1.0, None, ["eu"], {"a": 1}, "true", "other"]
    decoder = make()
    messages: list[Any] = [{"score": 0.5, "segments": {"region": v}} for v in values]
    messages += [{"score": 0.5}, {"score": 0.5, "segments": None}, {"score": 0.5, "segments": "eu"}]
    [columns] = decoder.decode([batch(messages)]).columns.values()
    names = [decoder.vocabulary("fraud", "region").name(code) for code in columns.segments[:, 0]]
    assert names == ["eu", "us", "eu", "1", "true", "1", *[None] * 3, "true", "other", *[None] * 3]
    assert columns.segments[-1, 0] == MISSING
    assert columns.segments[10, 0] == OTHER_VALUE


def test_segment_values_beyond_the_limit_share_a_name() -> None:
    decoder = make(segment_values=2)
    messages = [{"score": 0.5, "segments": {"region": r}} for r in ("a", "b", "c", "a", "c", 1)]
    [columns] = decoder.decode([batch(messages)]).columns.values()
    assert columns.segments[:, 0].tolist() == [2, 3, OTHER_VALUE, 2, OTHER_VALUE, OTHER_VALUE]
    assert decoder.limits_reached == {"segment_values": 3}


def test_each_model_has_its_own_segment_values() -> None:
    wildcard = ModelSpec("*", "binary", ("0", "1"), 1, thresholds=(0.5,), segments=("region",))
    decoder = make(wildcard)
    regions = [("x", "eu"), ("y", "us"), ("x", "us")]
    result = decoder.decode(
        [batch([{"model": m, "score": 0.5, "segments": {"region": r}} for m, r in regions])]
    )
    assert result.columns["x", ""].segments.tolist() == [[2], [3]]
    assert result.columns["y", ""].segments.tolist() == [[2]]
    assert decoder.vocabulary("y", "region").name(2) == "us"


def test_a_forgotten_version_frees_its_place() -> None:
    decoder = make(max_versions=2)

    def versions(*names: str) -> tuple[list[str], list[str]]:
        result = decoder.decode([batch([{"version": v, "score": 0.5} for v in names])])
        return [v for _, v in result.columns], [r.detail for r in result.rejected]

    accepted, refused = versions("1", "2", "3", "1")
    assert accepted == ["1", "2"]
    assert refused == ["limits.versions_per_model allows 2; '3' is one more"]
    assert decoder.limits_reached == {"versions_per_model": 1}
    decoder.forget("fraud", "1")
    assert versions("3", "2") == (["3", "2"], [])


def test_named_models_have_places_of_their_own() -> None:
    wildcard = ModelSpec("*", "binary", ("0", "1"), 1, thresholds=(0.5,))
    decoder = make(BINARY, wildcard, max_models=2)
    assert decoder.admit("x", "1")
    assert not decoder.admit("y", "1")
    result = decoder.decode([batch([{"model": m, "score": 0.5} for m in ("y", "x", "fraud")])])
    assert sorted(name for name, _ in result.columns) == ["fraud", "x"]
    assert [(r.reason, r.model) for r in result.rejected] == [("too_many_models", "")]
    decoder.forget("x", "1")
    decoder.forget("x", "")
    assert decoder.admit("y", "1")


def test_spans_tell_what_was_read_of_each_partition() -> None:
    one = batch(
        [{"timestamp": 1764400002, "score": 0.5}, b"?", {"timestamp": 1764400001, "score": 0.5}], first=7
    )
    two = batch([b"?", None], partition=1)
    result = make().decode([one, two])
    assert result.spans == {
        Partition("t", 0): Span(7, 10, 3, 1764400002 * US, 1764400002 * US),
        Partition("t", 1): Span(0, 2, 2, None, None),
    }
    assert [(r.partition.partition, r.record.offset) for r in result.rejected] == [(0, 8), (1, 0), (1, 1)]


def test_positions_follow_offsets_with_gaps() -> None:
    value = b'{"score": 0.5}'
    records = [raw(offset, value) for offset in (5, 6, 9)]
    result = make().decode([RecordBatch(Partition("t", 2), records)])
    base = Positions(["t"]).base("t", 2)
    assert result.columns["fraud", ""].position.tolist() == [base + 5, base + 6, base + 9]
    assert result.spans[Partition("t", 2)].next == 10
    with pytest.raises(SourceError, match="partition 40000"):
        make().decode([RecordBatch(Partition("t", 40_000), records)])


def test_large_messages_and_odd_neighbours_do_not_disturb() -> None:
    messages: list[Any] = [
        {"score": 0.25, "note": "x" * 3000},
        b"?",
        None,
        {"score": 0.5, "note": [[[]] * 200]},
    ]
    result = make(event_bytes=4000).decode([batch([*messages, {"score": 0.75, "note": "x" * 5000}])])
    assert result.columns["fraud", ""].score[:, 0].tolist() == [0.25, 0.5]
    assert [r.reason for r in result.rejected] == ["not_json", "not_json", "too_large"]


@pytest.mark.parametrize("depth", [255, 256, 300])
def test_the_depth_of_ignored_fields_is_limited_too(depth: int) -> None:
    value = b'{"score": 0.5, "note": ' + b"[" * depth + b"]" * depth + b"}"
    result = make().decode([batch([value])])
    assert [r.reason for r in result.rejected] == ([] if depth < 256 else ["not_json"])


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    values = [b'{"score": 0.25, "score": 0.75}', b'{"score": "?", "score": 0.75}']
    assert read(values).score[:, 0].tolist() == [0.75, 0.75]


def test_no_records_are_no_events() -> None:
    assert make().decode([]).columns == {}


def test_columns_have_the_promised_types_and_can_be_written_to() -> None:
    columns = read([{"score": 0.5, "label": 1}])
    types = {
        name: (getattr(columns, name).dtype.name, getattr(columns, name).ndim) for name in Columns.__slots__
    }
    assert types == {
        "timestamp": ("int64", 1),
        "position": ("int64", 1),
        "label": ("int16", 1),
        "decision": ("int16", 1),
        "score": ("float32", 2),
        "segments": ("int16", 2),
    }
    assert all(getattr(columns, name).flags.writeable for name in Columns.__slots__)
