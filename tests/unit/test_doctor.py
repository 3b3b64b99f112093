"""The text of doctor: its sections, in order, with what is most urgent first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.doctor import findings
from tests.support.samples import WINDOWS, binary, configured, said, sampled, sections


def event(label: Any = "fraud", score: Any = 0.75, **others: Any) -> dict[str, Any]:
    return {"label": label, "score": score, **others}


def test_each_message_stands_beside_what_was_made_of_it(tmp_path: Path) -> None:
    messages = [event(version="v1"), event("legit", None, prediction="x"), b"xx", None]
    found = said(configured(tmp_path), messages, lag=5)
    assert list(found) == [
        "Topics",
        "Newest messages (4)",
        "Models",
        "What is wrong",
        "Proposed configuration",
    ]
    assert found["Topics"] == [
        "t/0: 8 offsets (3 to 11), 1.2 records/s, lag 5",
        "(lag: behind what the group 'monitor' has committed, which the daemon does now and then)",
    ]
    assert found["Newest messages (4)"] == [
        't/0/7  {"label": "fraud", "score": 0.75, "version": "v1"}',
        "    model fraud, version v1, 2025-11-29 07:06:40 UTC, label fraud, decision fraud, p(fraud)=0.75",
        't/0/8  {"label": "legit", "score": null, "prediction": "x"}',
        "    model fraud, version (none), 2025-11-29 07:06:41 UTC, label legit, decision other, no score",
        "t/0/9  xx",
        "    rejected: not_json: Expecting value: line 1 column 1 (char 0)",
        "t/0/10  (no value)",
        "    rejected: not_json: the record has no value (a tombstone)",
    ]
    assert found["Models"] == [
        "fraud: 2 events; labels: legit 1, fraud 1; scores 0.75 to 0.75, 1 events without"
    ]
    assert found["What is wrong"] == [
        "2 of 4 messages rejected as not_json, such as t/0/9: Expecting value: line 1 column 1 (char 0)"
    ]


def test_multilabel_and_logits_are_shown_as_they_are_read(tmp_path: Path) -> None:
    config = configured(tmp_path, "{m: {task: multilabel, classes: [x, y], scores: logit}}")
    messages = [{"label": ["x"], "scores": [1.5, -2]}, {"scores": [1, 2]}]
    found = said(config, messages)
    assert found["Newest messages (2)"][1::2] == [
        "    model m, version (none), 2025-11-29 07:06:40 UTC, label [x], decision [x], "
        "logit(x)=1.5, logit(y)=-2",
        "    model m, version (none), 2025-11-29 07:06:41 UTC, label (unlabeled), decision [x, y], "
        "logit(x)=1, logit(y)=2",
    ]
    assert found["Models"] == ["m: 2 events; labels: x 1, (unlabeled) 1; logits -2 to 2"]


def test_of_many_messages_some_are_shown_with_the_rejected_ones(tmp_path: Path) -> None:
    messages = [*binary(10), *[b"x"] * 10, *[event("fruad")] * 2, *binary(90)]
    found = said(configured(tmp_path), messages)
    shown = found["Newest messages (112)"]
    assert len(shown) == 2 * 40 + 1
    assert sum("rejected: not_json" in line for line in shown) == 3
    assert sum("rejected: unknown_label" in line for line in shown) == 2
    assert shown[-3].startswith("t/0/118")
    assert shown[-1] == "(and 72 more)"


def test_good_messages(tmp_path: Path) -> None:
    messages = [event(label, i / 20) for i in range(20) for label in ("fraud", "legit")]
    found = said(configured(tmp_path), messages)
    assert found["Topics"][0].endswith("never committed")
    assert found["What is wrong"] == ["Nothing that these messages show."]
    assert "Worth knowing" not in found
    assert found["Proposed configuration"] == [
        "models:",
        "  fraud:",
        "    task: binary",
        "    classes: [legit, fraud]",
        "    positive_class: fraud",
        "# fraud: as configured; it fits 40 labeled messages.",
    ]


def test_an_empty_topic(tmp_path: Path) -> None:
    found = said(configured(tmp_path), [])
    assert found["Newest messages (0)"] == ["None."]
    assert found["Models"] == ["No valid event."]
    assert found["What is wrong"] == [
        "The topics are empty. Check kafka.topics, and whether producers are running."
    ]
    assert found["Proposed configuration"] == ["# None: no message is a JSON object."]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([event(score="0.5")], "1 of 1 messages rejected as wrong_type, such as t/0/7: score: expected a"),
        ([event("fruad")], "1 of 1 messages rejected as unknown_label, such as t/0/7: 'fruad' is none of"),
        ([event(), event(score=1.5)], "1 of 2 messages rejected as out_of_range, such as t/0/8: score: 1.5"),
    ],
)
def test_rejections_that_nothing_explains(tmp_path: Path, messages: list[Any], words: str) -> None:
    found = said(configured(tmp_path), messages)
    assert found["What is wrong"][0].startswith(words)


@pytest.mark.parametrize("fields", ["{}", "{label: y, score: p}"])
def test_keys_of_the_messages_are_named_where_the_mapping_finds_nothing(tmp_path: Path, fields: str) -> None:
    messages = [{"outcome": {"label": "fraud"}, "model": {"probability": 0.5}}] * 3
    found = said(configured(tmp_path, rest=f"events: {{fields: {fields}}}"), messages)
    assert found["What is wrong"][-1] == (
        "To map fields with events.fields: messages have model.probability, outcome.label."
    )


def test_labels_that_are_not_configured_are_proposed(tmp_path: Path) -> None:
    messages = [event("good")] * 8 + [event("bad")] * 2
    found = said(configured(tmp_path), messages)
    assert found["Proposed configuration"] == [
        "models:",
        "  fraud:",
        "    task: binary",
        "    classes: [bad, good]",
        "    positive_class: bad",
        "# fraud: rests on 10 labeled messages; a class that is not among them is missing here.",
    ]


def test_models_are_told_apart_and_their_names_cannot_move_the_cursor(tmp_path: Path) -> None:
    config = configured(tmp_path, '{"*": {task: multiclass, classes: [a, b, c]}}')
    scores = {"a": 0.5, "b": 0.25, "c": 0.25}
    messages = [{"model": name, "label": "a", "scores": scores} for name in ("one", "two\x1b[2J", "one")]
    text = findings(config, sampled(*messages))
    assert text.replace("\n", "").isprintable()
    assert sections(text)["Models"] == [
        "one: 2 events; labels: a 2; scores 0.25 to 0.5",
        "two\\x1b[2J: 1 events; labels: a 1; scores 0.25 to 0.5",
    ]


def test_unread_messages_come_first(tmp_path: Path) -> None:
    models = (
        f"{{a: {{task: binary, classes: [legit, fraud], {WINDOWS}}}, b: {{task: binary, classes: [n, y]}}}}"
    )
    good = binary(60)
    reversed_scores = [{**m, "model": "a", "score": 1 - m["score"]} for m in good]
    logits = [{"model": "b", "label": "ny"[m["label"] == "fraud"], "score": m["logit"]} for m in good]
    found = said(configured(tmp_path, models), [*reversed_scores, *logits])
    assert [line.split(":")[0] for line in found["What is wrong"]] == ["b", "    fix", "a", "    fix"]


@pytest.mark.parametrize(
    ("count", "positives", "more", "advice"),
    [
        (20, 0, 5000, "Look at more: --messages 1000."),
        (20, 0, 0, "Look again when the topics hold more."),
        (1200, 16, 50_000, "Look at more: --messages 10000."),
    ],
)
def test_what_to_do_with_too_few_messages(
    tmp_path: Path, count: int, positives: int, more: int, advice: str
) -> None:
    messages = [event("fraud", 0.9)] * positives
    messages += [event("legit", 0.1 + i / 10_000) for i in range(count - positives)]
    found = said(configured(tmp_path), messages, more=more)
    assert found["Too few messages to tell"] == [
        "fraud: whether windows hold enough events of fraud (200 or more).",
        advice,
    ]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.integers() | st.floats() | st.sampled_from("abc"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=4,
)
fields = st.sampled_from(["label", "score", "scores", "prediction", "confidence", "timestamp", "model", "x"])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.dictionaries(fields, values, max_size=6), max_size=8),
    st.integers(1, 4),
    st.sampled_from(
        ["binary, classes: [a, b]", "multiclass, classes: [a, b, c]", "multilabel, classes: [a, b]"]
    ),
    st.sampled_from(["", ", scores: logit", ", labels: names"]),
)
def test_doctor_survives_every_message(
    tmp_path: Path, messages: list[Any], times: int, task: str, setting: str
) -> None:
    config = configured(tmp_path, f"{{m: {{task: {task}{setting}}}}}")
    assert findings(config, sampled(*messages * times)).startswith("Topics")
