from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from monitor.config import Config, load_config
from monitor.errors import ConfigurationError

KAFKA = "kafka: {bootstrap_servers: [localhost:9092], topics: [predictions]}\n"
FRAUD = "models: {fraud: {task: binary, classes: [legit, fraud]}}\n"

Load = Callable[..., Config]
Problems = Callable[..., list[str]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a text, completed by the two sections that have to be there."""

    def load(text: str = "", environ: Mapping[str, str] = {}) -> Config:
        for section in (KAFKA, FRAUD):
            if f"\n{section.split(':')[0]}:" not in f"\n{text}":
                text += f"\n{section}"
        path = tmp_path / "monitor.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(path, environ)

    return load


@pytest.fixture
def problems(load: Load) -> Problems:
    """Return the problems of a text, one line each."""

    def problems(text: str = "", environ: Mapping[str, str] = {}) -> list[str]:
        with pytest.raises(ConfigurationError) as caught:
            load(text, environ)
        first, *lines = str(caught.value).split("\n")
        assert first.endswith(f"monitor.yaml: {len(lines)} problem{'s' * (len(lines) > 1)}")
        return [line.removeprefix("  ") for line in lines]

    return problems
