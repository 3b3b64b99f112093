"""docs/configuration.md and deploy/monitor.yaml say what the code does."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import get_args

import yaml
from pydantic_core import PydanticUndefined

from monitor.config import Config, load_config
from monitor.config.section import Section, holds_many, nested
from tests.unit.config.conftest import Load

ROOT = Path(__file__).parents[3]


COMPUTED = {"models.NAME.positive_class": "last of `classes`", "alerts.every": "`evaluation.every`"}
"""Defaults that other options decide."""


def options(section: type[Section], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the default, as it is written, of every option."""
    for key, field in section.options().items():
        inner = nested(field.annotation)
        many = holds_many(field.annotation)
        if inner is None or many or field.default is None:
            yield prefix + key, COMPUTED.get(prefix + key) or default(field.default)
        if inner is not None:
            step = "" if not many else "[]" if str(field.annotation).startswith("tuple") else ".NAME"
            yield from options(inner, f"{prefix}{key}{step}.")
    if (entries := section.named_entries()) is not None:
        for kind in get_args(get_args(entries)[0]):
            entry = nested(kind)
            assert entry is not None
            yield from options(entry, f"{prefix}NAME.")


def default(value: object) -> str:
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, str):
        return value
    value = list(value) if isinstance(value, tuple) else value
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000)
    return text.removesuffix("\n").removesuffix("\n...")


def documented() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in (ROOT / "docs/configuration.md").read_text().splitlines():
        if match := re.match(r"\| `([^`]+)` \| (.+) \| (.+) \| (.+) \|$", line):
            path, _, written, _ = match.groups()
            assert path not in found
            found[path] = written if path in COMPUTED else written.strip("`")
    return found


def test_every_option_and_its_default_are_documented() -> None:
    found: dict[str, str] = {}
    for path, written in options(Config):
        assert found.setdefault(path, written) == written, f"{path} has one default for each kind of action"
    assert documented() == found


def test_the_default_of_the_positive_class_is_the_last_class() -> None:
    model = {"task": "binary", "classes": ["a", "b"]}
    config = Config.model_validate(
        {"kafka": {"bootstrap_servers": ["a"], "topics": ["t"]}, "models": {"m": model}}
    )
    assert config.models["m"].positive_class == "b"


def test_the_default_of_the_steps_of_alerts_is_that_of_evaluations(load: Load) -> None:
    assert load("evaluation: {every: 7s}").alerts.every == timedelta(seconds=7)
    assert load("evaluation: {every: 7s}\nalerts: {every: 1m}").alerts.every == timedelta(minutes=1)


def test_every_refused_setting_of_the_consumer_is_documented_or_needs_an_object() -> None:
    text = (ROOT / "docs/configuration.md").read_text()
    for key, reason in nested(Config.model_fields["kafka"].annotation).refused.items():  # type: ignore[union-attr]
        assert f"`{key}`" in text or "Python object" in reason


def test_the_example_loads() -> None:
    config = load_config(ROOT / "deploy/monitor.yaml", {})
    assert set(config.models) == {"fraud", "tickets", "topics"}
    assert config.model_fields_set == Config.model_fields.keys(), "it has every section"
