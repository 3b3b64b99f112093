"""Where each field of an event stands in the user's messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from monitor.errors import ConfigurationError

Path = tuple[str, ...]

FIELDS = (
    "model",
    "version",
    "timestamp",
    "label",
    "score",
    "scores",
    "prediction",
    "confidence",
    "weight",
)
"""Canonical names of the fields that are read, beside `segments` and `id`."""


@dataclass(frozen=True, slots=True)
class FieldPaths:
    """Paths into a message, as keys from the outside in.

    Attributes
    ----------
    fields
        Path of each of `FIELDS` that can stand in a message.
    scores
        Path of each class's score, where `scores` is mapped class by class; else empty.
    segments
        Path of each segment key.
    identity
        Path of `id`; None where it cannot stand in a message, or is not asked for.
    """

    fields: Mapping[str, Path]
    scores: Mapping[str, Path]
    segments: Mapping[str, Path]
    identity: Path | None = None


def resolve_fields(fields: Mapping[str, str | Mapping[str, str]], keys: Iterable[str]) -> FieldPaths:
    """Lay the user's mapping over the canonical names.

    A canonical key that the user gave to another field, or that holds mapped fields, is not read
    under its own name: `{score: model.probability}` says that "model" is an object and no name, and
    `{label: prediction}` that "prediction" is no prediction.

    Parameters
    ----------
    fields
        Canonical name to dotted path. `segments` is the path of the object that holds all keys, or a
        path for each key; `scores` a path, or one for each class.
    keys
        Segment keys of all models.

    Raises
    ------
    ConfigurationError
        Where one mapped field would stand inside another.
    """
    mapped: dict[tuple[str, str], Path] = {}
    canonical: dict[tuple[str, str], Path] = {}
    for name in ("id", *FIELDS):
        where = fields.get(name, name)
        if where == name:
            canonical[name, ""] = (name,)
        elif isinstance(where, str):
            mapped[name, ""] = tuple(where.split("."))
        else:
            mapped |= {(name, inner): tuple(path.split(".")) for inner, path in where.items()}
    where = fields.get("segments", "segments")
    for key in keys:
        if isinstance(where, str):
            chosen = canonical if where == "segments" else mapped
            chosen["segments", key] = (*where.split("."), key)
        elif key in where:
            mapped["segments", key] = tuple(where[key].split("."))
        else:
            canonical["segments", key] = ("segments", key)

    for leaf, path in mapped.items():
        for other, inner in mapped.items():
            if _inside(inner, path):
                raise ConfigurationError(
                    f"events.fields.{'.'.join(filter(None, other))}: {'.'.join(inner)} lies inside "
                    f"{'.'.join(path)}, which is mapped to {'.'.join(filter(None, leaf))}: "
                    "a key cannot be a value and an object"
                )
    # A key may be a field and a segment: slicing by the label is odd, but clear.
    taken = {path for (name, _), path in mapped.items() if name != "segments"}
    found = mapped | {
        leaf: path
        for leaf, path in canonical.items()
        if not any(_inside(path, other) or _inside(other, path) for other in mapped.values())
        and (leaf[0] == "segments" or path not in taken)
    }
    return FieldPaths(
        {name: path for (name, inner), path in found.items() if name in FIELDS and not inner},
        {inner: path for (name, inner), path in found.items() if name == "scores" and inner},
        {inner: path for (name, inner), path in found.items() if name == "segments"},
        found.get(("id", "")),
    )


def _inside(inner: Path, outer: Path) -> bool:
    return len(inner) > len(outer) and inner[: len(outer)] == outer
