"""monitor.yaml: its sections as immutable models, and how it is read."""

from monitor.config.kafka import ConsumerSettings, KafkaConfig
from monitor.config.load import load_config
from monitor.config.models import CostsConfig, ModelConfig, VersionConfig, WindowConfig
from monitor.config.root import WILDCARD, Config
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
from monitor.config.values import format_duration, parse_duration

__all__ = [
    "WILDCARD",
    "BootstrapConfig",
    "Config",
    "ConsumerSettings",
    "CostsConfig",
    "EvaluationConfig",
    "EventsConfig",
    "ExportConfig",
    "FieldsConfig",
    "KafkaConfig",
    "LimitsConfig",
    "LoggingConfig",
    "ModelConfig",
    "ServerConfig",
    "VersionConfig",
    "WindowConfig",
    "format_duration",
    "load_config",
    "parse_duration",
]
