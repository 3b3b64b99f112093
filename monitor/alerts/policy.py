"""The state machine of an alert: one step for each look or crossing, in event time. Pure.

Silence and undefined values are neither breach nor recovery: whatever was so before holds.
"""

from __future__ import annotations

from dataclasses import replace

from monitor.alerts.alert import Change, Evidence, Moment
from monitor.alerts.explain import against, is_beyond
from monitor.alerts.rule import Rule
from monitor.alerts.track import Reading, Track
from monitor.alerts.words import duration, lacking, silence

Step = tuple[Track, Change | None]
"""What is remembered from now on, and what has changed for those who are told."""


def look(rule: Rule, track: Track, reading: Reading, moment: Moment) -> Step:
    """Step an interval or value condition. A silent version's stays as it is until `quiet` says otherwise.

    Parameters
    ----------
    rule
        What the alert follows.
    track
        What was remembered of it.
    reading
        What the report says at this mark.
    moment
        The mark.
    """
    if track.silent:
        return track, None
    if (reason := why_held(rule, reading)) is not None:
        return _hold(track, reading, reason), None
    track, evidence = _held_against(rule, track, reading)
    track = replace(track, evidence=evidence, reason=None)
    if breaches(rule, evidence):
        return (track, None) if track.started is not None else _breach(rule, track, moment)
    if track.started is None or has_recovered(rule, evidence):
        return _end(track, moment)
    return track, None


def sight(rule: Rule, track: Track, firing: bool, moment: Moment, evidence: Evidence) -> Step:
    """Step a sequential condition: its detector raised (`firing`) or cleared.

    During the cooldown what was raised is pending; to let it fire when that has passed, call this again with
    what the detector says then.
    """
    was_silent = track.silent
    track = replace(track, evidence=evidence, reason=None, silent=False)
    if not firing:
        track, change = _end(track, moment)
    elif track.started is not None:
        change = None
    elif _is_cooling(rule, track, moment):
        track, change = _pend(track, moment)
    else:
        track, change = _fire(track, moment)
    return _awake(track, moment) if was_silent and change is None else (track, change)


def quiet(rule: Rule, track: Track, moment: Moment, last_event: int, no_data_after: int) -> Step:
    """Judge whether there is data: both ways, so to be called at every mark, before `look`.

    An episode that fires is remembered under no data: when events come again, it goes on, and that is no
    change to tell of.

    Parameters
    ----------
    rule
        What the alert follows; its companion's is the same.
    track
        What was remembered of it.
    moment
        The mark.
    last_event
        Event time of the version's newest event, in microseconds.
    no_data_after
        Microseconds without one after which there is no data.
    """
    silent = moment.timestamp - last_event >= no_data_after
    if silent == track.silent:
        return track, None
    if not silent:
        return _awake(replace(track, silent=False, reason=None), moment)
    return replace(track, silent=True, since=moment, reason=silence(last_event)), "no_data"


def undefined_look(rule: Rule, track: Track, reading: Reading, moment: Moment) -> Step:
    """Step the companion of an alert, which fires where the value has been undefined for too long.

    It resolves as soon as there is a value again, also where that cannot be judged by.

    Parameters
    ----------
    rule
        What the main alert follows; with `undefined_for`.
    track
        Of the companion.
    reading, moment
        As in `look`.
    """
    assert rule.undefined_for is not None
    if track.silent:
        return track, None
    if reading.undefined is None:
        return _end(replace(track, undefined_since=None, evidence=reading.evidence, reason=None), moment)
    since = next(
        time
        for time in (reading.undefined_since, track.undefined_since, moment.timestamp)
        if time is not None
    )
    track = replace(track, undefined_since=since, evidence=reading.evidence)
    lasted = moment.timestamp - since
    if lasted < rule.undefined_for:
        return track, None
    reason = f"{lacking(rule.metric, rule.class_, reading.undefined)} for {duration(lasted)}"
    track = replace(track, reason=reason)
    return (track, None) if track.started is not None else _fire(track, moment)


