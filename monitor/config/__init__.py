"""monitor.yaml: its sections as immutable models, and how it is read."""

from monitor.config.actions import (
    ActionConfig,
    ActionsConfig,
    BreakerConfig,
    ControlTopicConfig,
    MlflowConfig,
    WebhookConfig,
)
from monitor.config.alert_fit import WILDCARD
from monitor.config.alert_rule import SEQUENTIAL, ComparedConfig, RuleConfig, ToleranceConfig
from monitor.config.alerts import UNDEFINED, WARNING, AlertsConfig
from monitor.config.kafka import ConsumerSettings, KafkaConfig
from monitor.config.load import load_config
from monitor.config.models import ChampionConfig, CostsConfig, ModelConfig, VersionConfig, WindowConfig
from monitor.config.root import Config
from monitor.config.sections import (
    BootstrapConfig,
    EvaluationConfig,
    EventsConfig,
    ExportConfig,
    FieldsConfig,
    LimitsConfig,
    LoggingConfig,
    ServerConfig,
)
from monitor.config.urls import is_in_the_clear, origin
from monitor.config.values import format_duration, parse_duration

__all__ = [
    "SEQUENTIAL",
    "UNDEFINED",
    "WARNING",
    "WILDCARD",
    "ActionConfig",
    "ActionsConfig",
    "AlertsConfig",
    "BootstrapConfig",
    "BreakerConfig",
    "ChampionConfig",
    "ComparedConfig",
    "Config",
    "ConsumerSettings",
    "ControlTopicConfig",
    "CostsConfig",
    "EvaluationConfig",
    "EventsConfig",
    "ExportConfig",
    "FieldsConfig",
    "KafkaConfig",
    "LimitsConfig",
    "LoggingConfig",
    "MlflowConfig",
    "ModelConfig",
    "RuleConfig",
    "ServerConfig",
    "ToleranceConfig",
    "VersionConfig",
    "WebhookConfig",
    "WindowConfig",
    "format_duration",
    "is_in_the_clear",
    "load_config",
    "origin",
    "parse_duration",
]
