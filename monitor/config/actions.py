"""What the daemon does about a bad model: the `actions` section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, StrictBool, Tag

from monitor.config.models import unknown
from monitor.config.section import Problem, ProblemsError, Section
from monitor.config.urls import BaseAddress, WebAddress
from monitor.config.values import Count, FilePath, Name, PositiveDuration, as_written


class BreakerConfig(Section):
    """Beyond so many models, actions wait for approval: then it is rarely the models that are bad."""

    max_models: Count = 2
    """beyond actions on so many models, further ones wait for approval"""
    per: PositiveDuration = as_written("1h")
    """in so long"""


class _ActionConfig(Section):
    expires: PositiveDuration = as_written("15m")
    """after it what was decided is no longer done"""
    cooldown: PositiveDuration = as_written("1h")
    """between two of them on one model"""
    max_per_day: Count = 3
    """of them on one model"""
    approval: StrictBool = False
    """whether a person has to approve each"""
    dry_run: StrictBool = False
    """only write down what would be done"""
    timeout: PositiveDuration = as_written("10s")
    """of one attempt; below `expires`"""

    def problems(self) -> Iterator[Problem]:
        """Yield whether an attempt may take longer than the action is worth anything."""
        if self.timeout >= self.expires:
            yield Problem(("timeout",), "is not below expires; write less, so that a second attempt fits")


class WebhookConfig(_ActionConfig):
    """A signed POST to an address of the user's."""

    type: Literal["webhook"]
    """a signed POST"""
    url: WebAddress
    """where to"""
    secret_file: FilePath
    """file with the key that signs"""
    ca_file: FilePath | None = None
    """authorities that the certificate there is checked by; null: those of the system"""


class ControlTopicConfig(_ActionConfig):
    """A message on a control topic of the brokers in `kafka`."""

    type: Literal["kafka"]
    """a message"""
    topic: Name
    """topic on the brokers in `kafka`, not one that is read"""


class MlflowConfig(_ActionConfig):
    """An alias of an MLflow model registry is moved to the version before."""

    type: Literal["mlflow"]
    """moves an alias of a registry"""
    url: BaseAddress
    """of the tracking server"""
    alias: Name = "champion"
    """alias that is moved to the version before"""
    registered_model: Name | None = None
    """the model there; null: that of the same name"""
    token_file: FilePath | None = None
    """file with a token to log in with"""
    ca_file: FilePath | None = None
    """authorities that the certificate there is checked by; null: those of the system"""


def _type(value: object) -> str:
    kind = value.get("type") if isinstance(value, Mapping) else getattr(value, "type", None)
    return f"[{kind}]"


_TYPES = ("webhook", "kafka", "mlflow")


def _of_a_known_type(value: object) -> object:
    """Refuse a misspelt type by its name: a mapping that has a type is meant to be an action."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    if isinstance(kind, str) and kind not in _TYPES:
        raise ProblemsError([Problem(("type",), unknown(kind, _TYPES, "type of action"))])
    return value


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
    BeforeValidator(_of_a_known_type),
]


class ActionsConfig(Section):
    """What holds for all actions; beside it, under names of the user's choice, the actions."""

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, ActionConfig] = Field(init=False)

    enabled: StrictBool = True
    """false: what would be done is only written down"""
    audit_file: FilePath | None = None
    """where each decision becomes a line; null: a file beside the checkpoints"""
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
