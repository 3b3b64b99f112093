"""What a configuration allows and whoever starts the daemon should know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from monitor.config import Config, ServerConfig, is_in_the_clear, origin
from monitor.secret_file import is_public


def start_up_warnings(config: Config) -> list[str]:
    """Return what is allowed but should be known, one sentence each."""
    warnings = list(_server_warnings(config.server))
    if config.kafka.security_protocol == "SASL_PLAINTEXT":
        warnings.append("kafka.security_protocol SASL_PLAINTEXT is not encrypted; prefer SASL_SSL")
    if config.kafka.ssl_check_hostname is False:
        warnings.append(
            "kafka.ssl_check_hostname is off: any certificate of the authority passes for a broker"
        )
    warnings += _public_secrets(config)
    warnings += _approvals_nobody_can_give(config)
    warnings += _sent_in_the_clear(config)
    return warnings


def _sent_in_the_clear(config: Config) -> Iterator[str]:
    urls = {f"alerts.alertmanager_urls[{i}]": url for i, url in enumerate(config.alerts.alertmanager_urls)}
    urls |= {
        f"actions.{name}.url": getattr(action, "url", "") for name, action in config.actions.named.items()
    }
    for key, url in urls.items():
        if is_in_the_clear(url):
            yield f"{key} {origin(url)} is not encrypted: what goes there can be read on its way; write https"


def _server_warnings(server: ServerConfig) -> Iterator[str]:
    tls = server.tls
    if not server.on_loopback:
        reached = f"server.host {server.host} can be reached from other machines, and"
        if server.read_token_file is None and (tls is None or tls.client_ca_file is None):
            yield (
                f"{reached} whoever reaches it reads everything without a password; set "
                "server.read_token_file, or bind 127.0.0.1"
            )
        elif tls is None:
            yield f"{reached} the token in server.read_token_file goes there unencrypted; set server.tls"


def _approvals_nobody_can_give(config: Config) -> Iterator[str]:
    if config.server.act_token_file is None:
        for name, action in config.actions.named.items():
            if action.approval:
                yield f"actions.{name}.approval: nobody can approve without server.act_token_file; write one"


def _secrets(config: Config) -> dict[str, str]:
    """Return the files that hold secrets, by their keys."""
    server = config.server
    files = {
        "server.read_token_file": server.read_token_file,
        "server.act_token_file": server.act_token_file,
        "server.tls.key_file": None if server.tls is None else server.tls.key_file,
    }
    return _written(files) | _of_actions(config, "secret_file", "token_file")


def _of_actions(config: Config, *keys: str) -> dict[str, str]:
    named = config.actions.named
    return _written({f"actions.{n}.{key}": getattr(a, key, None) for n, a in named.items() for key in keys})


def _written(files: Mapping[str, str | None]) -> dict[str, str]:
    return {key: path for key, path in files.items() if path is not None}


def _public_secrets(config: Config) -> Iterator[str]:
    for key, path in _secrets(config).items():
        if is_public(path):
            yield f"{key} {path} can be read by every user of this machine; `chmod 600` it"
