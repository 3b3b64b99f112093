"""Stored references made of files: the numbers of the files themselves, for every kind of model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_score, recall_score, roc_auc_score

from monitor.baseline import Baseline, load_baseline
from monitor.config import load_config
from monitor.errors import ConfigurationError, MonitorError
from monitor.make_baseline import GROUPS, group, make_baseline
from monitor.report import NotInReportError
from tests.support.commands import Commands

DATA = Path(__file__).parents[1] / "data"
CAR_LOAN = """
kafka: {bootstrap_servers: [b], topics: [t]}
models: {loans: {task: binary, classes: ['0', '1'], segments: [region]}}
events: {timezone: UTC, fields: {label: repaid, score: y_pred_proba, prediction: y_pred}}
baselines: {reference: loans.baseline}
alerts: {rules: {Drift: {model: loans, detector: calibration, baseline: reference}}}
"""


def made(folder: Path, options: str, rows: Iterable[Mapping[str, Any]], **names: str) -> Baseline:
    config = folder / "monitor.yaml"
    config.write_text(f"kafka: {{bootstrap_servers: [b], topics: [t]}}\nmodels: {{m: {{{options}}}}}")
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return make_baseline(load_config(config, {}), [path], **names)


BINARY = "task: binary, classes: [legit, fraud], threshold: 0.4"


def rows(n: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "timestamp": 1.7e9 + i,
            "label": ["legit", "fraud"][i * 7 % 5 == 0],
            "score": (i * 37 % 101) / 100,
            **more,
        }
        for i in range(n)
    ]


def test_the_command_makes_one_of_a_real_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("monitor.yaml").write_text(CAR_LOAN)
    done = Commands(monkeypatch, capsys)("baseline", DATA / "car_loan.parquet", "-o", "loans.baseline")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("loans.baseline: ")
    assert "of model loans, version (none): 4000 events, 4000 labeled, 2018-01-01 00:00:00 UTC to" in done.out
    assert "class 1: 2019 events of it and 1981 others with a score, 101 scores\n  recall 0.91" in done.out
    assert "calibration can be watched" in done.out

    found = load_baseline("loans.baseline")
    table = pq.read_table(DATA / "car_loan.parquet")
    y_true = np.array([int(value) for value in table["repaid"].to_pylist()])
    y_pred = np.array([int(value) for value in table["y_pred"].to_pylist()])
    y_score = np.array(table["y_pred_proba"].to_pylist()).astype(np.float32).astype(float)
    scores, positives, events = found.groups("1")
    expected, place = np.unique(y_score, return_inverse=True)
    assert scores.tolist() == expected.tolist()
    assert events.tolist() == np.bincount(place).tolist()
    assert positives.tolist() == np.bincount(place, y_true).tolist()
    assert found.scored["1"].exact
    for name, score, class_ in (
        ("recall", recall_score(y_true, y_pred), "1"),
        ("specificity", recall_score(y_true, y_pred, pos_label=0), "1"),
        ("precision", precision_score(y_true, y_pred), "1"),
        ("npv", precision_score(y_true, y_pred, pos_label=0), "1"),
        ("accuracy", accuracy_score(y_true, y_pred), ""),
    ):
        proportion = found.proportion(f"classifier_{name}", class_)
        assert proportion is not None
        assert proportion[0] / proportion[1] == pytest.approx(score, abs=1e-12)
    assert found.value("classifier_roc_auc", "1", {}) == pytest.approx(roc_auc_score(y_true, y_score))
    lower = found.bound("classifier_roc_auc", "1", {}, "floor")
    assert lower is not None and 0.9 < lower < roc_auc_score(y_true, y_score)
    last = table["timestamp"].to_pylist()
    assert found.last_event == np.datetime64(max(last).replace(" ", "T"), "us").astype(int)
    assert found.first_event == np.datetime64(min(last).replace(" ", "T"), "us").astype(int)


@pytest.mark.parametrize("arguments", [["x.parquet"], ["x.parquet", "-o", "b"], ["-o", "b"]])
def test_a_command_that_cannot_be_carried_out_says_so_in_one_message(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("monitor.yaml").write_text(CAR_LOAN)
    done = Commands(monkeypatch, capsys)("baseline", *arguments)
    assert done.code in (1, 2) and "Traceback" not in done.err
    assert not Path("b").exists()


def test_a_baseline_takes_the_place_of_a_baseline_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("monitor.yaml").write_text(f"models: {{m: {{{BINARY}}}}}")
    monitor = Commands(monkeypatch, capsys)
    for n in (30, 50):
        Path(f"{n}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(n)))
    assert "in place of" not in monitor("baseline", "30.jsonl", "-o", "b").out
    assert (
        "\nin place of that of model m, version (none): 30 events"
        in monitor("baseline", "50.jsonl", "-o", "b").out
    )
    done = monitor("baseline", "50.jsonl", "-o", "monitor.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "monitor: monitor.yaml: is there, and no baseline that can be read; name another"
    )
    assert Path("monitor.yaml").read_text().startswith("models")


def test_scores_of_logits_are_stored_as_probabilities(tmp_path: Path) -> None:
    logits = [-200.0, -1.0, 0.0, 2.0, 300.0, 310.0]
    events = [row | {"score": logits[i % 6]} for i, row in enumerate(rows(60))]
    found = made(tmp_path, f"{BINARY}, scores: logit, temperature: 2", events)
    scores, _, counts = found.groups("fraud")
    expected = np.unique(1 / (1 + np.exp(-np.array(logits) / 2)))
    assert scores == pytest.approx(expected, rel=1e-12)
    assert counts.tolist() == [10, 10, 10, 10, 20]  # the two greatest are both 1
    assert found.meaning["temperature"] == 2


def test_every_class_of_a_multiclass_model_has_its_scores(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    y_score = random.dirichlet(np.ones(3), 500).astype(np.float32)
    y_true = random.integers(0, 3, 500)
    names = ("a", "b", "c")
    events = [
        {"timestamp": 1.7e9 + i, "label": names[y_true[i]], "scores": y_score[i].tolist()} for i in range(500)
    ]
    found = made(tmp_path, "task: multiclass, classes: [a, b, c]", events)
    assert list(found.scored) == ["a", "b", "c"]
    for place, name in enumerate(names):
        _, positives, counts = found.groups(name)
        assert positives.sum() == (y_true == place).sum()
        assert counts.sum() == 500
    accuracy = found.proportion("classifier_accuracy", "")
    assert accuracy == ((y_score.argmax(1) == y_true).sum(), 500)


def test_unlabeled_events_count_in_none_of_the_scores(tmp_path: Path) -> None:
    events = rows(100)
    events[3]["label"] = None
    found = made(tmp_path, BINARY, events)
    assert (found.events, found.labeled) == (100, 99)
    assert found.groups("fraud")[2].sum() == 99


def test_which_version_must_be_clear(tmp_path: Path) -> None:
    both = rows(30, version="v1") + rows(20, version="v2")
    with pytest.raises(ConfigurationError, match=r"several versions \('v1', 'v2'\); name one with --version"):
        made(tmp_path, BINARY, both)
    found = made(tmp_path, BINARY, both, version="v2")
    assert (found.version, found.events) == ("v2", 20)
    with pytest.raises(NotInReportError, match="no version 'v3'"):
        made(tmp_path, BINARY, both, version="v3")
    with pytest.raises(NotInReportError, match="no model 'x'"):
        made(tmp_path, BINARY, both, model="x")


def test_a_version_that_was_silent_for_long_is_whole(tmp_path: Path) -> None:
    old, newer = rows(30, version="v1"), rows(30, version="v2")
    late = [row | {"timestamp": row["timestamp"] + 90 * 86_400} for row in rows(10, version="v1")]
    far = [row | {"timestamp": row["timestamp"] + 30 * 86_400} for row in newer]
    assert made(tmp_path, BINARY, old + far + late, version="v1").events == 40


def test_without_labels_or_events_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(MonitorError, match="no event of model 'm' has a label"):
        made(tmp_path, BINARY, [row | {"label": None} for row in rows(10)])
    with pytest.raises(MonitorError, match="no valid event: `monitor replay`"):
        made(tmp_path, BINARY, [{"score": 7}])


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60),
    st.integers(2, 20),
)
def test_groups_are_merged_only_where_there_are_too_many(
    groups: list[tuple[int, int, int]], limit: int
) -> None:
    score, positives, negatives = (np.array(column) for column in zip(*groups, strict=True))
    score = score / 60
    found = group(score, positives, negatives, True, limit)
    events = positives + negatives
    distinct = np.unique(score[events > 0])
    assert len(found.scores) <= limit
    assert found.exact == (len(distinct) <= limit)
    assert (np.diff(found.scores) > 0).all() and (found.events > 0).all()
    assert found.positives.sum() == positives.sum() and found.events.sum() == events.sum()
    assert (found.scores * found.events).sum() == pytest.approx((score * events).sum())


def test_a_file_is_small_whatever_the_number_of_scores(tmp_path: Path) -> None:
    events = [
        row | {"score": score}
        for row, score in zip(rows(20_000), np.random.default_rng(0).random(20_000).tolist(), strict=True)
    ]
    found = made(tmp_path, BINARY, events)
    assert GROUPS // 2 < len(found.scored["fraud"].scores) <= GROUPS
    assert not found.scored["fraud"].exact
