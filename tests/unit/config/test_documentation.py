"""docs/configuration.md and deploy/monitor.yaml say what the code does."""

from datetime import timedelta
from pathlib import Path

import pytest

from monitor.config import Config, load_config
from monitor.config.documentation import Option, options, tables
from monitor.config.section import nested
from tests.unit.config.conftest import Load

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "configuration.md").read_text()
FOUND = list(options())


def test_the_page_has_the_present_options() -> None:
    assert tables(PAGE) == PAGE, "run: python -m monitor.config.documentation docs/configuration.md"
    assert [line for option in FOUND if PAGE.count(line := option.row) != 1] == []


def test_every_option_stands_there_once_and_has_a_meaning() -> None:
    assert len({option.path for option in FOUND}) == len(FOUND) > 150
    assert [option.path for option in FOUND if not (option.meaning and option.type)] == []


@pytest.mark.parametrize(
    ("path", "kind", "default"),
    [
        ("kafka.topics", "list of names", "required"),
        ("kafka.proxy_url", "text or null; secret", "null"),
        ("kafka.check_crcs", "`true`", "true"),
        ("kafka.client_dns_lookup", None, "null"),
        ("models.NAME.threshold", "number from 0 to 1, or mapping of name to number from 0 to 1", "0.5"),
        ("models.NAME.windows[].duration", "duration or null", "null"),
        ("models.NAME.positive_class", "name or null", "last of `classes`"),
        ("models.NAME.max_fpr", "list of numbers above 0 and at most 1", "[0.05, 0.1]"),
        ("checkpoint.keep", "number from 1 to 100", "2"),
        ("limits.event_bytes", "size", "1MB"),
        ("baselines", "mapping of name to path", "{}"),
        ("alerts.alertmanager_urls", "list of addresses", "[]"),
        ("alerts.rules.NAME.for", "number of steps, or duration", "1"),
        ("actions.NAME.type", "`webhook`, `kafka`, `mlflow`", "required"),
    ],
)
def test_options_in_words(path: str, kind: str | None, default: str) -> None:
    [option] = [option for option in FOUND if option.path == path]
    assert option.default == default
    assert kind is None or option.type == kind


def test_what_only_some_actions_have_says_which() -> None:
    found = {option.path: option.meaning for option in FOUND}
    assert found["actions.NAME.url"] == "webhook: where to; mlflow: of the tracking server"
    assert found["actions.NAME.ca_file"].startswith("webhook, mlflow: ")
    assert found["actions.NAME.expires"] == "after it what was decided is no longer done"


def test_an_option_is_in_the_table_of_the_longest_prefix() -> None:
    empty = "<!-- options: {} -->\nold\n<!-- end -->\n"
    prefixes = ("kafka", "kafka.dead_letter", "kafka of ConsumerSettings")
    page = tables("".join(map(empty.format, prefixes)))
    own, letters, consumer = page.split("<!-- end -->")[:3]
    assert "`kafka.topics`" in own
    assert "`kafka.dead_letter.on_error`" in letters
    assert "`kafka.dead_letter_topic`" in own
    assert "`kafka.client_id`" in consumer
    assert "old" not in page


def test_a_row_of_a_table() -> None:
    assert Option("a.b", "A", "name", "x", "what").row == "| `a.b` | name | `x` | what |\n"
    assert Option("a.b", "A", "name", "required", "what").row == "| `a.b` | name | required | what |\n"


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
    for key, reason in nested(Config.model_fields["kafka"].annotation).refused.items():  # type: ignore[union-attr]
        assert f"`{key}`" in PAGE or "Python object" in reason


def test_the_example_loads() -> None:
    config = load_config(ROOT / "deploy/monitor.yaml", {})
    assert set(config.models) == {"fraud", "tickets", "topics"}
    assert config.model_fields_set == Config.model_fields.keys(), "it has every section"
