"""What readers of files share: chunks of rows, and the shape that a table's rows have as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import Any, NamedTuple

from monitor.errors import SourceError

CHUNK_ROWS = 5000


class Chunk(NamedTuple):
    """Consecutive rows: messages, the share of the file that was read, rows left (1: unknown)."""

    values: list[bytes]
    done: float
    left: int


def row_template(path: Path, columns: Sequence[str]) -> str:
    """Return a format that makes one object of a row: `template.format(*cells)`, cells written as JSON.

    Columns are keys; dots nest them, so that the column "outcome.label" is found at that path. A
    column whose name with dots leads through another column keeps it as one key.

    Raises
    ------
    SourceError
        Where two columns have one name.
    """
    twice = {name for name in columns if columns.count(name) > 1}
    if twice:
        raise SourceError(f"{path}: two columns are called {dumps(min(twice))}; rename one")
    tree: dict[str, Any] = {}
    for i, name in enumerate(columns):
        keys = name.split(".")
        if any(".".join(keys[:depth]) in columns for depth in range(1, len(keys))):
            keys = [name]
        node = tree
        for key in keys[:-1]:
            node = node.setdefault(key, {})
        node[keys[-1]] = i  # a leaf is the number of its column
    return _written(tree)


def _written(node: dict[str, Any] | int) -> str:
    if isinstance(node, int):
        return f"{{{node}}}"
    fields = (
        f"{dumps(key).replace('{', '{{').replace('}', '}}')}: {_written(inner)}"
        for key, inner in node.items()
    )
    return f"{{{{{', '.join(fields)}}}}}"
