"""What the pages of docs/ show: configurations load, commands parse, those about files run on sample data.

A block of YAML whose keys are sections of monitor.yaml is a configuration; what it leaves out is completed
from `BASE`, as docs/configuration.md says. A command runs with the nearest models above it on its page.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
import yaml

from monitor import cli
from monitor.alert_rules import rules
from monitor.assembly import decoder
from monitor.clock import SystemClock
from monitor.config import Config, load_config
from monitor.exports import check_families
from tests.support.commands import Commands

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if "adr" not in path.parts]
BASE = yaml.safe_load("""
kafka: {bootstrap_servers: ["localhost:9092"], topics: [predictions.labeled]}
models:
  fraud:
    task: binary
    classes: [legit, fraud]
    costs: {false_negative: 2000, false_positive: 50}
    max_fpr: [0.05, 0.1]
    at_k: [100]
    windows: [{name: last_10k, events: 10000}, {name: 1h, duration: 1h}, {name: 1d, duration: 1d},
              {name: 30d, duration: 30d}]
    champion: "2026-10-01"
    label_maturity: 0s
actions:
  rollback: {type: kafka, topic: model-control}
""")
RUN = {"check", "replay", "baseline", "rules", "dashboard"}
"""Commands that need no broker and no daemon."""


class Block(NamedTuple):
    """A block of code of a page."""

    page: Path
    language: str
    text: str

    @property
    def name(self) -> str:
        """Return the name of the page."""
        return str(self.page.relative_to(DOCS))


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page, those in lists too."""
    text = page.read_text("utf-8")
    for indent, language, body in re.findall(r"^( *)```(\w+)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL):
        yield Block(page, language, re.sub(f"^{indent}", "", body, flags=re.MULTILINE))


def sections(block: Block) -> dict[str, Any] | None:
    """Return the sections of a configuration; None if the block is none."""
    loaded = yaml.safe_load(block.text) if block.language == "yaml" else None
    known = isinstance(loaded, dict) and loaded.keys() <= Config.model_fields.keys()
    return loaded if known and loaded else None


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the words of each command of monitor."""
    if block.language == "sh":
        for line in block.text.replace("\\\n", "").splitlines():
            if line.startswith("monitor "):
                yield shlex.split(line, comments=True)[1:]


BLOCKS = [block for page in PAGES for block in blocks(page)]
CONFIGURATIONS = [block for block in BLOCKS if sections(block)]
COMMANDS = [(block.name, words) for block in BLOCKS for words in commands(block)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with the files that configurations name."""
    monkeypatch.chdir(tmp_path)
    for name in ("kafka-password", "hook.key", "act-token"):
        path = tmp_path / name
        path.write_text("0123456789abcdef0123456789abcdef\n")
        path.chmod(0o600)
    return tmp_path


def completed(folder: Path, given: dict[str, Any]) -> Path:
    path = folder / "monitor.yaml"
    path.write_text(yaml.safe_dump({**BASE, **given}, sort_keys=False))
    return path


@pytest.mark.parametrize("block", CONFIGURATIONS, ids=lambda block: block.name)
def test_configurations_load(folder: Path, block: Block) -> None:
    given = sections(block) or {}
    config = load_config(completed(folder, given), {})
    check_families(config)
    decoder(config, config.kafka.topics, SystemClock())
    assert {rule.name for rule in rules(config)} >= given.get("alerts", {}).get("rules", {}).keys()


def test_there_are_configurations_and_commands() -> None:
    assert len(CONFIGURATIONS) > 30
    assert len(COMMANDS) > 20


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=[" ".join([n, *w]) for n, w in COMMANDS])
def test_commands_parse(page: str, words: list[str]) -> None:
    if words == ["--help"]:
        return
    group: Any = typer.main.get_command(cli.app)
    group.commands[words[0]].make_context(words[0], words[1:])


def test_commands_in_the_text_exist() -> None:
    group: Any = typer.main.get_command(cli.app)
    for page in PAGES:
        for written in re.findall(r"`monitor ([a-z]+[^`\n]*)`", page.read_text("utf-8")):
            name, *options = written.split()
            assert name in group.commands, f"{page}: monitor {written}"
            known = {option for parameter in group.commands[name].params for option in parameter.opts}
            assert {option for option in options if option.startswith("-")} <= known, f"{page}: {written}"


SAMPLED = [
    page for page in PAGES if any(words[0] in RUN for block in blocks(page) for words in commands(block))
]


@pytest.mark.parametrize("page", SAMPLED, ids=lambda page: str(page.relative_to(DOCS)))
def test_commands_about_files_run(
    folder: Path, page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monitor = Commands(monkeypatch, capsys)
    (folder / "rules" / "tests").mkdir(parents=True)
    shutil.copytree(ROOT / "deploy", folder / "deploy")
    completed(folder, {})
    for block in blocks(page):
        given = sections(block) or {}
        if "fraud" in given.get("models", {}):
            completed(folder, given)
        for words in commands(block):
            if words[0] not in RUN or "--serve" in words or "--connect" in words:
                continue
            for name in words:
                if name.endswith((".jsonl", ".parquet")):
                    words[words.index(name)] = name = str(Path(name).with_suffix(".jsonl"))
                    (folder / name).write_text(sample())
            done = monitor(*words)
            assert done.code == 0, f"monitor {' '.join(words)}: {done.err}"
            assert "rejected, " not in done.out or " 0 rejected, " in done.out


def sample() -> str:
    """Return predictions of a fraud model in the canonical form."""
    rows = (
        {
            "timestamp": 1793520000 + 60 * i,
            "label": ["legit", "fraud"][i % 3 == 0],
            "score": (i * 37 % 100 + 40 * (i % 3 == 0)) / 140,
            "segments": {"region": ["eu", "us"][i % 2]},
        }
        for i in range(1_500)
    )
    return "".join(json.dumps(row) + "\n" for row in rows)
