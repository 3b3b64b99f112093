"""What a configuration means to the alerts of a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from monitor.alert_rules import rules
from monitor.alerting import Alerting, Settings
from monitor.alerts.alert import Key
from monitor.alerts.rule import Rule
from monitor.assembly import microseconds, parameters, spec
from monitor.baseline import Baseline, check_fit, load_baseline
from monitor.config import WILDCARD, ChampionConfig, Config
from monitor.events.decoder import Decoder
from monitor.metrics.parameters import Parameters
from monitor.watch.feed import Feed
from monitor.watch.watch import Watch

Champions = Callable[[str], str | None]
"""Returns the champion version of a model, None where it is not known."""


def written_champions(config: Config) -> Champions:
    """Return the champions that stand in the configuration; one that an alias names is not known."""

    def champion(model: str) -> str | None:
        entry = config.model_for(model)
        found = None if entry is None else entry.champion
        return None if isinstance(found, ChampionConfig) else found

    return champion


def alerting(config: Config, decoder: Decoder, champions: Champions) -> Alerting | None:
    """Return the alerts of a configuration before the first event, None without rules.

    Parameters
    ----------
    config
        The configuration.
    decoder
        Of the events: it knows the names of segment values, and the places in the log.
    champions
        The champion of each model at present.

    Raises
    ------
    ConfigurationError
        If a rule cannot be followed, or a stored reference cannot be read or is of something else.
    """
    resolved = rules(config)
    if not resolved:
        return None
    specs = {name: spec(name, model) for name, model in config.models.items()}
    baselines = {name: load_baseline(path, name) for name, path in config.baselines.items()}
    for rule in resolved:
        name = rule.baseline or (rule.limit.name if rule.limit.kind == "baseline" else "")
        if name:
            entry = rule.model if rule.model in specs else WILDCARD
            check_fit(baselines[name], name, rule.model, specs[entry])
    maturities = {name: microseconds(model.label_maturity) for name, model in config.models.items()}

    def maturity(model: str) -> int:
        return maturities[model if model in specs else WILDCARD]

    section = config.alerts
    return Alerting(
        resolved,
        Settings(
            every=microseconds(section.every),
            max_age=microseconds(section.max_age),
            no_data_after=microseconds(section.no_data_after),
        ),
        Feed(
            maturities,
            config.limits.held_events,
            specs,
            wanted=lambda model: any(rule.model in (WILDCARD, model) for rule in resolved),
        ),
        Watch(
            [rule for rule in resolved if rule.condition == "sequential"],
            specs,
            costs={name: model.cost_values for name, model in config.models.items()},
            baselines=baselines,
            champions=champions,
            segment_name=lambda model, key, code: decoder.vocabulary(model, key).name(code),
            maturity=maturity,
        ),
        _Beside(baselines, champions, {name: parameters(m, config) for name, m in config.models.items()}),
        decoder.positions,
        maturity,
    )


@dataclass(frozen=True, slots=True)
class _Beside:
    """What conditions look at beside a report."""

    baselines: Mapping[str, Baseline]
    champions: Champions
    parameters: Mapping[str, Parameters]

    def baseline(self, rule: Rule, key: Key) -> float | None:
        found = self.baselines[rule.limit.name]
        labels = {name: value for name, value in rule.labels.items() if name != "class"}
        bound = found.bound(rule.metric, key.class_, labels, rule.side)
        return bound if bound is not None else found.value(rule.metric, key.class_, labels)

    def champion(self, model: str) -> str | None:
        return self.champions(model)

    def references(self, model: str) -> Mapping[str, float]:
        p = self.parameters.get(model) or self.parameters[WILDCARD]
        return dict(zip(p.scored, p.reference_prevalence or (), strict=False))
