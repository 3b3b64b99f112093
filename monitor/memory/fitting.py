"""What of the past fits a configuration that may have changed meanwhile."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from monitor.events.spec import ModelSpec
from monitor.memory.plans import changed_meaning, entry, longer_windows
from monitor.report import CUMULATIVE
from monitor.state.windows import Plan, WindowSpec

NAMES_SHOWN = 5
"""How many models a sentence names."""


class Fit:
    """What of the past is kept under the configuration of today.

    Parameters
    ----------
    versions
        How many versions each model has.
    old, new
        What was and is configured, by configured name.

    Attributes
    ----------
    dropped
        Models whose counts mean something else now, or that are no longer configured.
    changes
        What does not fit, as sentences.
    """

    def __init__(self, versions: Counter[str], old: Mapping[str, Plan], new: Mapping[str, Plan]) -> None:
        self._old, self._new = old, new
        reasons: defaultdict[tuple[str | None, str], list[str]] = defaultdict(list)
        for model in sorted(versions):
            if reason := self._misfit(model):
                reasons[entry(model, new), reason].append(model)
        self.dropped = [model for models in reasons.values() for model in models]
        self.changes = [
            *(_dropped(models, reason, versions) for (_, reason), models in reasons.items()),
            *self._longer(versions.keys() - set(self.dropped)),
        ]

    def same_window(self, model: str, window: str) -> bool:
        """Return whether a window of this name is what it was, so that its numbers go on."""
        return window == CUMULATIVE or _sizes(self._old, model, window) == _sizes(self._new, model, window)

    def missing_until(self, known: Mapping[str, int], watermark: int | None) -> dict[str, int]:
        """Return up to which event time new versions of each configured name may lack events.

        Parameters
        ----------
        known
            The same of the past.
        watermark
            Greatest event time so far: what was not read, or was read in another way, is missing up to there.
        """
        found = {}
        for name, plan in self._new.items():
            before = entry(name, self._old)
            if before is None or changed_meaning(self._old[before].spec, plan.spec):
                time = watermark
            else:
                time = known.get(before)
            if time is not None:
                found[name] = time
        return found

    def _misfit(self, model: str) -> str | None:
        """Return why nothing of a model can be kept, None if everything can."""
        now = entry(model, self._new)
        if now is None:
            return "no longer configured"
        changed = changed_meaning(self._spec(model), self._new[now].spec)
        return f"read in another way now ({', '.join(changed)} changed)" if changed else None

    def _spec(self, model: str) -> ModelSpec:
        return self._old[entry(model, self._old) or model].spec

    def _longer(self, kept: Collection[str]) -> Iterator[str]:
        models: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for model in sorted(kept):
            was, now = entry(model, self._old), entry(model, self._new)
            assert was is not None and now is not None
            if names := list(longer_windows(self._old[was], self._new[now])):
                models[now, ", ".join(names)].append(model)
        for (_, windows), of_entry in models.items():
            yield f"{_named(of_entry)}: new or longer windows ({windows}) are incomplete until they are full"


def _sizes(plans: Mapping[str, Plan], model: str, window: str) -> list[WindowSpec]:
    name = entry(model, plans)
    return [] if name is None else [w for w in plans[name].windows if w.name == window]


def _dropped(models: Sequence[str], reason: str, versions: Counter[str]) -> str:
    count = sum(versions[model] for model in models)
    return (
        f"{_named(models)}: {reason}, so what was remembered of {count} "
        f"version{'s' if count > 1 else ''} is dropped"
    )


def _named(models: Sequence[str]) -> str:
    names = ", ".join(map(repr, models[:NAMES_SHOWN]))
    if len(models) == 1:
        return f"model {names}"
    return f"models {names}" + (f" and {len(models) - NAMES_SHOWN} more" if len(models) > NAMES_SHOWN else "")
