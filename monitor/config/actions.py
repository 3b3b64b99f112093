"""What the daemon does about a bad model: the `actions` section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StrictBool, Tag

from monitor.config.section import Problem, Section
from monitor.config.urls import BaseAddress, WebAddress
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

    def problems(self) -> Iterator[Problem]:
        """Yield whether an attempt may take longer than the action is worth anything."""
        if self.timeout >= self.expires:
            yield Problem(("timeout",), "is not below expires; write less, so that a second attempt fits")


class WebhookConfig(_ActionConfig):
    """A signed POST to an address of the user's."""

    type: Literal["webhook"]
    url: WebAddress
    secret_file: Name
    ca_file: Name | None = None


class ControlTopicConfig(_ActionConfig):
    """A message on a control topic of the brokers in `kafka`."""

    type: Literal["kafka"]
    topic: Name


class MlflowConfig(_ActionConfig):
    """An alias of an MLflow model registry is moved to the version before."""

    type: Literal["mlflow"]
    url: BaseAddress
    alias: Name = "champion"
    registered_model: Name | None = None
    token_file: Name | None = None
    ca_file: Name | None = None


def _type(value: object) -> str:
    kind = value.get("type") if isinstance(value, Mapping) else getattr(value, "type", None)
    return f"[{kind}]"


ActionConfig = Annotated[
    Annotated[WebhookConfig, Tag("[webhook]")]
    | Annotated[ControlTopicConfig, Tag("[kafka]")]
    | Annotated[MlflowConfig, Tag("[mlflow]")],
    Discriminator(
        _type,
        custom_error_type="kind",
        custom_error_message=(
            "is no option (enabled, audit_file, breaker) and no action; write {type: webhook, …}, "
            "{type: kafka, …} or {type: mlflow, …}, or remove it"
        ),
    ),
]


class ActionsConfig(Section):
    """What holds for all actions; beside it, under names of the user's choice, the actions."""

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, ActionConfig] = Field(init=False)

    enabled: StrictBool = True
    audit_file: Name | None = None
    breaker: BreakerConfig = as_written({})

    @classmethod
    def named_entries(cls) -> Any:
        """Return the type of the actions."""
        return ActionConfig

    def problems(self) -> Iterator[Problem]:
        """Yield actions without a name."""
        if "" in self.named:
            yield Problem(("",), "an action has no name; write one")

    @property
    def named(self) -> Mapping[str, ActionConfig]:
        """The actions by name."""
        return self.__pydantic_extra__
