"""What the log says of rejected records: samples, and loudly when they are most of what is read."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.clock import Clock
from monitor.events.batch import Rejected

log = logging.getLogger(__name__)

SAMPLE_SECONDS = 10.0
"""How often a rejected record is shown."""

MINUTE_SECONDS = 60.0


@dataclass(slots=True)
class _Minute:
    """What was read since `began`."""

    began: float
    read: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    details: dict[str, str] = field(default_factory=dict)


class Rejections:
    """Watches the share of records that are rejected.

    Parameters
    ----------
    clock
        Time.

    Attributes
    ----------
    problem : str or None
        Set while more than half of a minute's records were rejected. A minute in which nothing was read
        changes nothing.
    """

    def __init__(self, clock: Clock) -> None:
        self.problem: str | None = None
        self._clock = clock
        self._next_sample = float("-inf")
        self._minute = _Minute(clock.monotonic())

    def note(self, read: int, rejected: Sequence[Rejected], total: int) -> None:
        """Take in a poll. One that brought nothing counts too: a minute ends at the first call after it.

        Parameters
        ----------
        read
            Records read, valid or not.
        rejected
            Those that are no valid events.
        total
            Records rejected so far.
        """
        now, minute = self._clock.monotonic(), self._minute
        minute.read += read
        minute.reasons.update(each.reason for each in rejected)
        minute.details.update((each.reason, each.detail) for each in rejected)
        if rejected and now >= self._next_sample:
            self._next_sample = now + SAMPLE_SECONDS
            _show(rejected[-1], total)
        if now - minute.began >= MINUTE_SECONDS:
            self._minute = _Minute(now)
            if minute.read:
                self._judge(minute)

    def _judge(self, minute: _Minute) -> None:
        before = self.problem
        found = most_rejected("events of a minute", minute.read, minute.reasons, minute.details)
        self.problem = found and (
            f"{found}; correct the configuration or what is produced (`monitor doctor` reads what the topic "
            "holds and says what fits)"
        )
        if before is None and self.problem is not None:
            log.error("%s", self.problem)
        elif before is not None and self.problem is None:
            log.info("less than half of the events are rejected again")


def most_rejected(what: str, read: int, reasons: Counter[str], details: Mapping[str, str]) -> str | None:
    """Return how many were rejected, and why most of them; None where that is not more than half.

    Parameters
    ----------
    what
        Was read, in the plural.
    read
        How many.
    reasons
        How many were rejected, by reason.
    details
        Of one of each reason.
    """
    rejected = reasons.total()
    if 2 * rejected <= read:
        return None
    [(reason, count)] = reasons.most_common(1)
    return (
        f"{rejected / read:.0%} of the {what} were rejected ({rejected} of {read}), {count} of them as "
        f"{reason}: {details[reason]}"
    )


def _show(sample: Rejected, total: int) -> None:
    log.warning(
        "record rejected: %s",
        sample.detail,
        extra={
            "reason": sample.reason,
            "topic": sample.partition.topic,
            "partition": sample.partition.partition,
            "offset": sample.record.offset,
            "rejected_so_far": total,
        },
    )
