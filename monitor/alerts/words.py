"""What an alert says, in one sentence, for logs, annotations and the page. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.alerts.alert import Alert, Evidence, Key
from monitor.alerts.rule import CALIBRATION, Rule
from monitor.wording import explain, iso, number, printable

_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"))

_COUNTED = {
    "classifier_recall": ("positives", "misses"),
    "classifier_precision": ("decisions for it", "false alarms"),
    "classifier_specificity": ("negatives", "false alarms"),
    "classifier_npv": ("decisions against it", "misses"),
}
"""What the denominator counts, and what its wrong decisions are called; else events and wrong decisions."""

_COMPONENTS = {
    "up": "probabilities are too low",
    "down": "probabilities are too high",
    "overconfident": "probabilities are too extreme (overconfident)",
    "underconfident": "probabilities are too close to the middle (underconfident)",
}


def duration(microseconds: int) -> str:
    """Write a duration in its largest unit, with at most one decimal."""
    for size, unit in _UNITS:
        if microseconds >= size:
            return f"{round(microseconds / size, 1):g} {unit}"
    return f"{microseconds / 1e6:g} s"


def silence(last_event: int) -> str:
    """Say since when a version is silent, given the event time of its last event."""
    return f"no event of this version since {(iso(last_event) or '')[:19]}Z"


def lacking(metric: str, class_: str, code: str) -> str:
    """Say why there is no value: what the window, or the detector, has not seen.

    Parameters
    ----------
    metric
        Family.
    class_
        Name; "*" where it is not known which, "" of the whole.
    code
        As in `Value.undefined`, or "no_observations" of a detector.
    """
    name = "its class" if class_ == "*" else f"class {printable(class_)}"
    of_detector = {"classifier_recall": "no_positives", "classifier_specificity": "no_negatives"}
    if code == "no_observations":
        code = of_detector.get(metric, code)
    if code == "no_labels":
        return "no labels"
    if code == "no_positives" and class_:
        return f"no labels of {name}"
    if code == "no_negatives" and class_:
        return f"no labels of other classes than {name}"
    return explain(code)


def sentence(alert: Alert) -> str:
    """Return what an alert has to say of itself, without its name, model and version."""
    return "".join(_parts(alert))


def _parts(alert: Alert) -> Iterator[str]:
    evidence, rule = alert.evidence, alert.rule
    subject = _subject(alert.key, rule)
    if rule.metric == CALIBRATION:
        yield from _calibration(alert, subject)
    elif evidence.value is not None:
        yield from _value(alert, subject)
    elif evidence.undefined is not None:
        yield f"{subject} has no value: {alert.reason or _undefined(alert)}"
        return
    else:
        yield f"{subject} has not been judged yet" + (f": {printable(alert.reason)}" if alert.reason else "")
        return
    yield from _prevalence(evidence)
    if evidence.undefined is not None:
        yield f"; it has no value now: {_undefined(alert)}"
    elif alert.reason is not None:
        yield f"; {printable(alert.reason)}"
    if evidence.note is not None:
        yield f"; {evidence.note}"


def _undefined(alert: Alert) -> str:
    return lacking(alert.rule.metric, alert.key.class_, alert.evidence.undefined or "")


def _subject(key: Key, rule: Rule) -> str:
    labels = " ".join(f"{name} {value}" for name, value in rule.labels.items() if value != "all")
    name = rule.metric.removeprefix("classifier_").replace("_", " ")
    return (
        name
        + (f" ({labels})" if labels else "")
        + (f" of {printable(key.class_)}" if key.class_ else "")
        + (f" where {printable(key.segment)}" if key.segment else "")
    )


def _since(alert: Alert) -> str:
    moment = alert.started or (alert.since if alert.state == "pending" else None)
    return f" since {(iso(moment.timestamp) or '')[:16]}Z" if moment is not None else ""


def _value(alert: Alert, subject: str) -> Iterator[str]:
    evidence, rule = alert.evidence, alert.rule
    things, wrong = _COUNTED.get(rule.metric, ("events", "wrong decisions"))
    yield f"{subject} is {number(evidence.value or 0.0)}"
    if evidence.lower is not None and evidence.upper is not None:
        yield f" ({number(evidence.lower)} to {number(evidence.upper)})"
    if evidence.limit is not None:
        yield f", {rule.side} {number(evidence.limit)}"
    yield f", over {evidence.support:,} {things}{_since(alert)}"
    if evidence.beyond:
        yield f"; {evidence.beyond:,.0f} {wrong} beyond it"
        yield f" ({evidence.cost_beyond:,.0f})" if evidence.cost_beyond is not None else ""
    elif evidence.cost_beyond:
        yield f"; a cost of {evidence.cost_beyond:,.0f} beyond it"


def _calibration(alert: Alert, subject: str) -> Iterator[str]:
    evidence = alert.evidence
    if evidence.component in _COMPONENTS and alert.state != "inactive":
        yield f"{subject}: {_COMPONENTS[evidence.component]}"
    else:
        yield f"{subject} is within its tolerance as far as can be told"
    if evidence.statistic is not None and evidence.threshold is not None:
        digits = ",.0f" if evidence.statistic >= 100 else ".4g"
        yield f", evidence {evidence.statistic:{digits}} of {evidence.threshold:,.0f}"
    yield f", over {evidence.support:,} events{_since(alert)}"
    suggested = evidence.recalibration or {}
    if suggested.get("map") is not None:
        yield f"; a map of kind {suggested['map']} would make it right: {suggested['formula']}"


def _prevalence(evidence: Evidence) -> Iterator[str]:
    if evidence.prevalence is None or evidence.reference_prevalence is None:
        return
    verb = "moved to" if evidence.prevalence_moved else "is still at"
    yield f"; prevalence {verb} {number(evidence.prevalence)}"
    yield f" (reference {number(evidence.reference_prevalence)})"
    if evidence.value_at_reference_prevalence is not None:
        yield f", at the reference the value would be {number(evidence.value_at_reference_prevalence)}"
        if evidence.breaches_at_reference is not None:
            yield ", beyond the limit too" if evidence.breaches_at_reference else ", within the limit"
