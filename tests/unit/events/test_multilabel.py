"""Models of which several classes can be true at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from monitor.events.batch import Columns
from monitor.events.decoder import Decoder
from monitor.events.position import Positions
from monitor.events.spec import UNLABELED, ModelSpec
from tests.support.records import batch

TAGS = ModelSpec(
    "tags",
    "multilabel",
    ("a", "b", "c"),
    thresholds=(0.5, 0.9, 0.1),
    aliases={"first": "a"},
    version_classes={"2": ("c", "a", "b")},
)
PAIR = ModelSpec("pair", "multilabel", ("x", "y"), thresholds=(0.5, 0.5))
NUMBERS = ModelSpec("numbers", "multilabel", ("0", "1", "3"), thresholds=(0.5,) * 3, integers="names")
BINARY = ModelSpec("fraud", "binary", ("legit", "fraud"), 1, thresholds=(0.5,))
UNKNOWN = [UNLABELED] * 3


def read(messages: list[Any], spec: ModelSpec = TAGS, fields: dict[str, Any] | None = None) -> Columns:
    """Decode events of one version, none of which is refused."""
    result = Decoder(fields or {}, {spec.name: spec}, Positions(["t"])).decode([batch(messages)])
    assert result.rejected == ()
    [columns] = result.columns.values()
    return columns


LABELS = [
    (["a", "c"], [1, 0, 1]),
    (["c", "a", "c", "first"], [1, 0, 1]),
    ([], [0, 0, 0]),
    ("b", [0, 1, 0]),
    (["b"], [0, 1, 0]),
    (2, [0, 0, 1]),
    ([2, 0], [1, 0, 1]),
    ([0, 1], [1, 1, 0]),
    ([0], [1, 0, 0]),
    (["a", 1.0], [1, 1, 0]),
    ([1, 0, 1], [1, 0, 1]),
    ([1.0, 0.0, 1.0], [1, 0, 1]),
    ([True, False, False], [1, 0, 0]),
    ([0, 0, 0], [0, 0, 0]),
    ([1, 1, 1], [1, 1, 1]),
    ([0, 1, 2], [1, 1, 1]),
    (None, UNKNOWN),
    (float("nan"), UNKNOWN),
]


@pytest.mark.parametrize(("label", "row"), LABELS)
def test_a_label_is_a_list_of_classes_or_a_vector(label: Any, row: list[int]) -> None:
    assert read([{"label": label, "scores": [0, 0, 0]}]).label.tolist() == [row]


def test_labels_read_together_mean_the_same() -> None:
    columns = read([{"label": label, "scores": [0, 0, 0]} for label, _ in LABELS])
    assert columns.label.tolist() == [row for _, row in LABELS]


def test_integers_are_names_where_every_class_is_one() -> None:
    labels = [[3], [3, 0], ["0", "1"], [0, 0, 1], 3.0, [0, 1]]
    expected = [[0, 0, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert read([{"label": each, "prediction": each} for each in labels], NUMBERS).label.tolist() == expected


@pytest.mark.parametrize("beside", [[1, 0], ["x"]])
def test_with_two_classes_two_numbers_are_a_vector(beside: Any) -> None:
    columns = read([{"label": label, "prediction": []} for label in ([0, 1], ["x", "y"], beside)], PAIR)
    assert columns.label.tolist() == [[0, 1], [1, 1], [1, 0]]


def test_an_event_without_label_is_unlabeled_and_an_empty_list_is_a_label() -> None:
    assert read([{"scores": [0, 0, 0]}, {"scores": [0, 0, 0], "label": []}]).label.tolist() == [
        UNKNOWN,
        [0, 0, 0],
    ]
    assert read([{"scores": [0, 0, 0]}]).label.tolist() == [UNKNOWN]


@pytest.mark.parametrize(
    ("prediction", "row"),
    [
        (["a", "c"], [1, 0, 1, 0]),
        ([0, 1, 1], [0, 1, 1, 0]),
        ("first", [1, 0, 0, 0]),
        ([], [0, 0, 0, 0]),
        (["a", "nobody"], [1, 0, 0, 1]),
        ("nobody", [0, 0, 0, 1]),
        (float("nan"), [0, 0, 0, 1]),
        ([0.2, 0.7, 0.1], [0, 0, 0, 1]),
        ([0, 1, 0, 0], [0, 0, 0, 1]),
        (None, [1, 0, 1, 0]),
    ],
)
@pytest.mark.parametrize("label", [["a"], None])
def test_the_decision_is_the_prediction_else_a_threshold_for_each_class(
    prediction: Any, row: list[int], label: Any
) -> None:
    event = {"label": label, "prediction": prediction, "scores": [0.5, 0.8, 0.2]}
    assert read([event]).decision.tolist() == [row]
    assert read([event, {"label": "a", "prediction": "b"}]).decision.tolist() == [row, [0, 1, 0, 0]]


def test_scores_and_thresholds_meet_as_float32() -> None:
    below = float(np.nextafter(np.float32(0.9), np.float32(0)))
    assert float(np.float32(0.9)) < 0.9
    columns = read([{"scores": [0.5, 0.9, 0.1]}, {"scores": [0.4999, below, 0.0999]}])
    assert columns.decision.tolist() == [[1, 1, 1, 0], [0, 0, 0, 0]]


def test_scores_are_clipped_a_little_and_need_no_sum() -> None:
    columns = read([{"scores": [1 + 1e-6, 0.7, 0.9]}, {"scores": {"c": 0, "first": 1, "b": -1e-6}}])
    assert columns.score.tolist() == [np.float32([1, 0.7, 0.9]).tolist(), [1, 0, 0]]


def test_a_prediction_alone_is_enough() -> None:
    columns = read([{"label": ["a"], "prediction": ["a"], "confidence": 0.9, "score": 0.9}])
    assert np.isnan(columns.score).all()
    assert columns.decision.tolist() == [[1, 0, 0, 0]]


@pytest.mark.parametrize(
    "company", [[], [{"version": "2", "scores": {"a": 0, "b": 0, "c": 0}, "label": "a"}]]
)
def test_vectors_are_in_the_order_of_their_version(company: list[Any]) -> None:
    event = {"version": "2", "scores": [0.3, 0.1, 0.2], "label": [1, 0, 0], "prediction": [0, 1, 1]}
    columns = read([event, *company])
    assert columns.score[0].tolist() == np.float32([0.1, 0.2, 0.3]).tolist()
    assert columns.label[0].tolist() == [0, 0, 1]
    assert columns.decision[0].tolist() == [1, 1, 0, 0]
    assert read([{"version": "2", "prediction": [1]}]).decision.tolist() == [[0, 1, 0, 0]]  # an index


def test_class_scores_may_stand_in_fields_of_their_own() -> None:
    fields = {"scores": {"a": "p.a", "b": "p.b", "c": "p_c"}, "label": "outcome.tags"}
    message = {"p": {"a": 0.5, "b": 0.25}, "p_c": 1, "outcome": {"tags": ["b", "c"]}}
    columns = read([message], fields=fields)
    assert (columns.score.tolist(), columns.label.tolist()) == ([[0.5, 0.25, 1]], [[0, 1, 1]])


def test_tasks_do_not_disturb_each_other() -> None:
    decoder = Decoder({}, {"tags": TAGS, "fraud": BINARY}, Positions(["t"]))
    messages = [
        {"model": "fraud", "label": "fraud", "score": 0.75},
        {"model": "tags", "label": ["a", "c"], "scores": [0.5, 0.5, 0.5]},
        {"model": "fraud", "label": ["fraud"], "prediction": [0, 1], "score": 0.25},
        {"model": "fraud", "label": ["legit", "fraud"], "score": 0.25},
    ]
    result = decoder.decode([batch(messages)])
    assert [r.reason for r in result.rejected] == ["wrong_length"]
    fraud, tags = result.columns["fraud", ""], result.columns["tags", ""]
    assert (fraud.label.tolist(), fraud.decision.tolist()) == ([1, 1], [1, 1])
    assert (tags.label.tolist(), tags.decision.tolist()) == ([[1, 0, 1]], [[1, 0, 1, 0]])


@pytest.mark.parametrize("labels", [[["a"]], [["a"], 0], [None, [1, 0, 0]]])
def test_columns_have_the_promised_types_and_can_be_written_to(labels: list[Any]) -> None:
    columns = read([{"label": label, "scores": [0, 0, 0]} for label in labels])
    assert (columns.label.dtype, columns.decision.dtype, columns.score.dtype) == ("int8", "int8", "float32")
    assert (columns.label.shape[1], columns.decision.shape[1], columns.score.shape[1]) == (3, 4, 3)
    for name in Columns.__slots__:
        assert getattr(columns, name).flags.writeable
        assert getattr(columns, name).flags.c_contiguous
