"""`monitor replay --serve`: the numbers that it prints, on a page."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import httpx

from tests.support.commands import started

LOG = Path(__file__).parents[1] / "data" / "car_loan.parquet"
CONFIG = """
models:
  loans:
    task: binary
    classes: ["0", "1"]
    windows: [{name: last_1000, events: 1000}]
events: {timezone: UTC, fields: {label: repaid, score: y_pred_proba}}
server: {port: 0, act_token_file: act-token}
alerts:
  rules:
    RecallLow: {model: loans, metric: recall, floor: 0.9}
"""


def test_what_a_replay_prints_is_on_the_page_until_it_is_interrupted(tmp_path):
    """Without a section kafka; nobody can act there, whatever is configured."""
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIG)
    with started("replay", "-c", path, LOG, "--json", "--serve") as process:
        assert process.stdout is not None and process.stderr is not None
        printed = json.loads(process.stdout.readline())
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
        assert address is not None
        with httpx.Client(base_url=address[0]) as client:
            [report] = client.get("api/v1/report", params={"window": "last_1000"}).json()["reports"]
            past = client.get("api/v1/history", params={"model": "loans", "window": "last_1000"}).json()
            page = client.get("model", params={"model": "loans"})
            act = client.post("api/v1/actions/pause", json={"by": "somebody"})
            alerts = client.get("api/v1/alerts").json()
            series = client.get("metrics").text
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0

    told = {json.dumps([m["name"], m["labels"]], sort_keys=True): m.get("value") for m in printed["metrics"]}
    for metric in report["metrics"]:
        assert told[json.dumps([metric["name"], metric["labels"]], sort_keys=True)] == metric["value"]
    assert page.status_code == 200 and "last_1000" in page.text
    assert act.status_code == 403
    assert "monitor_ready 1" in series and "monitor_kafka_up" not in series
    assert [alert["alert"] for alert in alerts["alerts"]] == ["RecallLow"]
    [recall] = [m for m in past["metrics"] if m["name"] == "classifier_recall"]
    assert len(recall["value"]) > 30
    assert recall["value"][-1] == next(
        m["value"]
        for m in report["metrics"]
        if m["name"] == "classifier_recall" and m["labels"]["class"] == "1"
    )
