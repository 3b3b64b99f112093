"""What PyYAML itself breaks on is refused as any other mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import load_config
from monitor.config.yaml_text import parse_yaml
from monitor.errors import ConfigurationError


@pytest.mark.parametrize(
    "value",
    [
        "!!timestamp x",
        "!!int ''",
        "!!int _",
        "!!int 0x",
        "!!float ''",
        "!!float 1:" + "9:" * 500 + "0",
        "!!bool x",
        "!!int 0x" + "f" * 5000,  # Python writes no such number as text
        "!!int 1" + ":0" * 3000,
        "9" * 5000,
        "!!map [a]",
    ],
    ids=lambda value: value[:12],
)
def test_a_value_that_is_not_what_its_tag_says(value: str) -> None:
    with pytest.raises(ValueError, match=r"^line 2: (a number too long, or|expected a mapping)"):
        parse_yaml(f"a: 1\nb: {value}\n")


def test_a_tab_is_answered_with_spaces() -> None:
    with pytest.raises(ValueError, match=r"^line 2: found character '\\t' .* \(indent with spaces; "):
        parse_yaml("a:\n\tb: 1\n")


@pytest.mark.parametrize("escape", [r"\U00110000", r"\UFFFFFFFF"])
def test_an_escape_of_no_character(escape: str) -> None:
    with pytest.raises(ValueError, match="line 1: has an escape that is no character"):
        parse_yaml(f'a: "{escape}"')


@pytest.mark.parametrize(
    ("text", "value"), [("!!int 0x1f", 31), ("!!str 010", "010"), ("!!float 1", 1.0), ("!!bool 'no'", False)]
)
def test_tags_that_fit_are_read(text: str, value: object) -> None:
    assert parse_yaml(text) == value


def test_a_problem_is_one_line_whatever_names_hold(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text('models: {m: {task: binary, classes: [a, "b\\n"], positive_class: c}}')
    with pytest.raises(ConfigurationError) as raised:
        load_config(path, {"MONITOR__x\ny": "1"})
    _, *lines = str(raised.value).split("\n")
    assert r"  x\ny: unknown key; remove it (set by MONITOR__x\ny)" in lines
    assert any(line.endswith(r"write one of a, b\n") for line in lines)
