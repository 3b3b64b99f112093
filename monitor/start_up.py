"""What a configuration allows and whoever starts the daemon should know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from monitor.action_parts import sender
from monitor.baseline import load_baseline
from monitor.champions import RegistryChampions
from monitor.checkpoint.disk import check_can_write
from monitor.checkpoint.folder import Folder
from monitor.clock import SystemClock
from monitor.config import Config, ServerConfig, is_in_the_clear, origin
from monitor.errors import ConfigurationError, MonitorError
from monitor.pipeline import Pipeline
from monitor.secret_file import is_public, read_secret_file
from monitor.sources.connection import check_settings
from monitor.tls import configured_tls, server_context


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


def unusable_files(config: Config) -> list[str]:
    """Return what `monitor run` would say against files and folders of a configuration; writes nothing."""
    refusals = []
    for use in _uses_of_files(config):
        try:
            use()
        except MonitorError as refusal:
            refusals.append(str(refusal))
    return list(dict.fromkeys(refusals))  # two may use one file


def _uses_of_files(config: Config) -> Iterator[Callable[[], object]]:
    """Yield what the daemon does with files, each by itself."""
    server, actions, checkpoint = config.server, config.actions, config.checkpoint
    yield partial(check_settings, config.kafka.consumer_settings())
    for key in ("read_token_file", "act_token_file"):
        if path := getattr(server, key):
            yield partial(read_secret_file, path, f"server.{key}")
    if tls := configured_tls(server):
        yield partial(server_context, tls)
    if actions.enabled:  # else theirs are not read
        yield from (partial(sender, config, name) for name in actions.named)
    yield partial(RegistryChampions, config)
    yield from (partial(load_baseline, path, name) for name, path in config.baselines.items())
    yield partial(Pipeline, config, config.kafka.topics, SystemClock())  # whether baselines fit their rules
    yield Folder(checkpoint.directory, config.kafka.group_id).check
    if actions.audit_file is not None:
        yield partial(_check_audit, Path(actions.audit_file))


def _check_audit(path: Path) -> None:
    try:
        check_can_write(path.parent)
    except OSError as error:
        raise ConfigurationError(
            f"actions.audit_file: {path} cannot be written: {error.strerror}; name a file in a folder that "
            "can be written"
        ) from None


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
