"""The page of one model."""

import json
import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from monitor.alerts.view import AlertsView
from monitor.history import Metric, Track
from monitor.presets import Presets
from monitor.web.model.alerts import MAX_ALERTS
from monitor.web.model_view import render_model
from tests.support.pages import Document
from tests.support.reports import (
    NOON,
    empty_window,
    example,
    multilabel_window,
    number,
    report,
    status,
    window_curves,
    window_report,
)
from tests.support.shown import shown
from tests.support.shown_alerts import FIRING, HISTORIC, INACTIVE, NO_DATA, PENDING, TRANSITIONS, VIEW

FRAUD = {"model": "fraud", "version": "2026-11-01", "window": "last_10k"}
IRIS = {"model": "iris"}


def page(parameters=FRAUD, newest=None, **changes):
    return Document(render_model(shown(report=newest or example(), **changes), parameters))


def in_order(text, *words):
    places = [text.index(word) for word in words]
    return places == sorted(places)


def test_what_is_wrong_comes_first():
    text = page(alerts=VIEW).text
    assert in_order(
        text, "RecallBelowFloor", "Three questions", "Metrics", "Classification report", "Confusion matrix",
        "Charts", "Timelines", "Segments", "Versions", "Downloads",
    )  # fmt: skip


def test_numbers_have_intervals_and_counts():
    text = page().text
    for part in ("0.8366", "[0.7795, 0.8812]", "169 of 202", "10,000 of 10,250 events", "202"):
        assert part in text


def test_defaults_are_the_newest_version_the_first_window_and_the_positive_class():
    since = [replace(v, since=v.since + place) for place, v in enumerate(example().versions)]
    newest = replace(example(), versions=tuple(since))
    found = page({"model": "fraud"}, newest)
    chosen = [option["value"] for option in found.all("option") if "selected" in option]
    assert chosen == ["2026-12-01", "", "fraud"]
    assert next(a["href"] for a in found.all("a") if a.get("aria-current") == "true").endswith("last_10k")


def test_a_form_chooses_with_what_else_is_given_kept():
    found = page({**FRAUD, "matrix": "recall", "refresh": "off", "other": "x"})
    hidden = {a["name"]: a["value"] for a in found.all("input")}
    assert hidden == {"model": "fraud", "window": "last_10k", "matrix": "recall", "refresh": "off"}
    assert {a["name"] for a in found.all("select")} == {"version", "segment", "class"}
    assert found.all("form")[0]["method"] == "get"


def test_links_keep_the_view():
    links = page({**FRAUD, "segment": "region=eu", "refresh": "off"}).links()
    to_precision = next(link for link in links if "matrix=precision" in link)
    asked = {name: found[0] for name, found in parse_qs(urlsplit(to_precision).query).items()}
    assert asked == {**FRAUD, "segment": "region=eu", "refresh": "off", "matrix": "precision"}


def test_a_segment_has_its_own_numbers_and_the_charts_of_the_whole():
    found = page({**FRAUD, "segment": "region=eu"})
    assert "0.8602" in found.text  # 80 of 93
    assert "There are no charts of a segment" in found.text
    assert found.all("figure")
    csv = next(link for link in found.links() if "format=csv" in link)
    assert "segment=region%3Deu" in csv


@pytest.mark.parametrize(
    "parameters, words, link",
    [
        ({"model": "nope"}, "no model 'nope'", "model?model=fraud"),
        ({"model": "fraud", "version": "9"}, "no version '9'", "model?model=fraud&version=2026-11-01"),
        ({**FRAUD, "window": "9"}, "no window '9'", "window=all"),
        ({**FRAUD, "segment": "a=b"}, "no segment 'a=b'", "segment=region%3Deu"),
        ({**IRIS, "class": "rose"}, "no class 'rose'", "class=setosa"),
        ({**FRAUD, "matrix": "9"}, "no matrix '9'", "matrix=recall"),
    ],
)
def test_an_unknown_name_is_404_with_links_to_what_is_known(parameters, words, link):
    answer = render_model(shown(), parameters)
    assert answer.status == 404
    found = Document(answer)
    assert words in found.text
    known = [each for each in found.links() if link in each]
    assert known
    for each in known:
        asked = {name: text[0] for name, text in parse_qs(urlsplit(each).query).items()}
        assert render_model(shown(), asked).status == 200


