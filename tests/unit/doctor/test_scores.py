"""Scores that are none: each is named, with what to write; what is only alike is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
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
    sigmoid,
)

GOOD = ["Nothing that these messages show."]


def scored(messages: list[Message], scores: Any) -> list[Message]:
    return replaced(messages, "score" if "score" in messages[0] else "scores", [scores(m) for m in messages])


def decided(messages: list[Message], threshold: float = 0.5) -> list[Message]:
    return [{**m, "prediction": "fraud" if m["score"] >= threshold else "legit"} for m in messages]


def confidence(message: Message) -> float:
    return max(message["score"], 1 - message["score"])


def wrong(folder: Path, models: str, messages: list[Message]) -> str:
    return "\n".join(said(configured(folder, models), messages)["What is wrong"])


def test_confidence_beside_the_prediction(tmp_path: Path) -> None:
    messages = scored(decided(binary(40)), confidence)
    found = said(configured(tmp_path), messages)
    assert found["What is wrong"] == [
        "fraud: no score is below 0.5, but 20 of 40 labels are not fraud: scores are probably the confidence "
        "in the class decided for, not the probability of fraud.",
        "    fix: map it as confidence (events.fields: {confidence: score}), which is read with the "
        "prediction; or send the probability of fraud.",
    ]
    assert found["Proposed configuration"][:2] == ["events:", "  fields: {confidence: score}"]
    # What is proposed is right: nothing is wrong with it.
    assert wrong(tmp_path, FRAUD + "\nevents: {fields: {confidence: score}}", messages) == GOOD[0]


def test_confidence_without_a_prediction(tmp_path: Path) -> None:
    messages = scored(binary(200), confidence)
    assert "(or positive_class is the wrong way round)" in wrong(tmp_path, FRAUD, messages)


def test_confidence_of_rare_positives_shows_in_20_messages(tmp_path: Path) -> None:
    messages = scored(binary(20, intercept=-6), confidence)
    assert "no score is below 0.5, but 20 of 20 labels are not fraud" in wrong(tmp_path, FRAUD, messages)


def test_scores_above_one_half_that_fit_their_labels(tmp_path: Path) -> None:
    messages = [m for m in binary(400, intercept=2) if m["score"] >= 0.5]
    assert wrong(tmp_path, FRAUD, messages) == GOOD[0]


def test_predictions_by_a_high_threshold_are_no_confidence(tmp_path: Path) -> None:
    messages = decided([m for m in binary(400, intercept=2) if m["score"] >= 0.5], threshold=0.9)
    found = said(configured(tmp_path), messages)
    assert found["What is wrong"] == GOOD
    assert "every threshold from 0.89" in found["Worth knowing"][0]


@pytest.mark.parametrize("seen", [["score", "prediction"], ["score"], ["confidence", "prediction"]])
def test_one_score_for_many_classes(tmp_path: Path, seen: list[str]) -> None:
    messages = [
        {"label": m["label"], "prediction": "abc"[max(range(3), key=m["scores"].__getitem__)]}
        | dict.fromkeys(("score", "confidence"), max(m["scores"]))
        for m in multiclass(30)
    ]
    messages = [{key: m[key] for key in ("label", *seen)} for m in messages]
    found = wrong(tmp_path, IRIS, messages)
    assert found.startswith("iris: 30 of 30 messages have one score ")
    assert "the confidence in the class decided for" in found
    assert len(found.splitlines()) == 2


@pytest.mark.parametrize(
    ("scores", "meaning", "fix"),
    [
        (lambda m: m["logit"], "they look like logits", "write models.fraud.scores: logit."),
        (lambda m: 100 * m["score"], "they look like percentages", "divide them by 100"),
        (lambda m: 300 + 500 * m["score"], "points of a score card", "send the probability"),
        (lambda m: 1.2 * m["score"] - 0.1, "rounding, or a regression's output", "clip them"),
    ],
)
def test_numbers_on_another_scale(tmp_path: Path, scores: Any, meaning: str, fix: str) -> None:
    found = said(configured(tmp_path), scored(binary(20), scores))
    text, remedy = found["What is wrong"]
    assert "of 20 messages have numbers at score outside [0, 1] (from " in text
    assert meaning in text
    assert fix in remedy
    assert ("    scores: logit" in found["Proposed configuration"]) == ("logit" in fix)


def test_one_message_on_another_scale_is_an_accident(tmp_path: Path) -> None:
    messages = [*binary(19), {"label": "fraud", "score": 3.5}]
    assert wrong(tmp_path, FRAUD, messages).startswith("1 of 20 messages rejected as out_of_range")


@pytest.mark.parametrize(
    ("models", "messages"),
    [(IRIS, multiclass(20)), (TAGS, multilabel(20))],
)
def test_vectors_of_logits(tmp_path: Path, models: str, messages: list[Message]) -> None:
    logits = scored(messages, lambda m: m["logits"])
    assert "they look like logits" in wrong(tmp_path, models, logits)
    assert wrong(tmp_path, models.replace("windows", "scores: logit, windows"), logits) == GOOD[0]


def test_vectors_of_independent_scores(tmp_path: Path) -> None:
    messages = scored(multiclass(20), lambda m: sigmoid(np.array(m["logits"])).tolist())
    found = wrong(tmp_path, IRIS, messages)
    assert "have scores in [0, 1] whose sum is not 1 (from " in found
    assert "task: multilabel" in found


@pytest.mark.parametrize(
    ("models", "messages"),
    [(FRAUD, binary(60)), (IRIS, multiclass(20)), (TAGS, multilabel(60))],
)
def test_probabilities_read_as_logits(tmp_path: Path, models: str, messages: list[Message]) -> None:
    models = models.replace("windows", "scores: logit, temperature: 2.0, windows")
    found = said(configured(tmp_path, models), messages)
    assert "scores are read as logits, but each of the " in found["What is wrong"][0]
    assert "    scores: probability" in found["Proposed configuration"]
    assert not any("temperature" in line for line in found["Proposed configuration"][:-1])


def test_few_probabilities_read_as_logits_are_not_told_apart(tmp_path: Path) -> None:
    models = FRAUD.replace("windows", "scores: logit, windows")
    found = said(configured(tmp_path, models), binary(10))
    assert found["What is wrong"] == GOOD
    assert "whether scores are probabilities and no logits" in found["Too few messages to tell"][0]


def test_reversed_scores(tmp_path: Path) -> None:
    found = said(configured(tmp_path), scored(binary(100), lambda m: 1 - m["score"]))
    assert found["What is wrong"] == [
        "fraud: scores are the wrong way round: ROC AUC is 0.05 (51 of 100 labels are fraud). They seem to "
        "be probabilities of legit.",
        "    fix: write models.fraud.positive_class: legit; or, to watch fraud, send 1 - score.",
    ]
    assert "    positive_class: legit" in found["Proposed configuration"]


def test_what_is_to_be_written_is_yaml(tmp_path: Path) -> None:
    models = FRAUD.replace("legit, fraud", "'no', 'yes'")
    messages = [{"label": "no" if m["label"] == "fraud" else "yes", "score": m["score"]} for m in binary(100)]
    assert "positive_class: 'no'; or, to watch yes," in wrong(tmp_path, models, messages)


def test_reversed_numbers_may_be_in_another_order(tmp_path: Path) -> None:
    messages = [{"label": int(m["label"] == "legit"), "score": m["score"]} for m in binary(100)]
    assert "0 is read as legit, 1 as fraud" in wrong(tmp_path, FRAUD, messages)


def test_few_reversed_scores(tmp_path: Path) -> None:
    messages = [
        {"label": "legit" if i % 2 else "fraud", "score": (0.7 if i % 2 else 0.2) + i / 100} for i in range(8)
    ]
    found = said(configured(tmp_path), messages)
    assert found["What is wrong"] == GOOD
    assert "fraud: whether scores are the wrong way round" in found["Too few messages to tell"][0]


def test_one_score_for_all(tmp_path: Path) -> None:
    messages = scored(binary(12), lambda m: 0.5)
    assert wrong(tmp_path, FRAUD, messages).startswith("fraud: every score is 0.5: ")
    assert wrong(tmp_path, FRAUD, messages[:9]) == GOOD[0]


def test_predictions_without_scores(tmp_path: Path) -> None:
    messages = [{"label": m["label"], "prediction": m["label"], "p": m["score"]} for m in binary(20)]
    found = said(configured(tmp_path), messages)
    assert found["What is wrong"] == GOOD
    assert found["Worth knowing"] == [
        "fraud: no message has a score at score or scores at scores; only metrics of decisions can be "
        "computed.",
        "    fix: map events.fields.score, or send score beside the prediction.",
        "To map fields with events.fields: messages have label, p, prediction.",
    ]
