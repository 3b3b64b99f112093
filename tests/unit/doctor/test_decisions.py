"""Classes in another order and other thresholds: named with the order or threshold that fits."""

from __future__ import annotations

from pathlib import Path

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

GOOD = ["Nothing that these messages show."]


def moved(messages: list[Message]) -> list[Message]:
    """Send scores in the order b, c, a (or y, z, x)."""
    return replaced(messages, "scores", [[s[1], s[2], s[0]] for s in (m["scores"] for m in messages)])


def test_scores_in_another_order(tmp_path: Path) -> None:
    messages = moved(multiclass(100))
    found = said(configured(tmp_path, IRIS), messages)
    assert found["What is wrong"] == [
        "iris: scores seem to be sent in the order [b, c, a], not [a, b, c]: 83 of 100 decisions are right "
        "so, 8 as they are read.",
        "    fix: write models.iris.classes: [b, c, a], or send scores as {class: probability}.",
    ]
    assert "    classes: [b, c, a]" in found["Proposed configuration"]
    right = said(configured(tmp_path, IRIS.replace("a, b, c", "b, c, a")), messages)
    assert right["What is wrong"] == GOOD


def test_20_messages_show_another_order(tmp_path: Path) -> None:
    found = said(configured(tmp_path, IRIS), moved(multiclass(20, slope=10)))
    assert "not [a, b, c]" in found["What is wrong"][0]


def test_scores_in_another_order_than_predictions(tmp_path: Path) -> None:
    messages = [
        {**m, "prediction": "abc"[max(range(3), key=m["scores"].__getitem__)]} for m in multiclass(60)
    ]
    assert said(configured(tmp_path, IRIS), messages)["What is wrong"] == GOOD
    found = said(configured(tmp_path, IRIS), moved(messages))
    assert found["What is wrong"][0].startswith(
        "iris: scores seem to be sent in the order [b, c, a], not [a, b, c]: 60 of 60 predictions are the "
    )


def test_predictions_by_another_rule(tmp_path: Path) -> None:
    messages = [
        {**m, "prediction": "c" if m["scores"][2] > 0.1 else "abc"[m["scores"].index(max(m["scores"]))]}
        for m in multiclass(60, slope=1.5)
    ]
    found = said(configured(tmp_path, IRIS), messages)
    assert found["What is wrong"] == GOOD
    assert "of 60 predictions are not the class with the greatest score" in found["Worth knowing"][0]


@pytest.mark.parametrize("rows", [100, 20])
def test_labels_numbered_from_one_without_the_last(tmp_path: Path, rows: int) -> None:
    messages = [m for m in multiclass(2 * rows, slope=8) if m["label"] != "c"][:rows]
    numbered = replaced(messages, "label", ["abc".index(m["label"]) + 1 for m in messages])
    text, fix = said(configured(tmp_path, IRIS), numbered)["What is wrong"]
    assert text.startswith("iris: labels seem to mean other classes than decisions: 1 means a, 2 means b (")
    assert fix == "    fix: number labels from 0 to 2 instead of from 1, or send class names."


def test_predictions_and_labels_that_swap_classes(tmp_path: Path) -> None:
    other = {"fraud": "legit", "legit": "fraud"}
    messages = [{"label": m["label"], "prediction": other[m["label"]]} for m in binary(40)]
    text, fix = said(configured(tmp_path), messages)["What is wrong"]
    assert (
        "legit means fraud, fraud means legit (40 of 40 decisions are right so, 0 as they are read)" in text
    )
    assert fix.startswith("    fix: send class names for labels and predictions")


def test_multilabel_scores_in_another_order(tmp_path: Path) -> None:
    found = said(configured(tmp_path, TAGS), moved(multilabel(100)))
    assert found["What is wrong"][0].startswith("tags: scores seem to be sent in the order [y, z, x], not")
    assert "    classes: [y, z, x]" in found["Proposed configuration"]


def test_multilabel_scores_the_wrong_way_round(tmp_path: Path) -> None:
    messages = multilabel(100)
    found = said(
        configured(tmp_path, TAGS),
        replaced(messages, "scores", [[s[0], 1 - s[1], s[2]] for s in (m["scores"] for m in messages)]),
    )
    text, fix = found["What is wrong"]
    assert text.startswith("tags: ROC AUC of 1 of 3 classes is clearly below 0.5 (y 0.0")
    assert fix == "    fix: send 1 - score for [y]."


@pytest.mark.parametrize(
    ("threshold", "differ", "written"), [(0.2, 15, "0.2"), (0.7, 12, "0.7"), (0.5, 0, None)]
)
def test_another_threshold(tmp_path: Path, threshold: float, differ: int, written: str | None) -> None:
    messages = [{**m, "prediction": "fraud" if m["score"] >= threshold else "legit"} for m in binary(100)]
    found = said(configured(tmp_path), messages)
    assert found["What is wrong"] == GOOD
    if written is None:
        assert "Worth knowing" not in found
        return
    text, fix = found["Worth knowing"]
    assert text.startswith(
        f"fraud: {differ} of 100 predictions are not what threshold 0.5 makes of the score; every threshold"
    )
    assert fix.startswith(f"    fix: write models.fraud.threshold: {written}. ")
    right = FRAUD.replace("windows", f"threshold: {written}, windows")
    assert "Worth knowing" not in said(configured(tmp_path, right), messages)


def test_no_threshold(tmp_path: Path) -> None:
    limits = [0.2, 0.8]
    messages = [
        {**m, "prediction": "fraud" if m["score"] >= limits[i % 2] else "legit"}
        for i, m in enumerate(binary(100))
    ]
    found = said(configured(tmp_path), messages)
    assert "and no other threshold explains them" in found["Worth knowing"][0]


def test_one_prediction_at_the_threshold_is_rounding(tmp_path: Path) -> None:
    messages = [{**m, "prediction": "fraud" if m["score"] >= 0.5 else "legit"} for m in binary(100)]
    messages[0]["prediction"] = "legit" if messages[0]["prediction"] == "fraud" else "fraud"
    assert "Worth knowing" not in said(configured(tmp_path), messages)
