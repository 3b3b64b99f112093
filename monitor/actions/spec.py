"""An action as the rest of the daemon knows it: plain values, no secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["webhook", "kafka", "mlflow"]

MINUTE = 60_000_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """What may be done, and how often (times in microseconds).

    Attributes
    ----------
    name
        Of the action, as rules name it.
    kind
        What carries it out.
    target
        Where it goes, for people: an address without its path, or a topic.
    expires
        How long after its decision it may still be carried out.
    cooldown
        How long after one on a model no other on the same model is decided.
    max_per_day
        How many on one model in 24 hours.
    approval
        Whether a person has to approve each.
    dry_run
        Whether it is only written down.
    """

    name: str
    kind: Kind
    target: str = ""
    expires: int = 15 * MINUTE
    cooldown: int = HOUR
    max_per_day: int = 3
    approval: bool = False
    dry_run: bool = False

    @property
    def needs_target(self) -> bool:
        """Whether it can do nothing without a version to go back to."""
        return self.kind == "mlflow"


@dataclass(frozen=True, slots=True)
class Breaker:
    """Beyond actions on so many models in so long (microseconds), further ones wait for approval."""

    max_models: int = 2
    per: int = HOUR
