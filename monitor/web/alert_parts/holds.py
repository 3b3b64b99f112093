"""What holds actions back, and how people hold them back. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.actions.desk import DeskView
from monitor.actions.silence import Pause, Silence, silence_labels
from monitor.alerts.alert import Alert
from monitor.web.alert_parts.forms import ENDS, Button, act_form, field, silence_form
from monitor.web.body import MAX_TEXT
from monitor.web.html import Html, h, join
from monitor.web.moments import moment
from monitor.wording import printable

BREAKER = "Too many models at once: further actions are held until somebody approves them."


def holds(desk: DeskView, wanted: bool) -> Html | None:
    """Return what stands on top as long as something holds actions back or is wrong with them.

    Parameters
    ----------
    desk
        At this moment.
    wanted
        Whether any alert asks for actions.
    """
    found = list(_holds(desk, wanted))
    return h("ul", *(h("li", each) for each in found), class_="holds", id="holds") if found else None


def held_back(desk: DeskView, alert: Alert) -> Html | None:
    """Say who holds an alert's actions back and until when, None where nobody does."""
    labels = silence_labels(alert)
    found = [
        join("silenced until ", moment(each.until), f" by {printable(each.by)}")
        for each in desk.silences
        if each.matches(labels)
    ]
    if desk.paused is not None:
        found.append(join("paused ", _end(desk.paused), f" by {printable(desk.paused.by)}"))
    texts = (join("; " if place else None, text) for place, text in enumerate(found))
    return h("p", "Its actions are held back: ", *texts, ".", class_="warn") if found else None


def hold_forms(desk: DeskView, can_act: bool) -> Html:
    """Return the silences, each with a way to end it, and ways to pause everything and to silence some."""
    return h(
        "section",
        h("h2", "Hold actions back"),
        h("ul", *(_silence(each, can_act) for each in desk.silences), class_="silences")
        if desk.silences
        else h("p", "Nothing is silenced.", class_="quiet"),
        _pause_or_resume(desk) if can_act else None,
        _new_silence() if can_act else None,
        class_="card",
        id="hold",
    )


def _holds(desk: DeskView, wanted: bool) -> Iterator[str]:
    if desk.problem:
        yield join(h("strong", "Actions fail. "), printable(desk.problem))
    if wanted and not desk.enabled:
        yield "Actions are off: nothing is decided and nothing sent (actions.enabled)."
    if (pause := desk.paused) is not None:
        yield join(
            f"Actions are paused by {printable(pause.by)} since ", moment(pause.since), ", ", _end(pause), "."
        )
    if desk.held_by_breaker:
        yield BREAKER
    if desk.silences:
        many = len(desk.silences)
        yield h(
            "a", "1 silence holds" if many == 1 else f"{many} silences hold", " some actions", href="#hold"
        )


def _end(pause: Pause) -> str:
    return "until somebody resumes" if pause.until is None else join("until ", moment(pause.until))


def _silence(silence: Silence, can_act: bool) -> Html:
    id = f"silence-{silence.id}"
    labels = ", ".join(f"{name}={text}" for name, text in silence.matchers.items())
    form = act_form(
        f"{id}-form",
        f"End the silence {silence.id}",
        [Button("End", f"silences/{silence.id}")],
        method="DELETE",
    )
    return h(
        "li",
        h(
            "p",
            h("code", printable(labels)),
            " until ",
            moment(silence.until),
            f", by {printable(silence.by)}: {printable(silence.comment)}",
        ),
        h("details", h("summary", "End it…"), form, id=f"{id}-end") if can_act else None,
        id=id,
    )


def _pause_or_resume(desk: DeskView) -> Html:
    if desk.paused is not None:
        form = act_form("resume", "Resume all actions", [Button("Resume", "actions/resume")])
        return h("details", h("summary", "Resume all actions…"), form, id="resuming")
    fields = (
        field("Until", "pause", "until", placeholder="somebody resumes", title=ENDS),
        field("Comment", "pause", "comment", maxlength=f"{MAX_TEXT}"),
    )
    form = act_form("pause", "Pause all actions", [Button("Pause", "actions/pause")], fields)
    return h("details", h("summary", "Pause all actions…"), form, id="pausing")


def _new_silence() -> Html:
    form = silence_form("silence", dict.fromkeys(("alert", "model", "version"), ""))
    return h("details", h("summary", "Silence some alerts' actions…"), form, id="silencing")
