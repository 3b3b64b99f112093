"""What a configuration means to the parts of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import torch

from monitor.clock import Clock
from monitor.config import Config, ModelConfig, WindowConfig
from monitor.errors import ConfigurationError
from monitor.evaluation import Resampling
from monitor.events.decoder import Decoder
from monitor.events.position import Positions
from monitor.events.spec import ModelSpec
from monitor.metrics.parameters import Parameters
from monitor.presets import Presets
from monitor.state.windows import Plan, WindowSpec


def microseconds(duration: timedelta) -> int:
    """Return a duration in whole microseconds."""
    return duration // timedelta(microseconds=1)


def device(name: str) -> torch.device:
    """Return the device by its configured name.

    Raises
    ------
    ConfigurationError
        If cuda is asked for and not there.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigurationError(
            "evaluation.device: cuda is not available here; write auto or cpu, or install a CUDA build of "
            "torch"
        )
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def decoder(config: Config, topics: Iterable[str], clock: Clock, *, from_files: bool = False) -> Decoder:
    """Return the decoder of a configuration."""
    events, limits = config.events, config.limits
    return Decoder(
        events.fields.model_dump(),
        {name: spec(name, model) for name, model in config.models.items()},
        Positions(topics),
        default_model=events.default_model,
        timezone=events.timezone,
        max_future_us=microseconds(events.max_future),
        min_timestamp_us=round(events.min_timestamp.timestamp() * 1_000_000),
        event_bytes=limits.event_bytes,
        max_models=limits.models,
        max_versions=limits.versions_per_model,
        segment_values=limits.segment_values,
        now=clock.now if from_files else None,
        identities=any(rule.compare_to == "champion" for rule in config.alerts.rules.values()),
    )


def spec(name: str, model: ModelConfig) -> ModelSpec:
    """Return how a model's events are read."""
    return ModelSpec(
        name=name,
        task=model.task,
        classes=tuple(model.classes),
        positive=model.positive,
        integers=model.integers,
        aliases=dict(model.aliases),
        thresholds=tuple(torch.tensor(model.thresholds, dtype=torch.float32).tolist()),
        scores=model.scores,
        temperature=model.temperature,
        top_k=model.top_k,
        segments=tuple(model.segments),
        version_classes={version: tuple(v.classes) for version, v in model.versions.items()},
    )


def plan(name: str, model: ModelConfig, config: Config) -> Plan:
    """Return what is remembered of a model's versions."""
    return Plan(
        spec=spec(name, model),
        windows=tuple(_window(w) for w in model.windows),
        maturity=microseconds(model.label_maturity),
        held_events=config.limits.held_events,
    )


def _window(window: WindowConfig) -> WindowSpec:
    if window.duration is not None:
        return WindowSpec(window.name, "duration", microseconds(window.duration))
    if window.events is not None:
        return WindowSpec(window.name, "events", window.events)
    assert window.positives is not None
    return WindowSpec(window.name, "positives", window.positives)


def parameters(model: ModelConfig, config: Config) -> Parameters:
    """Return what the metrics of a model need to know."""
    described = spec("", model)
    return Parameters(
        task=described.task,
        classes=described.classes,
        positive=described.positive,
        thresholds=model.thresholds,
        max_fpr=model.max_fpr,
        at_k=model.at_k,
        top_k=described.top_k,
        costs=model.cost_values,
        min_recall=model.min_recall,
        reference_prevalence=model.reference_prevalences,
        confidence_level=config.evaluation.confidence_level,
    )


def resampling(config: Config) -> Resampling | None:
    """Return what is resampled for bootstrap intervals, None for nothing."""
    bootstrap = config.evaluation.bootstrap
    if bootstrap is None:
        return None
    families = [f"classifier_{name}" for name in bootstrap.metrics]
    return Resampling(families, bootstrap.replicates, bootstrap.seed)


def presets(config: Config) -> Presets:
    """Return which metrics of each model come first."""
    named = {name: model.preset for name, model in config.models.items() if model.preset is not None}
    return Presets(named, config.models)
