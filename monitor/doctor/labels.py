"""What people send as labels: nothing, several classes at once, numbers as texts, numbers from 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from monitor.doctor.finding import Finding, Said, as_yaml, until_found
from monitor.doctor.observed import Observed
from monitor.events.values import shown

_SHOWN = 5
_FEW = 3
_ENOUGH = 20
_TRUTHS = {"true": 1, "false": 0, "yes": 1, "no": 0, "t": 1, "f": 0, "y": 1, "n": 0}


def check_labels(seen: Observed) -> Said:
    """Yield what is wrong with labels: the first thing that is."""
    checks = (_missing, _several, _single_in_multilabel, _counting, _spelled, _one_class)
    return until_found(check(seen) for check in checks)


def _missing(seen: Observed) -> Said:
    if len(seen) and not seen.labeled.any() and not seen.column("label"):
        yield Finding(
            f"no message has a label at {seen.path('label')}. Metrics need the true class.",
            "check events.fields.label, and whether this topic carries events before their outcome is known.",
            unmapped=True,
        )


def _several(seen: Observed) -> Said:
    """Labels of several classes, where one is configured."""
    lists = [value for value in seen.column("label") if isinstance(value, list)]
    vectors = [value for value in lists if len(value) > 1 and all(element in (0, 1) for element in value)]
    if seen.spec.task == "multilabel":
        lengths = Counter(map(len, vectors))
        lengths.pop(len(seen.spec.classes), None)
        if seen.rejected["wrong_length"] and lengths:
            yield Finding(
                f"{lengths.total()} of {len(seen.sent)} labels are 0/1 vectors of "
                f"{lengths.most_common(1)[0][0]}, but {len(seen.spec.classes)} classes are configured.",
                f"name every class in models.{seen.name}.classes, in the order of the vectors.",
                explains=frozenset({"wrong_length"}),
                replaces=True,
            )
        return
    names = [value for value in lists if value not in vectors and len(value) != 1]
    several = [value for value in vectors if value.count(1) != 1] + names
    if several and len(several) >= 0.05 * len(seen.column("label")):
        example = max(several, key=len if names else sum)
        same = not names and len(example) == len(seen.spec.classes)
        what = (
            f"0/1 vectors with {sum(element == 1 for element in example)} ones"
            if not names
            else f"lists of {len(example)} classes"
        )
        yield Finding(
            f"{len(several)} of {len(seen.column('label'))} labels are not one class, such as {what}: "
            f"several seem to be true at once, and a {seen.spec.task} model has one.",
            f"write models.{seen.name}.task: multilabel, with every class under classes"
            + ("." if names else ", in the order of the vectors."),
            explains=frozenset({"wrong_length", "unknown_label", "not_normalised"}),
            model={"task": "multilabel", "positive_class": None} if same else {},
            replaces=not same,
        )


def _single_in_multilabel(seen: Observed) -> Said:
    """Exactly one class an event and scores that sum to 1, where several are configured."""
    if seen.spec.task != "multilabel" or seen.spec.scores == "logit":
        return
    known = seen.labeled & seen.scored
    if known.sum() < _ENOUGH:
        return
    one = (seen.label[known] == 1).sum(axis=1) == 1
    sums = seen.score[known].astype(np.float64).sum(axis=1)
    if one.all() and (np.abs(sums - 1) < 1e-3).all():
        yield Finding(
            f"each of {int(known.sum())} labels is one class, and scores sum to 1: it looks like a "
            "multiclass model.",
            f"write models.{seen.name}.task: multiclass (and remove threshold), unless several classes can "
            "be true at once.",
            model={"task": "multiclass", "threshold": None},
        )


def _counting(seen: Observed) -> Said:
    """Integers from 1, where they are read as places from 0, or the other way round."""
    whole = _whole(seen.column("label"))
    size = len(seen.spec.classes)
    if seen.spec.task == "multilabel" or len(whole) < _FEW:
        return
    if seen.spec.integers == "names":
        if min(whole) == 0 and max(whole) < size and "0" not in seen.spec.classes:
            yield Finding(
                f"labels are numbered from 0, but read as the names {as_yaml(seen.spec.classes)}: "
                f"{seen.rejected['unknown_label']} of {len(seen.sent)} messages are rejected, and the others "
                "count for the class before theirs.",
                f"write models.{seen.name}.labels: indices.",
                explains=frozenset({"unknown_label"}),
                model={"labels": "indices"},
            )
    elif min(whole) == 1 and max(whole) == size:
        yield Finding(
            f"labels are numbered from 1 to {size}, but read as places in {as_yaml(seen.spec.classes)} from "
            f"0: {seen.rejected['unknown_label']} of {len(seen.sent)} messages are rejected, and the others "
            "count for the class after theirs.",
            f"send labels from 0 to {size - 1}, or names; or write classes: "
            f"{as_yaml([str(i + 1) for i in range(size)])} (their names are then these numbers).",
            explains=frozenset({"unknown_label"}),
            model=_renamed(seen, [str(i + 1) for i in range(size)]),
        )


def _whole(values: list[Any]) -> list[int]:
    return [
        int(value)
        for value in values
        if (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, float) and value.is_integer())
    ]


def _renamed(seen: Observed, names: list[str]) -> dict[str, Any]:
    """Return settings with other class names in the same order."""
    positive = {} if seen.spec.positive is None else {"positive_class": names[seen.spec.positive]}
    return {"classes": names, **positive, "aliases": None, "labels": None}


def _spelled(seen: Observed) -> Said:
    """Known classes in another spelling: numbers as texts, capitals, spaces, true and false."""
    unknown = Counter(label for label in _labels(seen) if not _is_known(seen, label))
    aliases: dict[str, str] = {}
    for label in unknown:
        name = _meant(seen, label)
        if name is None:
            return  # new classes: the proposal has them
        aliases[label] = name
    if aliases:
        pairs = ", ".join(f"{shown(alias)} for {name}" for alias, name in list(aliases.items())[:_SHOWN])
        more = ", …" if len(aliases) > _SHOWN else ""
        yield Finding(
            f"{unknown.total()} of {len(seen.sent)} labels are spelled unlike the classes: probably "
            f"{pairs}{more}. (A text is always a name, also one of digits.)",
            f"write models.{seen.name}.aliases: {as_yaml(aliases, _SHOWN)}, or send the names.",
            explains=frozenset({"unknown_label"}),
            model={"aliases": {**seen.config.aliases, **aliases}},
        )


def _labels(seen: Observed) -> Iterator[str]:
    """Yield the labels that are texts."""
    for value in seen.column("label"):
        for label in value if isinstance(value, list) else [value]:
            if isinstance(label, str):
                yield label


def _is_known(seen: Observed, label: str) -> bool:
    return label in seen.spec.classes or label in seen.spec.aliases


def _meant(seen: Observed, label: str) -> str | None:
    """Return the class that a text probably means."""
    classes = seen.spec.classes
    text = label.strip().casefold()
    by_spelling: Mapping[str, str] = {name.strip().casefold(): name for name in classes}
    if text in by_spelling and len(by_spelling) == len(classes):
        return by_spelling[text]
    try:
        number = float(text)
    except ValueError:
        truth = _TRUTHS.get(text)
        if truth is None or seen.spec.positive is None:
            return None
        if set(classes) == {"0", "1"}:
            return str(truth)
        return classes[seen.spec.positive if truth else 1 - seen.spec.positive]
    if not number.is_integer():
        return None
    if seen.spec.integers == "names":
        return str(int(number)) if str(int(number)) in classes else None
    return classes[int(number)] if 0 <= number < len(classes) else None


def _one_class(seen: Observed) -> Said:
    present = [name for name, count in seen.class_counts.items() if count]
    if len(present) != 1 or seen.spec.task == "multilabel" or seen.rejected.total() > len(seen):
        return
    yield Finding(
        f"every label is {present[0]}. With one class there is no recall of the other and no ROC curve.",
        "if the other is rare, look at more messages (--messages 1000); otherwise check events.fields.label.",
        urgent=False,
    )
