"""PromQL of the dashboards: series in the scope that the variables name. Pure."""

from __future__ import annotations

OF_JOB = 'job=~"$job"'
OF_MODEL = OF_JOB + ',model="$model"'
OF_VERSION = OF_MODEL + ',version=~"$version"'
IN_WINDOW = ',window="$window",segment=~"$segment"'
WHOLE_WINDOW = ',window="$window",segment=""'
SCOPE = OF_VERSION + IN_WINDOW
"""What one model is looked at in: of segments only the variable's, which is all events at first."""

WHOLE_SCOPE = OF_VERSION + WHOLE_WINDOW
"""The same over all events, for families that segments do not export by default."""

OF_CLASS_OR_WHOLE = "class=~`|${class:regex}`"
"""The chosen class, or what has none, being of the whole; the name is quoted for the expression."""

ALL_EVENTS = "^$"
"""A regular expression for the segment of all events, or the class of the whole: an empty label."""

ANY = ".*"
"""A regular expression for every value of a label, also none: a version may be empty."""


def select(family: str, *matchers: str) -> str:
    """Return the selector of a family by matchers, which are joined."""
    return f"{family}{{{','.join(matcher for matcher in matchers if matcher)}}}"


def each(by: str, family: str, *matchers: str) -> str:
    """Return one series for each value of `by`, also while one instance takes over from another."""
    return f"max by ({by}) ({select(family, *matchers)})"


def increase(by: str, family: str, *matchers: str) -> str:
    """Return the rate of a counter, summed."""
    return f"sum by ({by}) (rate({select(family, *matchers)}[$__rate_interval]))"


def age(by: str, family: str, *matchers: str) -> str:
    """Return the seconds since a time that is exported."""
    return f"time() - {each(by, family, *matchers)}"
