"""Where events come from: the `kafka` section, with the consumer settings of kafka-python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, SecretStr, StrictBool, StrictInt

from monitor.config.section import Problem, Section
from monitor.config.values import (
    DISTINCT,
    NOT_EMPTY,
    Count,
    Name,
    PositiveDuration,
    WholeNumber,
    as_written,
    refuse,
    show,
)

_OBJECT = "needs a Python object, which a file cannot hold; remove it"
_OFFSETS = "offsets are kept with the state, not by the consumer; remove it"


def _topic(name: str) -> str:
    if not re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", name) or name in (".", ".."):
        raise ValueError(f"{show(name)} is no Kafka name; write up to 249 letters, digits, '.', '_' or '-'")
    return name


def _broker(address: str) -> str:
    match = re.fullmatch(
        r"(?:[A-Z_]+://)?(?:\[[0-9a-fA-F:]+\]|[^\s:/,@\[\]]+)(?::(\d{1,5}))?", address, re.ASCII
    )
    if match is None or not 0 < int(match[1] or 9092) < 65536:
        raise ValueError("is no broker's address; write host:port, as in localhost:9092")
    return address


Topic = Annotated[Name, AfterValidator(_topic)]
Broker = Annotated[Name, AfterValidator(_broker)]


class ConsumerSettings(Section):
    """Settings of kafka-python's consumer by their own names; None leaves its default."""

    refused: ClassVar[Mapping[str, str]] = {
        "enable_auto_commit": _OFFSETS,
        "auto_commit_interval_ms": _OFFSETS,
        "auto_offset_reset": "where reading starts is kafka.start; set that instead",
        "key_deserializer": "events are decoded by events.fields; remove it",
        "value_deserializer": "events are decoded by events.fields; remove it",
        "consumer_timeout_ms": "the daemon reads until it is stopped; remove it",
        "allow_auto_create_topics": "kafka-python ignores it, and no topic is ever created; remove it",
        "partition_assignment_strategy": "one instance owns every partition; remove it",
        "default_offset_commit_callback": _OBJECT,
        "kafka_client": _OBJECT,
        "metric_reporters": _OBJECT,
        "sasl_kerberos_name": "needs a Python object; set sasl_kerberos_service_name instead",
        "sasl_oauth_token_provider": _OBJECT,
        "selector": _OBJECT,
        "ssl_context": "needs a Python object; set ssl_cafile, ssl_certfile and ssl_keyfile instead",
        "socks5_proxy": "is deprecated; set proxy_url instead",
    }

    client_id: Name | None = None
    client_rack: Name | None = None
    group_instance_id: Topic | None = None
    session_timeout_ms: Count = 10_000
    heartbeat_interval_ms: Count = 3_000
    max_poll_interval_ms: Count | None = None
    max_poll_records: Count = 2_000
    isolation_level: Annotated[
        Literal["read_committed"],
        refuse("read_uncommitted", "would count records of aborted transactions; leave it out"),
    ] = "read_committed"
    check_crcs: Annotated[
        Literal[True], refuse(False, "would count damaged records as events; leave it out")
    ] = True

    fetch_min_bytes: Count | None = None
    fetch_max_bytes: Count | None = None
    fetch_max_wait_ms: WholeNumber = 100
    max_partition_fetch_bytes: Count | None = None
    receive_message_max_bytes: Count | None = None
    enable_incremental_fetch_sessions: StrictBool | None = None

    request_timeout_ms: Count = 30_000
    retry_backoff_ms: WholeNumber | None = None
    reconnect_backoff_ms: WholeNumber | None = None
    reconnect_backoff_max_ms: WholeNumber | None = None
    connections_max_idle_ms: Count = 540_000
    max_in_flight_requests_per_connection: Count | None = None
    metadata_max_age_ms: Count | None = None
    bootstrap_timeout_ms: Count | None = None
    client_dns_lookup: Literal["use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"] | None = None
    api_version: tuple[WholeNumber, ...] | None = None
    receive_buffer_bytes: Count | None = None
    send_buffer_bytes: Count | None = None
    socket_options: tuple[tuple[StrictInt, StrictInt, StrictInt], ...] | None = None
    proxy_url: SecretStr | None = None
    exclude_internal_topics: StrictBool | None = None
    metrics_enabled: StrictBool | None = None
    metrics_num_samples: Count | None = None
    metrics_sample_window_ms: Count | None = None
    metric_group_prefix: Name | None = None

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: (
        Annotated[
            Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "AWS_MSK_IAM"],
            refuse("OAUTHBEARER", "needs a Python object for its tokens; use another mechanism"),
        ]
        | None
    ) = None
    sasl_plain_username: Name | None = None
    sasl_plain_password: SecretStr | None = None
    sasl_kerberos_service_name: Name | None = None
    sasl_kerberos_domain_name: Name | None = None
    ssl_check_hostname: StrictBool | None = None
    ssl_cafile: Name | None = None
    ssl_certfile: Name | None = None
    ssl_keyfile: Name | None = None
    ssl_password: SecretStr | None = None
    ssl_crlfile: Name | None = None
    ssl_ciphers: Name | None = None


