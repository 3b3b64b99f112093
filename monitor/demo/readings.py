"""What the running daemon says, asked over HTTP as anyone else would."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    Measure("ROC AUC", "classifier_roc_auc", _MALIGNANT),
    Measure("Partial AUC, FPR to 0.1", "classifier_partial_roc_auc", {**_MALIGNANT, "max_fpr": "0.1"}),
    Measure("Brier score", "classifier_brier_score", {**_MALIGNANT, "subset": "all"}, higher_is_better=False),
    Measure("Log loss", "classifier_log_loss", {"class": ""}, higher_is_better=False),
)


class Reading(NamedTuple):
    """A value with its interval; None where there is none."""

    value: float | None = None
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class Look:
    """One look at the daemon: its counters, and what it says of the window that the demo shows."""

    consumed: int = 0
    rejected: int = 0
    lag: int = 0
    complete: bool = False
    readings: Mapping[Measure, Reading] = field(default_factory=dict)

    def reading(self, measure: Measure) -> Reading:
        """Return what is known of one number."""
        return self.readings.get(measure, Reading())


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
        reports = {segment: self._report(segment) for segment in {m.segment for m in MEASURES}}
        if series is None or not all(reports.values()):
            return None
        return Look(
            consumed=total(series, "monitor_events_consumed_total"),
            rejected=total(series, "monitor_events_rejected_total"),
            lag=total(series, "monitor_consumer_lag"),
            complete=reports[""]["complete"],
            readings={m: reading(reports[m.segment]["metrics"], m) for m in MEASURES},
        )

    def _report(self, segment: str) -> dict[str, Any]:
        query = urllib.parse.urlencode({"model": MODEL, "window": WINDOW, "segment": segment})
        body = self._get(f"/api/v1/report?{query}")
        found: list[dict[str, Any]] = json.loads(body)["reports"] if body else []
        return found[0] if found else {}

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


def reading(metrics: list[dict[str, Any]], measure: Measure) -> Reading:
    """Find one number among the `metrics` of a report."""
    for metric in metrics:
        if metric["name"] == measure.family and measure.labels.items() <= metric["labels"].items():
            if metric["value"] is None:
                break
            interval: dict[str, Any] = next(iter(metric["intervals"]), {})
            return Reading(metric["value"], interval.get("lower"), interval.get("upper"))
    return Reading()
