"""What recall is possible at the largest tolerable false-positive rate? Pure."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.report import Value
from monitor.web.model.answer import Answer, Sentence, Tone
from monitor.web.model.values import Values
from monitor.wording import explain, interval_of, number, written

_QUESTION = "What recall at the largest tolerable false-positive rate?"

_WORTH_SAYING = 0.005
"""Recall by which another threshold must be better to be mentioned."""


def tolerance(values: Values, class_: str) -> Answer:
    """Answer for one class: what its ranking allows, and what the decisions make of it."""
    possible = values.at_largest_fpr("classifier_recall_at_fpr", class_)
    if possible is None:
        return _answer("Cannot be said: no scores, or no max_fpr is configured", "none", ())
    taken = tuple(_taken(values, class_, float(possible.labels["max_fpr"])))
    if possible.value is None:
        why = explain(possible.undefined or "")
        return _answer(f"Cannot be said: {why}", "none", taken)
    partial = values.at_largest_fpr("classifier_partial_roc_auc", class_)
    facts = (*_possible(values, class_, possible), *taken, *_area(partial))
    return _answer(*_verdict(values, class_, possible, partial), facts)


def _answer(verdict: str, tone: Tone, facts: tuple[Sentence, ...]) -> Answer:
    return Answer("tolerance", _QUESTION, verdict, tone, facts)


def _verdict(values: Values, class_: str, possible: Value, partial: Value | None) -> tuple[str, Tone]:
    assert possible.value is not None
    budget = float(possible.labels["max_fpr"])
    verdict = f"{written(possible)} at FPR {possible.labels['max_fpr']}"
    if partial is not None and (worse := _against_chance(partial)):
        return f"{verdict}: {worse}", "bad"
    rate, recall = false_positive_rate(values, class_), values.get("classifier_recall", class_=class_)
    if rate is not None and rate > budget:
        return f"{verdict}; the decisions raise more false alarms than that", "warn"
    if recall is not None and recall.value is not None and rate is not None:
        if recall.value < possible.value - _WORTH_SAYING:
            return f"{verdict}; the decisions catch {number(recall.value)} at FPR {number(rate)}", "none"
        return f"{verdict}, and the decisions catch as much", "good"
    return verdict, "none"


def false_positive_rate(values: Values, class_: str) -> float | None:
    """Return the share of the other classes' events that were decided for a class."""
    specificity = values.get("classifier_specificity", class_=class_)
    if specificity is None or specificity.value is None:
        return None
    return 1 - specificity.value


def _possible(values: Values, class_: str, possible: Value) -> Iterator[Sentence]:
    yield (
        "Some threshold catches ",
        possible,
        f" of them with at most {possible.labels['max_fpr']} of the others raising an alarm.",
    )


def _taken(values: Values, class_: str, budget: float) -> Iterator[Sentence]:
    recall, rate = values.get("classifier_recall", class_=class_), false_positive_rate(values, class_)
    if recall is None or recall.value is None:
        return
    caught = ""
    if recall.numerator is not None and recall.denominator is not None:
        caught = f" ({recall.numerator:,.10g} of {recall.denominator:,.10g})"
    if rate is None:
        yield ("The decisions taken catch ", recall, f"{caught}.")
    else:
        side = "beyond" if rate > budget else "within"
        yield (
            "The decisions taken catch ",
            recall,
            f"{caught} at a false-positive rate of {number(rate)}, {side} what is tolerable.",
        )


def _area(partial: Value | None) -> Iterator[Sentence]:
    if partial is not None and partial.value is not None:
        budget = partial.labels["max_fpr"]
        chance = f"{float(budget) / 2:g}"
        yield (
            "Mean recall up to there (partial ROC AUC over ",
            f"{budget}): ",
            partial,
            f"; chance is {chance}.",
        )


def _against_chance(partial: Value) -> str | None:
    """Say that a random ranking might have the same partial area, or more; None where it would have less."""
    interval, chance = interval_of(partial), float(partial.labels["max_fpr"]) / 2
    if interval is None or interval.lower > chance:
        return None
    return "worse than chance" if interval.upper < chance else "no better than chance as far as can be told"
