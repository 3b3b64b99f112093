"""What people may ask for, checked: approvals, pauses, silences."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from monitor.actions.plain import iso
from monitor.actions.silence import MAX_SILENCE, MAX_SILENCES, Pause, Silence
from monitor.actions.spec import DAY
from monitor.errors import MonitorError

MAX_TEXT = 1_000
MAX_MATCHERS = 20


class ActRefused(MonitorError):
    """Somebody asked for what cannot be done; `unknown` where it is about something that does not exist."""

    def __init__(self, message: str, *, unknown: bool = False) -> None:
        super().__init__(message)
        self.unknown = unknown


def new_pause(by: str, until: int | None, now: int) -> Pause:
    """Return a pause, or raise ActRefused."""
    check_text("by", by)
    if until is not None and until <= now:
        raise ActRefused(f"until is {iso(until)}, which is past; give a time to come, or none")
    return Pause(by, now, until)


def new_silence(
    matchers: Mapping[str, str], until: int, by: str, comment: str, silences: int, now: int
) -> Silence:
    """Return a silence with an id of its own, or raise ActRefused.

    Parameters
    ----------
    silences
        How many there are.
    """
    check_text("by", by)
    check_text("comment", comment)
    if not matchers:
        raise ActRefused("matchers are empty, which would hold every alert; pause the actions instead")
    if len(matchers) > MAX_MATCHERS:
        raise ActRefused(f"there are more than {MAX_MATCHERS} matchers")
    for name, wanted in matchers.items():
        check_text("a matcher's label", name)
        if len(wanted) > MAX_TEXT:
            raise ActRefused(f"the matcher of {name} is longer than {MAX_TEXT} characters")
    if not now < until <= now + MAX_SILENCE:
        raise ActRefused(
            f"until is {iso(until)}; give a time to come, within {MAX_SILENCE // DAY} days from now"
        )
    if silences >= MAX_SILENCES:
        raise ActRefused(f"there are {MAX_SILENCES} silences already; end one")
    return Silence(secrets.token_hex(6), dict(matchers), now, until, by, comment)


def check_text(what: str, text: str) -> None:
    """Raise ActRefused unless a text that somebody wrote says something, and not too much."""
    if not text.strip():
        raise ActRefused(f"{what} is empty; write one")
    if len(text) > MAX_TEXT:
        raise ActRefused(f"{what} is longer than {MAX_TEXT} characters")
