"""How many examples a property is tried with."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

LONG = "long"
"""Name of the profile of `make test-long`; tests/conftest.py registers it."""

TIMES = 10


def examples(number: int, **options: Any) -> settings:
    """Return settings for a property that takes long: so many examples, ten times as many in the long run.

    Options are those of `hypothesis.settings`.
    """
    is_long = settings.get_current_profile_name() == LONG
    return settings(max_examples=number * (TIMES if is_long else 1), **options)