def test_without_a_model_there_is_a_choice_unless_there_is_one_only():
    assert "model?model=iris" in page({}).links()
    assert "Three questions" in page({}, report(window_report())).text


def test_undefined_says_why_and_nothing_is_nan():
    answer = render_model(shown(report=report(empty_window())), {})
    text = Document(answer).text
    for part in ("window not complete", "no labeled event of this class in the window", "No labeled event"):
        assert part in text
    assert not re.search(r"\bnan\b", answer.html.lower())


def test_low_support_is_marked():
    marked = '<abbr title="low support'
    assert (
        marked
        in render_model(shown(report=report(window_report(confusion=((90, 5, 0), (2, 3, 0))))), {}).html
    )
    assert marked not in render_model(shown(report=report(window_report())), {}).html


@pytest.mark.parametrize("name", ["setosa", "versicolor", "virginica"])
def test_a_multiclass_model_has_a_view_of_each_class(name):
    found = page({**IRIS, "class": name})
    assert f"Three questions about {name}" in found.text
    assert f"class={name}" in " ".join(found.links())


def test_a_multilabel_model_has_averages_of_its_own():
    text = page({}, report(multilabel_window())).text
    for part in ("samples average", "micro average", "accuracy of whole sets", "Threshold of a"):
        assert part in text


def test_many_classes_are_cut_to_those_of_the_lowest_recall():
    classes = tuple(f"c{n:02}" for n in range(60))
    rows = ((*(100 - a if a == b else int(b == (a + 1) % 60) for b in range(60)), 0) for a in range(60))
    answer = render_model(shown(report=report(window_report(classes=classes, confusion=tuple(rows)))), {})
    table = answer.html.partition("Balance")[0]
    assert 'scope="row"><a href="model?model=fraud&amp;version=2026-11-01&amp;class=c59">' in table
    assert "class=c00" not in table.partition("<tbody>")[2]
    assert "10 classes of higher recall are in the text and the CSV" in answer.html
    assert len(answer.html) < 400_000


def test_alerts_of_the_version_come_first_and_are_spelled_out():
    text = page({**FRAUD, "version": "2026-12-01"}, alerts=VIEW).text
    assert in_order(text, "1 firing", "1 pending", "1 no data", "1 historic", "50 misses beyond it")
    assert in_order(text, "50 misses beyond it", "no event for 30 min", "All 5 alerts of this model")
    assert "alerts?model=fraud" in page(alerts=VIEW).links()


def test_quiet_alerts_are_counted_and_many_are_cut():
    assert "quiet" in page(alerts=AlertsView((INACTIVE,))).text
    key = FIRING.key
    many = tuple(replace(FIRING, key=key._replace(alert=f"A{n}")) for n in range(MAX_ALERTS + 2))
    assert "2 more are not shown." in page(alerts=AlertsView(many)).text


def test_a_model_that_nothing_watches_has_rules_to_begin_with():
    text = page().text
    assert "No alert rule watches this model" in text
    assert "FraudRecallLow" in text
    assert "No alert rule" not in page(alerts=VIEW).text
    assert "Rules to begin with" not in page({}, report(empty_window())).text
    assert "Rules to begin with" not in page(status=status(rejection_error="98% of the rows")).text
    alone = report(window_report(confusion=((9660, 138, 0), (0, 0, 0))))
    assert "No rules are proposed: all labeled events are of class legit" in page({}, alone).text


def test_of_files_it_says_what_makes_the_numbers_fewer_than_they_should_be():
    rejected = {"events_consumed": {"t": 1000}, "events_rejected": {("fraud", "not_finite"): 300}}
    assert "300 of 1,000 records were rejected" in page(status=status(files=True, **rejected)).text
    assert "300 of 1,000 records were rejected" not in page(status=status(**rejected)).text


