from dataclasses import replace

import pytest

from monitor.alerts.alert import Key
from monitor.alerts.view import AlertsView
from monitor.presets import Presets
from monitor.report import VersionReport
from monitor.web.fleet import MOST_SEARCHED
from monitor.web.overview import render_overview
from tests.support.pages import Document
from tests.support.reports import (
    NOON,
    empty_window,
    example,
    multilabel_window,
    report,
    status,
    window_report,
)
from tests.support.shown import shown
from tests.support.shown_alerts import FIRING, HISTORIC, NO_DATA, PENDING, VIEW
from tests.support.web import HOSTILE

MINUTE = 60_000_000


def overview(found=None, parameters=None, **changes) -> Document:
    return Document(render_overview(shown(report=found or example(), **changes), parameters or {}))


def rows(page: Document) -> list[tuple[str | None, str | None]]:
    return [(a["data-model"], a["data-version"]) for a in page.all("tr") if "data-model" in a]


def models(page: Document) -> list[str | None]:
    return list(dict.fromkeys(model for model, _ in rows(page)))


def many(count: int):
    """Return a report of so many models; each has a later event and a lower recall than the next."""
    windows = [window_report(f"m{n:03}", confusion=((90, 5, 0), (count - n, n, 0))) for n in range(count)]
    found = report(*windows)
    return replace(
        found,
        versions=tuple(replace(v, last_event=NOON - n * 1000) for n, v in enumerate(found.versions)),
    )


def test_every_version_has_its_headline_metrics_with_intervals():
    page = overview()
    assert rows(page) == [("fraud", "2026-11-01"), ("fraud", "2026-12-01"), ("iris", "")]
    for words in (
        "Recall 0.837 [0.779, 0.881]",
        "10,000 of 10,250",
        "last_10k, complete",
        "last_10k, filling",
    ):
        assert words in page.text


def test_a_preset_chooses_the_metrics_of_its_model():
    page = overview(presets=Presets({"iris": "low_cost"}, ["fraud", "iris"]))
    families = [a["data-family"] for a in page.all("data")]
    assert families.count("classifier_f1_average") == 1
    assert "classifier_partial_roc_auc" in families


def test_the_newest_version_comes_first_and_many_are_folded():
    found = report(*(window_report(version=f"v{n}") for n in range(9)))
    versions = tuple(replace(v, since=v.since + n) for n, v in enumerate(found.versions))
    firing = replace(FIRING, key=FIRING.key._replace(version="v2"))
    page = overview(replace(found, versions=versions), alerts=AlertsView((firing,)))
    assert [version for _, version in rows(page)] == ["v8", "v7", "v6", "v2"]
    assert "5 older versions" in page.text
    assert "model?model=fraud&version=v0&window=last_10k" in page.links()


def test_the_version_with_the_traffic_is_marked_among_several():
    live = AlertsView(live={"fraud": "2026-12-01", "iris": ""})
    page = overview(alerts=live)
    assert page.text.count("live") == 1
    assert "2026-12-01 live" in page.text


def test_alerts_are_named_the_worst_first():
    page = overview(alerts=VIEW)
    assert "firing RecallBelowFloorpending PrecisionAtKLow" in page.text
    for badge in ("1 firing", "1 pending", "1 no data", "1 historic"):
        assert badge in page.text
    assert "alerts?state=no_data" in page.links()


def test_more_alerts_than_fit_are_counted():
    alerts = [replace(FIRING, key=FIRING.key._replace(alert=f"A{n}")) for n in range(5)]
    assert "and 3 more" in overview(alerts=AlertsView(tuple(alerts))).text


def about(alert, model: str):
    return replace(alert, key=Key(alert.key.alert, model, "2026-11-01", "", "", "fraud"))


def test_what_needs_attention_comes_first():
    alerts = [
        about(*pair) for pair in ((HISTORIC, "m001"), (NO_DATA, "m002"), (PENDING, "m003"), (FIRING, "m004"))
    ]
    ticket = about(replace(FIRING, rule=replace(FIRING.rule, severity="ticket")), "m000")
    page = overview(many(6), alerts=AlertsView((*alerts, ticket)))
    assert models(page) == ["m004", "m000", "m003", "m002", "m001", "m005"]


@pytest.mark.parametrize(
    "sort, first",
    [("name", "m000"), ("labeled", "m000"), ("metric", "m001"), ("last_event", "m000"), ("nonsense", "m000")],
)
def test_it_sorts_both_ways_with_what_is_undefined_last(sort, first):
    found = many(4)
    if sort == "metric":  # m000 has no recall
        found = replace(found, windows=(empty_window(model="m000"), *found.windows[1:]))
    one = models(overview(found, {"sort": sort}))
    assert one[0] == first
    way = "asc" if sort in ("labeled", "last_event") else "desc"
    other = models(overview(found, {"sort": sort, "order": way}))
    if sort == "metric":
        assert other == ["m003", "m002", "m001", "m000"]
    elif sort in ("name", "last_event"):
        assert other == one[::-1]


def test_a_second_choice_of_a_column_turns_it_round():
    page = overview(parameters={"sort": "labeled", "q": "fraud"})
    assert "./?q=fraud&sort=labeled&order=asc" in page.links()
    assert [a["aria-sort"] for a in page.all("th") if "aria-sort" in a] == ["descending"]


def test_search_finds_models_and_versions_in_any_case():
    assert models(overview(parameters={"q": "IRIS"})) == ["iris"]
    assert rows(overview(parameters={"q": "fraud -12-"})) == [("fraud", "2026-12-01")]
    page = overview(parameters={"q": "nothing"})
    assert "0 of 2 models" in page.text and "No name of a model or version contains" in page.text
    assert "./" in page.links()


