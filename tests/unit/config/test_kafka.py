import pytest
from kafka import KafkaConsumer

from monitor.config import ConsumerSettings, KafkaConfig
from tests.unit.config.conftest import Load, Problems

SASL = (
    "security_protocol: SASL_SSL, sasl_mechanism: PLAIN, sasl_plain_username: u, sasl_plain_password: hunter2"
)


def kafka(*settings: str) -> str:
    return f"kafka: {{{', '.join(['bootstrap_servers: [a:9092]', 'topics: [t]', *settings])}}}"


def test_every_setting_of_kafka_python_is_either_known_or_refused() -> None:
    ours = {"bootstrap_servers", "group_id"}
    known = {*ConsumerSettings.model_fields, *ConsumerSettings.refused, *ours}
    assert known == KafkaConsumer.DEFAULT_CONFIG.keys()
    assert not ConsumerSettings.model_fields.keys() & (ConsumerSettings.refused.keys() | ours)


def test_settings_that_are_judged_here_have_the_defaults_of_kafka_python() -> None:
    differing = {
        "session_timeout_ms": 10_000,
        "max_poll_records": 2_000,
        "isolation_level": "read_committed",
        "fetch_max_wait_ms": 100,
    }
    ours = {
        key: field.default
        for key, field in ConsumerSettings.model_fields.items()
        if field.default is not None
    }
    assert ours == {key: KafkaConsumer.DEFAULT_CONFIG[key] for key in ours} | differing


def test_settings_have_the_kinds_of_kafka_python(load: Load) -> None:
    defaults = {
        key: KafkaConsumer.DEFAULT_CONFIG[key]
        for key in ConsumerSettings.model_fields
        if isinstance(KafkaConsumer.DEFAULT_CONFIG[key], bool | int | str)
        and KafkaConsumer.DEFAULT_CONFIG[key] != ""
    }
    defaults["isolation_level"] = "read_committed"
    settings = load(kafka(*(f"{k}: {str(v).lower() if v is True else v}" for k, v in defaults.items())))
    assert defaults.items() <= settings.kafka.consumer_settings().items()


def test_only_what_is_set_or_ours_goes_to_kafka_python(load: Load) -> None:
    assert load(
        kafka("fetch_min_bytes: 9", "group_id: g", "api_version: [3, 9]")
    ).kafka.consumer_settings() == {
        "bootstrap_servers": ("a:9092",),
        "group_id": "g",
        "session_timeout_ms": 10_000,
        "heartbeat_interval_ms": 3_000,
        "max_poll_records": 2_000,
        "isolation_level": "read_committed",
        "check_crcs": True,
        "fetch_min_bytes": 9,
        "fetch_max_wait_ms": 100,
        "request_timeout_ms": 30_000,
        "connections_max_idle_ms": 540_000,
        "api_version": (3, 9),
        "security_protocol": "PLAINTEXT",
    }


