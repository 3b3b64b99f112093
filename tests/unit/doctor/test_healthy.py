"""Healthy traffic of every kind raises no suspicion, with few messages as with many."""

from __future__ import annotations

from collections.abc import Callable
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

LOGITS = "scores: logit, windows"


def logits(messages: list[Message]) -> list[Message]:
    field = "score" if "score" in messages[0] else "scores"
    return replaced(messages, field, [m.get("logit", m.get("logits")) for m in messages])


KINDS: dict[str, tuple[str, Callable[[int, int], list[Message]]]] = {
    "balanced": (FRAUD, lambda n, seed: binary(n, seed)),
    "rare": (FRAUD, lambda n, seed: binary(n, seed, intercept=-6)),
    "common": (FRAUD, lambda n, seed: binary(n, seed, intercept=3)),
    "weak": (FRAUD, lambda n, seed: binary(n, seed, slope=0.3)),
    "weak, one side": (FRAUD, lambda n, seed: binary(n, seed, intercept=1, slope=0.2)),
    "strong": (FRAUD, lambda n, seed: binary(n, seed, slope=20)),
    "vectors": (
        FRAUD,
        lambda n, seed: [
            {"label": m["label"], "scores": [1 - m["score"], m["score"]]} for m in binary(n, seed)
        ],
    ),
    "predictions alone": (
        FRAUD,
        lambda n, seed: [
            {"label": m["label"], "prediction": "fraud" if m["score"] >= 0.5 else "legit"}
            for m in binary(n, seed)
        ],
    ),
    "binary logits": (FRAUD.replace("windows", LOGITS), lambda n, seed: logits(binary(n, seed))),
    "weak logits": (
        FRAUD.replace("windows", LOGITS),
        lambda n, seed: logits(binary(n, seed, intercept=0.5, slope=0.15)),
    ),
    "multiclass": (IRIS, multiclass),
    "weak multiclass": (IRIS, lambda n, seed: multiclass(n, seed, slope=0.5)),
    "multiclass logits": (IRIS.replace("windows", LOGITS), lambda n, seed: logits(multiclass(n, seed))),
    "multilabel": (TAGS, multilabel),
    "multilabel logits": (TAGS.replace("windows", LOGITS), lambda n, seed: logits(multilabel(n, seed))),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "seeds"), [(20, 12), (300, 1)])
def test_no_false_alarm(tmp_path: Path, kind: str, n: int, seeds: int) -> None:
    models, messages = KINDS[kind]
    config = configured(tmp_path, models)
    for seed in range(seeds):
        found = said(config, messages(n, seed))
        assert found["What is wrong"] == ["Nothing that these messages show."]
        known = [line for line in found.get("Worth knowing", ()) if not line.startswith("    fix")]
        expected = ("every label is", "windows hold few", "only metrics of decisions", "To map fields")
        assert all(any(words in line for words in expected) for line in known)
        assert "as configured; it fits" in found["Proposed configuration"][-1] or known


@pytest.mark.parametrize(("models", "task"), [(IRIS, multiclass), (TAGS, multilabel), (FRAUD, binary)])
def test_guessing_is_no_other_order(
    tmp_path: Path, models: str, task: Callable[[int, int], list[Message]]
) -> None:
    config = configured(tmp_path, models)
    for seed in range(4):
        field = "score" if task is binary else "scores"
        guesses = [message[field] for message in task(100, seed)]
        found = said(config, replaced(task(100, seed + 100), field, guesses))
        assert found["What is wrong"] == ["Nothing that these messages show."]
