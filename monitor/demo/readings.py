"""What the running daemon says, asked over HTTP as anyone else would."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from monitor.demo.configuration import MODEL, WINDOW

TIMEOUT = 5.0


@dataclass(frozen=True, eq=False)  # each is itself alone, so that it can be a key
class Measure:
    """One number to show: its title, where it stands in the report, and which direction is good."""

    title: str
    family: str
    labels: Mapping[str, str]
    segment: str = ""
    higher_is_better: bool = True


_MALIGNANT = {"class": "malignant"}
RECALL = Measure("Recall of malignant", "classifier_recall", _MALIGNANT)
MEASURES = (
    RECALL,
    Measure("  at site north", "classifier_recall", _MALIGNANT, "site=north"),
    Measure("  at site south", "classifier_recall", _MALIGNANT, "site=south"),
    Measure("Precision of malignant", "classifier_precision", _MALIGNANT),
    Measure("Partial AUC, FPR to 0.1", "classifier_partial_roc_auc", {**_MALIGNANT, "max_fpr": "0.1"}),
    Measure("Brier score", "classifier_brier_score", {**_MALIGNANT, "subset": "all"}, higher_is_better=False),
)


class Reading(NamedTuple):
    """A value with its interval; None where there is none."""

    value: float | None = None
    lower: float | None = None
    upper: float | None = None

    def __str__(self) -> str:
        """Return it as "0.912 [0.889, 0.931]", "-" where there is no value."""
        if self.value is None or self.lower is None or self.upper is None:
            return "-" if self.value is None else f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.lower:.3f}, {self.upper:.3f}]"


@dataclass(frozen=True)
class Window:
    """What the daemon says of one version's window. `start`: of its oldest event, in epoch seconds."""

    complete: bool = False
    start: float = 0.0
    readings: Mapping[Measure, Reading] = field(default_factory=dict)

    def reading(self, measure: Measure) -> Reading:
        """Return what is known of one number."""
        return self.readings.get(measure, Reading())


class Alert(NamedTuple):
    """What the daemon says of one alert. `started`: time of the event that decided, in epoch seconds."""

    name: str
    version: str
    state: str
    sentence: str
    started: float | None


@dataclass(frozen=True)
class Look:
    """One look at the daemon.

    Attributes
    ----------
    consumed, rejected, lag
        Counters of records.
    windows
        The demo's window, by version.
    alerts
        Of the demo's model.
    actions
        Status and reason of each decision.
    """

    consumed: int = 0
    rejected: int = 0
    lag: int = 0
    windows: Mapping[str, Window] = field(default_factory=dict)
    alerts: tuple[Alert, ...] = ()
    actions: tuple[tuple[str, str], ...] = ()

    def window(self, version: str) -> Window:
        """Return what is known of a version."""
        return self.windows.get(version, Window())


class Api:
    """The daemon's HTTP interface.

    Parameters
    ----------
    address
        As http://host:port.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def ready(self) -> bool | None:
        """Return True once the daemon reads or stands by, else None."""
        return None if self._get("/readyz") is None else True

    def look(self) -> Look | None:
        """Return what the daemon says now; None where it does not answer or has seen too little."""
        series = self._get("/metrics")
        reports = {segment: self._reports(segment) for segment in {m.segment for m in MEASURES}}
        alerts, actions = self._json(f"/api/v1/alerts?model={MODEL}"), self._json("/api/v1/actions")
        if series is None or not all(reports.values()):
            return None
        return Look(
            consumed=total(series, "monitor_events_consumed_total"),
            rejected=total(series, "monitor_events_rejected_total"),
            lag=total(series, "monitor_consumer_lag"),
            windows=windows(reports),
            alerts=tuple(alert(each) for each in alerts.get("alerts", ())),
            actions=tuple((each["status"], each["reason"] or "") for each in actions.get("decisions", ())),
        )

    def _reports(self, segment: str) -> list[dict[str, Any]]:
        query = urllib.parse.urlencode({"model": MODEL, "window": WINDOW, "segment": segment})
        found: list[dict[str, Any]] = self._json(f"/api/v1/report?{query}").get("reports", [])
        return found

    def _json(self, path: str) -> dict[str, Any]:
        body = self._get(path)
        found: dict[str, Any] = json.loads(body) if body else {}
        return found

    def _get(self, path: str) -> str | None:
        try:
            with urllib.request.urlopen(self.address + path, timeout=TIMEOUT) as answer:  # noqa: S310
                return str(answer.read().decode())
        except OSError:  # URLError and HTTPError are OSErrors
            return None


def total(exposition: str, family: str) -> int:
    """Return the sum over all series of a family in Prometheus's text format."""
    starts = (family + "{", family + " ")
    return int(sum(float(line.split()[-1]) for line in exposition.splitlines() if line.startswith(starts)))


def windows(reports: Mapping[str, list[dict[str, Any]]]) -> dict[str, Window]:
    """Return the windows by version, from what the API says of each segment."""
    by_segment = {
        segment: {each["version"]: each["metrics"] for each in found} for segment, found in reports.items()
    }
    return {
        whole["version"]: Window(
            complete=whole["complete"],
            start=_epoch(whole["start"]) or 0.0,
            readings={m: reading(by_segment[m.segment].get(whole["version"], []), m) for m in MEASURES},
        )
        for whole in reports[""]
    }


def alert(found: dict[str, Any]) -> Alert:
    """Return one alert of the API."""
    started = found["started"]
    return Alert(
        name=found["alert"],
        version=found["labels"]["version"],
        state=found["state"],
        sentence=found["sentence"],
        started=None if started is None else _epoch(started["timestamp"]),
    )


def reading(metrics: list[dict[str, Any]], measure: Measure) -> Reading:
    """Find one number among the `metrics` of a report."""
    for metric in metrics:
        if metric["name"] == measure.family and measure.labels.items() <= metric["labels"].items():
            if metric["value"] is None:
                break
            interval: dict[str, Any] = next(iter(metric["intervals"]), {})
            return Reading(metric["value"], interval.get("lower"), interval.get("upper"))
    return Reading()


def _epoch(iso: str | None) -> float | None:
    return None if iso is None else datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp()
