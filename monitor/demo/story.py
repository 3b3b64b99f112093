"""What happens in the demo, told from what the daemon says and what the hook received. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from monitor.demo.configuration import ALERT, BAD_VERSION, GOOD_VERSION
from monitor.demo.hook import Rollback
from monitor.demo.model import Fault
from monitor.demo.readings import RECALL, Alert, Look, Reading
from monitor.demo.traffic import DAMAGED_SITE

FAULT = Fault()
CHANGE = (
    f"version {BAD_VERSION} takes over: its new scanner at site {DAMAGED_SITE} measures nuclei "
    f"{1 - FAULT.factor:.0%} too small, and it pushes scores towards 0 and 1 (temperature "
    f"{FAULT.temperature}). It misses cancers, with confidence."
)


class Happening(NamedTuple):
    """Something that happened, in epoch seconds."""

    at: float
    text: str


@dataclass(frozen=True)
class Story:
    """How far it has come.

    Attributes
    ----------
    changed
        When the bad version took over, in epoch seconds; None before.
    before
        Recall of malignant before that.
    fired
        Alerts of the bad version by name, as they were when first seen firing.
    rollback
        What the hook carried out; None before.
    recovered
        When a window full of events after the rollback was first seen, and its recall.
    silent_at
        When the alert was first seen without data: its version's traffic is gone.
    """

    changed: float | None = None
    before: Reading = Reading()
    fired: dict[str, Alert] = field(default_factory=dict)
    rollback: Rollback | None = None
    recovered: tuple[float, Reading] | None = None
    silent_at: float | None = None

    def change(self, now: float, look: Look) -> Story:
        """Return the story when the bad version has taken over."""
        return replace(self, changed=now, before=look.window(GOOD_VERSION).reading(RECALL))

    def follow(self, now: float, look: Look, rollback: Rollback | None) -> Story:
        """Return the story with what another look shows."""
        if self.changed is None:
            return self
        bad = {alert.name: alert for alert in look.alerts if alert.version == BAD_VERSION}
        firing = {name: alert for name, alert in bad.items() if alert.state == "firing"}
        recovered, silent_at = self.recovered, self.silent_at
        good = look.window(GOOD_VERSION)
        if recovered is None and rollback is not None and good.complete and good.start >= rollback.at:
            recovered = now, good.reading(RECALL)
        if silent_at is None and ALERT in bad and bad[ALERT].state == "no_data":
            silent_at = now
        return replace(
            self,
            fired=firing | self.fired,
            rollback=rollback,
            recovered=recovered,
            silent_at=silent_at,
        )

    @property
    def lacks(self) -> str | None:
        """What should have happened and has not; None where everything that has to has."""
        if self.changed is None:
            return f"stopped before version {BAD_VERSION} took over"
        if ALERT not in self.fired:
            return f"the alert {ALERT} did not fire"
        return None if self.rollback is not None else "no rollback with a valid signature arrived"

    def phase(self, now: float, change_at: float) -> str:
        """Return how the live traffic is; `change_at`: when it is to go wrong."""
        if self.changed is None:
            return f"healthy; version {BAD_VERSION} takes over in {max(change_at - now, 0):.0f} s"
        if self.recovered is not None:
            return "recovered"
        if self.rollback is not None:
            return f"ROLLED BACK to {self.rollback.target_version}"
        return f"WRONG for {now - self.changed:.0f} s" + (", ALERT firing" if self.fired else "")

    @property
    def is_well(self) -> bool:
        """Whether the live traffic comes from the good version."""
        return self.changed is None or self.rollback is not None

    @property
    def happenings(self) -> list[Happening]:
        """Everything so far, oldest first."""
        if self.changed is None:
            return []
        found = [Happening(self.changed, CHANGE)]
        for alert in self.fired.values():
            found.append(Happening(alert.started or self.changed, f"ALERT {alert.name}: {alert.sentence}"))
        if (rollback := self.rollback) is not None:
            after = rollback.at - self.changed
            found.append(
                Happening(
                    rollback.at,
                    f"ROLLBACK to {rollback.target_version}, {after:.1f} s after the change: the webhook came "
                    f"for {rollback.alert}, its signature is valid, traffic is moved",
                )
            )
        if self.recovered is not None:
            at, recall = self.recovered
            found.append(
                Happening(at, f"recovered: {RECALL.title} {recall} over 1000 events since the rollback")
            )
        if self.silent_at is not None:
            found.append(
                Happening(self.silent_at, f"{ALERT} of {BAD_VERSION} has no data: its traffic is gone")
            )
        return sorted(found)
