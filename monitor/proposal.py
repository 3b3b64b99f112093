"""A field mapping and a `models:` block proposed from sampled messages. Pure."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

_HINTS = {
    "label": ("label", "outcome", "target", "y_true", "truth", "actual", "ground_truth", "y"),
    "score": ("score", "probability", "proba", "prob", "y_score", "y_pred_proba"),
    "prediction": ("prediction", "predicted", "y_pred", "decision"),
    "timestamp": ("timestamp", "time", "ts", "event_time", "created_at"),
    "model": ("model", "model_name", "model_id", "model.name", "model.id"),
    "version": ("version", "model_version", "model.version"),
}
"""What people call these fields, best first."""

_MOST_CLASSES = 50

_MESSAGES_PER_CLASS = 2
"""Fewer, and the labels may as well be numbers of orders: nothing is proposed."""


class Proposal(NamedTuple):
    """YAML to paste into monitor.yaml, empty where nothing fits, and sentences about what it rests on."""

    yaml: str
    notes: list[str]


def propose(
    values: Iterable[bytes | None],
    fields: Mapping[str, Any],
    configured: Mapping[str, Mapping[str, Any]],
    default_model: str = "default",
    *,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    remapped: Mapping[str, str] | None = None,
) -> Proposal:
    """Return what fits the messages.

    Parameters
    ----------
    values
        Messages; those that are no JSON objects are passed over.
    fields
        The mapping in use: canonical name to dotted path.
    configured
        Entries of `models` that read their labels already, by name: they stay as they are.
    default_model
        Name of the model of messages that name none.
    changes
        What fits better in configured entries, by name; None removes a setting.
    remapped
        Paths that fit better, by canonical name.
    """
    messages = [m for m in map(_object, values) if m is not None]
    if not messages:
        return Proposal("", ["None: no message is a JSON object."])
    present = {path for message in messages for path in _paths(message)}
    paths = {name: _best_path(name, fields.get(name, name), present) for name in _HINTS}
    remapped = remapped or {}
    moved = {
        name: path
        for name, path in paths.items()
        if path is not None and path != name and path not in remapped.values()
    } | dict(remapped)
    models, notes = {}, []
    groups = _by_model(messages, paths["model"], default_model)
    for name, of_model in groups.items():
        labels = _labels(of_model, paths["label"])
        change = (changes or {}).get(name, {})
        if name in configured:
            entry = {**configured[name], **change}
            models[name] = {key: value for key, value in entry.items() if value is not None}
            changed = [key for key in entry if entry[key] != configured[name].get(key)]
            notes.append(
                f"{name}: as configured, with {', '.join(changed)} changed."
                if changed
                else f"{name}: as configured; it fits {labels.messages} labeled messages."
            )
        elif (why := _no_classes(labels, paths["label"])) is not None:
            notes.append(f"{name}: none, {why}.")
        else:
            models[name] = _model(labels)
            notes.append(
                f"{name}: rests on {labels.messages} labeled messages; "
                + (
                    "its classes are places in the label vectors: name them in that order."
                    if labels.numbered
                    else "a class that is not among them is missing here."
                )
            )
    if not models:
        return Proposal("", notes)
    block: dict[str, Any] = {"events": {"fields": moved}} if moved else {}
    if len(groups) > 1 and default_model in models and any(_name(m, paths["model"]) == "" for m in messages):
        block.setdefault("events", {})["default_model"] = default_model
    block["models"] = models
    text = yaml.safe_dump(block, sort_keys=False, default_flow_style=None, allow_unicode=True, width=100)
    return Proposal(text, notes)


def seen_paths(values: Iterable[bytes | None], most: int = 20) -> list[str]:
    """Return the dotted paths of what stands in messages, the commonest first."""
    messages = (m for m in map(_object, values) if m is not None)
    counts = Counter(path for message in messages for path in _paths(message))
    return [path for path, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]]


def _object(value: bytes | None) -> dict[str, Any] | None:
    try:
        parsed = json.loads(value or b"")
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _best_path(name: str, configured: Any, present: Iterable[str]) -> str | None:
    """Return the configured path if messages have it, else the likeliest that they have."""
    if isinstance(configured, str) and configured in present:
        return configured
    for hint in _HINTS[name]:
        for path in sorted(present, key=lambda path: (len(path), path)):
            if f".{path.lower()}".endswith(f".{hint}"):
                return path
    return None


def _paths(message: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted paths of all values; a key that no path can name is passed over."""
    for key, value in message.items():
        if not key or "." in key or not key.isprintable():
            continue
        if isinstance(value, dict):
            yield from _paths(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def _at(message: Mapping[str, Any], path: str | None) -> Any:
    found: Any = message
    for key in path.split(".") if path else ():
        found = found.get(key) if isinstance(found, dict) else None
    return found if path else None


def _by_model(
    messages: list[dict[str, Any]], path: str | None, default_model: str
) -> dict[str, list[dict[str, Any]]]:
    groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for message in messages:
        groups[_name(message, path) or default_model].append(message)
    return dict(groups)


def _name(message: dict[str, Any], path: str | None) -> str:
    name = _at(message, path)
    return name if isinstance(name, str) and name.isprintable() else ""


class _Labels(NamedTuple):
    """Labels of a model: how often each class occurs, in how many messages.

    `several` says whether a label can be several classes, `numbered` whether classes are places in vectors
    of 0 and 1, whose names are not known.
    """

    counts: Counter[str]
    messages: int
    several: bool = False
    numbered: bool = False


def _labels(messages: list[dict[str, Any]], path: str | None) -> _Labels:
    sent = [value for m in messages if (value := _at(m, path)) is not None]
    lists = [value for value in sent if isinstance(value, list) and len(value) > 1]
    vectors = [value for value in lists if all(element in (0, 1) for element in value)]
    if vectors and len(vectors) == len(sent) and len({len(v) for v in vectors}) == 1:
        if all(v.count(1) == 1 for v in vectors):  # one class each, whose name no message tells
            return _Labels(Counter(), 0)
        places = Counter({str(i): sum(column) for i, column in enumerate(zip(*vectors, strict=True))})
        return _Labels(places, len(vectors), several=True, numbered=True)
    if not lists:
        counts = Counter(name for value in sent if (name := _class(value)) is not None)
        return _Labels(counts, counts.total())
    named = [{_class(e) for e in (v if isinstance(v, list) else [v])} - {None} for v in sent]
    if vectors:  # beside names, or of different lengths: nothing to rely on
        named = []
    counts = Counter(name for names in named for name in names if name is not None)
    return _Labels(counts, len(named), several=True)


def _no_classes(labels: _Labels, path: str | None) -> str | None:
    """Return why no classes can be proposed, None where they can."""
    counts = labels.counts
    if not counts:
        return f"no message has a class name under {path}" if path else "no message has a label"
    if len(counts) == 1:
        return (
            f"its {labels.messages} labeled messages know the class {next(iter(counts))} alone; look at more "
            "messages (--messages 1000)"
        )
    if len(counts) > _MOST_CLASSES or counts.total() < _MESSAGES_PER_CLASS * len(counts):
        return (
            f"{labels.messages} labeled messages have {len(counts)} different labels under {path}: too few "
            "to tell, look at more (--messages 1000), or no classes"
        )
    return None


def _model(labels: _Labels) -> dict[str, Any]:
    """Return an entry of `models`; the rarer of two classes is the positive one."""
    counts = labels.counts
    if labels.several:
        return {"task": "multilabel", "classes": list(counts) if labels.numbered else sorted(counts)}
    classes = sorted(counts)
    if len(classes) > 2:
        return {"task": "multiclass", "classes": classes}
    rarer = min(reversed(classes), key=lambda name: counts[name])
    positive = "1" if set(classes) == {"0", "1"} else rarer
    return {"task": "binary", "classes": classes, "positive_class": positive}


def _class(value: Any) -> str | None:
    """Return the class that a label names, None where it names none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    return value if isinstance(value, str) and value and value.isprintable() else None
