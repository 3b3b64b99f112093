"""How imbalanced is it? Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from monitor.report import WindowReport
from monitor.web.model.answer import Answer, Sentence
from monitor.web.model.values import Values
from monitor.wording import imbalance_zone, number, printable

_QUESTION = "How imbalanced is it?"

_SAYS_LITTLE = 0.9
"""From which accuracy of a constant guess on accuracy says little."""


def imbalance(values: Values, class_: str) -> Answer:
    """Answer for one class: its share, and what deciding always the same would achieve."""
    window, name = values.window, printable(class_)
    positives, labeled = class_events(window, class_)
    if not labeled:
        return Answer("imbalance", _QUESTION, "Cannot be said: no labeled event in the window", "none", ())
    facts = tuple(_facts(values, class_, positives, labeled))
    if not positives:
        return Answer("imbalance", _QUESTION, f"No {name} among {labeled:,} labeled events", "warn", facts)
    return Answer("imbalance", _QUESTION, f"{_share(positives, labeled)} {name}", "none", facts)


def class_events(window: WindowReport, class_: str) -> tuple[int, int]:
    """Return how many labeled events are of a class, and how many there are."""
    return window.support[window.classes.index(class_)], window.labeled


def _share(positives: int, labeled: int) -> str:
    if positives == labeled:
        return f"All {labeled:,} labeled events are"
    if 2.1 * positives >= labeled:
        return f"{_percent(positives / labeled)} of the events are"
    each = labeled / positives
    return f"1 in {each:,.0f} events is" if each >= 9.5 else f"1 in {each:.1f} events is"


def _percent(share: float) -> str:
    """Write a share below 1 so that it is not rounded to it."""
    if share < 0.995:
        return f"{share:.0%}"
    return f"{floor(1000 * share) / 10:.1f}%"


def _facts(values: Values, class_: str, positives: int, labeled: int) -> Iterator[Sentence]:
    name = printable(class_)
    if prevalence := values.get("classifier_prevalence", class_=class_):
        yield ("Prevalence ", prevalence, f": {positives:,} of {labeled:,} labeled events are {name}.")
    if 0 < positives < labeled and (ratio := values.get("classifier_imbalance_ratio", class_=class_)):
        zone = imbalance_zone(positives / (labeled - positives))
        side = "" if 2 * positives <= labeled else "; the other way round "
        yield ("Events of it to all others ", ratio, f"{side or ', '}{zone}.")
    yield from _constant(values, class_)


def _constant(values: Values, class_: str) -> Iterator[Sentence]:
    """Say how right it would be to decide always the same."""
    window = values.window
    if window.task == "multilabel":
        (right, wrong), (missed, hit) = window.confusions[window.classes.index(class_)]
        guess = max(right + wrong, missed + hit) / window.labeled
        always = f"Deciding {'always' if missed + hit > right + wrong else 'never'} for {printable(class_)}"
        yield (
            f"{always} would be right for {number(guess)} of the events; the decisions about it are for "
            f"{number((right + hit) / window.labeled)}.",
        )
        return
    most, support = max(zip(window.classes, window.support, strict=True), key=lambda pair: pair[1])
    guess = support / window.labeled
    accuracy = values.get("classifier_accuracy")
    if accuracy is None or accuracy.value is None:
        return
    below = ", which is less" if accuracy.value < guess else ""
    yield (
        f"Deciding always {printable(most)} would have an accuracy of {number(guess)}; the decisions have ",
        accuracy,
        f"{below}." + (" Accuracy says little here." if guess >= _SAYS_LITTLE else ""),
    )
