"""Many messages at once into the fields that are read, with msgspec; what it doubts is left to others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, Union

import msgspec

from monitor.events.fields import FieldPaths, Path
from monitor.events.parsing import MAX_DEPTH

Getter = Callable[[list[Any]], list[Any]]

# Longer integers are left to the reference reader: JSON has them, the machine does not.
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
_SCALAR = (str, _Int64, float, bool)
_SEVERAL = (*_SCALAR, list[Union[_SCALAR]])  # type: ignore[valid-type]  # noqa: UP007

# What each field may be in the plain case. Booleans are no float for msgspec, integers are.
_TYPES: dict[str, tuple[Any, ...]] = {
    "model": (str,),
    "version": (str, _Int64),
    "timestamp": (str, float),
    "label": _SCALAR,
    "score": (float,),
    "scores": (list[float], dict[str, float]),
    "prediction": _SCALAR,
    "confidence": (float,),
    "weight": (),
}
_TYPES_OF_SEVERAL = _TYPES | {"label": _SEVERAL, "prediction": _SEVERAL}


class Messages:
    """Decoded messages, by the fields they have."""

    def __init__(self, structs: list[Any], getters: Mapping[Path, Getter], paths: FieldPaths) -> None:
        self._structs = structs
        self._getters = getters
        self._paths = paths

    def __len__(self) -> int:
        return len(self._structs)

    def select(self, indices: Sequence[int]) -> Messages:
        """Return some of the messages."""
        return Messages([self._structs[i] for i in indices], self._getters, self._paths)

    def field(self, name: str) -> list[Any] | None:
        """Return a field of all messages, None where each of them lacks it."""
        if name == "scores" and self._paths.scores:
            return self._mapped_scores()
        return self._column(self._paths.fields.get(name))

    def segment(self, key: str) -> list[Any] | None:
        """Return the values of a segment key, None where each message lacks it."""
        return self._column(self._paths.segments.get(key))

    def identity(self) -> list[Any] | None:
        """Return the ids, None where each message lacks one."""
        return self._column(self._paths.identity)

    def _mapped_scores(self) -> list[Any] | None:
        columns = {name: self._column(path) for name, path in self._paths.scores.items()}
        found = {name: column for name, column in columns.items() if column is not None}
        rows = zip(*found.values(), strict=True)
        return [
            {name: value for name, value in zip(found, row, strict=True) if value is not None} or None
            for row in rows
        ] or None

    def _column(self, path: Path | None) -> list[Any] | None:
        get = self._getters.get(path) if path is not None else None
        if get is None:
            return None
        column = get(self._structs)
        return None if column[0] is None and column.count(None) == len(column) else column


class MessageLayout:
    """msgspec types made of the user's paths, and how to get each field out of them.

    Parameters
    ----------
    paths
        Where the fields stand.
    rare
        Fields that most users never send. They are looked for only in batches that have them.
    several
        Whether a label or prediction may be a list of classes.
    event_bytes
        Greatest length of a message.
    """

    def __init__(self, paths: FieldPaths, rare: Collection[str], several: bool, event_bytes: int) -> None:
        self._paths = paths
        self._event_bytes = event_bytes
        # A message this short cannot be nested too deeply: each level opens and closes.
        self._quick_bytes = min(event_bytes, 2 * MAX_DEPTH)
        types = _TYPES_OF_SEVERAL if several else _TYPES
        self._whole = _decoder(paths, types)
        self._lean = _decoder(paths, types | dict.fromkeys(rare, ()))

    def decode(self, values: Sequence[bytes | None]) -> tuple[Messages, list[int]]:
        """Return the plain messages in order, and the rows of the others."""
        if self._is_quick(values):
            for decode, getters in (self._lean, self._whole):
                structs = _decode_all(decode, values)
                if structs is not None:
                    return Messages(structs, getters, self._paths), []
        decode, getters = self._whole
        attempts = [self._attempt(decode, value) for value in values]
        doubtful = [row for row, struct in enumerate(attempts) if struct is None]
        structs = [struct for struct in attempts if struct is not None]
        return Messages(structs, getters, self._paths), doubtful

    def _is_quick(self, values: Sequence[bytes | None]) -> bool:
        try:
            return max(map(len, values)) <= self._quick_bytes  # type: ignore[arg-type]
        except TypeError:  # a tombstone
            return False

    def _attempt(self, decode: Callable[[bytes], Any], value: bytes | None) -> Any:
        if value is None or len(value) > self._event_bytes:
            return None
        if len(value) > self._quick_bytes and value.count(b"[") + value.count(b"{") > MAX_DEPTH:
            return None
        try:
            value.decode()
            return decode(value)
        except _UNREADABLE:
            return None


def _decode_all(decode: Callable[[bytes], Any], values: Sequence[Any]) -> list[Any] | None:
    try:
        structs = list(map(decode, values))
        # msgspec checks the text of kept fields only; UTF-8 is promised for all.
        if not all(map(bytes.isascii, values)):
            deque(map(bytes.decode, values), maxlen=0)
        return structs
    except _UNREADABLE:
        return None


def _decoder(
    paths: FieldPaths, types_of: Mapping[str, tuple[Any, ...]]
) -> tuple[Callable[[bytes], Any], dict[Path, Getter]]:
    """Return a decoder that fails on a message with a field of no types, and getters of the others."""
    tree: dict[str, Any] = {}
    for name, path in paths.fields.items():
        _plant(tree, path, types_of[name])
    for path in paths.scores.values():
        _plant(tree, path, _TYPES["score"] if types_of["scores"] else ())
    carried = [*paths.segments.values(), *filter(None, [paths.identity])]
    for path in carried:
        _plant(tree, path, _SCALAR)
    getters: dict[Path, Getter] = {}
    for path in {*paths.fields.values(), *paths.scores.values(), *carried}:
        names, types = _attributes(tree, path)
        if types:
            getters[path] = _getter(names)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_struct(tree, frozen=False))
    return decoder.decode, getters


def _getter(attribute: str) -> Getter:
    """Return what lists an attribute of all structs.

    Compiled, since CPython takes twice as long where the attribute is not written in the code.
    """
    return eval(f"lambda structs: [s.{attribute} for s in structs]")  # type: ignore[no-any-return]  # noqa: S307


def _plant(tree: dict[str, Any], path: Path, types: tuple[Any, ...]) -> None:
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    known = tree.setdefault(path[-1], types)
    if known != types:  # one key is several fields: only a text means the same to all of them
        tree[path[-1]] = (str,) if str in known and str in types else ()


def _struct(tree: dict[str, Any], frozen: bool) -> type:
    fields: list[tuple[str, Any, Any]] = []
    for i, node in enumerate(tree.values()):
        if isinstance(node, dict):
            inner = _struct(node, frozen=True)
            fields.append((f"f{i}", inner, inner()))
        else:
            fields.append((f"f{i}", Union[(*node, None)], None))
    # gc=False: structs of plain values make no cycles, and a batch of them no garbage collection.
    return msgspec.defstruct(
        "Message",
        fields,
        rename=dict(zip((name for name, *_ in fields), tree, strict=True)),
        frozen=frozen,
        gc=False,
    )


def _attributes(tree: dict[str, Any], path: Path) -> tuple[str, tuple[Any, ...]]:
    """Return the dotted name of the attribute at a path, and its types."""
    names = []
    node: Any = tree
    for key in path:
        names.append(f"f{list(node).index(key)}")
        node = node[key]
    return ".".join(names), node
