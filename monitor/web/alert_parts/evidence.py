"""Why an alert is as it is, in figures. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import log1p

from monitor.alerts.alert import Alert, Evidence
from monitor.alerts.rule import CALIBRATION
from monitor.alerts.words import lacking
from monitor.web.html import Html, h, join
from monitor.wording import METHODS, number, printable

EXCESS = "Outcomes minus mean probability"
"""What the value of calibration is: there is no limit to it alone."""

Fact = tuple[str, str]
"""What it is, and how much."""


def evidence_list(alert: Alert) -> Html | None:
    """Return everything that is known, None where nothing is."""
    facts = list(_facts(alert))
    items = (h("div", h("dt", name), h("dd", text)) for name, text in facts)
    return h("dl", *items, class_="evidence") if facts else None


def closeness(evidence: Evidence) -> float | None:
    """Return how much of the way to its threshold a detector's statistic has gone, from 0 to 1.

    By logarithms: the statistic of a model that got worse grows by a factor with each event.
    """
    if evidence.statistic is None or evidence.threshold is None:
        return None
    return min(1.0, log1p(max(0.0, evidence.statistic)) / log1p(evidence.threshold))


def meter(evidence: Evidence) -> Html | None:
    """Return a detector's statistic against its threshold, None of other conditions."""
    close = closeness(evidence)
    if close is None or evidence.statistic is None or evidence.threshold is None:
        return None
    text = f"{evidence.statistic:,.{0 if evidence.statistic >= 100 else 1}f} of {evidence.threshold:,.0f}"
    label = "evidence on its way to the threshold, by logarithms"
    marks = {"low": "0.8", "high": "0.99", "optimum": "0"}
    return join(h("meter", text, value=f"{close:.2f}", title=label, aria_label=label, **marks), " ", text)


def held_against(alert: Alert) -> str:
    """Write the value beside its limit."""
    evidence = alert.evidence
    if evidence.value is None:
        return "undefined" if evidence.undefined else "–"
    if alert.rule.metric == CALIBRATION:
        return f"{number(evidence.value)}, {EXCESS.lower()}"
    return number(evidence.value) + (f", {limit}" if (limit := _limit(alert)) else "")


def _limit(alert: Alert) -> str | None:
    rule, limit = alert.rule, alert.evidence.limit
    if rule.metric == CALIBRATION:
        return f"log-odds off by at most {rule.shift:g}, and by a factor of at most {rule.slope:g}"
    if limit is None:
        return None
    return f"{'at least' if rule.side == 'floor' else 'at most'} {number(limit)}"


def _facts(alert: Alert) -> Iterator[Fact]:
    evidence = alert.evidence
    if evidence.value is not None:
        yield (
            EXCESS if alert.rule.metric == CALIBRATION else "Value",
            join(
                h("data", number(evidence.value), class_="metric", value=repr(evidence.value)),
                *_interval(evidence),
            ),
        )
    if (limit := _limit(alert)) is not None:
        yield "Has to be", limit
    if evidence.support:
        yield "Support", f"{evidence.support:,}"
    if (found := meter(evidence)) is not None:
        yield "Evidence", found
    if evidence.beyond:
        yield "Wrong beyond the limit", f"{evidence.beyond:,.0f}"
    if evidence.cost_beyond:
        yield "They cost", f"{evidence.cost_beyond:,.0f}"
    if evidence.component is not None and alert.rule.metric == CALIBRATION:
        yield "Direction", evidence.component
    yield from _prevalence(evidence)
    if evidence.undefined is not None:
        why = alert.reason or lacking(alert.rule.metric, alert.key.class_, evidence.undefined)
        yield "Undefined", h("span", printable(why), class_="reason")
    if evidence.recalibration is not None:
        yield "Recalibration", _recalibration(evidence)


def _interval(evidence: Evidence) -> Iterator[Html]:
    if evidence.lower is None or evidence.upper is None:
        return
    method = METHODS.get(evidence.method or "", evidence.method)
    text = f" [{number(evidence.lower)}, {number(evidence.upper)}]"
    yield h("span", text, class_="interval", title=f"{method} interval" if method else None)


def _prevalence(evidence: Evidence) -> Iterator[Fact]:
    if evidence.prevalence is None or evidence.reference_prevalence is None:
        return
    moved = "moved" if evidence.prevalence_moved else "not moved"
    yield (
        "Prevalence",
        f"{number(evidence.prevalence)}, reference {number(evidence.reference_prevalence)}: {moved}",
    )
    if evidence.value_at_reference_prevalence is not None:
        where = {True: ", beyond the limit too", False: ", within the limit", None: ""}
        found = number(evidence.value_at_reference_prevalence)
        yield "At the reference prevalence", found + where[evidence.breaches_at_reference]


def _recalibration(evidence: Evidence) -> str:
    found = evidence.recalibration or {}
    if found.get("map") is None:
        return f"none is suggested: {printable(str(found.get('reason', 'not known')))}"
    text = join(f"{found['map']}: ", h("code", str(found.get("formula", ""))))
    if "gain" in found and "standard_error" in found:
        return join(text, f", saves {found['gain']:.2g} ± {found['standard_error']:.1g} log loss per event")
    return text