def test_a_tile_is_marked_where_its_alert_fires():
    firing = replace(FIRING, key=FIRING.key._replace(version="2026-11-01"))
    assert page(alerts=AlertsView((firing,))).text.count("alert fires") == 1
    for quiet in (NO_DATA, replace(HISTORIC, rule=FIRING.rule), replace(PENDING, rule=FIRING.rule)):
        assert "alert fires" not in page(alerts=AlertsView((quiet,))).text


def test_what_an_alert_fires_about_is_headline_whatever_the_preset():
    def tiles(parameters):
        firing = replace(FIRING, key=FIRING.key._replace(version="2026-11-01"))
        presets = Presets({"fraud": "high_cost"}, ["fraud"])
        html = render_model(shown(alerts=AlertsView((firing,)), presets=presets), parameters).html
        return re.findall(r"<dt>([^<]*)", html.partition('class="tiles first"')[2])[:2]

    assert tiles(FRAUD) == ["Recall (fraud)", "Partial ROC AUC up to FPR 0.1 (fraud)"]
    assert tiles({**FRAUD, "segment": "region=eu"})[0] == "Partial ROC AUC up to FPR 0.1 (fraud)"


def test_the_preset_says_what_comes_first():
    def first(preset):
        answer = render_model(shown(presets=Presets({"fraud": preset}, ["fraud"])), FRAUD)
        return re.findall(r"<dt>([^<]*)", answer.html.partition('class="tiles first"')[2])[0], answer.html

    assert first("high_cost")[0] == "Partial ROC AUC up to FPR 0.1 (fraud)"
    assert first("low_cost")[0] == "F1 (fraud)"
    assert "<dt>Preset</dt><dd>low_cost</dd>" in first("low_cost")[1]


def track():
    window = window_report()
    value = window.find("classifier_recall", class_="fraud")
    times = np.array([NOON - 600_000_000, NOON - 300_000_000, NOON])
    values = np.array([[[0.9, 0.85, 0.95]], [[np.nan] * 3], [[0.84, 0.8, 0.9]]])
    metrics = (Metric.of(value),)
    return Track("fraud", "2026-11-01", "last_10k", metrics, times, times, np.full(3, 9), values)


def test_timelines_carry_what_the_script_needs():
    firing = replace(FIRING, key=FIRING.key._replace(version="2026-11-01"))
    change = replace(TRANSITIONS[1], key=firing.key)
    long_ago = replace(change, moment=change.moment._replace(timestamp=NOON - 10**12))
    view = AlertsView((firing,), (change, long_ago))
    found = page(alerts=view, tracks={("fraud", "2026-11-01", "last_10k"): track()})
    (figure,) = [a for a in found.all("figure") if a["class"] == "timeline"]
    assert parse_qs(urlsplit(figure["data-history"]).query) == {name: [text] for name, text in FRAUD.items()}
    assert (figure["data-family"], figure["data-labels"]) == ("classifier_recall", "class=fraud")
    assert json.loads(figure["data-limits"]) == [{"name": "RecallBelowFloor", "value": 0.8}]
    (mark,) = json.loads(figure["data-marks"])
    assert mark == {"time": NOON / 1e6 - 300, "kind": "alert", "text": "RecallBelowFloor fires"}


def test_what_an_alert_watches_has_a_timeline_whatever_the_preset():
    quiet = replace(INACTIVE, rule=FIRING.rule, key=FIRING.key._replace(version="2026-11-01"))
    past = {"tracks": {("fraud", "2026-11-01", "last_10k"): track()}}
    past["presets"] = Presets({"fraud": "high_cost"}, ["fraud"])
    assert 'class="timeline"' in render_model(shown(alerts=AlertsView((quiet,)), **past), FRAUD).html
    assert 'class="timeline"' not in render_model(shown(**past), FRAUD).html


def test_without_a_past_that_is_said():
    assert "There is no past yet" in page().text


def test_thresholds_are_held_against_the_one_in_use():
    small = window_report(confusion=((5, 1, 0), (2, 2, 0)))
    cost = number("classifier_expected_cost", 0.25, 10, class_="fraud")
    found = page(FRAUD, report(replace(small, curves=window_curves(), values=(*small.values, cost))))
    text = found.text.rpartition("Thresholds of fraud")[2]
    assert "in use0.5000cost 0.2500, F1 0.5714" in text
    assert in_order(text, "in use", "cost per event", "0.400000", "+0.4000", "+0.1000")
    assert "do not follow" not in text
    costs = [a["value"] for a in found.all("data") if a["data-family"] == "classifier_expected_cost"]
    assert "0.25" in costs


