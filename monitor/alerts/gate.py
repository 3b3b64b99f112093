"""May a version go on? For rollout controllers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from monitor.alerts.alert import Alert
from monitor.report import CUMULATIVE, Report
from monitor.wording import printable

Outcome = Literal["pass", "fail", "inconclusive", "no_data"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rollout controller is told, and why: at least one reason."""

    outcome: Outcome
    reasons: tuple[str, ...]


def verdict(alerts: Sequence[Alert], report: Report | None, model: str, version: str = "") -> Verdict:
    """Judge a version.

    A version of which an alert fires fails whatever else is so; what cannot be judged, such as an undefined
    value, never passes.

    Parameters
    ----------
    alerts
        All of them.
    report
        The newest evaluation; None before the first.
    model
        Name.
    version
        Name; empty: the only one that the model has.
    """
    known = {alert.key.version for alert in alerts if alert.key.model == model}
    known |= {v.version for v in report.versions if v.model == model} if report is not None else set()
    if not version and len(known) == 1:
        version = next(iter(known))
    elif not version and known:
        return Verdict("no_data", (f"{printable(model)} has {len(known)} versions: say which",))
    mine = [alert for alert in alerts if (alert.key.model, alert.key.version) == (model, version)]
    if firing := tuple(f"{_name(alert)} fires" for alert in mine if _fires(alert)):
        return Verdict("fail", firing)
    if reason := _without_data(mine, report, model, version):
        return Verdict("no_data", (reason,))
    assert report is not None
    if open_questions := tuple(_open_questions(mine, report, model, version)):
        return Verdict("inconclusive", open_questions)
    return Verdict("pass", (f"none of {len(mine)} alerts fires",))


def _fires(alert: Alert) -> bool:
    return not alert.is_companion and (alert.state == "firing" or alert.started is not None)


def _name(alert: Alert) -> str:
    parts = (alert.key.window, alert.key.segment, alert.key.class_)
    rest = ", ".join(printable(part) for part in parts if part)
    return f"{alert.key.alert} ({rest})" if rest else alert.key.alert


def _without_data(mine: Sequence[Alert], report: Report | None, model: str, version: str) -> str | None:
    if report is None:
        return "nothing has been evaluated yet"
    found = next((v for v in report.versions if (v.model, v.version) == (model, version)), None)
    if found is None:
        return f"no event of {printable(model)} {printable(version)} is known".replace("  ", " ")
    if not found.labeled_events:
        return "the version has no labeled event"
    if mine and all(alert.state == "no_data" for alert in mine):
        return mine[0].reason or "the version is silent"
    return None


def _open_questions(mine: Sequence[Alert], report: Report, model: str, version: str) -> Iterator[str]:
    if not mine:
        yield "no alert watches this version"
    for alert in mine:
        if alert.state == "pending":
            yield f"{_name(alert)} is pending"
        elif alert.reason is not None:
            yield f"{_name(alert)}: {alert.reason}"
    windows = [w for w in report.windows if (w.model, w.version, w.segment) == (model, version, "")]
    limited = [window for window in windows if window.window != CUMULATIVE] or windows
    if not any(window.complete for window in limited):
        yield "no window of this version is complete yet"