class DeadLetterConfig(Section):
    """What happens when more is rejected than the dead-letter topic takes."""

    on_error: Literal["pause", "drop"] = "pause"
    max_per_second: Count = 1_000


class KafkaConfig(ConsumerSettings):
    """The `kafka` section."""

    bootstrap_servers: Annotated[tuple[Broker, ...], DISTINCT, NOT_EMPTY]
    topics: Annotated[tuple[Topic, ...], DISTINCT, NOT_EMPTY]
    group_id: Name = "monitor"
    dead_letter_topic: Topic | None = None
    dead_letter: DeadLetterConfig = as_written({})
    start: Literal["windows", "earliest", "latest"] = "windows"
    on_topic_recreated: Literal["refuse", "restart"] = "refuse"
    give_up_after: PositiveDuration = as_written("10m")

    def consumer_settings(self) -> dict[str, Any]:
        """Return the keyword arguments of kafka-python's consumer, secrets in clear: never print them."""
        keys = ["bootstrap_servers", "group_id", *ConsumerSettings.model_fields]
        values = {key: getattr(self, key) for key in keys}
        return {
            key: value.get_secret_value() if isinstance(value, SecretStr) else value
            for key, value in values.items()
            if value is not None
        }

    def problems(self) -> Iterator[Problem]:
        """Yield what kafka-python would refuse only when it connects, or would do without a word."""
        if self.dead_letter_topic in self.topics:
            yield Problem(
                ("dead_letter_topic",),
                "is one of the topics read, so that rejected events would come back; name another topic",
            )
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            yield Problem(
                ("heartbeat_interval_ms",),
                f"{self.heartbeat_interval_ms} is not below session_timeout_ms ({self.session_timeout_ms})",
            )
        if not self.fetch_max_wait_ms < self.request_timeout_ms < self.connections_max_idle_ms:
            yield Problem(
                ("request_timeout_ms",),
                f"{self.request_timeout_ms} is not between fetch_max_wait_ms ({self.fetch_max_wait_ms}) "
                f"and connections_max_idle_ms ({self.connections_max_idle_ms})",
            )
        yield from self._sasl_problems()

    def _sasl_problems(self) -> Iterator[Problem]:
        sasl = self.security_protocol.startswith("SASL_")
        if sasl and self.sasl_mechanism is None:
            yield Problem(("sasl_mechanism",), f"is needed with security_protocol {self.security_protocol}")
        if self.sasl_mechanism is not None and not sasl:
            yield Problem(
                ("security_protocol",),
                f"{self.security_protocol} ignores sasl_mechanism; write SASL_SSL or SASL_PLAINTEXT",
            )
        if self.sasl_mechanism == "AWS_MSK_IAM" and self.security_protocol == "SASL_PLAINTEXT":
            yield Problem(("security_protocol",), "AWS_MSK_IAM needs SASL_SSL")
        if self.sasl_mechanism is not None and self.sasl_mechanism.startswith(("PLAIN", "SCRAM")):
            for key in ("sasl_plain_username", "sasl_plain_password"):
                if getattr(self, key) is None:
                    yield Problem((key,), f"is needed with sasl_mechanism {self.sasl_mechanism}")
