from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from monitor.config import Config
from monitor.start_up import start_up_warnings
from tests.support.servers import configured

Make = Callable[..., Config]
TLS = "tls: {cert_file: c, key_file: KEY}"


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return partial(configured, tmp_path)


@pytest.mark.parametrize("server", ["", "host: '::1'", "host: localhost", "read_token_file: none", TLS])
def test_nothing_to_say(make: Make, server: str) -> None:
    assert start_up_warnings(make(server)) == []


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ("", "whoever reaches it reads everything without a password; set server.read_token_file"),
        (TLS, "whoever reaches it reads everything without a password; set server.read_token_file"),
        ("read_token_file: t", "the token in server.read_token_file goes there unencrypted; set server.tls"),
        (f"{TLS}, read_token_file: t", None),
        ("tls: {cert_file: c, key_file: k, client_ca_file: a}", None),
    ],
)
def test_where_other_machines_reach_it(make: Make, server: str, words: str | None) -> None:
    warnings = start_up_warnings(make(f"host: 0.0.0.0, {server}"))
    reached = "server.host 0.0.0.0 can be reached from other machines, and"
    assert warnings == ([] if words is None else [warnings[0]])
    assert words is None or warnings[0].startswith(f"{reached} {words}")


def test_kafka_without_encryption_or_names(make: Make) -> None:
    kafka = "security_protocol: SASL_PLAINTEXT, sasl_mechanism: GSSAPI, ssl_check_hostname: false"
    assert [warning.split()[0] for warning in start_up_warnings(make(kafka=kafka))] == [
        "kafka.security_protocol",
        "kafka.ssl_check_hostname",
    ]


def test_files_that_everybody_can_read(make: Make, tmp_path: Path) -> None:
    key, token = tmp_path / "key", tmp_path / "token"
    config = make(f"read_token_file: {token}, {TLS.replace('KEY', str(key))}")
    for mode, public in ((0o600, False), (0o640, False), (0o644, True)):
        for path in (key, token):
            path.touch()
            path.chmod(mode)
        assert start_up_warnings(config) == [
            f"{name} {path} can be read by every user of this machine; `chmod 600` it"
            for name, path in (("server.read_token_file", token), ("server.tls.key_file", key))
            if public
        ]


def test_files_of_actions_that_everybody_can_read(make: Make, tmp_path: Path) -> None:
    key = tmp_path / "hook.key"
    key.touch()
    key.chmod(0o644)
    action = f"{{type: webhook, url: 'https://h/x', secret_file: {key}}}"
    assert start_up_warnings(make(rest=f"actions: {{rollback: {action}}}")) == [
        f"actions.rollback.secret_file {key} can be read by every user of this machine; `chmod 600` it"
    ]
    assert start_up_warnings(make(f"act_token_file: {key}"))[0].startswith("server.act_token_file")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://hooks.example.com/hunter2", "http://hooks.example.com"),
        ("http://10.0.0.1:8080/hunter2?x=hunter2", "http://10.0.0.1:8080"),
        ("http://localhost:8080/x", None),
        ("http://127.0.0.9/x", None),
        ("http://[::1]:8080/x", None),
        ("https://hooks.example.com/x", None),
    ],
)
def test_where_something_is_sent_in_the_clear(make: Make, url: str, shown: str | None) -> None:
    warnings = start_up_warnings(
        make(rest=f"actions: {{rollback: {{type: webhook, url: '{url}', secret_file: none}}}}")
    )
    words = "is not encrypted: what goes there can be read on its way; write https"
    assert warnings == ([] if shown is None else [f"actions.rollback.url {shown} {words}"])


def test_alertmanager_in_the_clear(make: Make) -> None:
    (warning,) = start_up_warnings(
        make(rest="alerts: {deliver: alertmanager, alertmanager_urls: ['https://a', 'http://b:9093']}")
    )
    assert warning.startswith("alerts.alertmanager_urls[1] http://b:9093 is not encrypted")
