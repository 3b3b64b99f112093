"""The page of alerts and actions."""

import json
import re
import shlex
from dataclasses import replace
from html import unescape

import pytest

from monitor.actions.desk import DeskView
from monitor.actions.silence import Pause, Silence
from monitor.alerts.alert import Evidence, Key
from monitor.alerts.rule import CALIBRATION
from monitor.alerts.view import AlertsView
from monitor.alerts.words import sentence
from monitor.web.alert_parts.evidence import closeness
from monitor.web.alert_parts.forms import HOW_TO_ACT, silence_form
from monitor.web.alert_parts.names import STATES, anchor, state_of
from monitor.web.alerts_page import render_alerts
from monitor.web.paging import PER_PAGE
from tests.support.desks import alert
from tests.support.reports import NOON, status
from tests.support.shown import shown
from tests.support.shown_alerts import (
    CALM,
    FIRING,
    HISTORIC,
    INACTIVE,
    NO_DATA,
    PENDING,
    VIEW,
    moment,
    office,
    waiting,
)
from tests.support.web import HOSTILE

HOUR = 3_600_000_000


def view(**changes):
    made = office().desk.view()
    return replace(made, **changes)


def page(parameters=None, **changes):
    found = render_alerts(
        shown(**{"alerts": VIEW, "actions": view(), "can_act": True, **changes}), parameters or {}
    )
    assert found.status == 200
    return found.html


