"""When somebody is told: the `alerts` section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from monitor.config.alert_rule import RuleConfig
from monitor.config.alert_values import AlertName
from monitor.config.section import Problem, Section
from monitor.config.urls import BaseAddress, WebAddress
from monitor.config.values import DISTINCT, Count, PositiveDuration, as_written

UNDEFINED, WARNING = "Undefined", "Warning"
COMPANIONS = (UNDEFINED, WARNING, WARNING + UNDEFINED)
"""How the names of the alerts end that go with a rule: its value is undefined, its limit is near."""


class AlertsConfig(Section):
    """How alerts are decided and who is told."""

    deliver: Literal["prometheus", "alertmanager"] = "prometheus"
    """
    who tells people: Prometheus, with the rules that `monitor rules` writes, or the daemon, to
    Alertmanager; never both
    """
    alertmanager_urls: Annotated[tuple[BaseAddress, ...], DISTINCT] = ()
    """every Alertmanager, for `deliver: alertmanager`, as in `[http://localhost:9093]`"""
    every: PositiveDuration = as_written("10s")
    """event time between steps of conditions over windows"""
    max_age: PositiveDuration = as_written("15m")
    """what is decided later after its event is recorded as historic: no notice, no action"""
    max_lag: PositiveDuration = as_written("5m")
    """no action while reading is further behind"""
    no_data_after: PositiveDuration = as_written("30m")
    """a version without an event for so long has no data; it is not taken for recovered"""
    max_matches: Count = 100
    """
    detectors of a rule with a wildcard, fixed because it decides their threshold; more matches are
    refused and counted
    """
    runbooks: WebAddress | None = None
    """
    address of `docs/runbooks.md` as you publish it, as in `https://wiki.example.com/monitor/runbooks`:
    alerts link to its sections; null: they name the file
    """
    rules: Mapping[AlertName, RuleConfig] = {}
    """what is watched; names as in `RecallBelowFloor`"""

    def problems(self) -> Iterator[Problem]:
        """Yield what does not fit together."""
        if self.deliver == "alertmanager" and not self.alertmanager_urls:
            yield Problem(
                ("alertmanager_urls",), "is empty; write every Alertmanager, or deliver: prometheus"
            )
        if self.deliver == "prometheus" and self.alertmanager_urls:
            yield Problem(
                ("alertmanager_urls",),
                "are for deliver: alertmanager; remove them, or everybody is told twice",
            )
        for name in self.rules:
            for ending in COMPANIONS:
                if name + ending in self.rules:
                    yield Problem(
                        ("rules", name + ending),
                        f"is what a companion of {name} is called; choose another name",
                    )
