"""What doctor says of messages, from samples in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.config import Config, load_config
from monitor.doctor import findings
from monitor.records import Partition, RecordBatch
from monitor.sources.positions import Range
from monitor.sources.probe import Sample
from tests.support.records import raw

CONFIG = """
kafka: {{bootstrap_servers: [b], topics: [t]}}
models: {models}
{rest}
"""
FRAUD = "{fraud: {task: binary, classes: [legit, fraud]}}"


def configured(folder: Path, models: str = FRAUD, rest: str = "") -> Config:
    path = folder / "monitor.yaml"
    path.write_text(CONFIG.format(models=models, rest=rest))
    return load_config(path, {})


def sampled(*messages: Any, lag: int | None = None) -> Sample:
    values = [m if isinstance(m, bytes) or m is None else json.dumps(m).encode() for m in messages]
    partition = Partition("t", 0)
    batches = (
        [RecordBatch(partition, [raw(7 + i, value) for i, value in enumerate(values)])] if values else []
    )
    return Sample(
        batches=batches,
        ranges={partition: Range(3, 7 + len(values))},
        rates={partition: 1.25},
        lag={} if lag is None else {partition: lag},
    )


def sections(text: str) -> dict[str, list[str]]:
    """Return the indented lines by the title above them."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("  "):
            found[title].append(line[2:])
        elif line:
            title = line
            found[title] = []
    return found


def event(label: Any = "fraud", score: Any = 0.75, **others: Any) -> dict[str, Any]:
    return {"label": label, "score": score, **others}


def test_each_message_stands_beside_what_was_made_of_it(tmp_path: Path) -> None:
    messages = [event(version="v1"), event("legit", None, prediction="x"), b"xx", None]
    found = sections(findings(configured(tmp_path), sampled(*messages, lag=5)))
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
        "    model fraud, version (none), 2025-11-29 07:06:40 UTC, label legit, decision other, no score",
        "t/0/9  xx",
        "    rejected: not_json: Expecting value: line 1 column 1 (char 0)",
        "t/0/10  (no value)",
        "    rejected: not_json: the record has no value (a tombstone)",
    ]
    assert found["Models"] == [
        "fraud: 2 events; labels: fraud 1, legit 1; scores 0.75 to 0.75, 1 events without"
    ]
    assert found["What is wrong"] == [
        "2 of 4 messages rejected as not_json, such as t/0/9: Expecting value: line 1 column 1 (char 0)"
    ]


def test_good_messages(tmp_path: Path) -> None:
    messages = [event(label, i / 20) for i in range(20) for label in ("fraud", "legit")]
    found = sections(findings(configured(tmp_path), sampled(*messages)))
    assert found["Topics"][0].endswith("never committed")
    assert found["What is wrong"] == ["Nothing that these messages show."]
    assert found["Proposed configuration"] == [
        "models:",
        "  fraud:",
        "    task: binary",
        "    classes: [legit, fraud]",
        "    positive_class: fraud",
        "# fraud: as configured; it fits 40 labeled messages.",
    ]


def test_an_empty_topic(tmp_path: Path) -> None:
    found = sections(findings(configured(tmp_path), sampled()))
    assert found["Newest messages (0)"] == ["None."]
    assert found["Models"] == ["No valid event."]
    assert found["What is wrong"] == [
        "The topics are empty. Check kafka.topics, and whether producers are running."
    ]
    assert found["Proposed configuration"] == ["# None: no message is a JSON object."]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([event(None)] * 3, "fraud: no message has a label at label. Metrics need the true class"),
        ([event()] * 3, "fraud: every label is fraud. With one class there is no recall of the other"),
        ([event(None), event()], "fraud: every label is fraud."),
        ([event("fraud", 0.5), event("legit", 0.5)] * 5, "fraud: every score is 0.5: check events.fields"),
        (
            [event(score=None, prediction="legit"), event("legit", None, prediction="legit")],
            "fraud: no message has a score at score or scores at scores; only metrics of decisions",
        ),
        ([event(score="0.5")], "1 of 1 messages rejected as wrong_type, such as t/0/7: score: expected a"),
        ([event("fruad")], "1 of 1 messages rejected as unknown_label, such as t/0/7: 'fruad' is none of"),
    ],
)
def test_what_is_wrong(tmp_path: Path, messages: list[Any], words: str) -> None:
    found = sections(findings(configured(tmp_path), sampled(*messages)))
    assert found["What is wrong"][0].startswith(words)


@pytest.mark.parametrize("fields", ["{}", "{label: y, score: p}"])
def test_keys_of_the_messages_are_named_where_the_mapping_finds_nothing(tmp_path: Path, fields: str) -> None:
    messages = [{"outcome": {"label": "fraud"}, "model": {"probability": 0.5}}] * 3
    found = sections(findings(configured(tmp_path, rest=f"events: {{fields: {fields}}}"), sampled(*messages)))
    assert found["What is wrong"][-1] == (
        "To map fields with events.fields: messages have model.probability, outcome.label."
    )


def test_labels_that_are_not_configured_are_proposed(tmp_path: Path) -> None:
    messages = [event("good")] * 8 + [event("bad")] * 2
    found = sections(findings(configured(tmp_path), sampled(*messages)))
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
