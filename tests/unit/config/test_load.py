import os
from pathlib import Path

import pytest

from monitor.config import load_config
from monitor.errors import ConfigurationError
from tests.unit.config.conftest import FRAUD, KAFKA, Load, Problems

SASL = "security_protocol: SASL_SSL, sasl_mechanism: PLAIN, sasl_plain_username: u"


def kafka(*settings: str) -> str:
    return f"kafka: {{{', '.join(['bootstrap_servers: [a:9092]', 'topics: [t]', *settings])}}}"


def error(path: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_config(path, {})
    return str(caught.value)


def test_all_problems_are_reported_at_once(problems: Problems) -> None:
    text = """
kafka: {bootstrap_servers: [a:9092], topcs: [t], dead_letter_topic: t}
limits: {held_events: 100}
models:
  a: {task: binary, classes: [x, y], threshold: 1.5, windows: [{name: w}]}
  b: {task: multiclass, classes: [x, y, z], threshold: 0.5, aliases: {q: r}}
server: {port: -1}
actions: {enabled: 1}
alerts: {rules: {A: {model: c, metric: recall, floor: 0.5, actions: [x]}}}
"""
    assert [line.split(":")[0] for line in problems(text)] == [
        "kafka.topics",
        "kafka.topcs",
        "models.a.threshold",
        "models.a.windows[0]",
        "models.b.aliases.q",
        "models.b.threshold",
        "server.port",
        "actions.enabled",
    ]


def test_sections_that_are_missing_are_named_by_what_they_must_hold(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text("server: {}")
    assert error(path).split("\n")[1:] == [
        "  kafka: is missing; write bootstrap_servers and topics under it (`monitor replay` does without)",
        "  models: is missing; it has no default",
    ]


def test_the_file_has_to_be_there(tmp_path: Path) -> None:
    assert (
        error(tmp_path / "no.yaml")
        == f"{tmp_path / 'no.yaml'}: cannot be read: No such file or directory; check the path"
    )
    assert error(tmp_path).startswith(f"{tmp_path}: cannot be read: Is a directory")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; write at least the sections kafka and models"),
        (b"# nothing\n", "is empty"),
        (b"- a\n", "is no mapping"),
        (b"hello", "is no mapping"),
        (b"kafka: {\xff}", "byte 8 is not UTF-8"),
        (b"kafka: {}\nmodels: [\n", "line 3: "),
        (b"a: 1\nb:\n\tc: 1\n", "line 3: "),
        (b"kafka: {}\nmodels: {}\nkafka: {}\n", "line 3: `kafka` stands here twice"),
        (b"models:\n  a: {}\n  b: {}\n  a: {}\n", "line 4: `a` stands here twice"),
        (b"models: {1: {}, '1': {}}", "line 1: `1` stands here twice"),
        (
            b"a: !!python/object/apply:os.system [true]",
            "line 1: could not determine a constructor for the tag",
        ),
        (b"a: {[x]: y}", "line 1: a key is no text"),
        (b"a: {1.5: y}", "line 1: a key is no text"),
        (b"aliases:\n  yes: fraud", "line 2: an unquoted yes, no, on, off, true or false is a boolean"),
        (b"a: 1\n---\nb: 1\n", "line 2: "),
        (b"a: \x07", "line 1: a control character"),
        (b"a: " + b"[" * 5000, "line 1: "),
        (b"a: " + b"9" * 5000, "line 1: "),
    ],
)
def test_what_is_no_yaml_mapping_is_refused_with_its_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_bytes(content)
    assert error(path).startswith(f"{path}: {message}")


def test_yaml_does_not_turn_names_into_dates_octal_or_base_60_numbers(load: Load) -> None:
    model = load(
        "models: {m: {task: multiclass, classes: [010, 12:30, 2026-11-01, 8],"
        " versions: {2026-11-02: {classes: [8, 010, 12:30, 2026-11-01]}}}}"
    ).models["m"]
    assert model.classes == ("010", "12:30", "2026-11-01", "8")
    assert list(model.versions) == ["2026-11-02"]


def test_yaml_reads_numbers_in_scientific_notation_and_merges(load: Load) -> None:
    text = """
models:
  a: &base {task: binary, classes: [x, y], threshold: 1e-3}
  b: {<<: *base, threshold: 0.25}
"""
    config = load(text)
    assert (config.models["a"].threshold, config.models["b"].threshold) == (0.001, 0.25)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (KAFKA + FRAUD).encode())
    assert load_config(path, {}).kafka.topics == ("predictions",)


