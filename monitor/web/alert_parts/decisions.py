"""Decisions about actions: why, what became of them, and the form where a person is asked. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from monitor.actions.decision import OPEN, Decision, Status
from monitor.alerts.alert import Alert
from monitor.alerts.words import sentence
from monitor.web.alert_parts.forms import Button, act_form
from monitor.web.alert_parts.holds import held_back
from monitor.web.alert_parts.names import Versions, scope, spaced
from monitor.web.html import Html, h, join
from monitor.web.moments import moment
from monitor.web.site import Shown
from monitor.wording import number, printable

ASKED: frozenset[Status] = frozenset({"waiting_for_approval", "held"})
"""A person is asked."""

_BAD: frozenset[Status] = frozenset({"failed", "refused", "expired"})


def decision_card(decision: Decision, alert: Alert | None, versions: Versions, shown: Shown) -> Html:
    """Return a decision.

    Parameters
    ----------
    decision
        Any.
    alert
        The alert that led to it, as long as its episode lasts.
    versions
        Those to link to.
    shown
        Everything else: what holds actions back, and whether people may approve and reject.
    """
    id = f"action-{decision.id}"
    return h(
        "article",
        h(
            "h3",
            h("span", spaced(decision.status), class_=f"badge {_look(decision.status)}"),
            " ",
            printable(decision.action),
            " ",
            h("code", decision.id),
        ),
        h("p", _move(decision)),
        h(
            "p",
            h("strong", printable(decision.alert.alert)),
            " · ",
            scope(decision.alert, versions),
            ": ",
            _why(decision, alert),
        ),
        _reason(decision),
        held_back(shown.actions, alert) if decision.open and alert is not None else None,
        h("dl", *(h("div", h("dt", name), h("dd", text)) for name, text in _facts(decision))),
        _form(f"{id}-form", decision) if shown.can_act and decision.open else None,
        id=id,
        class_="card decision",
    )


def _look(status: Status) -> str:
    return "warn" if status in OPEN else "bad" if status in _BAD else "good" if status == "done" else ""


def _reason(decision: Decision) -> Html | None:
    """Say why it is as it is, or what was answered: a warning only where it failed."""
    look = "reason" if decision.status in _BAD else "quiet"
    return h("p", printable(decision.reason), class_=look) if decision.reason else None


def _move(decision: Decision) -> Html:
    bad = printable(decision.bad_version) or "(no version)"
    if decision.target_version is None:
        goal: str = h("span", "no good version is known to go back to", class_="warn")
        if decision.status in ASKED:
            goal = join(goal, "; approved, it is sent without one, and the receiver decides what to do")
    else:
        goal = h("strong", printable(decision.target_version) or "(no version)")
    return join(f"{printable(decision.model)}: from {bad} to ", goal)


def _why(decision: Decision, alert: Alert | None) -> str:
    """Say what the alert says now as long as this is open, then what it knew when this was decided."""
    if decision.open and alert is not None:
        return printable(sentence(alert))
    return join("when this was decided, ", *_known(decision.evidence))


def _known(evidence: Mapping[str, object]) -> Iterator[str]:
    """Yield what is kept of an alert's evidence, as it comes from a checkpoint."""
    value, limit, since = (evidence.get(name) for name in ("value", "limit", "since"))
    yield f"value {number(value)}" if isinstance(value, float) else "no value"
    if isinstance(limit, float):
        yield f", limit {number(limit)}"
    yield f", support {evidence.get('support', 0)}"
    if isinstance(since, str):
        yield join(", since ", h("time", f"{since[:19].replace('T', ' ')} UTC", datetime=since))


def _facts(decision: Decision) -> Iterator[tuple[str, str]]:
    yield "Decided", moment(decision.decided_at)
    if decision.changed_at != decision.decided_at:
        yield "Changed", moment(decision.changed_at)
    if decision.open:
        yield "Expires", moment(decision.expires_at)
    if decision.severity:
        yield "Severity", printable(decision.severity)
    if decision.by:
        yield "By", printable(decision.by)
    if decision.attempts:
        yield "Attempts", f"{decision.attempts:,}"
    if decision.last_error:
        yield "Last error", h("span", printable(decision.last_error), class_="bad")


def _form(id: str, decision: Decision) -> Html:
    address = f"actions/{decision.id}"
    reject = Button("Reject", f"{address}/reject")
    asked = decision.status in ASKED
    buttons = [Button("Approve", f"{address}/approve"), reject] if asked else [reject]
    verbs = "Approve or reject" if asked else "Reject"
    form = act_form(id, f"{verbs} {printable(decision.action)} {decision.id}", buttons)
    return form if asked else h("details", h("summary", "Reject…"), form, id=f"{id}-more")
