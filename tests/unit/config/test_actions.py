from datetime import timedelta

import pytest
from pydantic import ValidationError

from monitor.config import ControlTopicConfig, MlflowConfig, WebhookConfig
from tests.unit.config.conftest import Load, Problems

HOOK = "{type: webhook, url: 'https://hooks.example.com/x', secret_file: hook.key}"


def test_actions_stand_beside_the_options_of_their_section(load: Load) -> None:
    actions = load(
        f"actions: {{enabled: false, breaker: {{max_models: 5}}, rollback: {HOOK},"
        " tell: {type: kafka, topic: c}, back: {type: mlflow, url: 'http://127.0.0.1:5000'}}"
    ).actions
    assert (actions.enabled, actions.breaker.max_models, actions.breaker.per) == (
        False,
        5,
        timedelta(hours=1),
    )
    hook, topic, registry = actions.named.values()
    assert isinstance(hook, WebhookConfig)
    assert (hook.url, hook.expires, hook.max_per_day) == (
        "https://hooks.example.com/x",
        timedelta(minutes=15),
        3,
    )
    assert isinstance(topic, ControlTopicConfig)
    assert isinstance(registry, MlflowConfig)
    assert registry.alias == "champion"


def test_without_actions(load: Load) -> None:
    assert load().actions == load("actions:\n").actions
    assert (dict(load().actions.named), load().actions.enabled) == ({}, True)


def test_any_name_is_one_of_an_action(load: Load) -> None:
    assert set(load("actions: {named: &a {type: kafka, topic: c}, 7: *a, class: *a}").actions.named) == {
        "named",
        "7",
        "class",
    }


def test_actions_are_immutable(load: Load) -> None:
    actions = load(f"actions: {{rollback: {HOOK}}}").actions
    with pytest.raises(ValidationError, match="frozen"):
        actions.rollback = None  # type: ignore[attr-defined]


def test_variables_change_one_action(load: Load, problems: Problems) -> None:
    text = "actions: {rollback: {type: webhook, secret_file: hook.key}}"
    key = "MONITOR__ACTIONS__ROLLBACK__URL"
    (action,) = load(text, {key: "https://h/x"}).actions.named.values()
    assert isinstance(action, WebhookConfig)
    assert action.url == "https://h/x"
    (line,) = problems(text, {key: "h"})
    assert line.startswith("actions.rollback.url: is no web address; ")
    assert line.endswith(f"(set by {key})")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{type: webhook, secret_file: k}", "rollback.url: is missing; it has no default"),
        (HOOK.replace("url", "urls"), "rollback.urls: unknown key; did you mean `url`?"),
        (HOOK.replace("}", ", topic: t}"), "rollback.topic: unknown key"),
        (HOOK.replace("https://", "https://u:hunter2@"), "rollback.url: holds a user or password"),
        (HOOK.replace("}", ", approval: 'yes'}"), "rollback.approval: is neither true nor false"),
        (HOOK.replace("}", ", expires: 0s}"), "rollback.expires: is no time at all"),
        (HOOK.replace("}", ", timeout: 15m}"), "rollback.timeout: is not below expires; write less"),
        ("{type: mail}", "rollback.type: 'mail' is no type of action; write one of webhook, kafka, mlflow"),
        ("{type: webhok, url: x}", "rollback.type: 'webhok' is no type of action; did you mean 'webhook'?"),
        ("{url: x}", "rollback: is no option (enabled, audit_file, breaker) and no action"),
        ("true", "rollback: is no option (enabled, audit_file, breaker) and no action"),
        ("", "rollback: is no option (enabled, audit_file, breaker) and no action"),
        (
            "{type: kafka, topic: predictions}",
            "rollback.topic: 'predictions' is read or written as well; choose",
        ),
        (
            "{type: mlflow, url: 'https://m', tokn_file: t}",
            "rollback.tokn_file: unknown key; did you mean `token_file`",
        ),
    ],
)
def test_what_is_wrong_with_an_action(problems: Problems, text: str, line: str) -> None:
    found = problems(f"actions: {{rollback: {text}}}")
    assert any(each.startswith(f"actions.{line}") for each in found)
    assert not any("hunter2" in each for each in found)


def test_a_name_is_not_empty(problems: Problems) -> None:
    assert problems("actions: {'': {type: kafka, topic: c}}") == [
        "actions.: an action has no name; write one"
    ]


def test_options_of_all_actions(problems: Problems) -> None:
    assert problems("actions: {enabled: 1, breaker: {max_model: 3}}") == [
        "actions.enabled: is neither true nor false; write one of them, without quotes",
        "actions.breaker.max_model: unknown key; did you mean `max_models`?",
    ]
