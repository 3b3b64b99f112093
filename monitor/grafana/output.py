"""Where the dashboards go."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from monitor.errors import ConfigurationError


def write_dashboards(made: Mapping[str, Mapping[str, Any]], folder: Path | None) -> str:
    """Write each dashboard to its file, or none of them; return what is to be printed.

    Parameters
    ----------
    made
        Dashboards by file name.
    folder
        Where they go, made where it is missing; None: they are returned as one JSON object.

    Raises
    ------
    ConfigurationError
        If a file cannot be written.
    """
    if folder is None:
        return _text(made)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, dashboard in made.items():
            _replace(folder / name, _text(dashboard))
    except OSError as error:
        raise ConfigurationError(
            f"{error.filename or folder} cannot be written: {error.strerror}; name another folder: -o DIR"
        ) from None
    return "".join(f"{folder / name}\n" for name in made)


def _text(tree: Mapping[str, Any]) -> str:
    return json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _replace(path: Path, text: str) -> None:
    """Write a file in one step: Grafana reads the folder while it is written."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)  # Grafana runs as another user
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
