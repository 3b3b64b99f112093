"""What a question about a model is answered with: words with numbers between them. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

from monitor.report import Value
from monitor.web.html import Html, h, join
from monitor.web.numbers import with_interval
from monitor.wording import explain, interval_of, number, written

Sentence = tuple[str | Value, ...]
"""Texts and values, one after the other."""

Tone = Literal["good", "warn", "bad", "none"]


class Answer(NamedTuple):
    """One answer.

    Attributes
    ----------
    key
        A short name, for anchors.
    question
        For people.
    verdict
        The answer in a few words.
    tone
        Whether that is as it should be; "none" where that is nothing good or bad, or cannot be said.
    facts
        Sentences with the numbers behind it.
    """

    key: str
    question: str
    verdict: str
    tone: Tone
    facts: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """Everything as plain text."""
        return " ".join([f"{self.question} {self.verdict}.", *map(plain, self.facts)])


def plain(sentence: Sentence) -> str:
    """Write a sentence without markup."""
    return "".join(part if isinstance(part, str) else _written(part) for part in sentence)


def _written(value: Value) -> str:
    if value.value is None:
        return f"undefined: {explain(value.undefined or '')}"
    interval = interval_of(value)
    bounds = f" [{number(interval.lower)}, {number(interval.upper)}]" if interval else ""
    return written(value) + bounds


def marked_up(sentence: Sentence) -> Html:
    """Write a sentence with its numbers for machines, too."""
    return join(*(part if isinstance(part, str) else with_interval(part) for part in sentence))


def answer_card(answer: Answer) -> Html:
    """Return an answer as a part of the page."""
    return h(
        "article",
        h("h3", answer.question),
        h("p", answer.verdict, class_=f"verdict {answer.tone}"),
        h("ul", *(h("li", marked_up(fact)) for fact in answer.facts)),
        class_="answer",
        id=answer.key,
    )