def why_held(rule: Rule, reading: Reading) -> str | None:
    """Return why a reading cannot be judged by; None where it can."""
    evidence = reading.evidence
    if evidence.undefined is not None:
        return lacking(rule.metric, rule.class_, evidence.undefined)
    if reading.unknown is not None:
        return reading.unknown
    if not reading.complete:
        return "the window is not complete yet"
    if evidence.support < rule.min_support:
        return f"support of {evidence.support:,} is below min_support, {rule.min_support:,}"
    coverage, least = reading.label_coverage, rule.min_label_coverage
    if coverage is not None and least is not None and coverage < least:
        return f"{coverage:.1%} of the window's events have labels, less than {least:.1%}"
    if evidence.lower is None and (rule.condition == "interval" or rule.limit.kind == "best"):
        return f"the value has no {rule.method} interval"
    return None


def breaches(rule: Rule, evidence: Evidence) -> bool:
    """Return whether the deciding bound, or of value conditions the value, is beyond the limit."""
    interval = rule.condition == "interval"
    if rule.side == "floor":
        return is_beyond(rule, evidence.upper if interval else evidence.value, evidence.limit)
    return is_beyond(rule, evidence.lower if interval else evidence.value, evidence.limit)


def has_recovered(rule: Rule, evidence: Evidence) -> bool:
    """Return whether the value is back by the hysteresis."""
    if evidence.limit is None:
        return False
    back = rule.hysteresis if rule.side == "floor" else -rule.hysteresis
    return not is_beyond(rule, evidence.value, evidence.limit + back)


def _held_against(rule: Rule, track: Track, reading: Reading) -> tuple[Track, Evidence]:
    """Return both with the best lower bound, where that is the limit; the reading's own cannot breach it."""
    evidence = reading.evidence
    if rule.limit.kind != "best" or evidence.lower is None:
        return track, evidence
    best = evidence.lower if track.best is None else max(track.best, evidence.lower)
    limit = best - rule.limit.margin
    return replace(track, best=best), against(evidence, rule, limit, reading.unit_cost)


def _hold(track: Track, reading: Reading, reason: str) -> Track:
    """Return the track with why nothing is judged; what it fires for stays to be seen."""
    evidence = reading.evidence
    if track.state != "inactive":
        evidence = replace(track.evidence, undefined=reading.undefined)
    return replace(track, evidence=evidence, reason=reason)


def _breach(rule: Rule, track: Track, moment: Moment) -> Step:
    first, steps = track.breached or moment, track.steps + 1
    long_enough = steps >= rule.for_steps and moment.timestamp - first.timestamp >= rule.for_time
    if long_enough and not _is_cooling(rule, track, moment):
        return _fire(track, moment)
    return _pend(track, moment)


def _is_cooling(rule: Rule, track: Track, moment: Moment) -> bool:
    return track.resolved is not None and moment.timestamp - track.resolved < rule.cooldown


def _pend(track: Track, moment: Moment) -> Step:
    if track.breached is not None:
        return replace(track, steps=track.steps + 1), None
    return replace(track, since=moment, breached=moment, steps=1), "pending"


def _fire(track: Track, moment: Moment) -> Step:
    return replace(track, since=moment, started=moment, breached=None, steps=0), "firing"


def _end(track: Track, moment: Moment) -> Step:
    """Return to inactive from wherever it is."""
    if track.started is not None:
        return replace(track, since=moment, started=None, resolved=moment.timestamp), "resolved"
    if track.breached is not None:
        return replace(track, since=moment, breached=None, steps=0), "inactive"
    return track, None


def _awake(track: Track, moment: Moment) -> Step:
    """Say which state silence had hidden; an episode that goes on is no news."""
    track = replace(track, since=moment)
    if track.state == "inactive" or track.state == "pending":
        return track, track.state
    return track, None
