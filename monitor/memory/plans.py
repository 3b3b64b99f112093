"""What was remembered of each configured model, as plain data, and what another configuration makes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from monitor.checkpoint.tree import Tree
from monitor.config import WILDCARD
from monitor.events.spec import ModelSpec, Task
from monitor.state.reading import count, plain, take
from monitor.state.windows import Plan, WindowSpec

MEANING = {
    "task": "task",
    "classes": "classes",
    "positive": "positive_class",
    "integers": "labels",
    "thresholds": "threshold",
    "scores": "scores",
    "temperature": "temperature",
    "top_k": "top_k",
    "segments": "segments",
    "version_classes": "versions",
}
"""Fields of `ModelSpec` that decide what counts mean, and the options that they come from."""


def describe(plan: Plan) -> Tree:
    """Return a plan as plain data."""
    spec = plan.spec
    return {
        "task": spec.task,
        "classes": list(spec.classes),
        "positive": spec.positive,
        "integers": spec.integers,
        "aliases": dict(spec.aliases),
        "thresholds": list(spec.thresholds),
        "scores": spec.scores,
        "temperature": float(spec.temperature),
        "top_k": list(spec.top_k),
        "segments": list(spec.segments),
        "version_classes": {version: list(classes) for version, classes in spec.version_classes.items()},
        "windows": [{"name": w.name, "kind": w.kind, "size": w.size} for w in plan.windows],
        "label_maturity": plan.maturity,
        "held_events": plan.held_events,
    }


def fingerprint(plans: Mapping[str, Plan], topics: Collection[str]) -> str:
    """Return the sha256 of what decides which numbers come about."""
    whole = {"models": {name: describe(plan) for name, plan in plans.items()}, "topics": sorted(topics)}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_plans(models: Tree) -> dict[str, Plan]:
    """Return what `describe` described, by configured name.

    Raises
    ------
    ValueError
        If it is something else.
    """
    return {plain(name, str, "the name of a model"): _plan(name, models[name]) for name in models}


def _plan(name: str, tree: Any) -> Plan:
    classes = _texts(tree, "classes")
    task: Task = _one_of(tree, "task", get_args(Task))
    positive = None if task != "binary" else count(take(tree, "positive", int), "positive")
    if len(classes) < 2 or (positive is not None and (len(classes) != 2 or positive > 1)):
        raise ValueError(f"the classes of {name} fit no {task} model")
    return Plan(
        spec=ModelSpec(
            name=name,
            task=task,
            classes=classes,
            positive=positive,
            integers=_one_of(tree, "integers", ("names", "indices")),
            aliases={alias: plain(to, str, "a class") for alias, to in take(tree, "aliases", dict).items()},
            thresholds=tuple(plain(t, float, "a threshold") for t in take(tree, "thresholds", list)),
            scores=_one_of(tree, "scores", ("probability", "logit")),
            temperature=take(tree, "temperature", float),
            top_k=tuple(count(k, "top_k") for k in take(tree, "top_k", list)),
            segments=_texts(tree, "segments"),
            version_classes={
                version: tuple(plain(c, str, "a class") for c in plain(order, list, "an order of classes"))
                for version, order in take(tree, "version_classes", dict).items()
            },
        ),
        windows=tuple(_window(window) for window in take(tree, "windows", list)),
        maturity=count(take(tree, "label_maturity", int), "label_maturity"),
        held_events=count(take(tree, "held_events", int), "held_events"),
    )


def _window(tree: object) -> WindowSpec:
    kind = _one_of(tree, "kind", ("events", "duration", "positives"))
    return WindowSpec(take(tree, "name", str), kind, count(take(tree, "size", int), "size"))


def _texts(tree: object, key: str) -> tuple[str, ...]:
    return tuple(plain(text, str, key) for text in take(tree, key, list))


def _one_of(tree: object, key: str, choices: Collection[str]) -> Any:
    found = take(tree, key, str)
    if found not in choices:
        raise ValueError(f"{key} is none of {', '.join(choices)}")
    return found


def entry(model: str, plans: Mapping[str, Plan]) -> str | None:
    """Return under which name a model is configured, None if it isn't."""
    return model if model in plans else WILDCARD if WILDCARD in plans else None


def changed_meaning(old: ModelSpec, new: ModelSpec) -> list[str]:
    """Return the options by whose change counts mean something else."""
    return [option for field, option in MEANING.items() if getattr(old, field) != getattr(new, field)]


def longer_windows(old: Plan, new: Plan) -> Iterator[str]:
    """Yield the names of windows that reach further back than anything that was held for certain."""
    for window in new.windows:
        same = [w.size for w in old.windows if w.kind == window.kind]
        if window.size > max(same, default=0):
            yield window.name