def test_a_search_is_looked_at_up_to_a_length():
    assert models(overview(parameters={"q": "iris" + " " * MOST_SEARCHED + "nothing"})) == ["iris"]


def test_it_has_pages():
    found = many(120)
    second = overview(found, {"page": "2", "sort": "name"})
    assert models(second) == [f"m{n:03}" for n in range(50, 100)]
    assert "Page 2 of 3" in second.text
    assert {"./?sort=name&page=1", "./?sort=name&page=3"} <= set(second.links())
    for page, last in (("9", "m119"), ("x", "m049"), ("0", "m049"), ("-1", "m049"), ("²", "m049")):
        assert models(overview(found, {"page": page, "sort": "name"}))[-1] == last


def test_a_window_is_chosen_and_one_that_a_model_lacks_is_replaced():
    page = overview(parameters={"window": "all"})
    assert "100,003 of 100,253" in page.text and "has no such window" in page.text
    assert [a.get("value") for a in page.all("option") if "selected" in a] == ["all"]
    assert "has no such window" not in overview().text


def test_an_unknown_window_is_404_and_keeps_the_page_usable():
    page = render_overview(shown(), {"window": "nope"})
    assert page.status == 404
    assert "No model has a window nope" in page.html and "0.837" in page.html


def test_the_form_keeps_how_it_is_sorted():
    page = overview(parameters={"sort": "name", "refresh": "off", "q": 'a"b'})
    hidden = {a["name"]: a["value"] for a in page.all("input") if a["type"] == "hidden"}
    assert hidden == {"sort": "name", "refresh": "off"}
    assert [a["value"] for a in page.all("input") if a["type"] == "search"] == ['a"b']


def test_a_version_without_events_for_long_is_said_to_be():
    found = example()
    versions = (replace(found.versions[0], last_event=NOON - 120 * MINUTE), *found.versions[1:])
    assert "no event for 2 h" in overview(replace(found, versions=versions)).text
    assert "no event for" not in overview().text


def test_undefined_says_why_once_for_each_reason():
    text = overview(report(window_report(confusion=((480, 3, 0), (0, 0, 0)), ranks=None))).text
    assert text.count("no labeled event of this class in the window") == 1
    assert "every label is legit" in text
    assert "no event in the window" in overview(report(empty_window())).text
    unlabeled = replace(empty_window(), events=5)
    assert "no labeled event in the window" in overview(report(unlabeled)).text


def test_a_multilabel_model_with_one_class_is_no_special_case():
    assert "every label is" not in overview(report(multilabel_window())).text


@pytest.mark.parametrize(
    "found, changes, words",
    [
        (None, {"ready": False}, "reads its checkpoint"),
        (None, {"ready": False, "broker_error": "away"}, "Waiting for KafkaKafka cannot be read: away."),
        (None, {"owner": False, "broker_error": "there is no topic"}, "cannot be read: there is no topic"),
        (None, {"owner": False}, "Another instance reads the partitions"),
        (None, {}, "the first evaluation follows"),
        (report(), {}, "no event is among them so far"),
        (report(), {"events_consumed": {}, "consumer_lag": {}, "files": True}, "no record in the files"),
        (report(), {"events_consumed": {}, "consumer_lag": {}}, "No record has arrived. Check kafka.topics"),
        (
            report(),
            {"events_consumed": {"t": 5}, "events_rejected": {("", "not_json"): 5}},
            "All 5 records were rejected: by reason",
        ),
    ],
)  # fmt: skip
def test_where_there_is_nothing_it_says_what_to_do(found, changes, words):
    page = Document(render_overview(shown(report=found, status=status(**changes)), {}))
    assert words in page.text
    assert rows(page) == []


def test_without_any_label_it_says_what_to_check():
    window = replace(empty_window(), events=250)
    version = VersionReport("fraud", "2026-11-01", NOON, NOON, 0, 250)
    text = overview(replace(report(window), versions=(version,))).text
    assert "No event has a label yet" in text and "events.fields.label" in text
    assert "No event has a label yet" not in overview().text


def test_many_rejected_records_are_spoken_of_with_a_link_to_the_reasons():
    few = {"events_consumed": {"t": 1000}}
    page = overview(status=status(**few, events_rejected={("fraud", "not_finite"): 300}))
    assert "300 of 1,000 records were rejected, most as not_finite: by reason" in page.text
    assert "monitor doctor" in page.text
    assert "#rejected" in page.links()
    assert "rejected" in {a.get("id") for _, a in page.elements}
    assert "records were rejected" not in overview().text


def test_of_files_it_says_where_rejected_rows_are_shown_and_what_else_is_wrong_with_them():
    rejected = {("fraud", "not_finite"): 300, ("x", "not_json"): 200, ("", "not_json"): 200}
    of = status(files=True, events_consumed={"file": 1000}, events_rejected=rejected, remarks=("No time.",))
    text = overview(status=of).text
    assert "700 of 1,000 records were rejected, most as not_json: by reason" in text
    assert "What monitor replay printed" in text and "monitor doctor" not in text
    assert "No time." in text


def test_hostile_names_keep_their_rows_apart():
    page = overview(report(window_report(HOSTILE), window_report(HOSTILE + "2", version=HOSTILE)))
    assert len(rows(page)) == 2
    assert "\x1b" not in page.text and "\u202e" not in page.text