def words(html):
    """Return the text that people read."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def section(html, id):
    return html.partition(f'id="{id}"')[2].partition("</section>")[0]


def many(n, **changes):
    keys = (Key("Rule", f"model-{place}", "1", "", "", "") for place in range(n))
    return AlertsView(tuple(replace(INACTIVE, key=key, **changes) for key in keys))


def test_what_needs_attention_comes_first():
    html = page()
    places = [
        html.index(f'id="{anchor(each.key)}"') for each in (FIRING, PENDING, NO_DATA, HISTORIC, INACTIVE)
    ]
    assert places == sorted(places)
    assert "1 alert fires, 1 pending, 1 no data, 1 historic, 1 inactive." in words(html)
    assert "Alerts · monitor</title>" in html


@pytest.mark.parametrize("state", STATES)
def test_one_state_can_be_chosen(state):
    html = page({"state": state})
    for each in VIEW.alerts:
        assert (f'id="{anchor(each.key)}"' in html) == (state_of(each) == state)
    assert f'<option value="{state}" selected="">' in html


def test_one_model_can_be_chosen():
    other = replace(FIRING, key=FIRING.key._replace(model="churn"))
    html = page(
        {"model": "churn", "refresh": "off"}, alerts=AlertsView((*VIEW.alerts, other), VIEW.transitions)
    )
    assert anchor(other.key) in html
    assert anchor(FIRING.key) not in html
    assert 'id="asked"' not in html
    assert 'id="changes"' not in html
    assert '<input type="hidden" name="refresh" value="off">' in html


def test_a_state_that_does_not_exist():
    found = render_alerts(shown(), {"state": "burning"})
    assert found.status == 404
    assert "there are firing, pending, no_data, historic, inactive" in words(found.html)


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"owner": False}, "the owner has the alerts"), ({"ready": False}, "Alerts follow when it is done")],
)
def test_only_the_owner_shows_alerts(changes, why):
    html = page(status=status(**changes))
    assert why in html
    assert "RecallBelowFloor" not in html


def test_an_alert_says_everything_that_is_known():
    html = page({"state": "firing"})
    text = words(html)
    assert sentence(FIRING) in text
    for fact in (
        *("Value 0.6100 [0.5498, 0.6672]", "Has to be at least 0.8000", "Support 262"),
        *("Evidence 12,346 of 10,000", "Wrong beyond the limit 50", "They cost 100,000"),
    ):
        assert fact in text
    assert '<data class="metric" value="0.61">0.6100</data>' in html
    assert 'href="https://runbooks.example/recall"' in html
    assert 'href="model?model=fraud&amp;version=2026-12-01&amp;class=fraud"' in html
    assert '<time datetime="2025-11-29T11:55:00.000000Z">2025-11-29 11:55:00 UTC</time>' in html


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (
            Evidence(
                value=0.3,
                limit=0.5,
                prevalence=0.004,
                reference_prevalence=0.002,
                prevalence_moved=True,
                value_at_reference_prevalence=0.52,
                breaches_at_reference=False,
            ),
            "Prevalence 0.0040, reference 0.0020: moved At the reference prevalence 0.5200, within the limit",
        ),
        (Evidence(undefined="no_positives"), "Undefined no labels of class fraud"),
        (
            Evidence(
                value=0.1,
                recalibration={"map": "shift", "formula": "p + 1", "gain": 0.0123, "standard_error": 0.002},
            ),
            "Recalibration shift: p + 1 , saves 0.012 ± 0.002 log loss per event",
        ),
        (
            Evidence(value=0.1, recalibration={"map": None, "reason": "too few"}),
            "Recalibration none is suggested: too few",
        ),
    ],
)
def test_further_evidence(evidence, said):
    assert said in words(page(alerts=AlertsView((replace(FIRING, evidence=evidence),))))


def test_a_calibration_alert_says_what_its_value_is_and_its_tolerance():
    rule = replace(FIRING.rule, metric=CALIBRATION, shift=0.5, slope=1.5)
    found = Evidence(value=0.1339, component="up", support=1_000)
    text = words(page(alerts=AlertsView((replace(FIRING, rule=rule, evidence=found),))))
    assert "Outcomes minus mean probability 0.1339" in text
    assert "Has to be log-odds off by at most 0.5, and by a factor of at most 1.5" in text
    quiet = replace(INACTIVE, rule=rule, evidence=found)
    assert "0.1339, outcomes minus mean probability" in words(page(alerts=AlertsView((quiet,))))


def test_what_is_still_told_of_without_data_fires():
    still = replace(NO_DATA, started=moment(120))
    text = words(page({"state": "firing"}, alerts=AlertsView((still, NO_DATA), live={"fraud": "2026-12-01"})))
    assert "1 alert fires (1 without data), 1 no data." in text
    assert "firing no data RecallBelowFloor" in text
    assert "not live: 2026-12-01 is page · since 2025-11-29 10:00:00 UTC" in text
    assert "without data since 2025-11-29 10:30:00 UTC : people are told until new events" in text
    assert "people are told" not in words(page(alerts=AlertsView((NO_DATA,))))


def test_how_far_alerts_are_judged_is_said():
    assert "Judged by events up to 2025-11-29 11:59:00 UTC" in words(page())
    assert "Judged" not in words(page(status=status(frontier=None)))


def test_an_alert_about_what_is_gone_links_to_what_is_left():
    for key, link in (
        (FIRING.key._replace(version="gone", segment="a=b"), 'href="model?model=fraud"'),
        (FIRING.key, 'href="model?model=fraud&amp;version=2026-12-01'),
    ):
        assert link in page(alerts=AlertsView((replace(FIRING, key=key),)))
    nowhere = replace(FIRING, key=FIRING.key._replace(model="gone"))
    assert "model=gone" not in section(page(alerts=AlertsView((nowhere,))), "alerts")


def test_only_a_failure_is_written_as_a_warning():
    for each_status, look in (("done", "quiet"), ("failed", "reason"), ("waiting_for_approval", "quiet")):
        decisions = [replace(each, status=each_status, reason="answered so") for each in view().decisions]
        assert f'<p class="{look}">answered so</p>' in page(actions=view(decisions=tuple(decisions)))


def test_a_published_runbook_is_a_link():
    rule = replace(PENDING.rule, runbooks="https://wiki/runbooks")
    html = page(alerts=AlertsView((replace(PENDING, rule=rule),)))
    assert 'href="https://wiki/runbooks#quality"' in html


def test_a_runbook_that_is_no_address_is_named():
    assert "<code>docs/runbooks.md#quality</code>" in page({"state": "pending"})


def test_three_thousand_quiet_alerts_are_paged_and_the_nearest_come_first():
    near = replace(
        INACTIVE, key=Key("Near", "z", "1", "", "", ""), evidence=Evidence(statistic=9e3, threshold=1e4)
    )
    found = many(3_000)
    html = page(alerts=AlertsView((*found.alerts, near, FIRING)))
    assert html.count("<tr id=") == PER_PAGE - 1
    assert html.index("<tr") < html.index(anchor(near.key)) < html.index(anchor(found.alerts[0].key))
    assert "Page 1 of 61" in html
    assert 'href="alerts?page=2" rel="next"' in html
    last = page({"page": "61"}, alerts=AlertsView((*found.alerts, near, FIRING)))
    assert last.count("<tr id=") == 2
    assert 'rel="next"' not in last
    assert len(html) < 60_000
    assert "<option" not in html.partition('name="state"')[0]  # three thousand models are no choice


@pytest.mark.parametrize("asked", ["0", "-1", "x", "9" * 30, "²", ""])
def test_a_page_that_does_not_exist(asked):
    assert "Page " in page({"page": asked}, alerts=many(3 * PER_PAGE))


def test_firing_alerts_are_paged_too():
    found = many(3 * PER_PAGE, state="firing", started=FIRING.started)
    assert page(alerts=found).count('class="card alert firing"') == PER_PAGE


def test_how_close_is_by_logarithms():
    assert closeness(Evidence()) is None
    assert closeness(Evidence(statistic=0.0, threshold=1e4)) == 0
    assert closeness(Evidence(statistic=99.0, threshold=9_999.0)) == pytest.approx(0.5)
    assert closeness(Evidence(statistic=1e9, threshold=1e4)) == 1


def test_a_decision_shows_the_alert_first_and_then_the_answer():
    made = office()
    source = alert(actions=("rollback", "page_owner"))
    for alerts, because in ((AlertsView((source,)), sentence(source)), (CALM, "value 0.6000, limit 0.8000")):
        text = words(section(page(alerts=alerts, actions=made.desk.view()), "asked"))
        assert text.index("RecallBelowFloor") < text.index(because) < text.index("approval is set")


def test_a_decision_that_is_over_shows_what_it_was_decided_by():
    made = office()
    made.desk.reject(waiting(made), "ann")
    worse = alert(actions=("rollback", "page_owner"), evidence=Evidence(value=0.3, limit=0.8, support=400))
    text = words(section(page(alerts=AlertsView((worse,)), actions=made.desk.view()), "decided"))
    over, open = text.split("page_owner", 1)[1].split("rollback", 1)
    assert "when this was decided, value 0.6000, limit 0.8000, support 40" in over
    assert "is 0.3000" in open


def test_who_may_act_is_asked_for_the_token():
    made = office()
    html, id = section(page(actions=made.desk.view()), "asked"), waiting(made)
    assert f'data-act="api/v1/actions/{id}/approve"' in html
    assert f'data-act="api/v1/actions/{id}/reject"' in html
    assert 'method="dialog"' in html  # without the script it goes nowhere
    token = re.search("<input[^>]*data-token[^>]*>", html)[0]
    assert 'type="password"' in token
    assert 'autocomplete="off"' in token
    assert " name=" not in token  # browsers put no such field into an address
    assert HOW_TO_ACT not in html


def test_what_is_only_to_be_sent_can_be_rejected():
    html = section(page(), "decided")
    assert "/reject" in html
    assert "/approve" not in html


def test_where_nobody_may_act_it_says_how_to_change_that():
    html = page(can_act=False, actions=view(silences=(SILENCE,), paused=PAUSE))
    assert "server.act_token_file" in section(html, "asked")
    assert "data-act" not in html
    assert "data-token" not in html


def test_a_decision_that_is_over_has_no_form():
    made = office()
    made.desk.reject(waiting(made), "ann")
    html = page(actions=made.desk.view())
    assert 'id="asked"' not in html
    assert "rejected by ann" in html
    assert f'id="action-{made.desk.view().decisions[0].id}"' in html


def test_a_decision_without_a_good_version_says_so():
    made = office()
    decisions = tuple(
        replace(each, target_version=None, attempts=3, last_error="no route")
        for each in made.desk.view().decisions
    )
    text = words(page(actions=view(decisions=decisions)))
    assert "no good version is known to go back to ; approved, it is sent without one" in text
    assert "Attempts 3 Last error no route" in text


PAUSE = Pause("token (ann)", NOON - HOUR, NOON + HOUR)
SILENCE = Silence("abc123", {"model": "fraud"}, NOON, NOON + HOUR, "token (bob)", "a new version")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"paused": PAUSE}, "Actions are paused by token (ann) since 2025-11-29 11:00:00 UTC , until"),
        ({"paused": replace(PAUSE, until=None)}, ", until somebody resumes"),
        ({"held_by_breaker": True}, "Too many models at once"),
        ({"silences": (SILENCE,)}, "1 silence holds some actions"),
        ({"enabled": False}, "Actions are off"),
        (
            {"problem": "rollback of fraud is tried again: 503"},
            "Actions fail. rollback of fraud is tried again: 503",
        ),
    ],
)
def test_what_holds_actions_back_stands_on_top(changes, said):
    held = page(actions=view(**changes)).partition('id="asked"')[0]
    assert said in words(held)
    assert 'id="holds"' not in page(actions=view())


def test_what_is_held_back_says_so_where_one_decides():
    made = office()
    source = alert(actions=("rollback", "page_owner"))
    held = made.desk.view()
    for changes, said in (
        ({"silences": (SILENCE,)}, "silenced until 2025-11-29 13:00:00 UTC by token (bob)"),
        ({"paused": PAUSE}, "paused until 2025-11-29 13:00:00 UTC by token (ann)"),
        ({"paused": replace(PAUSE, until=None)}, "paused until somebody resumes by token (ann)"),
    ):
        html = page(alerts=AlertsView((source,)), actions=replace(held, **changes))
        for part in ("asked", "alerts", "decided"):
            assert f"Its actions are held back: {said}" in words(section(html, part))
    other = replace(SILENCE, matchers={"model": "churn"})
    html = page(alerts=AlertsView((source,)), actions=replace(held, silences=(other,)))
    assert "held back" not in words(html)


def test_pauses_and_silences_can_be_made_and_ended():
    html = section(page(actions=view(silences=(SILENCE,))), "hold")
    for address in ("api/v1/actions/pause", "api/v1/silences", "api/v1/silences/abc123"):
        assert f'data-act="{address}"' in html
    assert 'data-method="DELETE"' in html
    assert "a new version" in html
    assert 'data-act="api/v1/actions/resume"' in page(actions=view(paused=PAUSE))


def test_a_silence_begins_with_the_labels_of_the_alert():
    html = page({"state": "firing"})
    for name, text in FIRING.key.labels.items():
        assert re.search(f'name="matchers.{name}"[^>]* value="{text}"', html)


def test_without_actions_nothing_is_said_of_them():
    text = words(page(alerts=AlertsView((INACTIVE,)), actions=DeskView((), None, (), False, False, None)))
    assert "Hold actions back" not in text
    assert "Actions are off" not in text


def test_changes_are_a_list_newest_first():
    text = words(section(page(), "changes"))
    assert text.index("pending") < text.index("firing") < text.index("nobody was told: it was long ago")


def test_a_change_of_calibration_says_what_its_number_is():
    change = replace(VIEW.transitions[0], evidence=Evidence(value=0.1339, component="up"))
    text = words(section(page(alerts=AlertsView(VIEW.alerts, (change,))), "changes"))
    assert "outcomes minus mean probability 0.1339, up" in text


def test_no_alert_at_all():
    assert "alerts.rules of the configuration" in page(
        alerts=AlertsView(), actions=DeskView((), None, (), False, False, None)
    )


def test_hostile_names_stay_text():
    key = Key(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    alerts = tuple(
        replace(each, key=key._replace(version=f"{place}"), reason=HOSTILE)
        for place, each in enumerate(VIEW.alerts)
    )
    transitions = tuple(replace(each, key=key, reason=HOSTILE) for each in VIEW.transitions)
    decisions = tuple(
        replace(
            each,
            alert=key,
            model=HOSTILE,
            bad_version=HOSTILE,
            target_version=HOSTILE,
            reason=HOSTILE,
            by=HOSTILE,
        )
        for each in view().decisions
    )
    silence = replace(SILENCE, matchers={HOSTILE: HOSTILE}, by=HOSTILE, comment=HOSTILE)
    desk = view(decisions=decisions, silences=(silence,), paused=replace(PAUSE, by=HOSTILE), problem=HOSTILE)
    html = page({"model": HOSTILE}, alerts=AlertsView(alerts, transitions), actions=desk)
    assert "<script>" not in html
    assert "\x1b" not in words(html)
    assert "\u202e" not in words(html)
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))


def test_commands_are_safe_to_paste_whatever_names_are_in_them():
    html = silence_form("silence", {"model": f"$(reboot)'; reboot; '{HOSTILE}"})
    command = unescape(re.search("<pre>(.*?)</pre>", html, re.S)[1])
    assert command.isprintable()
    parts = shlex.split(command.replace('"$MONITOR/', '"'))
    assert parts[:4] == ["curl", "-X", "POST", "api/v1/silences"]
    assert json.loads(parts[-1])["matchers"]["model"].startswith("$(reboot)'")


def test_nothing_is_inline():
    html = page(actions=view(silences=(SILENCE,), paused=PAUSE))
    assert " style=" not in html
    assert not re.search(" on[a-z]+=", html)
    assert not re.search("<script(?! src=)", html)