def test_decisions_that_do_not_follow_the_threshold_are_not_shown_as_its():
    text = page().text.rpartition("Thresholds of fraud")[2]
    assert "decisions takenF1 0.6640" in text
    assert "do not follow the configured threshold of 0.5" in text


def test_a_window_without_curves_has_no_charts():
    assert "Charts were not computed" in page({**FRAUD, "window": "all"}).text


def rows_of(found, **scope):
    wanted = {f"data-{name}": text for name, text in scope.items()}.items()
    return [attributes for attributes in found.all("tr") if wanted <= attributes.items()]


def test_a_segment_and_another_version_say_whose_their_numbers_are():
    found = page()
    assert len(rows_of(found, segment="region=eu")) == 1
    assert len(rows_of(found, version="2026-12-01", segment="")) == 1
    values = {a["value"] for a in found.all("data") if a["data-family"] == "classifier_recall"}
    assert repr(80 / 93) in values


def test_links_keep_the_segment_where_there_is_one():
    eu = window_report(version="2026-12-01", segment="region=eu")
    newest = report(*example().windows, eu)
    links = page({**FRAUD, "segment": "region=eu"}, newest).links()
    asked = [{name: text[0] for name, text in parse_qs(urlsplit(each).query).items()} for each in links]
    other = next(a for a in asked if a.get("version") == "2026-12-01")
    assert other["segment"] == "region=eu"
    assert "segment" not in next(a for a in asked if a.get("window") == "all")  # it has no segments
    assert render_model(shown(report=newest), other).status == 200
    whole = page({**FRAUD, "segment": "region=eu"}).links()  # without that version's segment
    assert not any("version=2026-12-01" in each and "segment" in each for each in whole)


def test_a_link_to_a_version_without_the_window_leaves_it_out():
    newest = report(window_report(window="all"), window_report(version="2026-12-01"))
    found = page({**FRAUD, "window": "all"}, newest)
    [link] = [each for each in found.links() if "version=2026-12-01" in each]
    assert "window" not in link


def test_the_version_with_the_traffic_is_marked():
    live = AlertsView(live={"fraud": "2026-11-01"})
    assert page(alerts=live).text.count("live") == page().text.count("live") + 2
    assert "not live" not in page(alerts=live).text
    other = page({**FRAUD, "version": "2026-12-01"}, alerts=live)
    assert "not live: 2026-11-01 is" in other.text
    assert "model?model=fraud&version=2026-11-01" in other.links()
    gone = page(alerts=AlertsView(live={"fraud": "2026-10-01"}))
    assert "not live: 2026-10-01 is" in gone.text
    assert not any("version=2026-10-01" in each for each in gone.links())


def test_a_segment_that_differs_is_marked():
    window, segment = window_report(), window_report(segment="region=eu", confusion=((480, 7, 0), (42, 8, 1)))
    text = page(FRAUD, report(replace(window, curves=window_curves()), segment)).text
    assert "below" in text.partition("Held against all events")[2].partition("“below”")[0]
    assert "“below”" not in page({**FRAUD, "window": "all"}).text


@pytest.mark.parametrize(
    "changes, words",
    [({"ready": False}, "restoring its state"), ({"owner": False}, "standby: another one")],
)
def test_who_does_not_own_the_partitions_says_so(changes, words):
    found = Document(render_model(replace(shown(), report=None, status=status(**changes)), FRAUD))
    assert words in found.text
    assert "Metrics" not in found.text.partition("<main")[2]


def test_before_the_first_event():
    assert "No event has been evaluated yet" in page({}, report()).text


def test_weight():
    several = tuple(f"class number {n}" for n in range(10))
    rows = tuple((*(90 if a == b else 1 for b in range(10)), 0) for a in range(10))
    window = replace(window_report(classes=several, confusion=rows), curves=window_curves(10, 11))
    assert len(render_model(shown(report=report(window)), {}).html) < 400_000