def test_secrets_reach_kafka_python_and_nobody_else(load: Load) -> None:
    config = load(kafka(SASL, "proxy_url: 'http://u:hunter2@p:1'"))
    settings = config.kafka.consumer_settings()
    assert settings["sasl_plain_password"] == "hunter2"
    assert settings["proxy_url"] == "http://u:hunter2@p:1"
    assert "hunter2" not in repr(config) + str(config) + str(config.model_dump()) + config.model_dump_json()
    assert set(KafkaConfig.secrets()) == {"proxy_url", "sasl_plain_password", "ssl_password"}


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("enable_auto_commit: true", "kafka.enable_auto_commit: offsets are kept with the state"),
        ("auto_commit_interval_ms: 1", "kafka.auto_commit_interval_ms: offsets are kept with the state"),
        ("auto_offset_reset: earliest", "kafka.auto_offset_reset: where reading starts is kafka.start"),
        ("value_deserializer: x", "kafka.value_deserializer: events are decoded by events.fields"),
        ("key_deserializer: x", "kafka.key_deserializer: events are decoded by events.fields"),
        ("consumer_timeout_ms: 1", "kafka.consumer_timeout_ms: the daemon reads until it is stopped"),
        ("allow_auto_create_topics: true", "kafka.allow_auto_create_topics: kafka-python ignores it"),
        ("partition_assignment_strategy: []", "kafka.partition_assignment_strategy: one instance owns"),
        ("check_crcs: false", "kafka.check_crcs: false: would count damaged records"),
        ("isolation_level: read_uncommitted", "kafka.isolation_level: 'read_uncommitted': would count"),
        ("isolation_level: foo", "kafka.isolation_level: 'foo' is none of 'read_committed'"),
        ("selector: x", "kafka.selector: needs a Python object"),
        ("socks5_proxy: x", "kafka.socks5_proxy: is deprecated; set proxy_url"),
        ("dead_letter_topic: t", "kafka.dead_letter_topic: is one of the topics read"),
        ("dead_letter_topic: a b", "kafka.dead_letter_topic: 'a b' is no Kafka name"),
        (
            "session_timeout_ms: 3000",
            "kafka.heartbeat_interval_ms: 3000 is not below session_timeout_ms (3000)",
        ),
        ("request_timeout_ms: 90", "kafka.request_timeout_ms: 90 is not between fetch_max_wait_ms (100)"),
        ("session_timeout_ms: 10s", "kafka.session_timeout_ms: is no whole number"),
        ("security_protocol: SASL_SSL", "kafka.sasl_mechanism: is needed with security_protocol SASL_SSL"),
        ("sasl_mechanism: GSSAPI", "kafka.security_protocol: PLAINTEXT ignores sasl_mechanism"),
        ("sasl_mechanism: OAUTHBEARER", "kafka.sasl_mechanism: 'OAUTHBEARER': needs a Python object"),
        (
            "security_protocol: SASL_PLAINTEXT, sasl_mechanism: AWS_MSK_IAM",
            "kafka.security_protocol: AWS_MSK_IAM needs SASL_SSL",
        ),
        (
            "security_protocol: SASL_SSL, sasl_mechanism: SCRAM-SHA-256, sasl_plain_username: u",
            "kafka.sasl_plain_password: is needed with sasl_mechanism SCRAM-SHA-256",
        ),
        ("start: today", "kafka.start: 'today' is none of 'windows', 'earliest' or 'latest'"),
        ("give_up_after: 0s", "kafka.give_up_after: is no time at all"),
        ("group_id: ''", "kafka.group_id: is empty"),
        ("session_timout_ms: 1", "kafka.session_timout_ms: unknown key; did you mean `session_timeout_ms`?"),
        ("ssl_passwort_file: x", "kafka.ssl_passwort_file: unknown key; did you mean `ssl_password_file`?"),
        ("zzz: 1", "kafka.zzz: unknown key; remove it"),
    ],
)
def test_a_setting_is_refused_with_its_reason(problems: Problems, setting: str, line: str) -> None:
    (found,) = problems(kafka(setting))
    assert found.startswith(line)
    assert (
        ";" in found
        or "is needed" in found
        or "is not b" in found
        or "needs SASL_SSL" in found
        or "none of" in found
    )


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ("topics: [t], bootstrap_servers: []", "kafka.bootstrap_servers: is empty; write at least one"),
        (
            "topics: [t], bootstrap_servers: a:1",
            "kafka.bootstrap_servers: 'a:1' is no list; write it in brackets",
        ),
        (
            "topics: [t], bootstrap_servers: ['u:hunter2@a:1']",
            "kafka.bootstrap_servers[0]: is no broker's address",
        ),
        ("topics: [t], bootstrap_servers: [a:99999]", "kafka.bootstrap_servers[0]: is no broker's address"),
        ("topics: [t, t], bootstrap_servers: [a]", "kafka.topics: 't' stands here twice"),
        ("topics: [t, '..'], bootstrap_servers: [a]", "kafka.topics[1]: '..' is no Kafka name"),
        ("bootstrap_servers: [a]", "kafka.topics: is missing"),
    ],
)
def test_brokers_and_topics_are_checked(problems: Problems, section: str, line: str) -> None:
    (found,) = problems(f"kafka: {{{section}}}")
    assert found.startswith(line)
    assert "hunter2" not in found


@pytest.mark.parametrize(
    "address", ["kafka", "kafka-1.example.org:9092", "10.0.0.1:1", "[::1]:9092", "SASL_SSL://a:9"]
)
def test_brokers_are_hosts_with_ports(load: Load, address: str) -> None:
    assert load(f"kafka: {{topics: [t], bootstrap_servers: ['{address}']}}").kafka.bootstrap_servers == (
        address,
    )
