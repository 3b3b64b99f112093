"""Which value of a metric a rule is about: its labels and its class, known to every model concerned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from monitor.alert_rules.misfit import Misfit, listed, nearest
from monitor.config import WILDCARD, RuleConfig
from monitor.metrics.labels import LabelSets
from monitor.metrics.metric import Metric
from monitor.metrics.parameters import Parameters

_CHOSEN = ("subset", "average", "criterion", "k", "max_fpr")
"""Keys of a rule that are labels of a value."""

_NEEDS = {
    "classifier_fbeta": "costs",
    "classifier_expected_cost": "costs",
    "classifier_top_k_accuracy": "top_k",
}
"""What has to be configured of a model for a family to exist, where its labels do not tell."""


@dataclass(frozen=True)
class Concerned:
    """An entry of `models` that a rule concerns, and the labels that its metrics have by family."""

    name: str
    parameters: Parameters
    families: Mapping[str, LabelSets]

    def combinations(self, family: str) -> list[Mapping[str, tuple[str, ...]]]:
        """Return which values labels have together; empty where the model has no such values."""
        return [
            {axis.label: axis.values(self.parameters) for axis in axes}
            for axes in self.families.get(family, ())
        ]

    def classes(self, family: str) -> tuple[str, ...]:
        """Return the classes that values of a family are about, "" where they are about the whole."""
        each = (combination.get("class", ("",)) for combination in self.combinations(family))
        return tuple(dict.fromkeys(name for names in each for name in names))


def choose(rule: RuleConfig, metric: Metric, models: Sequence[Concerned]) -> tuple[Mapping[str, str], str]:
    """Return the labels of the value (without its class), and the class.

    Raises
    ------
    Misfit
        If a model has no such value, or it is not clear which is meant.
    """
    for model in models:
        _exists(metric, model)
    labels = dict(_labels(rule, metric, models[0]))
    class_ = _class(rule, metric, models)
    for model in models:
        _has(metric, model, labels, class_)
    return labels, class_


def choose_class(rule: RuleConfig, models: Sequence[Concerned]) -> str:
    """Return the class of a rule about the calibration of scores.

    Raises
    ------
    Misfit
        If a model does not have it.
    """
    known = [model.parameters.scored for model in models]
    if rule.class_ is None:
        defaults = {names[0] for names in known}
        if len(defaults) == 1 and all(len(names) == 1 for names in known):
            return defaults.pop()
        if all(len(names) == 1 for names in known):
            return WILDCARD
        raise Misfit("class", _which(next(names for names in known if len(names) > 1)))
    for model, names in zip(models, known, strict=True):
        if rule.class_ != WILDCARD and rule.class_ not in names:
            raise Misfit("class", _no_class(rule.class_, model, names))
    return rule.class_


def _exists(metric: Metric, model: Concerned) -> None:
    p = model.parameters
    if p.task not in metric.tasks:
        raise Misfit("metric", f"{metric.name} is not for {p.task} models, as models.{model.name} is")
    combinations = model.combinations(metric.name)
    if not any(all(values for values in each.values()) for each in combinations):
        key = _NEEDS.get(metric.name) or (
            "reference_prevalence" if not combinations else "at_k" if "k" in metric.labels else "max_fpr"
        )
        raise Misfit("metric", f"{metric.name} needs models.{model.name}.{key}; set it")


def _labels(rule: RuleConfig, metric: Metric, model: Concerned) -> Iterator[tuple[str, str]]:
    """Yield the labels: those of the rule, else their defaults."""
    combinations = model.combinations(metric.name)
    for key in _CHOSEN:
        given = getattr(rule, key)
        if given is not None and key not in metric.labels:
            raise Misfit(key, f"{metric.name} has no {key}; remove it")
    for label in metric.labels:
        if label in ("true", "predicted"):
            raise Misfit("metric", f"{metric.name} is many numbers; write a metric that is one")
        if label == "class":
            continue
        given = getattr(rule, label, None)
        if given is not None:
            yield label, given if isinstance(given, str) else repr(given)
            continue
        values = next(each[label] for each in combinations if label in each)
        if label in ("average", "criterion") and len(values) > 1:
            raise Misfit(label, f"is missing; write one of {', '.join(values)}")
        yield label, values[0]


def _class(rule: RuleConfig, metric: Metric, models: Sequence[Concerned]) -> str:
    if rule.class_ is not None:
        for model in models:
            named = [name for name in model.classes(metric.name) if name]
            if not named:
                raise Misfit("class", f"{metric.name} is about no class; remove it")
            if rule.class_ not in (WILDCARD, *named):
                raise Misfit("class", _no_class(rule.class_, model, named))
        return rule.class_
    defaults = [_default_class(model, metric.name) for model in models]
    if None not in defaults and len(set(defaults)) == 1:
        return defaults[0] or ""
    if all("" in model.classes(metric.name) for model in models):
        return ""
    if len(models) > 1 and all(_of_scored(model, metric.name) for model in models):
        return WILDCARD
    raise Misfit("class", _which(models[defaults.index(None) if None in defaults else 0].parameters.classes))


def _default_class(model: Concerned, family: str) -> str | None:
    """Return the class that is meant where none is written, None where one has to be."""
    classes = model.classes(family)
    positive = model.parameters.positive
    if positive is not None and model.parameters.classes[positive] in classes:
        return model.parameters.classes[positive]
    return "" if "" in classes else None


def _of_scored(model: Concerned, family: str) -> bool:
    """Return whether every class that has a value has scores of its own: of a binary model, one."""
    return set(model.classes(family)) <= set(model.parameters.scored)


def _has(metric: Metric, model: Concerned, labels: Mapping[str, str], class_: str) -> None:
    """Check that a model has the value, and name the label that it does not have."""
    combinations = model.combinations(metric.name)

    def fits(each: Mapping[str, tuple[str, ...]], label: str, value: str) -> bool:
        return value in each.get(label, ()) or (
            label == "class" and value == WILDCARD and each[label] != ("",)
        )

    of_class = [each for each in combinations if class_ == "" and "class" not in each] or [
        each for each in combinations if fits(each, "class", class_)
    ]
    for label, value in labels.items():
        if any(fits(each, label, value) for each in of_class):
            continue
        known = ", ".join(dict.fromkeys(v for each in of_class for v in each.get(label, ())))
        if any(fits(each, label, value) for each in combinations):
            raise Misfit(
                "class", f"{metric.name} with {label} {value} is about one class; write which, or '*'"
            )
        if label in ("k", "max_fpr"):
            key = "max_fpr" if label == "max_fpr" else _NEEDS.get(metric.name, "at_k")
            raise Misfit(
                label, f"{value} is not in models.{model.name}.{key}; add it there, or write one of {known}"
            )
        if label == "beta":
            raise Misfit("model", "costs differ between these models, and beta with them; name one model")
        raise Misfit(label, f"{value} is not for models.{model.name}; write one of {known}")


def _no_class(name: str, model: Concerned, known: Sequence[str]) -> str:
    return f"{name!r} is no class of models.{model.name} that this can be about; {nearest(name, known)}"


def _which(classes: Sequence[str]) -> str:
    return f"is missing; write one of {listed(classes)}, or '*' for each of them"
