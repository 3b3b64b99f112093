"""The other sections of monitor.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, SecretStr, StrictBool, StrictInt, Tag

from monitor.config.section import Section
from monitor.config.urls import on_loopback
from monitor.config.values import (
    DISTINCT,
    ByteSize,
    ConfidenceLevel,
    Count,
    Duration,
    Instant,
    Name,
    Names,
    Port,
    PositiveDuration,
    WholeNumber,
    as_written,
    between,
    by_kind,
    show,
)


def _path(value: str) -> str:
    if not all(value.split(".")):
        raise ValueError(f"{show(value)} has an empty part; write keys with single dots, as in outcome.label")
    return value


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(f"{show(name)} is no time zone; write a name such as UTC or Europe/Berlin") from None
    return name


BootstrapMetric = Literal[
    "recall", "precision", "roc_auc", "partial_roc_auc", "average_precision", "brier_score"
]
FieldPath = Annotated[Name, AfterValidator(_path)]
FieldPaths = Annotated[
    Annotated[FieldPath, Tag("[text]")] | Annotated[Mapping[Name, FieldPath], Tag("[mapping]")],
    by_kind("a path, or a mapping of name to path"),
]
AllOrNames = Annotated[
    Annotated[Literal["all"], Tag("[text]")] | Annotated[Names, Tag("[list]")],
    by_kind("all, or a list of names"),
]


class FieldsConfig(Section):
    """Where each field of an event stands in the user's own messages, as dotted paths."""

    refused: ClassVar[Mapping[str, str]] = {
        "weight": "event weights are not supported: every event counts once; remove it"
    }

    id: FieldPath = "id"
    model: FieldPath = "model"
    version: FieldPath = "version"
    timestamp: FieldPath = "timestamp"
    label: FieldPath = "label"
    score: FieldPath = "score"
    scores: FieldPaths = "scores"
    prediction: FieldPath = "prediction"
    confidence: FieldPath = "confidence"
    segments: FieldPaths = "segments"

    @property
    def mapped(self) -> dict[str, str | Mapping[str, str]]:
        """The fields that the user mapped, by canonical name."""
        return {
            field: getattr(self, field) for field in type(self).model_fields if field in self.model_fields_set
        }


class EventsConfig(Section):
    """How messages are read, whatever the model."""

    fields: FieldsConfig = as_written({})
    default_model: Name | None = None
    timezone: Annotated[Name, AfterValidator(_time_zone)] | None = None
    allowed_lateness: Duration = as_written("1m")
    max_skew: PositiveDuration = as_written("1m")
    max_future: Duration = as_written("5m")
    min_timestamp: Instant = as_written("2000-01-01")


class BootstrapConfig(Section):
    """Intervals by resampling, beside the analytic ones."""

    every: PositiveDuration = as_written("60s")
    replicates: Annotated[StrictInt, between(100, 100_000)] = 1_000
    metrics: Annotated[tuple[BootstrapMetric, ...], DISTINCT] = as_written(
        ["partial_roc_auc", "brier_score", "recall"]
    )
    seed: WholeNumber = 0


class EvaluationConfig(Section):
    """When and how metrics are computed."""

    every: PositiveDuration = as_written("10s")
    confidence_level: ConfidenceLevel = 0.95
    device: Literal["auto", "cpu", "cuda"] = "auto"
    bootstrap: BootstrapConfig | None = None


class CheckpointConfig(Section):
    """Where and how often the state is saved."""

    directory: Name = "state"
    every: PositiveDuration = as_written("30s")
    keep: Annotated[StrictInt, between(1, 100)] = 2


class TlsConfig(Section):
    """The certificate of the server, and whose clients it serves."""

    cert_file: Name
    key_file: Name
    key_password: SecretStr | None = None
    client_ca_file: Name | None = None


class ServerConfig(Section):
    """Where metrics, API and page are served, and to whom."""

    host: Name = "127.0.0.1"
    port: Port = 9464
    allowed_hosts: Names = ()
    tls: TlsConfig | None = None
    read_token_file: Name | None = None
    act_token_file: Name | None = None

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return on_loopback(self.host)


class ExportConfig(Section):
    """Which series Prometheus gets; API and page have them all."""

    families: Annotated[
        Annotated[Literal["default", "all"], Tag("[text]")] | Annotated[Names, Tag("[list]")],
        by_kind("default, all, or a list of names"),
    ] = "default"
    windows: AllOrNames = "all"
    segments: Literal["headline", "all", "none"] = "headline"
    intervals: StrictBool = True
    confusions: Literal["nonzero", "all", "none"] = "nonzero"
    max_series: Count = 20_000


class LimitsConfig(Section):
    """What the daemon holds at most."""

    models: Count = 1_000
    versions_per_model: Count = 20
    segment_values: Count = 100
    held_events: Count = 262_144
    event_bytes: ByteSize = as_written("1MB")
    retire_after: PositiveDuration = as_written("1d")


class LoggingConfig(Section):
    """What the daemon says about itself."""

    format: Literal["text", "json"] = "text"
    level: Literal["debug", "info", "warning", "error"] = "info"
