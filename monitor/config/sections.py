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
    FilePath,
    Instant,
    Name,
    Names,
    Port,
    PositiveDuration,
    WholeNumber,
    Words,
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
FieldPath = Annotated[Name, AfterValidator(_path), Words("key path")]
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
    """the request's name; carried into dead letters"""
    model: FieldPath = "model"
    """the model's name"""
    version: FieldPath = "version"
    """the model's version"""
    timestamp: FieldPath = "timestamp"
    """time of the event"""
    label: FieldPath = "label"
    """true class"""
    score: FieldPath = "score"
    """score of the positive class"""
    scores: FieldPaths = "scores"
    """scores of all classes"""
    prediction: FieldPath = "prediction"
    """decision of the serving system"""
    confidence: FieldPath = "confidence"
    """probability of the predicted class"""
    segments: FieldPaths = "segments"
    """the object that holds segment values, or where each stands"""

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
    """model of events that name none"""
    timezone: Annotated[Name, AfterValidator(_time_zone)] | None = None
    """zone of timestamps without one, as in `Europe/Berlin`; null: they are rejected"""
    allowed_lateness: Duration = as_written("1m")
    """disorder that is waited for"""
    max_skew: PositiveDuration = as_written("1m")
    """how far one partition may run ahead of another while catching up"""
    max_future: Duration = as_written("5m")
    """how far a timestamp may lie after its record's time"""
    min_timestamp: Instant = as_written("2000-01-01")
    """earlier timestamps are rejected; without a zone it is UTC"""


class BootstrapConfig(Section):
    """Intervals by resampling, beside the analytic ones."""

    every: PositiveDuration = as_written("60s")
    """time between resamplings"""
    replicates: Annotated[StrictInt, between(100, 100_000)] = 1_000
    """samples drawn"""
    metrics: Annotated[tuple[BootstrapMetric, ...], DISTINCT] = as_written(
        ["partial_roc_auc", "brier_score", "recall"]
    )
    """of which metrics"""
    seed: WholeNumber = 0
    """the same seed and events give the same bounds"""


class EvaluationConfig(Section):
    """When and how metrics are computed."""

    every: PositiveDuration = as_written("10s")
    """time between evaluations"""
    confidence_level: ConfidenceLevel = 0.95
    """of the intervals"""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """where metrics are computed; `auto`: on a GPU where there is one"""
    bootstrap: BootstrapConfig | None = None
    """intervals by resampling beside the analytic ones, for windows over all events; `{}`: as below"""


class CheckpointConfig(Section):
    """Where and how often the state is saved."""

    directory: FilePath = "state"
    """
    where the state is saved, in a folder for each `kafka.group_id`; the same for an owner and its
    standbys
    """
    every: PositiveDuration = as_written("30s")
    """time between checkpoints: how much is read again after a crash"""
    keep: Annotated[StrictInt, between(1, 100)] = 2
    """good checkpoints that are kept"""


class TlsConfig(Section):
    """The certificate of the server, and whose clients it serves."""

    cert_file: FilePath
    """certificate of the server with its chain, as PEM"""
    key_file: FilePath
    """its private key, as PEM"""
    key_password: SecretStr | None = None
    """password of the private key"""
    client_ca_file: FilePath | None = None
    """authorities of clients: whoever shows no certificate of theirs is refused, the probes included"""


class ServerConfig(Section):
    """Where metrics, API and page are served, and to whom."""

    host: Name = "127.0.0.1"
    """address to listen on; another than loopback gives a warning at the start"""
    port: Port = 9464
    """port; 0 takes a free one"""
    allowed_hosts: Names = ()
    """Host headers that are accepted beside loopback names"""
    tls: TlsConfig | None = None
    """serve HTTPS instead of HTTP"""
    read_token_file: FilePath | None = None
    """file with the token that page, API and metrics ask for; the probes ask for none"""
    act_token_file: FilePath | None = None
    """file with the token that approving, pausing and silencing ask for"""

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
    """metric families that Prometheus gets"""
    windows: AllOrNames = "all"
    """windows that Prometheus gets"""
    segments: Literal["headline", "all", "none"] = "headline"
    """families of segments: recall, precision and support; all; none"""
    intervals: StrictBool = True
    """whether bounds are exported"""
    confusions: Literal["nonzero", "all", "none"] = "nonzero"
    """cells of confusion matrices"""
    reliability: Literal["none", "whole"] = "none"
    """reliability diagram of each window: events, mean score and rate of up to 15 bins"""
    max_series: Count = 20_000
    """above it whole model versions are left out, lowest support first"""


class LimitsConfig(Section):
    """What the daemon holds at most."""

    models: Count = 1_000
    """models at once; events of further ones are rejected"""
    versions_per_model: Count = 20
    """versions of a model at once"""
    segment_values: Count = 100
    """values of a segment key that are told apart; the rest is `other`"""
    held_events: Count = 262_144
    """events held for the windows of a version"""
    event_bytes: ByteSize = as_written("1MB")
    """longer messages are rejected"""
    retire_after: PositiveDuration = as_written("1d")
    """a version without events for so long, and its model's `label_maturity`, is forgotten"""
    history_bytes: ByteSize | None = as_written("16MB")
    """memory for timelines, and as much in a checkpoint: the older, the fewer points; null: none are kept"""


class LoggingConfig(Section):
    """What the daemon says about itself."""

    format: Literal["text", "json"] = "text"
    """lines for people, or one JSON object a line"""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """lowest level that is shown"""