def test_the_environment_overrides_keys(load: Load) -> None:
    config = load(
        "models: {Fraud: {task: binary, classes: [a, b]}}",
        {
            "MONITOR__KAFKA__TOPICS": "[x, y]",
            "MONITOR__KAFKA__DEAD_LETTER_TOPIC": "",
            "MONITOR__EVENTS__FIELDS__LABEL": "outcome.label",
            "MONITOR__MODELS__FRAUD__THRESHOLD": "0.25",
            "MONITOR__MODELS__FRAUD__WINDOWS": "[{name: w, events: 5}]",
            "MONITOR__LOGGING": "{level: debug}",
            "MONITOR__LOGGING__FORMAT": "json",
            "MONITOR_SERVER__PORT": "not ours",
            "PATH": "/bin",
        },
    )
    assert config.kafka.topics == ("x", "y")
    assert config.kafka.dead_letter_topic is None
    assert config.events.fields.label == "outcome.label"
    assert config.models["Fraud"].threshold == 0.25
    assert config.models["Fraud"].windows[0].events == 5
    assert (config.logging.level, config.logging.format) == ("debug", "json")


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        (
            "MONITOR__MODELS__FRAUD__THRESHOLD",
            "7",
            "models.fraud.threshold: 7 is above 1; write a number from 0 to 1 (set by MONITOR__",
        ),
        (
            "MONITOR__SERVER__PROT",
            "1",
            "server.prot: unknown key; did you mean `port`? (set by MONITOR__SERVER__PROT)",
        ),
        (
            "MONITOR__KAFKA__TOPICS__0",
            "a",
            "MONITOR__KAFKA__TOPICS__0: kafka.topics has no keys that could be set",
        ),
        ("MONITOR__KAFKA__TOPICS", "[a", "MONITOR__KAFKA__TOPICS: line 1: "),
        ("MONITOR__KAFKA__TOPICS", "a", "kafka.topics: 'a' is no list; write it in brackets, as in [a, b]"),
        ("MONITOR__ALERTS__EVERY", "0s", "alerts.every: is no time at all; write a duration above 0s"),
        ("MONITOR__", "1", "MONITOR__: "),
    ],
)
def test_a_variable_is_refused_with_its_name(problems: Problems, name: str, value: str, line: str) -> None:
    (found,) = problems("", {name: value})
    assert found.startswith(line)
    assert name in found


@pytest.mark.parametrize("secret", ["007", "[a", "*hunter2", " hunter2: x "])
def test_a_secret_in_the_environment_is_taken_as_it_stands(load: Load, secret: str) -> None:
    config = load(kafka(SASL), {"MONITOR__KAFKA__SASL_PLAIN_PASSWORD": secret})
    assert config.kafka.consumer_settings()["sasl_plain_password"] == secret


def test_a_secret_of_an_inner_section_may_stand_in_a_file_or_variable(load: Load, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("007\n")
    tls = f"server: {{tls: {{cert_file: c, key_file: k, key_password_file: {tmp_path / 'password'}}}}}"
    for environment in ({}, {"MONITOR__SERVER__TLS__KEY_PASSWORD": "007"}):
        text = tls if not environment else "server: {tls: {cert_file: c, key_file: k}}"
        config = load(text, environment)
        assert config.server.tls.key_password.get_secret_value() == "007"


def test_a_secret_may_stand_in_a_file(load: Load, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2\n")
    config = load(kafka(SASL, f"sasl_plain_password_file: {tmp_path / 'password'}"))
    assert config.kafka.consumer_settings()["sasl_plain_password"] == "hunter2"
    config = load(kafka(), {"MONITOR__KAFKA__SSL_PASSWORD_FILE": str(tmp_path / "password")})
    assert config.kafka.consumer_settings()["ssl_password"] == "hunter2"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("sasl_plain_password_file: no/such", "no/such cannot be read: No such file or directory"),
        ("sasl_plain_password_file: [a]", "is no path of a UTF-8 text file"),
        ("sasl_plain_password_file: 7", "is no path of a UTF-8 text file"),
        ("sasl_plain_password_file: empty", "empty is empty; write the secret into it"),
        ("sasl_plain_password_file: binary", "is no path of a UTF-8 text file"),
        ("sasl_plain_password_file: f, sasl_plain_password: hunter2", "sasl_plain_password is set too"),
    ],
)
def test_a_secret_file_is_refused_with_its_key(
    problems: Problems, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").write_text(" \n")
    Path("binary").write_bytes(b"\xff\xfe")
    (found,) = problems(kafka(SASL, setting))
    assert found.startswith(f"kafka.sasl_plain_password_file: {message}")


@pytest.mark.parametrize(
    "text",
    [
        kafka("sasl_plain_password: [hunter2]"),
        kafka("sasl_plain_password: {hunter2: 1}"),
        kafka("ssl_password: hunter2", "bad: 1"),
        kafka("sasl_plain_password: *hunter2"),
        kafka("sasl_plain_password: !hunter2 x"),
        kafka("sasl_plain_password: !<tag:x'hunter2> x"),
        kafka("sasl_plain_password: &hunter2 x", "client_id: &hunter2 y", "bad: 1"),
        "kafka: [sasl_plain_password, hunter2]",
        "kafka: hunter2",
    ],
)
def test_secrets_are_not_quoted_in_errors(load: Load, text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(text)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_a_number_is_no_secret_and_is_not_quoted_either(problems: Problems) -> None:
    assert problems(kafka("ssl_password: 12345")) == ["kafka.ssl_password: is no text; write it in quotes"]


def test_the_environment_of_this_process_is_a_mapping_that_will_do(load: Load) -> None:
    load("", os.environ)
