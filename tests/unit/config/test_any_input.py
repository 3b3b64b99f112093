"""Whatever stands in the file, the answer is a configuration or a ConfigurationError."""

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert_rules import rules
from monitor.config import Config, load_config
from monitor.describe import describe
from monitor.errors import ConfigurationError

EXAMPLE = (Path(__file__).parents[3] / "deploy/monitor.yaml").read_text()
DOCUMENT = yaml.safe_load(EXAMPLE)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["0s", "1h", "all", "*", "a.b", "fraud", "hunter2", "recall", "best"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=5,
)


def paths(node: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [here, *(path for key, value in items for path in paths(value, (*here, key)))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


def load(folder: Path, text: str) -> Config | None:
    path = folder / "monitor.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        return load_config(path, {})
    except ConfigurationError as error:
        lines = str(error).split("\n")[1:]
        assert all(re.match(r"  [^:]+.*: .", line) for line in lines)
        return None


@given(path=st.sampled_from(paths(DOCUMENT)[1:]), value=values)
def test_any_value_in_any_place(folder: Path, path: tuple[Any, ...], value: Any) -> None:
    document = copy.deepcopy(DOCUMENT)
    *parents, last = path
    node = document
    for key in parents:
        node = node[key]
    node[last] = value
    config = load(folder, yaml.safe_dump(document))
    if config is not None:
        try:
            describe(config, rules=rules(config))
        except ConfigurationError as error:
            assert all(re.match(r"alerts\.rules\.[^:]+: .", line) for line in str(error).split("\n"))


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=50))
def test_any_text(folder: Path, text: str) -> None:
    assert load(folder, text) is None


@given(cut=st.integers(0, len(EXAMPLE)), inserted=st.text(max_size=3))
def test_any_damage(folder: Path, cut: int, inserted: str) -> None:
    load(folder, EXAMPLE[:cut] + inserted + EXAMPLE[cut + len(inserted) :])
