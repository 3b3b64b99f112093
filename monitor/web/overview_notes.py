"""What to do where there is nothing to see, or less than there should be. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from monitor.report import Report
from monitor.status import DaemonStatus
from monitor.web.html import Html, h
from monitor.wording import printable

DOCTOR = h("code", "monitor doctor -c monitor.yaml")

NOTABLE = 0.01
"""Share of rejected records above which the overview speaks of them."""


def nothing(report: Report | None, status: DaemonStatus) -> Html:
    """Say why there is no model to show."""
    return h(
        "section", h("h2", *_headline(status)), h("p", *_explanation(report, status)), class_="card empty"
    )


def notes(report: Report, status: DaemonStatus) -> Iterator[Html]:
    """Yield what makes the numbers fewer than they should be."""
    for remark in status.remarks:
        yield note(printable(remark))
    consumed, reasons = sum(status.events_consumed.values()), Counter[str]()
    for (_, reason), n in status.events_rejected.items():
        reasons[reason] += n
    if reasons.total() > NOTABLE * consumed:
        [(most, _)] = reasons.most_common(1)
        yield note(
            f"{reasons.total():,} of {consumed:,} records were rejected, most as {most}: ",
            h("a", "by reason", href="#rejected"),
            ". ",
            *_examples(status),
        )
    if not any(version.labeled_events for version in report.versions):
        yield note(
            "No event has a label yet, so there is nothing to judge by. Check that ",
            h("code", "events.fields.label"),
            " is the path of the label in your messages; ",
            DOCTOR,
            " shows what it finds there.",
        )


def _examples(status: DaemonStatus) -> Iterator[str]:
    """Yield where to see such records."""
    if status.files:
        yield "What "
        yield h("code", "monitor replay")
        yield " printed has an example of each."
    else:
        yield DOCTOR
        yield " shows such messages beside what the mapping makes of them."


def note(*parts: str) -> Html:
    """Return a remark above the table."""
    return h("p", *parts, class_="note")


def _headline(status: DaemonStatus) -> Iterator[str]:
    if status.broker_error is not None:
        yield "Waiting for Kafka"
    else:
        yield {"restoring": "Restoring the state", "standby": "Standby"}.get(status.role, "No event yet")


def _explanation(report: Report | None, status: DaemonStatus) -> Iterator[str]:
    consumed, rejected = sum(status.events_consumed.values()), sum(status.events_rejected.values())
    behind = sum(status.consumer_lag.values())
    if status.broker_error is not None:  # also where a topic is gone: then no instance reads its partitions
        yield f"Kafka cannot be read: {status.broker_error}. "
        yield h("code", "monitor check -c monitor.yaml --connect")
        yield " tries every address and topic."
    elif status.role == "standby":
        yield "Another instance reads the partitions and has the numbers; this one takes over if it fails."
    elif status.role == "restoring":
        yield "This instance reads its checkpoint and the records since. Numbers follow when it is done."
        yield f" {behind:,} records are still to be read." if behind else ""
    elif consumed and rejected >= consumed:
        yield f"All {consumed:,} records were rejected: "
        yield h("a", "by reason", href="#rejected")
        yield ". "
        yield DOCTOR
        yield " shows them beside what the mapping makes of them."
    elif consumed or behind:
        yield f"{consumed:,} records were read, {behind:,} are still to be read; "
        yield "the first evaluation follows." if report is None else "no event is among them so far."
    elif status.files:
        yield "There is no record in the files."
    else:
        yield "No record has arrived. Check kafka.topics, and whether anything is written there now: "
        yield DOCTOR
        yield " reads the newest messages of each topic."
