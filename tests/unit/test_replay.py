"""Files through the pipeline: the numbers of real logs, the same numbers from every format."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.config import load_config
from monitor.replay import Replay, replay_object, summary
from monitor.series import ExportOptions, select_series
from tests.support.counts import parameters
from tests.support.oracle import expected, tolerance

DATA = Path(__file__).parents[1] / "data"
Y2000 = np.datetime64("2000-01-01", "us")
LAST = 1500
DAYS = 30
WINDOWS = f"windows: [{{name: last, events: {LAST}}}, {{name: recent, duration: {DAYS}d}}]"
SCOPE = ("model", "version", "window", "segment")


def passed(folder: Path, model: str, events: str, *files: Path) -> tuple[Replay, Any]:
    path = folder / "monitor.yaml"
    path.write_text(
        f"kafka: {{bootstrap_servers: [b], topics: [t]}}\nmodels: {{m: {{{model}}}}}\nevents: {{{events}}}"
    )
    replay = Replay(load_config(path, {}), files)
    return replay, replay.run()


def replayed(*arguments: Any) -> dict[str, Any]:
    """Return what `--json` prints, read back."""
    return json.loads(json.dumps(replay_object(*passed(*arguments)), allow_nan=False))


CARDS = ("prepaid_card", "highstreet_card", "upmarket_card")
COSTS = ((0.0, 1.0, 4.0), (1.0, 0.0, 1.0), (4.0, 1.0, 0.0))
LOGS: Mapping[str, dict[str, Any]] = {
    "employment_ma": {
        "model": "task: binary, classes: ['0', '1'], costs: {false_negative: 4, false_positive: 1}, "
        "min_recall: 0.9, at_k: [100, 0.01], reference_prevalence: 0.3",
        "events": "fields: {label: employed, score: predicted_probability}",
        "columns": ("employed", "prediction", ["predicted_probability"]),
        "parameters": parameters(
            costs=(4.0, 1.0), min_recall=0.9, at_k=(100, 0.01), reference_prevalence=(0.3,)
        ),
    },
    "car_loan": {
        "model": "task: binary, classes: ['0', '1']",
        "events": "timezone: UTC, fields: {label: repaid, score: y_pred_proba, prediction: y_pred}",
        "columns": ("repaid", "y_pred", ["y_pred_proba"]),
        "parameters": parameters(costs=None),
    },
    "credit_card_multiclass": {
        "model": f"task: multiclass, classes: [{', '.join(CARDS)}], top_k: [1, 2], at_k: [100, 0.01], "
        f"costs: {[list(row) for row in COSTS]}",
        "events": "timezone: UTC, fields: {label: y_true, prediction: y_pred, scores: {"
        + ", ".join(f"{card}: y_pred_proba_{card}" for card in CARDS)
        + "}}",
        "columns": ("y_true", "y_pred", [f"y_pred_proba_{card}" for card in CARDS]),
        "parameters": parameters(3, classes=CARDS, top_k=(1, 2), at_k=(100, 0.01), costs=COSTS),
    },
}


@pytest.mark.parametrize("name", LOGS)
def test_a_real_log_has_the_numbers_of_scikit_learn(tmp_path: Path, name: str) -> None:
    log = LOGS[name]
    path = DATA / f"{name}.parquet"
    found = replayed(tmp_path, f"{log['model']}, {WINDOWS}", log["events"], path)
    table = pq.read_table(path)
    label, prediction, scores = log["columns"]
    p = log["parameters"]
    codes = {text: code for code, text in enumerate(p.classes)}
    y_true = np.array([codes[str(value)] for value in table[label].to_pylist()])
    y_pred = np.array([codes[str(value)] for value in table[prediction].to_pylist()])
    y_score = np.array([table[score].to_pylist() for score in scores]).T
    if "timestamp" in table.column_names:
        time = np.array([np.datetime64(t.replace(" ", "T"), "us") for t in table["timestamp"].to_pylist()])
    else:  # a file without times: one row a millisecond
        time = Y2000 + np.arange(len(table)) * np.timedelta64(1, "ms")
    order = np.argsort(time, kind="stable")
    members = {
        "all": order,
        "last": order[-LAST:],
        "recent": order[time[order] > time.max() - np.timedelta64(DAYS, "D")],
    }
    assert found["events"] == {"consumed": len(table), "rejected": {}, "unlabeled": 0, "late": 0}
    for window, rows in members.items():
        oracle = expected(p, y_true[rows], y_score[rows], y_pred[rows])
        got = {
            (m["name"], frozenset((k, v) for k, v in m["labels"].items() if k not in SCOPE)): m
            for m in found["metrics"]
            if m["labels"].get("window") == window and m["value"] is not None
        }
        basis = {key for key in got if key[0].startswith("classifier_window_") and not key[1]}
        assert {family for family, _ in basis} == {
            "classifier_window_complete",
            "classifier_window_start_timestamp_seconds",
            "classifier_window_end_timestamp_seconds",
        }
        assert set(got) - basis == set(oracle)
        for key, value in oracle.items():
            assert "resolution_error" not in got[key]
            limit = tolerance(key, oracle)
            assert got[key]["value"] == pytest.approx(value, abs=limit), (window, key)


BINARY = f"task: binary, classes: [legit, fraud], segments: [region], {WINDOWS}"


def rows(n: int) -> list[dict[str, Any]]:
    made = [
        {
            "model": "m",
            "version": f"v{i % 2}",
            "timestamp": 1.7644e9 + i / 8,
            "label": ["legit", "fraud"][i * 7 % 5 == 0],
            "score": (i * 37 % 101) / 100,
            "segments.region": "eu" if i % 3 else "7",
        }
        for i in range(n)
    ]
    made[5] |= {"label": None}
    made[6] |= {"score": 5.0}
    made[7] |= {"label": "fruad"}
    return made


def nested(row: Mapping[str, Any]) -> str:
    plain = {key: value for key, value in row.items() if key != "segments.region"}
    return json.dumps({**plain, "segments": {"region": row["segments.region"]}})


def written(folder: Path, kind: str, made: list[dict[str, Any]]) -> Path:
    path = folder / f"rows.{kind}"
    lines = "".join(f"{nested(row)}\n" for row in made)
    if kind == "jsonl":
        path.write_text(lines)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(made), path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, made[0])
            writer.writeheader()
            writer.writerows(made)
    return path


def test_every_format_gives_the_same_result(tmp_path: Path) -> None:
    made = rows(2000)
    results = [
        json.dumps(replayed(tmp_path, BINARY, "", written(tmp_path, kind, made)))
        for kind in ("jsonl", "jsonl.gz", "csv", "parquet")
    ]
    assert len(set(results)) == 1
    found = json.loads(results[0])
    assert found["events"] == {
        "consumed": 2000,
        "rejected": {"out_of_range": 1, "unknown_label": 1},
        "unlabeled": 1,
        "late": 0,
    }
    assert found["alerts"] == []
    assert {m["labels"].get("segment") for m in found["metrics"]} == {None, "", "region=eu", "region=7"}


def test_parts_give_the_result_of_the_whole(tmp_path: Path) -> None:
    made = rows(2000)
    whole = replayed(tmp_path, BINARY, "", written(tmp_path, "jsonl", made))
    parts = []
    for i in range(2):
        folder = tmp_path / str(i)
        folder.mkdir()
        parts.append(written(folder, "csv" if i else "jsonl", made[i * 1000 : (i + 1) * 1000]))
    assert replayed(tmp_path, BINARY, "", *parts) == whole


def test_the_object_has_all_that_is_exported_under_the_same_labels(tmp_path: Path) -> None:
    replay, evaluation = passed(tmp_path, BINARY, "", written(tmp_path, "jsonl", rows(300)))
    found = replay_object(replay, evaluation)["metrics"]
    keys = [(m["name"], frozenset(m["labels"].items())) for m in found]
    assert len(keys) == len(set(keys))
    assert all({"name", "labels", "value", "support"} <= set(m) for m in found)
    by_key = dict(zip(keys, found, strict=True))
    everything = ExportOptions(families="all", segments="all", intervals=False, confusions="all")
    series, dropped = select_series(evaluation.report, (), everything)
    assert dropped == 0
    for family, labels, value in series:
        name = family.removesuffix("_resolution_error")
        metric = by_key[name, frozenset(labels.items())]
        assert metric["value" if name == family else "resolution_error"] == value
    basis = {m["name"]: m for m in found if m["labels"] == {"model": "m", "version": "v1"}}
    assert basis["classifier_labeled_events_total"]["value"] == 148
    assert basis["classifier_last_event_timestamp_seconds"]["value"] == 1.7644e9 + 299 / 8
    assert basis["classifier_since_timestamp_seconds"]["value"] == 1.7644e9 + 1 / 8
    confusions = [m for m in found if m["name"] == "classifier_confusions_total"]
    assert len(confusions) == 2 * 2 * 3
    assert sum(m["value"] for m in confusions) == 148 + 149


def test_the_summary_shows_a_row_of_each_reason(tmp_path: Path) -> None:
    path = written(tmp_path, "csv", rows(300))
    text = summary(*passed(tmp_path, BINARY, "", path))
    assert text.startswith(
        "300 records: 2 rejected, 1 unlabeled, 0 late\n"
        f"  1 out_of_range, such as {path}, row 6 (from 0): score: 5 is no probability in [0, 1]; "
    )
    assert f"  1 unknown_label, such as {path}, row 7 (from 0): 'fruad' is none of the classes" in text
    assert '"label": "fruad"' in text
    assert text.count("window last, all events") == 2


def test_a_summary_ends_with_rules_by_the_newest_version_or_with_what_is_wrong(tmp_path: Path) -> None:
    old = [row | {"version": "old", "timestamp": row["timestamp"] - 1e6} for row in rows(300)]
    new = [row | {"version": "new"} for row in rows(300)]
    fields = "fields: {score: p}"
    text = summary(*passed(tmp_path, BINARY, "", written(tmp_path, "jsonl", [*old, *new])))
    assert "by what m new did here:\nalerts:\n  rules:\n    M" in text
    made = [row | {"p": 0.5} if i % 9 == 0 else row for i, row in enumerate(new)]
    text = summary(*passed(tmp_path, BINARY, fields, written(tmp_path, "jsonl", made)))
    assert "did here" not in text
    end = text.splitlines()[-1]
    assert "89% of the rows were rejected (266 of 300), 265 of them as missing_field: " in end
    assert "map events.fields.score" in end


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_rows_without_a_time_are_counted_over_all_files(tmp_path: Path, kind: str) -> None:
    timed = [row for row in rows(300) if row["label"] != "fruad" and row["score"] <= 1]
    bare = [{name: value for name, value in row.items() if name != "timestamp"} for row in timed]
    (tmp_path / "bare").mkdir()
    files = written(tmp_path, kind, timed), written(tmp_path / "bare", kind, bare)
    replay, evaluation = passed(tmp_path, BINARY, "", *files)
    assert "\n298 rows have no timestamp (events.fields.timestamp)" in summary(replay, evaluation)
    assert "no timestamp" not in summary(*passed(tmp_path, BINARY, "", files[0]))


ACCURACY = "{model: m, metric: accuracy, floor: 0.5, condition: value, window: last}"


@pytest.mark.parametrize(
    ("n", "alerts"),
    [(20_000, ""), (480, f"alerts: {{every: 10s, rules: {{Low: {ACCURACY}}}}}")],
    ids=["reading", "looking"],
)
def test_progress_grows_to_the_end(tmp_path: Path, n: int, alerts: str) -> None:
    """Also while one piece of a file has many windows to look at."""
    path = written(tmp_path, "csv", rows(n))
    seen: list[float] = []
    config = tmp_path / "monitor.yaml"
    config.write_text(
        f"kafka: {{bootstrap_servers: [b], topics: [t]}}\nmodels: {{m: {{{BINARY}}}}}\n{alerts}\n"
    )
    Replay(load_config(config, {}), [path]).run(seen.append)
    assert len(set(seen)) > 2
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
