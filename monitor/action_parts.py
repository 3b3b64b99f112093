"""How the desk is made of the configuration."""

from __future__ import annotations

import ssl
from datetime import timedelta
from pathlib import Path

from monitor.actions.audit import Audit
from monitor.actions.desk import Desk
from monitor.actions.http import Endpoint, verifying_context
from monitor.actions.mlflow import MlflowAlias
from monitor.actions.sender import Sender
from monitor.actions.spec import ActionSpec, Breaker
from monitor.actions.topic import TopicMessage
from monitor.actions.webhook import Webhook
from monitor.checkpoint.names import folder_name
from monitor.clock import Clock
from monitor.config import Config
from monitor.config.actions import (
    ActionConfig,
    ActionsConfig,
    ControlTopicConfig,
    MlflowConfig,
    WebhookConfig,
)
from monitor.errors import ConfigurationError
from monitor.secret_file import read_secret_file
from monitor.sources.control_topic import ControlTopic

AUDIT_FILE = "actions.jsonl"
"""Beside the checkpoints of the group, where `actions.audit_file` names no other."""


def desk(config: Config, clock: Clock) -> Desk:
    """Return the desk of the daemon; it carries out nothing before it is started.

    Raises
    ------
    ConfigurationError
        If a file or an address of an action cannot be used.
    """
    section = config.actions
    specs = action_specs(section)
    sent = {name: sender(config, name) for name in specs} if section.enabled else {}
    return Desk(specs, breaker(section), sent, Audit(audit_file(config)), clock, section.enabled)


def dry_desk(config: Config, clock: Clock) -> Desk:
    """Return a desk that decides as the daemon's does, and does and keeps nothing: for `monitor replay`."""
    section = config.actions
    return Desk(action_specs(section, dry=True), breaker(section), {}, Audit(None), clock, section.enabled)


def audit_file(config: Config) -> Path | None:
    """Return where the audit log stands; None where there is no action to write about."""
    section, checkpoints = config.actions, config.checkpoint
    if not section.named:
        return None
    if section.audit_file is not None:
        return Path(section.audit_file)
    return Path(checkpoints.directory) / folder_name(config.kafka.group_id) / AUDIT_FILE


def action_specs(section: ActionsConfig, *, dry: bool = False) -> dict[str, ActionSpec]:
    """Return the actions by name; with `dry` as if each had `dry_run` set."""
    return {
        name: ActionSpec(
            name=name,
            kind=action.type,
            target=_target(action),
            expires=_microseconds(action.expires),
            cooldown=_microseconds(action.cooldown),
            max_per_day=action.max_per_day,
            approval=action.approval,
            dry_run=action.dry_run or dry,
        )
        for name, action in section.named.items()
    }


def breaker(section: ActionsConfig) -> Breaker:
    """Return what is over all actions."""
    return Breaker(section.breaker.max_models, _microseconds(section.breaker.per))


def sender(config: Config, name: str) -> Sender:
    """Return what carries out one action.

    Raises
    ------
    ConfigurationError
        If a file or an address of it cannot be used.
    """
    action, key = config.actions.named[name], f"actions.{name}"
    timeout = action.timeout.total_seconds()
    if isinstance(action, ControlTopicConfig):
        topic = ControlTopic(config.kafka.consumer_settings(), action.topic, f"{key}.topic", timeout)
        return TopicMessage(topic.post, topic.close)
    context = _context(action, key)
    if isinstance(action, WebhookConfig):
        secret = read_secret_file(action.secret_file, f"{key}.secret_file")
        return Webhook(action.url, secret, timeout, context)
    path = action.token_file
    token = None if path is None else read_secret_file(path, f"{key}.token_file")
    return MlflowAlias(action.url, action.alias, action.registered_model, token, timeout, context)


def _context(action: WebhookConfig | MlflowConfig, key: str) -> ssl.SSLContext | None:
    """Return what TLS is verified by, None for plain HTTP."""
    if not Endpoint.of(action.url).secure:
        return None
    try:
        return verifying_context(action.ca_file)
    except ValueError as error:
        raise ConfigurationError(f"{key}.ca_file: {error}; name the file of the authority") from None


def _target(action: ActionConfig) -> str:
    return action.topic if isinstance(action, ControlTopicConfig) else str(Endpoint.of(action.url))


def _microseconds(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
