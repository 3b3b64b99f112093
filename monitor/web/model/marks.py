"""What happened to a model version, for the lines of its timelines. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from monitor.alerts.alert import Alert, Transition
from monitor.report import Report
from monitor.web.charts import Limit, Mark
from monitor.web.model.alerts import watches
from monitor.web.site import Shown
from monitor.wording import printable

MAX_MARKS = 60
"""Most marks; the newest."""


def marks(shown: Shown, model: str, version: str) -> tuple[Mark, ...]:
    """Return alerts, actions and other versions of the model that came, the oldest first.

    Alerts and versions are at event times, actions at the time of the clock, which is a little later in live
    traffic.

    Parameters
    ----------
    shown
        Everything at one moment.
    model, version
        Whose timelines.
    """
    found = [
        *_alerts(shown.alerts.transitions, model, version),
        *_actions(shown, model, version),
        *_versions(shown.report, model, version),
    ]
    return tuple(sorted(found, key=lambda mark: mark.time)[-MAX_MARKS:])


def limits(alerts: Iterable[Alert], window: str, family: str, labels: Mapping[str, str]) -> tuple[Limit, ...]:
    """Return what alerts of a version hold a metric over all events to.

    Parameters
    ----------
    alerts
        Of the version.
    window
        Which one is shown; an alert of another one has its limit there.
    family, labels
        Of the metric.
    """
    found = {
        Limit(printable(alert.key.alert), limit): None
        for alert in alerts
        if watches(alert, family, labels)
        and alert.key.window in ("", window)
        and (limit := _limit(alert)) is not None
    }
    return tuple(found)


def _limit(alert: Alert) -> float | None:
    if alert.evidence.limit is not None:
        return alert.evidence.limit
    return alert.rule.limit.number if alert.rule.limit.kind == "number" else None


def _alerts(transitions: Sequence[Transition], model: str, version: str) -> Iterator[Mark]:
    for each in transitions:
        if (each.key.model, each.key.version) != (model, version):
            continue
        name = printable(" ".join(filter(None, (each.key.alert, each.key.segment))))
        if each.change == "firing":
            yield Mark(each.moment.timestamp, "alert", f"{name} fires")
        elif each.change == "resolved":
            yield Mark(each.moment.timestamp, "resolved", f"{name} is resolved")


def _actions(shown: Shown, model: str, version: str) -> Iterator[Mark]:
    for decision in shown.actions.decisions:
        if decision.model == model and version in (decision.bad_version, decision.target_version):
            text = f"{decision.action}: {decision.status.replace('_', ' ')}"
            yield Mark(decision.decided_at, "action", printable(text))


def _versions(report: Report | None, model: str, version: str) -> Iterator[Mark]:
    for other in report.versions if report is not None else ():
        if other.model == model and other.version != version:
            yield Mark(other.since, "version", printable(f"version {other.version or '(none)'}"))
