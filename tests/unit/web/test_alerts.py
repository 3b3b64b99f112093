"""What is told about alerts and actions."""

from dataclasses import replace

import pytest

from monitor.alerts.alert import Evidence
from monitor.alerts.view import AlertsView
from monitor.web.openapi import OPENAPI
from tests.support.reports import status
from tests.support.shown_alerts import FIRING, RECALL, VIEW, office
from tests.support.web import HOSTILE, client
from tests.unit.web.test_app import described, strict_json


def schema(path: str) -> dict:
    return OPENAPI["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]


def alerts(query: str = "", view: AlertsView = VIEW) -> dict:
    return strict_json(client(alerts=lambda: view).get(f"/api/v1/alerts{query}"))


def test_an_alert_explains_itself():
    found = next(each for each in alerts()["alerts"] if each["firing"])
    assert found["alert"] == "RecallBelowFloor"
    assert found["labels"] == FIRING.key.labels
    assert found["since"]["timestamp"] == "2025-11-29T11:55:00.000000Z"
    assert found["started"]["recorded"] == "2025-11-29T11:55:00.500000Z"
    assert "recall of fraud is 0.6100 (0.5498 to 0.6672), floor 0.8000" in found["sentence"]
    assert found["evidence"]["cost_beyond"] == 100_000.0
    assert found["rule"]["limit"] == {"kind": "number", "number": 0.8, "name": "", "margin": 0.0}
    assert (found["severity"], found["rule"]["extra_labels"]) == ("page", {"team": "risk"})


def test_alerts_are_as_described_and_changes_are_newest_first():
    found = alerts()
    described(schema("/api/v1/alerts"), found)
    times = [each["at"]["timestamp"] for each in found["transitions"]]
    assert len(times) == 4 and times == sorted(times, reverse=True)


@pytest.mark.parametrize(
    "query, states, changes",
    [
        ("", ["inactive", "firing", "no_data", "pending", "firing"], 4),
        ("?state=firing", ["firing", "firing"], 4),
        ("?state=no_data&model=fraud", ["no_data"], 4),
        ("?model=iris", [], 0),
    ],
)
def test_alerts_are_chosen(query, states, changes):
    found = alerts(query)
    assert [each["state"] for each in found["alerts"]] == states
    assert len(found["transitions"]) == changes


def test_a_state_that_does_not_exist_is_refused():
    refused = client().get("/api/v1/alerts?state=resolved")
    assert refused.status_code == 400
    assert strict_json(refused)["known"] == ["inactive", "pending", "firing", "no_data"]


def test_numbers_that_json_lacks_are_null():
    odd = replace(FIRING, evidence=Evidence(value=0.5, statistic=float("inf"), lower=float("nan")))
    (found,) = alerts(view=AlertsView((odd,)))["alerts"]
    assert (found["evidence"]["statistic"], found["evidence"]["lower"]) == (None, None)


def test_actions_are_as_described():
    made = office()
    made.desk.pause("token", made.clock.now() + 60_000_000)
    made.desk.silence({"model": "fraud"}, made.clock.now() + 60_000_000, "token", "known")
    found = strict_json(client(desk=made.desk).get("/api/v1/actions"))
    described(schema("/api/v1/actions"), found)
    assert {each["status"] for each in found["decisions"]} == {"pending", "waiting_for_approval"}
    assert all(
        set(each) == set(schema("/api/v1/actions")["properties"]["decisions"]["items"]["properties"])
        for each in found["decisions"]
    )
    assert found["paused"]["until"] == found["silences"][0]["until"] == "2025-11-29T07:07:40.000000Z"


def test_without_an_action_there_is_nothing_to_see():
    found = strict_json(client().get("/api/v1/actions"))
    assert (found["enabled"], found["decisions"], found["paused"]) == (False, [], None)


@pytest.mark.parametrize("path", ["/api/v1/alerts", "/api/v1/actions", "/gate/argo?model=fraud"])
@pytest.mark.parametrize("changes", [{"ready": False}, {"owner": False}])
def test_who_is_not_the_owner_says_nothing_of_alerts(path, changes):
    refused = client(state=status(**changes), alerts=lambda: VIEW, desk=office().desk).get(path)
    assert refused.status_code == 503
    assert "RecallBelowFloor" not in refused.text


def test_hostile_names_are_as_they_are():
    key = FIRING.key._replace(model=HOSTILE, version=HOSTILE, segment=HOSTILE, class_=HOSTILE)
    found = alerts(view=AlertsView((replace(FIRING, key=key, reason=HOSTILE),)))
    assert found["alerts"][0]["labels"]["model"] == HOSTILE


def test_rules_are_known_by_what_they_hold():
    assert alerts()["alerts"][-1]["rule"]["false_alarm_every"] == RECALL.false_alarm_every
    assert next(a for a in alerts()["alerts"] if a["state"] == "pending")["rule"]["false_alarm_every"] is None
