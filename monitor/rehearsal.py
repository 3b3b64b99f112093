"""Alerts and actions over files: decided as the daemon decides, told to nobody, done nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from monitor import action_parts
from monitor.actions.decision import Decision
from monitor.actions.judge import World
from monitor.alerting import Present
from monitor.alerts.alert import Alert, Key, Transition
from monitor.alerts.rule import Rule
from monitor.clock import ManualClock
from monitor.config import Config
from monitor.deciding import Deciding, Run, at_once
from monitor.pipeline import Pipeline
from monitor.timeline import RuleRate
from monitor.wording import iso, printable, utc


class Rehearsal:
    """Follows a pipeline over files.

    Parameters
    ----------
    config
        The configuration.
    pipeline
        Of files.
    run
        As `Deciding` takes it; at once.

    Attributes
    ----------
    transitions
        What happened to alerts, in the order of event time.
    desk
        What decides about actions; None where none is configured.
    """

    def __init__(self, config: Config, pipeline: Pipeline, run: Run = at_once) -> None:
        self._pipeline = pipeline
        self._deciding = Deciding(pipeline, run)
        self._clock = ManualClock(0)
        self.desk = action_parts.dry_desk(config, self._clock) if config.actions.named else None
        self._firing: dict[Key, Alert] = {}
        self.transitions: list[Transition] = []

    def turn(self) -> None:
        """Decide about what the pipeline has read; the time is that of the events."""
        found = self._deciding.turn(Present())
        self.transitions += found
        alerting = self._pipeline.alerting
        if self.desk is None or alerting is None:
            return
        until = self._deciding.until
        live, before = alerting.live.live, alerting.live.before
        for transition in found:
            self._follow(transition, alerting.rules)
            self._clock.microseconds = transition.moment.timestamp
            world = World(now=self._clock.now(), live=live, before=before)
            self.desk.consider(tuple(self._firing.values()), world)
        if until is not None and self._firing:  # a version may have become the live one meanwhile, say
            if not all(alert.actionable for alert in self._firing.values()):
                now = {alert.key: alert for alert in alerting.view().alerts}
                for key, alert in self._firing.items():
                    self._firing[key] = replace(alert, actionable=alert.actionable or now[key].actionable)
            self._clock.microseconds = max(until, self._clock.microseconds)
            world = World(now=self._clock.now(), live=live, before=before)
            self.desk.consider(tuple(self._firing.values()), world)

    def _follow(self, transition: Transition, rules: Mapping[str, Rule]) -> None:
        key, moment = transition.key, transition.moment
        if transition.change == "resolved":
            self._firing.pop(key, None)
        elif transition.change == "firing" and key.alert in rules:  # what is missing leads to nothing
            rule, evidence = rules[key.alert], transition.evidence
            self._firing[key] = Alert(
                key,
                rule,
                "firing",
                moment,
                moment,
                evidence,
                actionable=evidence.support >= rule.min_support,
            )

    def rates(self) -> Sequence[RuleRate]:
        """Return how many observations the rules had, in how much event time."""
        alerting, clocks = self._pipeline.alerting, self._pipeline.state.clocks
        if alerting is None or clocks.watermark is None or clocks.covered_since is None:
            return ()
        span = clocks.watermark - clocks.covered_since
        return [RuleRate(rule, n, span) for rule, n in alerting.observations()]

    def actions(self) -> list[dict[str, Any]]:
        """Return what would have been done, for machines."""
        return [
            {
                "action": d.action,
                "alert": d.alert.labels,
                "model": d.model,
                "bad_version": d.bad_version,
                "target_version": d.target_version,
                "status": d.status,
                "reason": d.reason,
                "timestamp": iso(d.decided_at),
            }
            for d in self._decisions()
        ]

    def text(self) -> str:
        """Return the same for people; empty where nothing would have been done."""
        lines = [
            f"  {utc(d.decided_at)}  {printable(d.action)} of {printable(d.model)}: from version "
            f"{printable(d.bad_version or '(none)')} to {printable(d.target_version or 'none that is known')}"
            + ("" if d.status == "dry_run" else f"; {d.status}: {d.reason}")
            for d in self._decisions()
        ]
        return "\n".join(["", "Actions that would have been taken:", *lines, ""]) if lines else ""

    def _decisions(self) -> Iterator[Decision]:
        if self.desk is not None:
            yield from reversed(self.desk.view().decisions)
