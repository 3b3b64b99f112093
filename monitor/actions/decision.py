"""A decision to act: which alert led to it, what is to be done, what became of it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from monitor.actions.plain import iso, plain, take, take_optional
from monitor.actions.spec import Kind
from monitor.alerts.alert import Alert, Key

Status = Literal[
    "waiting_for_approval",
    "held",
    "pending",
    "done",
    "dry_run",
    "failed",
    "expired",
    "superseded",
    "rejected",
    "refused",
]

ID_LENGTH = 12

OPEN: frozenset[Status] = frozenset({"waiting_for_approval", "held", "pending"})
"""Whatever is not one of these is over, and never changes again."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision; there is one for an action and an episode of an alert (times in microseconds).

    Attributes
    ----------
    action, kind
        Its name in the configuration, and what carries it out.
    alert, episode
        Which alert led to it, and which of its episodes.
    severity, labels
        Of the rule.
    model, bad_version
        What it is about.
    target_version
        The version to go back to; None where no good one is known.
    status, reason
        What became of it, and why.
    decided_at, expires_at
        When it was decided; until when it may be carried out.
    taken_at
        When it was let through, by the rules or a person: from then on it counts for limits and the breaker.
    changed_at
        When its status last changed.
    attempts, last_error
        How often it was sent, and what went wrong the last time.
    by
        Who approved or rejected it.
    evidence
        The alert's, as it was when this was decided: plain data.
    """

    action: str
    kind: Kind
    alert: Key
    episode: str
    model: str
    bad_version: str
    target_version: str | None
    status: Status
    reason: str | None
    decided_at: int
    expires_at: int
    changed_at: int
    taken_at: int | None = None
    attempts: int = 0
    last_error: str | None = None
    by: str | None = None
    severity: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt, also after a restart."""
        return key_of(self.action, self.episode)

    @property
    def id(self) -> str:
        """A short name for people and addresses."""
        return self.idempotency_key[:ID_LENGTH]

    @property
    def open(self) -> bool:
        """Whether something can still become of it."""
        return self.status in OPEN

    def tree(self) -> dict[str, Any]:
        """Return plain data, for a checkpoint and the audit log."""
        fields = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return fields | {
            "alert": list(self.alert),
            "labels": dict(self.labels),
            "evidence": dict(self.evidence),
        }

    def line(self) -> dict[str, Any]:
        """Return what the audit log says: what is sent, and what became of it."""
        return self.payload() | {
            "status": self.status,
            "reason": self.reason,
            "taken_at": None if self.taken_at is None else iso(self.taken_at),
            "attempts": self.attempts,
            "last_error": self.last_error,
            "by": self.by,
        }

    def payload(self) -> dict[str, Any]:
        """Return what is sent: the same at every attempt."""
        return {
            "action": self.action,
            "id": self.id,
            "idempotency_key": self.idempotency_key,
            "alert": self.alert.labels,
            "severity": self.severity,
            "labels": dict(self.labels),
            "model": self.model,
            "bad_version": self.bad_version,
            "target_version": self.target_version,
            "decided_at": iso(self.decided_at),
            "expires_at": iso(self.expires_at),
            "evidence": dict(self.evidence),
        }


def key_of(action: str, episode: str) -> str:
    """Return the idempotency key of an action in an episode."""
    return hashlib.sha256(f"{action}\n{episode}".encode()).hexdigest()[:32]


def evidence_of(alert: Alert) -> dict[str, Any]:
    """Return what an alert knows, as plain data without what it does not know."""
    known = {
        each.name: plain(getattr(alert.evidence, each.name)) for each in dataclasses.fields(alert.evidence)
    }
    if alert.started is not None:
        known["since"] = iso(alert.started.timestamp)
    return {name: value for name, value in known.items() if value is not None}


def decision_of(tree: Any) -> Decision:
    """Return a decision from its plain data.

    Raises
    ------
    ValueError
        If the data is damaged.
    """
    kind, status = take(tree, "kind", str), take(tree, "status", str)
    labels = take(tree, "labels", dict)
    if kind not in get_args(Kind) or status not in get_args(Status):
        raise ValueError(f"a decision is of kind {kind!r:.50} with status {status!r:.50}")
    if not all(isinstance(each, str) for each in labels.values()):
        raise ValueError(f"a decision has the labels {labels!r:.200}")
    return Decision(
        action=take(tree, "action", str),
        kind=kind,  # type: ignore[arg-type]
        alert=key_from(take(tree, "alert", list)),
        episode=take(tree, "episode", str),
        model=take(tree, "model", str),
        bad_version=take(tree, "bad_version", str),
        target_version=take_optional(tree, "target_version", str),
        status=status,  # type: ignore[arg-type]
        reason=take_optional(tree, "reason", str),
        decided_at=take(tree, "decided_at", int),
        expires_at=take(tree, "expires_at", int),
        changed_at=take(tree, "changed_at", int),
        taken_at=take_optional(tree, "taken_at", int),
        attempts=take(tree, "attempts", int),
        last_error=take_optional(tree, "last_error", str),
        by=take_optional(tree, "by", str),
        severity=take(tree, "severity", str),
        labels=labels,
        evidence=take(tree, "evidence", dict),
    )


def key_from(row: Any) -> Key:
    """Return an alert's key from its plain data; ValueError if that is damaged."""
    if isinstance(row, list) and len(row) == len(Key._fields) and all(isinstance(each, str) for each in row):
        return Key(*row)
    raise ValueError(f"an alert is {row!r:.200}")
