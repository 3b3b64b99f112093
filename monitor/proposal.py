"""A `models:` block and a field mapping proposed from sampled messages. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

_HINTS = {
    "label": ("label", "outcome", "target", "y_true", "truth", "actual", "ground_truth"),
    "score": ("score", "probability", "proba", "prob", "y_score", "y_pred_proba"),
    "timestamp": ("timestamp", "time", "ts", "event_time", "created_at"),
    "model": ("model", "model_name", "model_id"),
}
"""What people call these fields, best first."""

_MOST_CLASSES = 50


def propose(values: Iterable[bytes | None], fields: Mapping[str, Any]) -> list[str]:
    """Return lines of YAML that fit the messages, or why there are none.

    Parameters
    ----------
    values
        Messages; those that are no JSON objects are passed over.
    fields
        The mapping in use: canonical name to dotted path.
    """
    messages = [m for m in map(_object, values) if m is not None]
    if not messages:
        return ["None: no message is a JSON object."]
    paths = {name: _best_path(name, fields.get(name, name), messages) for name in _HINTS}
    moved = {name: path for name, path in paths.items() if path is not None and path != name}
    block: dict[str, Any] = {"events": {"fields": moved}} if moved else {}
    models = {
        name: described
        for name, of_model in _by_model(messages, paths["model"]).items()
        if (described := _model(of_model, paths["label"])) is not None
    }
    if not models:
        return [f"None: no label found under {paths['label'] or fields.get('label', 'label')!r}."]
    block["models"] = models
    return yaml.safe_dump(block, sort_keys=False, default_flow_style=None, allow_unicode=True).splitlines()


def _object(value: bytes | None) -> dict[str, Any] | None:
    try:
        parsed = json.loads(value or b"")
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _best_path(name: str, configured: Any, messages: list[dict[str, Any]]) -> str | None:
    """Return the configured path if messages have it, else the likeliest that they have."""
    present = {path for message in messages for path in _paths(message)}
    if isinstance(configured, str) and configured in present:
        return configured
    for hint in _HINTS[name]:
        for path in sorted(present, key=len):
            if path.rpartition(".")[2].lower() == hint:
                return path
    return None


def _paths(message: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in message.items():
        if isinstance(value, dict):
            yield from _paths(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def _at(message: Mapping[str, Any], path: str | None) -> Any:
    found: Any = message
    for key in path.split(".") if path else ():
        found = found.get(key) if isinstance(found, dict) else None
    return found if path else None


def _by_model(messages: list[dict[str, Any]], path: str | None) -> dict[str, list[dict[str, Any]]]:
    groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for message in messages:
        name = _at(message, path)
        groups[name if isinstance(name, str) and name else "default"].append(message)
    return dict(groups)


def _model(messages: list[dict[str, Any]], label: str | None) -> dict[str, Any] | None:
    found = {_class(value) for m in messages if (value := _at(m, label)) is not None}
    classes = sorted(c for c in found if c is not None)
    if not classes or len(classes) > _MOST_CLASSES:
        return None
    if set(classes) <= {"0", "1"}:
        classes = ["0", "1"]
    if len(classes) == 2:
        return {"task": "binary", "classes": classes, "positive_class": classes[-1]}
    return {"task": "multiclass", "classes": classes}


def _class(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | str) else None
