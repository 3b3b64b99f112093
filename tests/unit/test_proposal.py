"""What doctor proposes: valid configuration that fits the messages, or a reason why there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config, load_config
from monitor.proposal import Proposal, propose, seen_paths

KAFKA = "kafka: {bootstrap_servers: [b], topics: [t]}\n"


def proposed(*messages: Any, fields: dict[str, Any] | None = None, **options: Any) -> Proposal:
    values = [m if isinstance(m, bytes) or m is None else json.dumps(m).encode() for m in messages]
    return propose(values, fields or {}, options.pop("configured", {}), **options)


def pasted(text: str, folder: Path) -> Config:
    """Read the proposal as a user pastes it."""
    path = folder / "monitor.yaml"
    path.write_text(KAFKA + text, encoding="utf-8")
    return load_config(path, {})


def labels(*values: Any, **others: Any) -> list[dict[str, Any]]:
    return [{"model": "m", "label": value, "score": 0.5, **others} for value in values]


def test_two_classes_are_binary_and_the_rarer_is_positive(tmp_path: Path) -> None:
    found = proposed(*labels("legit", "legit", "fraud", "legit", "legit"))
    model = pasted(found.yaml, tmp_path).models["m"]
    assert (model.task, model.classes, model.positive_class) == ("binary", ("fraud", "legit"), "fraud")
    assert found.notes == ["m: rests on 5 labeled messages; a class that is not among them is missing here."]


@pytest.mark.parametrize(
    "values", [(0, 1, 1, 1), (False, True, True, True), (0.0, 1.0, 1, 1), ([0], [1], [1], [1])]
)
def test_of_0_and_1_the_latter_is_positive(tmp_path: Path, values: tuple[Any, ...]) -> None:
    model = pasted(proposed(*labels(*values)).yaml, tmp_path).models["m"]
    assert (model.classes, model.positive_class, model.integers) == (("0", "1"), "1", "names")


def test_more_classes_are_multiclass(tmp_path: Path) -> None:
    model = pasted(proposed(*labels(*"abcabc")).yaml, tmp_path).models["m"]
    assert (model.task, model.classes) == ("multiclass", ("a", "b", "c"))


@pytest.mark.parametrize(
    ("messages", "note"),
    [
        ([b"xx", None, b"[1]"], "None: no message is a JSON object."),
        (labels(None, None), "m: none, no message has a class name under label."),
        ([{"model": "m", "score": 0.5}], "m: none, no message has a label."),
        (labels(*"aaaa"), "m: none, its 4 labeled messages know the class a alone; look at more"),
        (labels(*"ab", "a"), "m: none, 3 labeled messages have 2 different labels under label: too few"),
        (labels(*(f"order-{i}" for i in range(200))), "m: none, 200 labeled messages have 200 different"),
        (labels(*(i / 7 for i in range(1, 7))), "m: none, no message has a class name under label."),
        (labels([0, 1], [0, 1, 1]), "m: none, no message has a class name under label."),
        (labels([0, 1], [1, 0]), "m: none, no message has a class name under label."),
        (labels("", "\x1b[2J", "\u202e", "\ud800"), "m: none, no message has a class name under label."),
    ],
)
def test_what_does_not_look_like_classes_is_not_proposed(messages: list[Any], note: str) -> None:
    found = proposed(*messages)
    assert found.yaml == ""
    assert found.notes[0].startswith(note)


def test_fields_are_found_where_they_stand(tmp_path: Path) -> None:
    messages = [
        {"outcome": {"label": x}, "model": {"probability": 0.5, "name": "churn"}, "created_at": 1}
        for x in "xyxy"
    ]
    config = pasted(proposed(*messages).yaml, tmp_path)
    assert config.events.fields.mapped == {
        "label": "outcome.label",
        "score": "model.probability",
        "timestamp": "created_at",
        "model": "model.name",
    }
    assert list(config.models) == ["churn"]


def test_a_mapping_that_messages_have_is_kept(tmp_path: Path) -> None:
    messages = [{"label": "no", "truth": x} for x in "xyxy"]
    found = proposed(*messages, fields={"label": "truth"}, default_model="m")
    config = pasted(found.yaml, tmp_path)
    assert config.events.fields.label == "truth"
    assert config.models["m"].classes == ("x", "y")


def test_models_that_are_configured_rightly_stay(tmp_path: Path) -> None:
    entry = {"task": "binary", "classes": ["x", "y"], "positive_class": "x"}
    found = proposed(*labels(*"xxxy"), configured={"m": entry})
    assert yaml.safe_load(found.yaml) == {"models": {"m": entry}}
    assert found.notes == ["m: as configured; it fits 4 labeled messages."]


def test_messages_without_a_model_beside_others(tmp_path: Path) -> None:
    messages = [*labels(*"xyxy"), *({"label": x} for x in "abab")]
    config = pasted(proposed(*messages).yaml, tmp_path)
    assert sorted(config.models) == ["default", "m"]
    assert config.events.default_model == "default"


def test_a_class_may_be_called_other(tmp_path: Path) -> None:
    model = pasted(proposed(*labels("other", "a") * 2).yaml, tmp_path).models["m"]
    assert model.classes == ("a", "other")


def test_lists_of_classes_are_multilabel(tmp_path: Path) -> None:
    found = proposed(*labels(["x", "z"], ["y"], [], "x", ["y", "z"]))
    model = pasted(found.yaml, tmp_path).models["m"]
    assert (model.task, model.classes) == ("multilabel", ("x", "y", "z"))
    assert found.notes == ["m: rests on 5 labeled messages; a class that is not among them is missing here."]


def test_vectors_of_several_are_multilabel_with_classes_to_name(tmp_path: Path) -> None:
    found = proposed(*labels([0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 1]))
    model = pasted(found.yaml, tmp_path).models["m"]
    assert (model.task, model.classes) == ("multilabel", ("0", "1", "2"))
    assert found.notes == [
        "m: rests on 5 labeled messages; its classes are places in the label vectors: name them in that "
        "order."
    ]


def test_changes_of_what_is_configured(tmp_path: Path) -> None:
    entry = {"task": "binary", "classes": ["x", "y"], "scores": "logit", "temperature": 2.0}
    changes = {"m": {"scores": "probability", "temperature": None, "aliases": None}}
    found = proposed(
        *labels(*"xyxy"),
        fields={"score": "score"},
        configured={"m": entry},
        changes=changes,
        remapped={"confidence": "score"},
    )
    config = pasted(found.yaml, tmp_path)
    assert (config.models["m"].scores, config.models["m"].temperature) == ("probability", 1.0)
    assert config.events.fields.mapped == {"confidence": "score"}
    assert found.notes == ["m: as configured, with scores, temperature changed."]


names = st.text(max_size=6) | st.sampled_from(
    ["yes", "no", "null", "010", "12:30", "2026-11-01", "other", "~", "*"]
)
scalars = names | st.booleans() | st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
events = st.dictionaries(
    st.sampled_from(["label", "score", "model", "ts", "a.b", "x"]) | names,
    scalars | st.dictionaries(names, scalars, max_size=3) | st.lists(scalars, max_size=2),
    max_size=4,
)


@settings(max_examples=150)
@given(st.lists(events, max_size=6), st.lists(names, min_size=2, max_size=4))
def test_whatever_is_proposed_is_a_valid_configuration(
    tmp_path_factory: pytest.TempPathFactory, odd: list[dict[str, Any]], classes: list[str]
) -> None:
    messages = [*odd, *({"model": classes[0], "label": name} for name in classes * 2)]
    found = proposed(*messages)
    if found.yaml:
        pasted(found.yaml, tmp_path_factory.getbasetemp())
    assert (found.yaml + "".join(found.notes)).replace("\n", "").isprintable()


def test_paths_by_how_common_they_are() -> None:
    values = [
        b'{"b": 1, "a": {"c": 1, "d": []}}',
        b'{"a": {"c": 2}, "x.y": 1, "": 1, "\\u001b": 1}',
        b"xx",
        None,
    ]
    assert seen_paths(values) == ["a.c", "a.d", "b"]
    assert seen_paths([json.dumps(dict.fromkeys(map(str, range(99)))).encode()], most=3) == ["0", "1", "10"]
