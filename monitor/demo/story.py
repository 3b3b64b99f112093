"""What happens in the demo, told from what the daemon says and what the hook received. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from monitor.demo.configuration import ALERT, BAD_VERSION, FLOOR, GOOD_VERSION
from monitor.demo.hook import Rollback
from monitor.demo.model import Fault
from monitor.demo.readings import RECALL, Alert, Look, Reading
from monitor.demo.traffic import DAMAGED_SITE

FAULT = Fault()
HEALTHY = "It predicts cases that it was not trained on, as well as it did before it was served."
CHANGE = (
    f"its new scanner at site {DAMAGED_SITE} measures nuclei {1 - FAULT.factor:.0%} too small, and it pushes "
    f"scores towards 0 and 1 (temperature {FAULT.temperature}): cancers are missed, with confidence"
)
NOT_KNOWN = Reading()


class Happening(NamedTuple):
    """Something that happened, in epoch seconds."""

    at: float
    what: str
    details: str

    def __str__(self) -> str:
        """Return all of it but the time."""
        return f"{self.what}: {self.details}"


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
        When a window full of events after the rollback first had a recall above the floor, and that.
    silent_at
        When the alert was first seen without data: its version's traffic is gone.
    """

    changed: float | None = None
    before: Reading = NOT_KNOWN
    fired: Mapping[str, Alert] = field(default_factory=dict)
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
        is_new = rollback is not None and good.complete and good.start >= rollback.at
        if recovered is None and is_new and (good.reading(RECALL).value or 0.0) >= FLOOR:
            recovered = now, good.reading(RECALL)
        if silent_at is None and ALERT in bad and bad[ALERT].state == "no_data":
            silent_at = now
        return replace(
            self,
            fired={**firing, **self.fired},
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
        return sorted([*self._steps, *self._others])

    @property
    def explanation(self) -> str:
        """What there is to say about the phase."""
        return self._steps[-1].details if self._steps else HEALTHY

    @property
    def _steps(self) -> list[Happening]:
        """What the phases begin with."""
        if self.changed is None:
            return []
        found = [Happening(self.changed, f"version {BAD_VERSION} takes over", CHANGE)]
        if ALERT in self.fired:
            found.append(self._alert(self.fired[ALERT], self.changed))
        if (rollback := self.rollback) is not None:
            what = (
                f"ROLLBACK to {rollback.target_version}, {rollback.at - self.changed:.1f} s after the change"
            )
            details = f"the webhook for {rollback.alert} came with a valid signature, and traffic was moved"
            found.append(Happening(rollback.at, what, details))
        if self.recovered is not None:
            at, recall = self.recovered
            details = f"{RECALL.title} is {recall} over 1000 events since the rollback"
            found.append(Happening(at, "recovered", details))
        return found

    @property
    def _others(self) -> list[Happening]:
        if self.changed is None:
            return []
        found = [self._alert(alert, self.changed) for name, alert in self.fired.items() if name != ALERT]
        if self.silent_at is not None:
            what = f"{ALERT} of {BAD_VERSION} has no data"
            found.append(Happening(self.silent_at, what, "its traffic is gone, which is no recovery"))
        return found

    @staticmethod
    def _alert(alert: Alert, changed: float) -> Happening:
        at = alert.started or changed
        what = f"ALERT {alert.name}, by an event {at - changed:.1f} s after the change"
        return Happening(at, what, alert.sentence)
