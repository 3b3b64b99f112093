"""How the daemon itself is: one line on every page, details on demand, and what is wrong. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from monitor.status import DaemonStatus
from monitor.web.health import problems
from monitor.web.html import Html, h
from monitor.web.moments import moment
from monitor.web.site import Shown
from monitor.wording import printable

MAX_LISTED = 10
"""Most partitions, and most reasons of rejection, that are named."""


def daemon_line(shown: Shown) -> Html:
    """Return the daemon's health in one line that opens to everything else about it."""
    status = shown.status
    healthy = status.ready and not any(problems(status))
    facts = (h("span", " · ", *fact, class_="fact") for fact in _facts(status))
    role, look = "replay" if status.files else status.role, "good" if healthy else "warn"
    return h(
        "details",
        h("summary", h("span", role, class_=f"badge {look}"), *facts),
        h("dl", *(h("div", h("dt", name), h("dd", text)) for name, text in _details(shown))),
        class_="daemon",
        id="daemon",
    )


def daemon_problems(shown: Shown) -> Html | None:
    """Return what makes the numbers old or incomplete, None where nothing does."""
    found = [f"{problem.name}: {problem.reason}" for problem in problems(shown.status)]
    if shown.series_dropped:
        found.append(f"export: {shown.series_dropped:,} series are left out above export.max_series")
    if not found:
        return None
    items = (h("li", printable(text)) for text in found)
    return h("div", h("ul", *items), class_="problems", role="alert", id="problems")


def _facts(status: DaemonStatus) -> Iterator[tuple[str, ...]]:
    behind = sum(status.consumer_lag.values())
    rejected = sum(status.events_rejected.values())
    if status.files:
        yield ("files, read to their end",)
    elif status.broker_error is not None:  # the ends of the partitions are those of the last answer
        yield ("waiting for Kafka",)
    elif status.owner:
        yield (f"{behind:,} behind" if behind else "caught up",)
    yield (h("span", f"{rejected:,} rejected", class_="warn" if rejected else None),)
    for done, at in (("evaluation", status.last_evaluation), ("checkpoint", status.last_checkpoint)):
        if at is not None:
            yield f"{done} ", moment(at)
        elif status.role == "owner" and not status.files:
            yield (f"no {done} yet",)


def _details(shown: Shown) -> Iterator[tuple[str, str]]:
    status = shown.status
    yield "Read up to, in event time", moment(status.frontier)
    yield "Records", _counts(status.events_consumed)
    rejected = {" ".join(filter(None, key)): n for key, n in status.events_rejected.items()}
    yield "Rejected", h("span", _counts(rejected), id="rejected")
    yield "Late", _counts(status.events_late)
    yield "Unlabeled", _counts(status.events_unlabeled)
    yield "Limits reached", _counts(status.limit_reached)
    if evaluations := sum(status.evaluation_durations.counts):
        mean = status.evaluation_durations.total / evaluations
        yield "An evaluation takes", f"{mean:.3g} s on average, {status.evaluation_errors:,} failed"
    yield "State in memory", f"{status.state_bytes / 1e6:,.1f} MB"
    yield "Series left out", f"{shown.series_dropped:,}"
    if not status.files:
        yield from _of_kafka(status)


def _of_kafka(status: DaemonStatus) -> Iterator[tuple[str, str]]:
    yield "Last poll", moment(status.last_poll)
    yield "Behind, by partition", _counts({f"{t}/{p}": n for (t, p), n in status.consumer_lag.items()})
    yield "Dead letters", _counts(status.dead_letters)
    errors = status.checkpoint_errors
    yield "Checkpoint", f"{status.checkpoint_bytes / 1e6:,.1f} MB, {errors:,} could not be written"
    yield "Rebalances", f"{status.rebalances:,}"


def _counts(counts: Mapping[str, int]) -> str:
    """Write what is not zero, the most first."""
    found = Counter({name: n for name, n in counts.items() if n}).most_common()
    parts = [f"{printable(name)} {n:,}" for name, n in found[:MAX_LISTED]]
    if more := len(found) - len(parts):
        parts.append(f"{more:,} more")
    return ", ".join(parts) or "none"
