from dataclasses import replace

import pytest

from monitor.alerts.view import AlertsView
from monitor.web.html import h
from monitor.web.layout import document, moment
from tests.support.pages import Document
from tests.support.reports import NOON, status
from tests.support.shown import shown
from tests.support.shown_alerts import HISTORIC, NO_DATA, VIEW
from tests.support.shown_alerts import moment as moment_of
from tests.support.web import HOSTILE


def laid_out(place="overview", parameters=None, main=(), **changes) -> Document:
    return Document(document(shown(**changes), place, "Models", parameters or {}, *main))


def test_the_landmarks_are_there_once_and_the_first_link_skips_to_the_content():
    page = laid_out(main=[h("h1", "Models")])
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.all(landmark)) == 1
    assert page.links()[0] == "#main"
    assert page.all("main")[0]["id"] == "main"


def test_the_present_page_is_marked():
    assert [a["href"] for a in laid_out("alerts").all("a") if a.get("aria-current") == "page"] == ["alerts"]


def test_what_fires_is_counted_in_navigation_and_title():
    page = laid_out(alerts=VIEW)
    assert "Alerts 1 firing" in page.text
    assert "(1 firing) Models · monitor" in page.text
    assert "firing" not in laid_out(alerts=AlertsView()).text
    still_told = replace(NO_DATA, started=moment_of(120))
    assert still_told.firing
    assert "Alerts 1 firing" in laid_out(alerts=AlertsView((still_told, HISTORIC))).text


def test_files_need_no_checkpoint():
    page = laid_out(status=status(files=True, consumer_lag={}))
    assert "replay · files, read to their end" in page.text
    assert not any(words in page.text for words in ("owner", "checkpoint", "Checkpoint", "Last poll"))


def test_the_daemons_health_is_one_line():
    text = laid_out(status=status(last_checkpoint=NOON - 7_000_000)).text
    assert "owner · 7 behind · 4 rejected · evaluation 2025-11-29 12:00:05 UTC · checkpoint 2025-11" in text


def test_what_has_not_happened_yet_is_said():
    text = laid_out(status=status(last_evaluation=None)).text
    assert "no evaluation yet · no checkpoint yet" in text


@pytest.mark.parametrize("role", [{}, {"owner": False}, {"ready": False}])
def test_who_cannot_read_kafka_has_not_caught_up(role):
    away = laid_out(status=status(broker_error="away", consumer_lag={("t", 0): 0}, **role)).text
    assert " · waiting for Kafka · " in away and "caught up" not in away and "behind · " not in away
    assert "caught up · " in laid_out(status=status(consumer_lag={("t", 0): 0})).text


def test_the_line_opens_to_reasons_and_partitions():
    page = laid_out(series_dropped=12)
    assert "fraud not_finite 3, not_json 1" in page.text
    assert "predictions.labeled/1 7" in page.text
    assert "export: 12 series are left out above export.max_series" in page.text
    assert page.all("details")[0]["id"] == "daemon"


@pytest.mark.parametrize("changes, role", [({"ready": False}, "restoring"), ({"owner": False}, "standby")])
def test_who_is_not_the_owner_says_so(changes, role):
    text = laid_out(status=status(**changes, last_evaluation=None)).text
    assert f"Alerts{role} · " in text
    assert "· evaluation" not in text and "· no evaluation" not in text and "checkpoint" not in text


def test_problems_are_an_alert_before_the_content():
    page = laid_out(status=status(broker_error=f"no broker {HOSTILE} answers"), main=[h("h1", "Models")])
    [problems] = [attributes for _, attributes in page.elements if attributes.get("role") == "alert"]
    assert problems["id"] == "problems"
    assert page.text.index("broker: no broker") < page.text.rindex("Models")
    assert "\x1b" not in page.text
    assert not [a for _, a in laid_out().elements if a.get("role") == "alert"]


def test_pausing_keeps_the_view_and_stops_every_refresh():
    page = laid_out(parameters={"q": "a b"})
    assert page.all("main")[0]["data-refresh"] == "10"
    assert {"http-equiv": "refresh", "content": "10"} in page.all("meta")
    assert "./?q=a+b&refresh=off" in page.links()
    paused = laid_out(parameters={"q": "a b", "refresh": "off"})
    assert "data-refresh" not in paused.all("main")[0]
    assert not [meta for meta in paused.all("meta") if "http-equiv" in meta]
    assert {"./?q=a+b", "alerts?refresh=off"} <= set(paused.links())


def test_many_partitions_are_counted():
    lag = {("t", partition): partition for partition in range(15)}
    assert "t/5 5, 4 more" in laid_out(status=status(consumer_lag=lag)).text


def test_a_time_is_there_for_people_and_for_the_script():
    page = Document(moment(NOON))
    assert page.text == "2025-11-29 12:00:00 UTC"
    assert page.all("time")[0]["datetime"] == "2025-11-29T12:00:00.000000Z"
    assert Document(moment(None)).text == "–"
