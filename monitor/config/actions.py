"""What the daemon does about a bad model: the `actions` section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, model_validator

from monitor.config.section import Section
from monitor.config.values import Count, Name, PositiveDuration, as_written


class BreakerConfig(Section):
    """Beyond so many models, actions wait for approval: then it is rarely the models that are bad."""

    max_models: Count = 2
    per: PositiveDuration = as_written("1h")


class _ActionConfig(Section):
    expires: PositiveDuration = as_written("15m")
    cooldown: PositiveDuration = as_written("1h")
    max_per_day: Count = 3
    approval: StrictBool = False
    dry_run: StrictBool = False
    timeout: PositiveDuration = as_written("10s")


class WebhookConfig(_ActionConfig):
    """A signed POST to an address of the user's."""

    type: Literal["webhook"]
    url: Name
    secret_file: Name
    ca_file: Name | None = None


class ControlTopicConfig(_ActionConfig):
    """A message on a control topic of the brokers in `kafka`."""

    type: Literal["kafka"]
    topic: Name


class MlflowConfig(_ActionConfig):
    """An alias of an MLflow model registry is moved to the version before."""

    type: Literal["mlflow"]
    url: Name
    alias: Name = "champion"
    registered_model: Name | None = None
    token_file: Name | None = None
    ca_file: Name | None = None


ActionConfig = Annotated[WebhookConfig | ControlTopicConfig | MlflowConfig, Field(discriminator="type")]


class ActionsConfig(Section):
    """The actions by name, and what holds for all of them. In monitor.yaml the names stand beside the rest."""

    enabled: StrictBool = True
    audit_file: Name | None = None
    breaker: BreakerConfig = as_written({})
    named: Mapping[Name, ActionConfig] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        """Gather the actions, which stand beside the options of the section."""
        if not isinstance(data, dict):
            return data
        own = {key: value for key, value in data.items() if key in ("enabled", "audit_file", "breaker")}
        named = {key: value for key, value in data.items() if key not in own}
        return {**own, "named": named} if named else own
