"""Whether the files and folders that a configuration names can be used, as `monitor run` will use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from monitor.action_parts import sender
from monitor.baseline import load_baseline
from monitor.champions import RegistryChampions
from monitor.checkpoint.disk import check_can_write
from monitor.checkpoint.folder import Folder
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.errors import ConfigurationError, MonitorError
from monitor.pipeline import Pipeline
from monitor.secret_file import read_secret_file
from monitor.sources.connection import check_settings
from monitor.tls import configured_tls, server_context


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
    if config.alerts.rules:  # else nothing reads them
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
