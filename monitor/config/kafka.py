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
    FilePath,
    Name,
    PositiveDuration,
    WholeNumber,
    Words,
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
Broker = Annotated[Name, AfterValidator(_broker), Words("host:port")]


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
    """name of this client in the broker's logs"""
    client_rack: Name | None = None
    """rack of this client, to read from near replicas"""
    group_instance_id: Topic | None = None
    """makes a static member, which returns without a rebalance"""
    session_timeout_ms: Count = 10_000
    """a member that is silent for so long is taken for dead"""
    heartbeat_interval_ms: Count = 3_000
    """time between signs of life; below `session_timeout_ms`"""
    max_poll_interval_ms: Count | None = None
    """a member that does not read for so long is taken for dead"""
    max_poll_records: Count = 2_000
    """records read at once"""
    isolation_level: Annotated[
        Literal["read_committed"],
        refuse("read_uncommitted", "would count records of aborted transactions; leave it out"),
    ] = "read_committed"
    """records of aborted transactions are never counted"""
    check_crcs: Annotated[
        Literal[True], refuse(False, "would count damaged records as events; leave it out")
    ] = True
    """damaged records are never counted"""

    fetch_min_bytes: Count | None = None
    """the broker waits until it has so much"""
    fetch_max_bytes: Count | None = None
    """most bytes of one answer"""
    fetch_max_wait_ms: WholeNumber = 100
    """longest wait for `fetch_min_bytes`; below `request_timeout_ms`"""
    max_partition_fetch_bytes: Count | None = None
    """most bytes of one partition in an answer"""
    receive_message_max_bytes: Count | None = None
    """longest answer that is accepted"""
    enable_incremental_fetch_sessions: StrictBool | None = None
    """ask only for what changed"""

    request_timeout_ms: Count = 30_000
    """longest wait for an answer; below `connections_max_idle_ms`"""
    retry_backoff_ms: WholeNumber | None = None
    """pause before a retry"""
    reconnect_backoff_ms: WholeNumber | None = None
    """first pause before connecting again"""
    reconnect_backoff_max_ms: WholeNumber | None = None
    """longest pause before connecting again; `null`: 1000 where events are read"""
    connections_max_idle_ms: Count = 540_000
    """idle connections are closed after it"""
    max_in_flight_requests_per_connection: Count | None = None
    """requests on their way at once"""
    metadata_max_age_ms: Count | None = None
    """how often brokers and partitions are looked up; `null`: 10000 where events are read"""
    bootstrap_timeout_ms: Count | None = None
    """longest wait for a first connection"""
    client_dns_lookup: Literal["use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"] | None = None
    """how host names are looked up"""
    api_version: tuple[WholeNumber, ...] | None = None
    """protocol version, as in `[3, 9]`, of brokers that do not tell"""
    receive_buffer_bytes: Count | None = None
    """the socket's receive buffer"""
    send_buffer_bytes: Count | None = None
    """the socket's send buffer"""
    socket_options: tuple[tuple[StrictInt, StrictInt, StrictInt], ...] | None = None
    """arguments of setsockopt"""
    proxy_url: SecretStr | None = None
    """proxy to connect through"""
    exclude_internal_topics: StrictBool | None = None
    """hide Kafka's own topics"""
    metrics_enabled: StrictBool | None = None
    """whether kafka-python keeps metrics of its own"""
    metrics_num_samples: Count | None = None
    """samples of those"""
    metrics_sample_window_ms: Count | None = None
    """length of one sample"""
    metric_group_prefix: Name | None = None
    """prefix of their names"""

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """encryption and authentication"""
    sasl_mechanism: (
        Annotated[
            Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "AWS_MSK_IAM"],
            refuse("OAUTHBEARER", "needs a Python object for its tokens; use another mechanism"),
        ]
        | None
    ) = None
    """how to authenticate with `SASL_…`"""
    sasl_plain_username: Name | None = None
    """user of PLAIN and SCRAM"""
    sasl_plain_password: SecretStr | None = None
    """password of PLAIN and SCRAM"""
    sasl_kerberos_service_name: Name | None = None
    """service name of GSSAPI"""
    sasl_kerberos_domain_name: Name | None = None
    """domain name of GSSAPI"""
    ssl_check_hostname: StrictBool | None = None
    """whether the certificate must be the broker's own"""
    ssl_cafile: FilePath | None = None
    """certificates of the authorities to trust"""
    ssl_certfile: FilePath | None = None
    """our own certificate"""
    ssl_keyfile: FilePath | None = None
    """its private key"""
    ssl_password: SecretStr | None = None
    """password of the private key"""
    ssl_crlfile: FilePath | None = None
    """revoked certificates"""
    ssl_ciphers: Annotated[Name, Words("text")] | None = None
    """ciphers in OpenSSL's notation"""


class DeadLetterConfig(Section):
    """What happens when more is rejected than the dead-letter topic takes."""

    on_error: Literal["pause", "drop"] = "pause"
    """
    while that topic cannot be written and 10,000 events wait: read no further, or give further ones up,
    counted
    """
    max_per_second: Count = 1_000
    """rejected events above this rate are counted, not sent"""


class KafkaConfig(ConsumerSettings):
    """The `kafka` section."""

    bootstrap_servers: Annotated[tuple[Broker, ...], DISTINCT, NOT_EMPTY]
    """brokers to connect to first"""
    topics: Annotated[tuple[Topic, ...], DISTINCT, NOT_EMPTY]
    """topics with labeled predictions"""
    group_id: Name = "monitor"
    """consumer group; one instance of it reads, others stand by"""
    dead_letter_topic: Topic | None = None
    """where rejected events go with their reason; not one of `topics`"""
    dead_letter: DeadLetterConfig = as_written({})
    start: Literal["windows", "earliest", "latest"] = "windows"
    """where to begin with nothing remembered; `windows`: far enough back to fill them"""
    on_topic_recreated: Literal["refuse", "restart"] = "refuse"
    """stop, or begin again, when a topic was deleted and made anew"""
    give_up_after: PositiveDuration = as_written("10m")
    """how long an unreachable broker is waited for"""

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
