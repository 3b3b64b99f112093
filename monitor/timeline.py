"""What alerts did over a replay, for people and machines: when, how late, how rarely in vain. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from monitor.alerts.alert import Alert, Change, Key, Moment, State, Transition
from monitor.alerts.rule import Rule
from monitor.alerts.words import duration, sentence
from monitor.wording import iso, printable, utc

Numbers = Callable[[Moment], int]
"""Returns the number of an event in the input, from 0: of the one that a moment is decided by."""

_TOLD = ("firing", "resolved")
_MONTH = 30 * 86_400_000_000
_STATES: Mapping[Change, State] = {
    "pending": "pending",
    "firing": "firing",
    "resolved": "inactive",
    "no_data": "no_data",
    "inactive": "inactive",
}


class RuleRate(NamedTuple):
    """What the detectors of a rule observed together, and in how much event time (microseconds)."""

    rule: Rule
    observations: int
    microseconds: int

    def during(self, microseconds: int) -> float | None:
        """Return the observations in so much time, at the mean rate; None where that is not known."""
        return self.observations * microseconds / self.microseconds if self.microseconds else None

    @property
    def false_alarms_a_month(self) -> float | None:
        """How many its setting allows in 30 days; None without a detector, or a rate."""
        observed = self.during(_MONTH)
        if self.rule.condition != "sequential" or observed is None:
            return None
        return observed / self.rule.threshold


class ChangePoint(NamedTuple):
    """When something is known to have changed: event time in microseconds, and the first event since."""

    timestamp: int
    event: int


def timeline_text(
    transitions: Sequence[Transition],
    numbers: Numbers,
    change_at: ChangePoint | None,
    rates: Sequence[RuleRate],
) -> str:
    """Return what alerts did, a line each, then delays, then what false alarms the settings allow.

    Parameters
    ----------
    transitions
        In order.
    numbers
        Finds the deciding event of each.
    change_at
        What delays are counted from; None where nothing is known to have changed.
    rates
        Of every rule.
    """
    rules = {rate.rule.name: rate.rule for rate in rates}
    told = [t for t in transitions if t.change in _TOLD]
    lines = ["Alerts:", *(f"  {line}" for t in told for line in _lines(t, numbers, rules))]
    if not told:
        lines = ["Alerts: none fired."]
    for rate in rates:
        if rate.rule.condition == "sequential" and not rate.observations:
            lines.append(
                f"  {printable(rate.rule.name)} never had an observation: it has not watched anything"
            )
    if others := len(transitions) - len(told):
        lines.append(f"  (left out: {others:,} between inactive, pending and no data)")
    if change_at is not None:
        lines += ["", f"After the change at {utc(change_at.timestamp)} (event {change_at.event}):"]
        lines += [f"  {line}" for line in _delays(transitions, numbers, change_at, rates)]
    lines += ["", "False alarms that the settings allow in 30 days, at the rate of these events:"]
    lines += [f"  {line}" for line in _allowed(rates)]
    return "\n".join(lines) + "\n"


def alert_objects(transitions: Sequence[Transition], numbers: Numbers) -> list[dict[str, Any]]:
    """Return when alerts fired and resolved, for JSON."""
    return [
        {
            "alert": t.key.alert,
            "labels": {name: text for name, text in t.key.labels.items() if name != "alert"},
            "state": t.change,
            "event": numbers(t.moment),
            "timestamp": iso(t.moment.timestamp),
            "value": t.evidence.value,
            "limit": t.evidence.limit,
            "lower": t.evidence.lower,
            "upper": t.evidence.upper,
            "support": t.evidence.support,
            "statistic": t.evidence.statistic,
            "threshold": t.evidence.threshold,
            "component": t.evidence.component,
        }
        for t in transitions
        if t.change in _TOLD
    ]


def _lines(transition: Transition, numbers: Numbers, rules: Mapping[str, Rule]) -> Iterator[str]:
    key, moment = transition.key, transition.moment
    change = transition.change.replace("_", " ")
    yield (
        f"{utc(moment.timestamp)}  event {numbers(moment)}  {printable(key.alert)} {change}  {_subject(key)}"
    )
    # An alert about values that are missing bears the name of its rule and a word more.
    rule = rules.get(key.alert) or rules.get(key.alert.removesuffix("Undefined"))
    if rule is not None:
        state = _STATES[transition.change]
        yield "    " + sentence(
            Alert(key, rule, state, moment, evidence=transition.evidence, reason=transition.reason)
        )


def _subject(key: Key) -> str:
    named = {name: text for name, text in key.labels.items() if text and name != "alert"}
    return ", ".join(f"{name} {printable(text)}" for name, text in named.items())


def _delays(
    transitions: Sequence[Transition], numbers: Numbers, change: ChangePoint, rates: Sequence[RuleRate]
) -> Iterator[str]:
    """Yield how long after a change each alert fired, and which did not."""
    by_name = {rate.rule.name: rate for rate in rates}
    seen: dict[Key, list[Transition]] = {}
    for transition in transitions:
        seen.setdefault(transition.key, []).append(transition)
    for key, of_key in seen.items():
        before = [t for t in of_key if t.moment.timestamp < change.timestamp]
        fired = [t.moment for t in of_key[len(before) :] if t.change == "firing"]
        early = sum(t.change == "firing" for t in before)
        name = f"{printable(key.alert)} ({_subject(key)})"
        if early:
            name += f", which had fired {early} time{'s' * (early != 1)} before it,"
        if fired:
            yield f"{name} fired {_delay(fired[0], numbers, change, by_name.get(key.alert))}"
        elif early and _last_state(before) == "firing":
            yield f"{name} was firing already"
        else:
            yield f"{name} did not fire"
    with_a_change = {key.alert for key in seen}
    yield from (f"{name} did not fire" for name in by_name if name not in with_a_change)


def _last_state(transitions: Sequence[Transition]) -> Change:
    return transitions[-1].change


def _delay(moment: Moment, numbers: Numbers, change: ChangePoint, rate: RuleRate | None) -> str:
    time = moment.timestamp - change.timestamp
    events = numbers(moment) - change.event
    observed = rate.during(time) if rate is not None and rate.rule.condition == "sequential" else None
    about = "" if observed is None else f", about {observed:,.0f} observations"
    return f"{events:,} events{about} and {duration(time)} after it"


def _allowed(rates: Sequence[RuleRate]) -> Iterator[str]:
    total = 0.0
    for rate in rates:
        name, allowed = printable(rate.rule.name), rate.false_alarms_a_month
        if rate.rule.condition != "sequential":
            yield f"{name}: no bound, since {rate.rule.condition} conditions have none"
        elif allowed is None:
            yield f"{name}: not known, since no time passed"
        else:
            total += allowed
            yield (
                f"{name}: {_few(allowed)} ({rate.during(_MONTH):,.0f} observations, one false alarm in "
                f"{rate.rule.threshold:,.0f})"
            )
    yield f"in total at most {_few(total)} on average, of rules with a bound"


def _few(number: float) -> str:
    return f"{number:.2g}" if number < 10 else f"{number:,.0f}"
