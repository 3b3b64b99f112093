"""From a file, the environment and secret files to a `Config`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from monitor.config.explain import explain, one_line, written
from monitor.config.root import Config
from monitor.config.section import Problem, Section, holds_many, nested
from monitor.config.yaml_text import parse_yaml
from monitor.errors import ConfigurationError

PREFIX = "MONITOR__"

_Path: TypeAlias = tuple[str | int, ...]


def _secrets(section: type[Section], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all secrets of a section and of those in it."""
    yield from ((*path, key) for key in section.secrets())
    for key, field in section.model_fields.items():
        if (inner := nested(field.annotation)) is not None and not holds_many(field.annotation):
            yield from _secrets(inner, (*path, key))


_SECRETS = list(_secrets(Config))


_NO_KAFKA = "is missing; write bootstrap_servers and topics under it (`monitor replay` does without)"

FILES_ONLY = {"bootstrap_servers": ["unused:9092"], "topics": ["unused"]}
"""The section `kafka` of who reads files only."""


def load_config(path: str | Path, environ: Mapping[str, str], *, needs_kafka: bool = True) -> Config:
    """Read a configuration; every problem in it is reported at once.

    Parameters
    ----------
    path
        A YAML file.
    environ
        Environment variables: MONITOR__KAFKA__TOPICS overrides kafka.topics, and so on. Values are read
        as YAML, secrets as they stand. Keys are matched without regard to case.
    needs_kafka
        Whether the section `kafka` has to be there.

    Raises
    ------
    ConfigurationError
        With one line a problem: the key's path, what is wrong, and the remedy.
    """
    data = _read(Path(path))
    problems, origins = _override(data, environ)
    problems += _read_secrets(data)
    if not needs_kafka:
        data.setdefault("kafka", FILES_ONLY)
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        problems += explain(error, Config)
    if "kafka" not in data:  # said once, and who only replays files learns that they need none
        problems = [Problem(("kafka",), _NO_KAFKA), *(p for p in problems if p.path[0] != "kafka")]
    if not problems:
        return config
    lines = [f"{path}: {len(problems)} problem{'s' * (len(problems) > 1)}"]
    for where, message in problems:
        keys = max((keys for keys in origins if where[: len(keys)] == keys), key=len, default=None)
        origin = f" (set by {origins[keys]})" if keys else ""
        # Names of keys, variables and classes may hold anything.
        lines.append("  " + one_line(f"{written(where)}: {message}{origin}"))
    raise ConfigurationError("\n".join(lines))


def _read(path: Path) -> dict[Any, Any]:
    try:
        data = parse_yaml(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: byte {error.start} is not UTF-8; save it as UTF-8") from None
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    if data is None:
        raise ConfigurationError(f"{path}: is empty; write at least the sections kafka and models")
    if not isinstance(data, dict):
        raise ConfigurationError(f"{path}: is no mapping; write sections such as kafka and models")
    return data


def _override(data: dict[Any, Any], environ: Mapping[str, str]) -> tuple[list[Problem], dict[_Path, str]]:
    """Put the variables into `data`; return problems, and which variable set which path."""
    problems: list[Problem] = []
    origins: dict[_Path, str] = {}
    # Shorter names first, so that a variable for a key changes the section that another one has set.
    for name in sorted((n for n in environ if n.startswith(PREFIX)), key=lambda n: (n.count("__"), n)):
        try:
            origins[_set(data, name.removeprefix(PREFIX).split("__"), environ[name])] = name
        except ValueError as error:
            problems.append(Problem((name,), str(error)))
    return problems, origins


def _set(data: dict[Any, Any], keys: list[str], text: str) -> _Path:
    if not all(keys):
        raise ValueError(f"names no key; write {PREFIX}SECTION__KEY")
    section: Any = data
    path: _Path = ()
    for key in keys:
        if not isinstance(section, dict):
            raise ValueError(f"{written(path)} has no keys that could be set; check the name")
        parent = section
        path = (*path, next((known for known in parent if str(known).lower() == key.lower()), key.lower()))
        section = {} if parent.get(path[-1]) is None else parent[path[-1]]
        parent[path[-1]] = section
    parent[path[-1]] = text if path in _SECRETS else parse_yaml(text)
    return path


def _read_secrets(data: dict[Any, Any]) -> Iterator[Problem]:
    """Replace <key>_file by <key> with the file's text."""
    for *names, key in _SECRETS:
        section: Any = data
        for name in names:
            section = section.get(name) if isinstance(section, dict) else None
        if not isinstance(section, dict) or (file := section.pop(f"{key}_file", None)) is None:
            continue
        where = (*names, f"{key}_file")
        if section.get(key) is not None:
            yield Problem(where, f"{key} is set too; keep one of them")
            continue
        section[key] = "unread"  # so that the key is not said to be missing as well
        try:
            section[key] = Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            yield Problem(
                where, f"{file} cannot be read: {error.strerror}; check the path and its permissions"
            )
        except (TypeError, ValueError):
            yield Problem(where, "is no path of a UTF-8 text file; write one")
        if not section[key]:
            yield Problem(where, f"{file} is empty; write the secret into it")
