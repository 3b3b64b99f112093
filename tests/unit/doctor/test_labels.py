"""Labels that are not read as they are meant, each with what to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.samples import (
    FRAUD,
    IRIS,
    TAGS,
    Message,
    binary,
    configured,
    multiclass,
    multilabel,
    replaced,
    said,
)

NUMBERS = "{fraud: {task: binary, classes: [0, 1]}}"
XYZ = IRIS.replace("a, b, c", "x, y, z")
GOOD = ["Nothing that these messages show."]


def labeled(messages: list[Message], label: Any) -> list[Message]:
    return replaced(messages, "label", [label(m["label"]) for m in messages])


def vector(names: list[str]) -> list[int]:
    return [int(name in names) for name in "xyz"]


def test_no_labels(tmp_path: Path) -> None:
    found = said(configured(tmp_path), labeled(binary(20), lambda _: None))
    assert found["What is wrong"][0] == (
        "fraud: no message has a label at label. Metrics need the true class."
    )
    assert found["What is wrong"][-1].startswith("To map fields with events.fields: messages have ")


def test_one_class(tmp_path: Path) -> None:
    found = said(configured(tmp_path), [{"label": "fraud", "score": i / 5} for i in range(5)])
    assert found["What is wrong"] == GOOD
    assert found["Worth knowing"][0].startswith("fraud: every label is fraud. With one class there is no")


@pytest.mark.parametrize(
    ("models", "label", "aliases"),
    [
        (FRAUD, lambda name: str(int(name == "fraud")), "{'0': legit, '1': fraud}"),
        (FRAUD, lambda name: f"{int(name == 'fraud')}.0", "{'0.0': legit, '1.0': fraud}"),
        (FRAUD, lambda name: "true" if name == "fraud" else "false", "{'false': legit, 'true': fraud}"),
        (FRAUD, lambda name: name.upper(), "{LEGIT: legit, FRAUD: fraud}"),
        (FRAUD, lambda name: f" {name}", "{' legit': legit, ' fraud': fraud}"),
        (NUMBERS, lambda name: f"{int(name == 'fraud')}.0", "{'0.0': '0', '1.0': '1'}"),
        (NUMBERS, lambda name: "yes" if name == "fraud" else "no", "{'no': '0', 'yes': '1'}"),
    ],
)
def test_classes_in_another_spelling(tmp_path: Path, models: str, label: Any, aliases: str) -> None:
    messages = labeled(sorted(binary(20), key=lambda m: m["label"] == "fraud"), label)
    found = said(configured(tmp_path, models), messages)
    assert found["What is wrong"][0].startswith("fraud: 20 of 20 labels are spelled unlike the classes: ")
    assert len(found["What is wrong"]) == 2
    assert f"    aliases: {aliases}" in found["Proposed configuration"]
    right = models.replace("]", f"], aliases: {aliases}", 1)
    assert said(configured(tmp_path, right), messages)["What is wrong"] == GOOD


@pytest.mark.parametrize("label", [lambda name: name, lambda name: int(name == "fraud")])
def test_names_and_numbers_are_read(tmp_path: Path, label: Any) -> None:
    assert said(configured(tmp_path), labeled(binary(20), label))["What is wrong"] == GOOD


def test_names_where_numbers_are_configured_are_new_classes(tmp_path: Path) -> None:
    found = said(configured(tmp_path, NUMBERS), binary(20))
    assert found["What is wrong"][0].startswith("20 of 20 messages rejected as unknown_label")
    assert "    classes: [fraud, legit]" in found["Proposed configuration"]


def test_numbers_from_one(tmp_path: Path) -> None:
    messages = labeled(multiclass(20), lambda name: "abc".index(name) + 1)
    found = said(configured(tmp_path, IRIS), messages)
    assert found["What is wrong"][0].startswith(
        "iris: labels are numbered from 1 to 3, but read as places in [a, b, c] from 0: "
    )
    assert len(found["What is wrong"]) == 2
    assert "    classes: ['1', '2', '3']" in found["Proposed configuration"]
    right = IRIS.replace("a, b, c", "1, 2, 3")
    assert said(configured(tmp_path, right), messages)["What is wrong"] == GOOD


def test_numbers_from_zero_where_names_are_numbers(tmp_path: Path) -> None:
    models = IRIS.replace("a, b, c", "1, 2, 3")
    messages = labeled(multiclass(20), "abc".index)
    found = said(configured(tmp_path, models), messages)
    assert found["What is wrong"][0].startswith("iris: labels are numbered from 0, but read as the names")
    assert "    labels: indices" in found["Proposed configuration"]
    right = models.replace("]", "], labels: indices", 1)
    assert said(configured(tmp_path, right), messages)["What is wrong"] == GOOD


@pytest.mark.parametrize("models", [XYZ, "{iris: {task: binary, classes: [x, y]}}"])
def test_lists_of_classes(tmp_path: Path, models: str) -> None:
    found = said(configured(tmp_path, models), multilabel(20))
    assert found["What is wrong"][0].startswith("iris: ")
    assert " of 20 labels are not one class, such as lists of " in found["What is wrong"][0]
    assert found["What is wrong"][1].startswith("    fix: write models.iris.task: multilabel")
    assert found["Proposed configuration"][2:4] == ["    task: multilabel", "    classes: [x, y, z]"]


def test_vectors_of_several_classes(tmp_path: Path) -> None:
    found = said(configured(tmp_path, XYZ), labeled(multilabel(20), vector))
    assert " of 20 labels are not one class, such as 0/1 vectors with " in found["What is wrong"][0]
    assert found["Proposed configuration"][2:4] == ["    task: multilabel", "    classes: [x, y, z]"]


def test_lists_of_one_class_are_one_class(tmp_path: Path) -> None:
    one_hot = labeled(multiclass(20), lambda name: [int(name == other) for other in "abc"])
    assert said(configured(tmp_path, IRIS), one_hot)["What is wrong"] == GOOD
    assert said(configured(tmp_path, IRIS), labeled(multiclass(20), lambda n: [n]))["What is wrong"] == GOOD


def test_vectors_of_more_classes_than_are_configured(tmp_path: Path) -> None:
    found = said(configured(tmp_path, TAGS.replace("x, y, z", "x, y")), labeled(multilabel(20), vector))
    assert found["What is wrong"] == [
        "tags: 20 of 20 labels are 0/1 vectors of 3, but 2 classes are configured.",
        "    fix: name every class in models.tags.classes, in the order of the vectors.",
    ]
    assert "name them in that order" in found["Proposed configuration"][-1]
    assert said(configured(tmp_path, TAGS), labeled(multilabel(20), vector))["What is wrong"] == GOOD


def test_one_class_an_event_in_a_multilabel_model(tmp_path: Path) -> None:
    models = TAGS.replace("x, y, z", "a, b, c")
    found = said(configured(tmp_path, models), multiclass(20))
    assert "each of 20 labels is one class, and scores sum to 1" in found["What is wrong"][0]
    assert "    task: multiclass" in found["Proposed configuration"]
