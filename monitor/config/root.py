"""The whole of monitor.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from pydantic import ValidationInfo, field_validator

from monitor.config.actions import ActionsConfig, ControlTopicConfig
from monitor.config.alert_fit import WILDCARD, rule_problems
from monitor.config.alerts import AlertsConfig
from monitor.config.kafka import KafkaConfig
from monitor.config.models import ModelConfig, unknown
from monitor.config.section import Problem, ProblemsError, Section
from monitor.config.sections import (
    CheckpointConfig,
    EvaluationConfig,
    EventsConfig,
    ExportConfig,
    LimitsConfig,
    LoggingConfig,
    ServerConfig,
)
from monitor.config.values import FilePath, Name, as_written, show


class Config(Section):
    """Everything that monitor.yaml says. Attributes are named as its keys are."""

    # A section that is judged by another one stands after it: pydantic validates in this order.
    kafka: KafkaConfig = as_written({})
    limits: LimitsConfig = as_written({})
    models: Mapping[Name, ModelConfig]
    """at least one model"""
    events: EventsConfig = as_written({})
    evaluation: EvaluationConfig = as_written({})
    checkpoint: CheckpointConfig = as_written({})
    server: ServerConfig = as_written({})
    export: ExportConfig = as_written({})
    logging: LoggingConfig = as_written({})
    baselines: Mapping[Name, FilePath] = {}
    """stored references, made by `monitor baseline`, that rules hold values against"""
    actions: ActionsConfig = as_written({})
    alerts: AlertsConfig = as_written({})

    @field_validator("models")
    @classmethod
    def _models_fit(
        cls, models: Mapping[str, ModelConfig], info: ValidationInfo
    ) -> Mapping[str, ModelConfig]:
        if not models:
            raise ValueError("is empty; write at least one model")
        if limits := info.data.get("limits"):
            _raise(_beyond(models, limits))
        return models

    @field_validator("events")
    @classmethod
    def _default_model_is_known(cls, events: EventsConfig, info: ValidationInfo) -> EventsConfig:
        models = info.data.get("models")
        name = events.default_model
        if models and name is not None and name not in models and WILDCARD not in models:
            _raise([Problem(("default_model",), unknown(name, tuple(models), "model"))])
        return events

    @field_validator("export")
    @classmethod
    def _windows_are_known(cls, export: ExportConfig, info: ValidationInfo) -> ExportConfig:
        models = info.data.get("models")
        if models and export.windows != "all":
            known = ("all", *{window.name: 0 for model in models.values() for window in model.windows})
            _raise(
                Problem(("windows", i), unknown(name, known, "window"))
                for i, name in enumerate(export.windows)
                if name not in known
            )
        return export

    @field_validator("actions")
    @classmethod
    def _control_topics_are_no_input(cls, actions: ActionsConfig, info: ValidationInfo) -> ActionsConfig:
        if kafka := info.data.get("kafka"):
            _raise(
                Problem(
                    (name, "topic"), f"{show(action.topic)} is read or written as well; choose another topic"
                )
                for name, action in actions.named.items()
                if isinstance(action, ControlTopicConfig)
                and action.topic in (*kafka.topics, kafka.dead_letter_topic)
            )
        return actions

    @field_validator("alerts")
    @classmethod
    def _rules_fit(cls, alerts: AlertsConfig, info: ValidationInfo) -> AlertsConfig:
        if models := info.data.get("models"):
            baselines, actions = info.data.get("baselines"), info.data.get("actions")
            _raise(
                Problem(("rules", name, *path), message)
                for name, rule in alerts.rules.items()
                for path, message in rule_problems(rule, models, baselines, actions and actions.named)
            )
        evaluation = info.data.get("evaluation")
        if evaluation and "every" not in alerts.model_fields_set:
            return alerts.model_copy(update={"every": evaluation.every})
        return alerts

    def model_for(self, name: str) -> ModelConfig | None:
        """Return what is configured for a model: its own entry, else that of "*", else None."""
        return self.models.get(name, self.models.get(WILDCARD))

    @property
    def lookback(self) -> timedelta:
        """How far back `kafka.start: windows` begins to read, so that the windows fill."""
        models = self.models.values()
        spans = [w.duration + m.label_maturity for m in models for w in m.windows if w.duration is not None]
        by_count_only = timedelta(days=1) + max(model.label_maturity for model in models)
        return max(spans, default=by_count_only) + self.events.allowed_lateness


def _beyond(models: Mapping[str, ModelConfig], limits: LimitsConfig) -> Iterator[Problem]:
    if len(models.keys() - {WILDCARD}) > limits.models:
        yield Problem((), f"names more than limits.models ({limits.models}); raise that limit")
    for name, model in models.items():
        for i, window in enumerate(model.windows):
            for key in ("events", "positives"):
                if (getattr(window, key) or 0) > limits.held_events:
                    yield Problem(
                        (name, "windows", i, key),
                        f"{getattr(window, key)} is above limits.held_events ({limits.held_events}); write a "
                        "smaller window or raise that limit",
                    )


def _raise(found: Iterator[Problem] | list[Problem]) -> None:
    if problems := list(found):
        raise ProblemsError(problems)
