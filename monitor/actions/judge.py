"""Whether something may be done: pure functions of the decision, the alerts and the world."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from monitor.actions.decision import Decision, Status
from monitor.actions.spec import DAY, ActionSpec, Breaker
from monitor.alerts.alert import Alert


@dataclass(frozen=True, slots=True)
class World:
    """What preconditions are judged by.

    Attributes
    ----------
    now
        Wall clock, in microseconds.
    live
        The version that a model's traffic comes from, by model.
    before
        Versions that were live earlier, newest first, by model.
    lagging
        Whether what is known is too old to act on.
    ready
        Whether this instance owns the partitions and has caught up.
    """

    now: int
    live: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lagging: bool = False
    ready: bool = True

    def was_live(self, model: str, version: str) -> bool:
        """Tell whether a model's traffic comes or once came from a version.

        Before that an alert of it waits: a new version may begin to fire while its traffic still grows.
        """
        return version == self.live.get(model) or version in self.before.get(model, ())

    @property
    def unclear(self) -> str | None:
        """Why nothing can be judged at the moment; None where it can."""
        if not self.ready:
            return "this instance is not the owner, or has not caught up yet"
        return "reading lags too far behind" if self.lagging else None


Unfit = Collection[tuple[str, str]]
"""(model, version) of what is no version to go back to."""


class End(NamedTuple):
    """How a decision ends, and why."""

    status: Status
    reason: str


_DRY_RUN = End("dry_run", "dry_run is set")
_APPROVAL = End("waiting_for_approval", "approval is set")


def target_of(model: str, bad_version: str, world: World, unfit: Unfit) -> str | None:
    """Return the newest version that was live earlier and is fit to be again, None where there is none."""
    earlier = world.before.get(model, ())
    return next((each for each in earlier if each != bad_version and (model, each) not in unfit), None)


def end_of(
    decision: Decision, spec: ActionSpec, alerts: Mapping[str, Alert], world: World, unfit: Unfit
) -> End | None:
    """Return why an open decision is over or waits for a person, None where it still stands.

    Parameters
    ----------
    spec
        Its action as it is configured now, which may be another way than when this was decided.
    alerts
        Those that fire, by episode.
    world
        Now. While it is unclear, time alone ends a decision.
    unfit
        Versions that have a firing alert, or were rolled back.
    """
    if world.now >= decision.expires_at:
        return End("expired", "it was not carried out in time")
    if world.unclear:
        return None
    alert = alerts.get(decision.episode)
    if alert is None or not alert.firing:
        return End("superseded", "the alert no longer fires")
    if decision.action not in alert.rule.actions:
        return End("superseded", f"{alert.rule.name} no longer asks for it")
    live = world.live.get(decision.model)
    if live != decision.bad_version:
        if decision.attempts and live == decision.target_version:
            return End("done", f"version {live} is live")  # it arrived, and its answer was lost
        return End("superseded", _other(live, decision.bad_version))
    target = decision.target_version
    if target is not None and (decision.model, target) in unfit:
        return End("superseded", f"version {target} has a firing alert itself or was rolled back")
    if decision.status == "pending" and spec.dry_run:
        return _DRY_RUN
    if decision.status == "pending" and spec.approval and decision.by is None:
        return _APPROVAL
    return None


def beginning(
    spec: ActionSpec,
    breaker: Breaker,
    alert: Alert,
    target: str | None,
    taken: Sequence[Decision],
    world: World,
) -> End:
    """Return how a decision begins: open, or over at once.

    Parameters
    ----------
    target
        The version to go back to.
    taken
        Decisions that were let through.
    """
    model, version = alert.key.model, alert.key.version
    live = world.live.get(model)
    if live != version:
        return End("superseded", _other(live, version))
    if target is None and spec.needs_target:
        return End("refused", "no earlier version is known that has no firing alert and was not rolled back")
    if why := refusal(spec, model, taken, world.now):
        return End("refused", why)
    if breaks(breaker, spec, model, taken, world.now):
        many = f"actions on more than {breaker.max_models} models"
        return End("held", f"{many}: see whether it is the models that are bad, then approve or reject")
    if spec.dry_run:
        return _DRY_RUN
    if spec.approval:
        return _APPROVAL
    return End("pending", "")


def refusal(spec: ActionSpec, model: str, taken: Iterable[Decision], now: int) -> str | None:
    """Return why an action on a model may not be taken now, None where it may.

    Parameters
    ----------
    taken
        Decisions that were let through.
    """
    times = [
        each.taken_at
        for each in taken
        if each.taken_at is not None and each.action == spec.name and each.model == model
    ]
    if any(now - at < spec.cooldown for at in times):
        return f"the last {spec.name} of {model} is less than its cooldown ago"
    if sum(now - at < DAY for at in times) >= spec.max_per_day:
        return f"there were {spec.max_per_day} {spec.name} of {model} in 24 hours (max_per_day)"
    return None


def breaks(breaker: Breaker, spec: ActionSpec, model: str, taken: Iterable[Decision], now: int) -> bool:
    """Whether an action would be one too many over all models.

    What is only written down does not count against what is really done.
    """
    models = {
        each.model
        for each in taken
        if each.taken_at is not None
        and now - each.taken_at < breaker.per
        and (spec.dry_run or each.status != "dry_run")
    }
    return len(models | {model}) > breaker.max_models


def _other(live: str | None, version: str) -> str:
    return f"{'no version' if live is None else f'version {live}'} is live, not {version}"
