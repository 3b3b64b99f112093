"""What the script does in a real browser: local times, refresh, timelines, acts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from monitor.web.alert_parts.forms import silence_form
from monitor.web.html import h
from monitor.web.layout import moment
from tests.support.browser import Seen, faults, launched, layout_shift, opened
from tests.support.reports import NOON
from tests.support.shown_alerts import VIEW, office, waiting
from tests.support.stage import TOKEN, Stage, figure, history, staged
from tests.support.web import HOSTILE

Tab = tuple[Page, Seen]

PLOT = "figure .plot canvas"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def server() -> Iterator[Stage]:
    with staged() as found:
        yield found


@pytest.fixture
def stage(server: Stage) -> Stage:
    server.reset()
    return server


@pytest.fixture
def tab(browser: Browser, stage: Stage) -> Iterator[Tab]:
    with opened(browser, stage.url, timezone_id="Asia/Kolkata") as found:
        yield found


def ink(page: Page, color: str) -> int:
    """Return how many pixels of the plot are of a colour, given as a property of the page."""
    return page.evaluate(
        """([selector, name]) => {
          const canvas = document.querySelector(selector);
          const wanted = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
          const probe = document.createElement("canvas").getContext("2d");
          probe.fillStyle = wanted; probe.fillRect(0, 0, 1, 1);
          const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
          const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          let found = 0;
          for (let i = 0; i < all.length; i += 4)
            found += all[i] === r && all[i + 1] === g && all[i + 2] === b && all[i + 3] === 255;
          return found;
        }""",
        [PLOT, color],
    )


# Times


def test_times_are_those_of_the_viewer(stage: Stage, tab: Tab) -> None:
    stage.main = (h("p", moment(NOON), id="when"),)
    page, seen = tab
    page.goto("/page")
    time = page.locator("#when time")
    expect(time).to_have_text("2025-11-29 17:30:00 GMT+5:30")
    expect(time).to_have_attribute("title", "2025-11-29 12:00:00 UTC")
    page.evaluate("refresh()")
    expect(time).to_have_text("2025-11-29 17:30:00 GMT+5:30")
    assert seen.errors == []


# Refresh


def test_a_refresh_changes_what_changed_and_keeps_what_somebody_did(stage: Stage, tab: Tab) -> None:
    page, seen = tab

    def main(value: str, *more: str) -> None:
        stage.main = (
            *(h("p", each, id=each) for each in more),
            h("p", "the same words", id="same"),
            h("p", value, id="value"),
            h("details", h("summary", "More"), h("p", value), id="more"),
            h("details", h("summary", "Less"), h("p", value), id="less", open=""),
            h(
                "form",
                h("input", name="q", id="q", value=value),
                h("input", name="r", id="r", value=value),
                id="form",
            ),
        )

    main("one")
    page.goto("/page")
    page.locator("#more").evaluate("each => { each.open = true; each.marked = true; }")
    page.locator("#less").evaluate("each => each.open = false")
    page.locator("#q").fill("typed")
    page.locator("#q").evaluate("each => each.setSelectionRange(1, 3)")
    page.evaluate("getSelection().selectAllChildren(document.getElementById('same'))")
    main("two", "new")
    page.evaluate("refresh()")
    expect(page.locator("#value")).to_have_text("two")
    expect(page.locator("#new")).to_be_visible()
    expect(page.locator("#more p")).to_have_text("two")
    assert page.locator("#more").evaluate("each => each.open && each.marked")
    assert not page.locator("#less").evaluate("each => each.open")
    expect(page.locator("#q")).to_have_value("typed")
    expect(page.locator("#r")).to_have_value("two")
    assert page.evaluate("String(getSelection())") == "the same words"
    page.locator("#q").focus()
    main("three")
    page.evaluate("refresh()")
    expect(page.locator("#value")).to_have_text("three")
    expect(page.locator("#q")).to_be_focused()
    assert seen.errors == []


def test_a_refresh_changes_the_top_of_the_page_and_the_title(stage: Stage, tab: Tab) -> None:
    page, seen = tab
    page.goto("/page")
    page.locator("#daemon summary").click()
    stage.alerts = VIEW
    page.evaluate("refresh()")
    expect(page.locator("#status nav")).to_contain_text("1 firing")
    expect(page).to_have_title("(1 firing) Page · monitor")
    assert page.locator("#daemon").evaluate("each => each.open")
    assert seen.errors == []


def test_an_answer_that_was_overtaken_changes_nothing(stage: Stage, tab: Tab) -> None:
    page, _ = tab
    stage.main = (h("p", "old", id="value"),)
    page.goto("/page")
    old = page.evaluate("fetch(location.href).then(answer => answer.text())")
    held = []
    page.route("**/page", lambda route: held.append(route) if not held else route.continue_())
    with page.expect_request("**/page"):
        page.evaluate("void (window.first = refresh())")
    stage.main = (h("p", "new", id="value"),)
    page.evaluate("refresh()")
    expect(page.locator("#value")).to_have_text("new")
    held[0].fulfill(body=old, content_type="text/html")
    page.evaluate("window.first")
    assert page.locator("#value").text_content() == "new"


def test_a_figure_that_is_about_another_metric_keeps_no_line_of_the_first(stage: Stage, tab: Tab) -> None:
    page, seen = tab
    stage.history = history(0.9, 0.8, 0.7)
    stage.main = (figure(),)
    page.goto("/page")
    expect(page.locator("#timeline-0-plot")).to_have_count(1)
    stage.main = (figure(data_family="classifier_precision"),)
    page.evaluate("refresh()")
    expect(page.locator("#timeline-0-plot")).to_have_count(0)
    assert seen.errors == []


def test_it_refreshes_by_itself_until_somebody_pauses_it(stage: Stage, browser: Browser) -> None:
    for query, refreshes in (("", True), ("?refresh=off", False)):
        with opened(browser, stage.url) as (page, seen):
            page.clock.install()
            page.goto(f"/page{query}")
            page.clock.run_for(11_000)
            page.wait_for_load_state("networkidle")
            assert (seen.asked.count(f"GET /page{query}") > 1) == refreshes


def test_what_cannot_be_refreshed_is_said_until_it_can(stage: Stage, tab: Tab) -> None:
    page, _ = tab
    stage.main = (h("p", "one", id="value"),)
    page.goto("/page")
    remark = page.locator("#stale")
    for status, words in ((500, "the monitor answers 500"), (None, "the monitor does not answer")):
        if status is None:
            page.route("**/page", lambda route: route.abort())
        else:
            stage.status = status
        page.evaluate("refresh()")
        expect(remark).to_have_text(re.compile(f"^Not refreshed since 20.*: {words}.$"))
    assert page.evaluate("refreshing.failures") == 2
    expect(page.locator("#value")).to_have_text("one")
    page.unroute("**/page")
    stage.status, stage.main = 200, (h("p", "two", id="value"),)
    page.evaluate("refresh()")
    expect(page.locator("#value")).to_have_text("two")
    expect(remark).to_be_hidden()
    assert layout_shift(page) < 0.01
    stage.status = 401
    page.evaluate("refresh()")
    expect(remark).to_contain_text("the token is asked for again: reload the page")
    assert page.evaluate("refreshing.ended")


# Timelines


def test_a_timeline_takes_the_place_of_the_picture(stage: Stage, tab: Tab) -> None:
    page, seen = tab
    stage.history = history(0.9, 0.8, None, 0.7, 0.75, 0.8, 0.7)
    limits, marks = (
        '[{"name":"RecallBelowFloor","value":0.5}]',
        ('[{"time":1764417660,"kind":"alert","text":"RecallBelowFloor fires"}]'),
    )
    stage.main = (figure(data_limits=limits, data_marks=marks), figure("other"), h("p", "below", id="below"))
    page.goto("/page")
    expect(page.locator(PLOT)).to_have_count(2)
    picture, plot = (
        page.locator("#timeline-0 svg").bounding_box(),
        page.locator("#timeline-0-plot").bounding_box(),
    )
    assert picture is not None and plot is not None
    for side in ("x", "y", "width", "height"):
        assert abs(picture[side] - plot[side]) <= 1
    assert layout_shift(page) < 0.01
    assert seen.asked.count("GET /api/v1/history?model=fraud") == 1  # for both
    assert ink(page, "--accent") > 100
    assert ink(page, "--bad") > 20
    page.locator("#timeline-0 .u-over").hover(position={"x": 3, "y": 30})
    expect(page.locator("#timeline-0 .legend")).to_contain_text(
        "2025-11-29 17:30:00 GMT+5:30 · 0.9000 [0.8500, 0.9500]"
    )
    page.emulate_media(color_scheme="dark")
    assert ink(page, "--accent") > 100  # in the colour of the dark scheme
    page.set_viewport_size({"width": 500, "height": 700})
    page.wait_for_function(
        "Math.abs(document.querySelector('#timeline-0 svg').getBoundingClientRect().width"
        " - document.querySelector('#timeline-0-plot').getBoundingClientRect().width) <= 1"
    )
    assert faults(page) == []
    assert seen.errors == []
    assert seen.foreign == []


def test_a_refresh_goes_on_with_the_plot_and_keeps_the_zoom(stage: Stage, tab: Tab) -> None:
    page, seen = tab
    stage.history, stage.main = history(0.9, 0.8, 0.7, 0.8), (figure(),)
    page.goto("/page")
    canvas = page.locator(PLOT)
    canvas.evaluate("each => { each.marked = true; }")
    plot = "[...plots.values()][0].plot"

    def refresh() -> list[float]:
        page.evaluate("refresh()")
        return page.evaluate(f"[{plot}.scales.x.min, {plot}.scales.x.max, {plot}.data[0].length]")

    stage.history = history(0.9, 0.8, 0.7, 0.8, 0.9)
    first = stage.history["timestamps"][0]
    assert refresh() == [first, first + 240, 5]
    page.evaluate(f"{plot}.setScale('x', {{min: {first + 60}, max: {first + 120}}})")
    stage.history = history(0.9, 0.8, 0.7, 0.8, 0.9, 0.9)
    assert refresh() == [first + 60, first + 120, 6]
    assert canvas.evaluate("each => each.marked")
    stage.main = (h("p", "gone"),)
    page.evaluate("refresh()")
    expect(canvas).to_have_count(0)
    assert page.evaluate("plots.size") == 0
    assert seen.errors == []


@pytest.mark.parametrize("past", [history(0.5), history(0.5, 0.6, **{"class": "other"}), {}])
def test_without_a_past_the_picture_stays(stage: Stage, tab: Tab, past: dict[str, object]) -> None:
    page, seen = tab
    stage.history, stage.main = past, (figure(),)
    page.goto("/page")
    page.wait_for_load_state("networkidle")
    expect(page.locator(PLOT)).to_have_count(0)
    assert page.locator("svg").first.evaluate("each => getComputedStyle(each).opacity") == "1"
    assert seen.errors == []


# Acts


def test_somebody_approves(stage: Stage, tab: Tab) -> None:
    page, seen = tab
    id = waiting(stage.office)
    page.goto("/alerts")
    form = page.locator(f"#action-{id}-form")
    form.get_by_label("Your name").fill("ann")
    form.get_by_label("Act token").fill("wrong")
    form.get_by_role("button", name="Approve").click()
    expect(form.locator("output")).to_contain_text("this is not the act token")
    expect(form.get_by_label("Act token")).to_have_value("")
    page.evaluate("refresh()")
    expect(form.get_by_label("Your name")).to_have_value("ann")
    expect(form.locator("output")).to_contain_text("server.act_token_file")

    form.get_by_label("Act token").fill(TOKEN)
    with page.expect_request("**/approve") as asked:
        form.get_by_role("button", name="Approve").click()
    request = asked.value
    assert request.method == "POST"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["content-type"] == "application/json"
    assert request.post_data_json == {"by": "ann"}
    expect(page.locator("#done")).to_have_text("Done: pending.")
    expect(page.locator("#asked")).to_have_count(0)
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    assert TOKEN not in page.url + page.content()
    assert not any(TOKEN in each for each in seen.asked)
    assert [each for each in seen.errors if "401" not in each] == []
    assert stage.office.desk.view().decisions[0].by == "token (ann)"


def test_somebody_silences_and_ends_the_silence(stage: Stage, tab: Tab) -> None:
    page, seen = tab
    page.goto("/alerts?state=firing")
    page.get_by_text("Silence its actions").click()
    form = page.locator("form[aria-label='Silence actions']").first
    form.get_by_label("Until").fill("soon")
    form.get_by_label("Comment").fill("a new version")
    form.get_by_label("Your name").fill("bob")
    form.get_by_label("version").fill("")
    form.get_by_label("Act token").fill(TOKEN)
    form.get_by_role("button", name="Silence").click()
    expect(form.locator("output")).to_contain_text("write a duration")
    form.get_by_label("Until").fill("1h")
    form.get_by_label("Act token").fill(TOKEN)
    form.get_by_role("button", name="Silence").click()
    expect(page.locator("#done")).to_have_text("Done.")
    (silence,) = stage.office.desk.view().silences
    assert silence.matchers == {"alert": "RecallBelowFloor", "model": "fraud", "class": "fraud"}
    assert (silence.by, silence.comment) == ("token (bob)", "a new version")

    page.get_by_text("End it…").click()
    ending = page.locator(f"#silence-{silence.id}-form")
    ending.get_by_label("Your name").fill("bob")
    ending.get_by_label("Act token").fill(TOKEN)
    ending.get_by_role("button", name="End").click()
    expect(page.locator("#done")).to_have_text("Done.")
    assert stage.office.desk.view().silences == ()
    assert [each for each in seen.errors if "400" not in each] == []


def test_a_name_with_line_breaks_can_be_silenced_and_chosen(stage: Stage, tab: Tab) -> None:
    page, _ = tab
    name = f"{HOSTILE}\r\n\r"
    options = [h("option", text, value=text) for text in ("other", name)]
    choice = h("form", h("select", *options, name="model"), h("button", "Show", type="submit"), action="page")
    stage.main = (silence_form("silence", {"model": name, "version": "1"}), choice)
    page.goto("/page")
    form = page.locator("#silence")
    form.get_by_label("version").fill("")
    form.get_by_label("Comment").fill("odd")
    form.get_by_label("Your name").fill("bob")
    form.get_by_label("Act token").fill(TOKEN)
    form.get_by_role("button", name="Silence").click()
    expect(page.locator("#done")).to_have_text("Done.")
    assert stage.office.desk.view().silences[0].matchers == {"model": name}
    page.locator("select").select_option(index=1)
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**model=*")
    assert parse_qs(urlsplit(page.url).query)["model"] == [name]


def test_without_the_script_a_form_sends_nothing(stage: Stage, browser: Browser) -> None:
    id = waiting(stage.office)
    with opened(browser, stage.url, java_script_enabled=False) as (page, seen):
        page.goto("/alerts")
        expect(page.locator(f"#action-{id}-form")).to_be_hidden()
        expect(page.locator("#asked pre").first).to_contain_text(f"/api/v1/actions/{id}/approve")
        expect(page.locator("time").first).to_contain_text("UTC")
        assert seen.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_alerts_are_usable_by_all(stage: Stage, browser: Browser, scheme: str) -> None:
    stage.office = office()
    with opened(browser, stage.url, color_scheme=scheme) as (page, seen):
        page.goto("/alerts")
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        assert faults(page) == []
        assert seen.errors == []
        assert seen.foreign == []
