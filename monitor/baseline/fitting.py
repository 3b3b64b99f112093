"""What a stored reference is good for: the models and detectors that it fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.baseline.baseline import Baseline
from monitor.detection import CalibrationMap
from monitor.errors import ConfigurationError
from monitor.events.spec import ModelSpec

_AGAIN = "make it again with `monitor baseline`"


def meaning(spec: ModelSpec) -> Mapping[str, Any]:
    """Return what the numbers of a model depend on, by the option that it comes from."""
    return {
        "task": spec.task,
        "classes": list(spec.classes),
        "positive_class": None if spec.positive is None else spec.classes[spec.positive],
        "labels": spec.integers,
        "threshold": list(spec.thresholds),
        "scores": spec.scores,
        "temperature": spec.temperature,
    }


def check_fit(baseline: Baseline, name: str, model: str, spec: ModelSpec) -> None:
    """Refuse a baseline that was made of another model, or of one that was read in another way.

    Parameters
    ----------
    baseline
        What was loaded.
    name
        Of the entry in `baselines`.
    model
        Name of the model that is to be held against it; "*" for every model.
    spec
        How its events are read today.

    Raises
    ------
    ConfigurationError
        It does not fit.
    """
    if model not in ("*", baseline.model):
        raise ConfigurationError(
            f"baselines.{name}: was made of model {baseline.model!r}, not of {model!r}; name one of that "
            f"model, or {_AGAIN}"
        )
    today = meaning(spec)
    changed = [option for option in today if today[option] != baseline.meaning.get(option)]
    if changed:
        option = changed[0]
        raise ConfigurationError(
            f"baselines.{name}: was made with another {', '.join(changed)} ({option}: "
            f"{_shown(baseline.meaning.get(option))} then, {_shown(today[option])} now); {_AGAIN}"
        )


def calibration_map(baseline: Baseline, name: str, class_: str) -> CalibrationMap:
    """Return what recalibrates the scores of a class.

    Parameters
    ----------
    baseline
        What was loaded.
    name
        Of the entry in `baselines`.
    class_
        The class.

    Raises
    ------
    ConfigurationError
        The class has no scores, or fewer than 1,000 events of either kind.
    """
    if class_ not in baseline.scored:
        known = ", ".join(map(repr, baseline.scored))
        raise ConfigurationError(
            f"baselines.{name}: has no scores of class {class_!r}, only of {known}; name one of these"
        )
    try:
        return CalibrationMap.fit(*baseline.groups(class_))
    except ValueError as error:
        raise ConfigurationError(
            f"baselines.{name}: {error}; make it of more events, or leave the rule's baseline out"
        ) from None


def _shown(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 80 else text[:79] + "…"
