"""Are its probabilities credible? Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from monitor.recalibration import window_suggestion
from monitor.recalibration.suggestion import LEAST
from monitor.report import Value
from monitor.web.model.answer import Answer, Sentence, Tone
from monitor.web.model.imbalance import class_events
from monitor.web.model.values import Values
from monitor.wording import explain, number, printable

_QUESTION = "Are its probabilities credible?"

CHANCE = 0.01
"""A p-value below which a deviation is not put down to chance: it is looked at many times a day."""

_LEAST_P = 0.0001
"""A smaller p-value is not worth more digits."""

SHIFT = 0.1
"""Logits by which probabilities may be off as a whole; also what alerts tolerate by default."""

SLOPE = 1.1
"""Factor by which logits may be off; also what alerts tolerate by default."""


def credibility(values: Values, class_: str) -> Answer:
    """Answer for one class: whether events come true as often as their probabilities say."""
    verdict, tone = _verdict(values, class_)
    return Answer("credibility", _QUESTION, verdict, tone, tuple(_facts(values, class_)))


def _verdict(values: Values, class_: str) -> tuple[str, Tone]:
    p_value = values.get("classifier_calibration_p_value", class_=class_)
    if p_value is None:
        return "Cannot be said: no probabilities", "none"
    positives, labeled = class_events(values.window, class_)
    rarer = min(positives, labeled - positives)
    if rarer < LEAST and labeled:
        which = printable(class_) if positives <= labeled - positives else "other classes"
        return f"Too few events to say: {rarer:,} of {which}", "none"
    if p_value.value is None:
        return f"Cannot be said: {explain(p_value.undefined or '')}", "none"
    if _number(values, "classifier_brier_skill_score", class_, default=1.0) <= 0:
        return f"No: {_how(values, class_, rarer) or 'worse than the prevalence for everyone'}", "bad"
    if p_value.value >= CHANCE:
        suggested = window_suggestion(values.window, class_)
        if suggested is not None and suggested["map"] is not None:
            return "Nearly: no shift or slope, but a recalibration would help", "warn"
        return "No evidence against them", "good"
    if how := _how(values, class_, rarer):
        return f"No: {how}", "warn"
    return "Nearly: off by little, though not by chance", "good"


def _how(values: Values, class_: str, rarer: int) -> str:
    """Say in which way probabilities are off, "" where that is within what is tolerated or may be chance."""
    intercept = _number(values, "classifier_calibration_intercept", class_, default=0.0)
    slope = _number(values, "classifier_calibration_slope", class_, default=1.0)
    # The intercept's standard error is about 1 / sqrt(sum of p (1 - p)), and that sum at most `rarer`.
    tolerated = max(SHIFT, 2 / sqrt(rarer))
    found = []
    if abs(intercept) > tolerated:
        found.append("scores too high" if intercept < 0 else "scores too low")
    if slope < 0:
        found.append("the wrong way round")
    elif slope < 1 / SLOPE:
        found.append("over-confident")
    elif slope > SLOPE:
        found.append("under-confident")
    return " and ".join(found)


def _number(values: Values, name: str, class_: str, default: float) -> float:
    value = values.get(name, class_=class_)
    return default if value is None or value.value is None else value.value


def _facts(values: Values, class_: str) -> Iterator[Sentence]:
    def get(name: str, **labels: str) -> Value | None:
        return values.get(f"classifier_{name}", class_=class_, **labels)

    slope, intercept = get("calibration_slope"), get("calibration_intercept")
    if intercept is not None and intercept.value is not None:
        yield ("Intercept ", intercept, " (0 is right, below 0 scores are too high).")
    if slope is not None and (slope.value is not None or slope.undefined in ("separated", "equal_scores")):
        yield ("Slope ", slope, " (1 is right, below 1 scores are over-confident).")
    yield from _p_value(get("calibration_p_value"))
    error, chance = get("calibration_error"), get("calibration_error_expected")
    if error is not None and error.value is not None and chance is not None:
        yield ("Off by ", error, " on average (calibration error); chance alone gives about ", chance, ".")
    brier, skill = get("brier_score", subset="all"), get("brier_skill_score")
    if brier is not None and brier.value is not None and skill is not None:
        base = get("brier_uncertainty")
        yield (
            "Brier score ",
            brier,
            *(("; the prevalence for everyone has ", base) if base is not None else ()),
            *((", skill ", skill) if skill.value is not None else ()),
            ".",
        )
    yield from _suggested(values, class_)


def _p_value(p_value: Value | None) -> Iterator[Sentence]:
    if p_value is not None and p_value.value is not None:
        shown = p_value if p_value.value >= _LEAST_P else f"below {_LEAST_P}"
        yield ("Were they right, chance would deviate as much with probability ", shown, " (p value).")


def _suggested(values: Values, class_: str) -> Iterator[Sentence]:
    found = window_suggestion(values.window, class_)
    if found is not None and found["map"] is not None:
        yield (
            f"Suggested recalibration, {found['map']}: {found['formula']}; saves {number(found['gain'])} of "
            f"log loss per event (standard error {number(found['standard_error'])}, cross-validated).",
        )
