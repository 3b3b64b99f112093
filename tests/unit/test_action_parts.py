"""The desk as the configuration has it."""

from pathlib import Path

import pytest

from monitor import action_parts
from monitor.actions.mlflow import MlflowAlias
from monitor.actions.spec import HOUR, MINUTE, ActionSpec, Breaker
from monitor.actions.topic import TopicMessage
from monitor.actions.webhook import Webhook
from monitor.clock import ManualClock
from monitor.config import Config, load_config
from monitor.errors import ConfigurationError

ACTIONS = """
actions:
  breaker: {max_models: 5, per: 2h}
  rollback: {type: webhook, url: "https://hooks.example.com/x?token=abc", secret_file: SECRET, cooldown: 2h}
  tell: {type: kafka, topic: control, approval: true, expires: 30m}
  alias: {type: mlflow, url: "http://127.0.0.1:5000", token_file: SECRET, dry_run: true, max_per_day: 1}
"""


def loaded(folder: Path, actions: str = ACTIONS) -> Config:
    secret = folder / "secret"
    secret.write_text("s3cret-word\n")
    path = folder / "monitor.yaml"
    path.write_text(
        "kafka: {bootstrap_servers: [b], topics: [t]}\n"
        "models: {fraud: {task: binary, classes: ['0', '1'], positive_class: '1'}}\n"
        + actions.replace("SECRET", str(secret))
    )
    return load_config(path, {})


def test_actions_become_specs(tmp_path: Path) -> None:
    config = loaded(tmp_path)
    assert action_parts.action_specs(config.actions) == {
        "rollback": ActionSpec("rollback", "webhook", "https://hooks.example.com", cooldown=2 * HOUR),
        "tell": ActionSpec("tell", "kafka", "control", approval=True, expires=30 * MINUTE),
        "alias": ActionSpec("alias", "mlflow", "http://127.0.0.1:5000", dry_run=True, max_per_day=1),
    }
    assert action_parts.breaker(config.actions) == Breaker(5, 2 * HOUR)
    assert all(spec.dry_run for spec in action_parts.action_specs(config.actions, dry=True).values())


def test_defaults_are_those_of_the_configuration(tmp_path: Path) -> None:
    config = loaded(tmp_path, "actions: {tell: {type: kafka, topic: control}}\n")
    assert action_parts.action_specs(config.actions) == {"tell": ActionSpec("tell", "kafka", "control")}
    assert action_parts.breaker(config.actions) == Breaker()


def test_senders(tmp_path: Path) -> None:
    config = loaded(tmp_path)
    kinds = {name: type(action_parts.sender(config, name)) for name in config.actions.named}
    assert kinds == {"rollback": Webhook, "tell": TopicMessage, "alias": MlflowAlias}


def test_a_secret_that_is_missing_is_named(tmp_path: Path) -> None:
    config = loaded(tmp_path)
    (tmp_path / "secret").unlink()
    with pytest.raises(ConfigurationError, match=r"^actions\.rollback\.secret_file: .* cannot be read"):
        action_parts.desk(config, ManualClock())


def test_authorities_that_are_none_are_named(tmp_path: Path) -> None:
    config = loaded(tmp_path, ACTIONS.replace("cooldown: 2h", "ca_file: SECRET"))
    with pytest.raises(ConfigurationError, match=r"^actions\.rollback\.ca_file: .* holds no certificate"):
        action_parts.desk(config, ManualClock())


def test_disabled_actions_need_no_secret(tmp_path: Path) -> None:
    config = loaded(tmp_path, ACTIONS.replace("actions:", "actions:\n  enabled: false"))
    (tmp_path / "secret").unlink()
    assert not action_parts.desk(config, ManualClock()).view().enabled


def test_a_dry_desk_needs_no_secret_and_keeps_nothing(tmp_path: Path) -> None:
    config = loaded(tmp_path)
    (tmp_path / "secret").unlink()
    desk = action_parts.dry_desk(config, ManualClock())
    assert desk.view().decisions == ()


def test_where_the_audit_log_stands(tmp_path: Path) -> None:
    assert action_parts.audit_file(loaded(tmp_path, "")) is None
    config = loaded(tmp_path)
    assert action_parts.audit_file(config) == Path("state") / "monitor" / "actions.jsonl"
    named = loaded(tmp_path, ACTIONS.replace("actions:", "actions:\n  audit_file: /var/log/actions.jsonl"))
    assert action_parts.audit_file(named) == Path("/var/log/actions.jsonl")
