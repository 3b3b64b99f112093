from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import Config, load_config
from monitor.grafana import configured
from monitor.prometheus_rules import configured as of_rules

KAFKA = "kafka: {bootstrap_servers: [localhost:9092], topics: [t]}\n"


def config(folder: Path, text: str) -> Config:
    (folder / "monitor.yaml").write_text(KAFKA + text)
    return load_config(folder / "monitor.yaml", {})


def model(**options: str) -> str:
    return "{task: binary, classes: [a, b]" + "".join(f", {k}: {v}" for k, v in options.items()) + "}"


@pytest.mark.parametrize(
    ("presets", "titles"),
    [
        ([None], ["Headline"]),
        (["high_cost"], ["Headline: high_cost"]),
        (["low_cost", None, None], ["Headline (m1, m2)", "Headline: low_cost (m0)"]),
    ],
)
def test_presets_that_occur(tmp_path: Path, presets: list[str | None], titles: list[str]) -> None:
    models = [model(**({} if preset is None else {"preset": preset})) for preset in presets]
    text = "models:\n" + "".join(f"  m{i}: {each}\n" for i, each in enumerate(models))
    assert list(configured(config(tmp_path, text), ()).headlines) == titles


def test_the_most_frequent_first_window_comes_first(tmp_path: Path) -> None:
    rare, frequent = (f"[{{name: {name}, events: 10}}]" for name in ("rare", "frequent"))
    models = (model(windows=rare), model(windows=frequent), model(windows=frequent))
    text = "models:\n" + "".join(f"  m{i}: {each}\n" for i, each in enumerate(models))
    assert configured(config(tmp_path, text), ()).windows == ("frequent", "rare")


@pytest.mark.parametrize(
    ("server", "page"),
    [
        ("{}", "http://localhost:9464"),
        ("{host: 0.0.0.0, port: 80}", "http://localhost:80"),
        ("{host: monitor.example.com}", "http://monitor.example.com:9464"),
        ('{host: "2001:db8::1"}', "http://[2001:db8::1]:9464"),
    ],
)
def test_the_page_is_where_the_server_listens(tmp_path: Path, server: str, page: str) -> None:
    loaded = config(tmp_path, f"models: {{m: {model()}}}\nserver: {server}\n")
    assert configured(loaded, ()).page == page
    assert configured(loaded, (), page="https://x/y/").page == "https://x/y"


def test_runbooks_are_where_the_configuration_says_unless_they_are_given(tmp_path: Path) -> None:
    text = f"models: {{m: {model()}}}\n"
    loaded = config(tmp_path, f"{text}alerts: {{runbooks: 'https://wiki/runbooks'}}\n")
    assert configured(loaded, ()).runbooks == of_rules(loaded).runbooks == "https://wiki/runbooks"
    assert configured(loaded, (), runbooks="https://x").runbooks == "https://x"
    assert of_rules(loaded, runbooks="https://x").runbooks == "https://x"
    assert of_rules(config(tmp_path, text)).runbooks == "docs/runbooks.md"
