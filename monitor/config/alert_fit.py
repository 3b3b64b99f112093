"""Whether alert rules fit to what else is configured: models, windows, segments, baselines, actions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from monitor.config.actions import ActionConfig, MlflowConfig
from monitor.config.alert_rule import ComparedConfig, RuleConfig
from monitor.config.models import ChampionConfig, ModelConfig, unknown
from monitor.config.section import Problem

WILDCARD = "*"
"""The entry of `models` for those that are not named; as the model of a rule, every one."""


def concerned(model: str, models: Mapping[str, ModelConfig]) -> dict[str, ModelConfig]:
    """Return the entries of `models` that a rule for a model concerns; none if it is not known."""
    if model == WILDCARD:
        return dict(models)
    entry = model if model in models else WILDCARD
    return {entry: models[entry]} if entry in models else {}


def rule_problems(
    rule: RuleConfig,
    models: Mapping[str, ModelConfig],
    baselines: Collection[str] | None,
    actions: Mapping[str, ActionConfig] | None,
) -> Iterator[Problem]:
    """Yield what does not fit; what is itself wrong (None) is not judged by."""
    entries = concerned(rule.model, models)
    if not entries:
        yield Problem(("model",), unknown(rule.model, tuple(models), "model"))
    if baselines is not None and rule.baseline is not None and rule.baseline not in baselines:
        known = tuple(baselines)
        yield Problem(
            ("baseline",),
            unknown(rule.baseline, known, "baseline")
            if known
            else "names no baseline; write its file under baselines, and make it with `monitor baseline`",
        )
    if actions is not None:
        for i, name in enumerate(rule.actions):
            if name not in actions:
                known = tuple(actions)
                message = unknown(name, known, "action") if known else "is no action; write it under actions"
                yield Problem(("actions", i), message)
    for name, model in entries.items():
        yield from _model_problems(rule, name, model)
        if rule.compare_to == "champion" and actions is not None:
            yield from _champion_problems(name, model, actions)


def _model_problems(rule: RuleConfig, name: str, model: ModelConfig) -> Iterator[Problem]:
    if rule.actions and "label_maturity" not in model.model_fields_set:
        yield Problem(
            ("actions",),
            f"need models.{name}.label_maturity to be written out: how long labels take to come, or 0s",
        )
    if rule.segment is not None and (key := rule.segment.partition("=")[0]) not in model.segments:
        yield Problem(("segment",), f"{key!r} is no key of models.{name}.segments; add it there")
    yield from _window_problems(rule, name, model)


def _champion_problems(
    name: str, model: ModelConfig, actions: Mapping[str, ActionConfig]
) -> Iterator[Problem]:
    if model.champion is None:
        yield Problem(
            ("compare_to",), f"needs models.{name}.champion; write a version or {{mlflow_alias: NAME}}"
        )
    elif isinstance(model.champion, ChampionConfig) and not any(
        isinstance(action, MlflowConfig) for action in actions.values()
    ):
        yield Problem(
            ("compare_to",),
            f"models.{name}.champion is an alias, and no action of type mlflow says where; write a version, "
            "or such an action",
        )


def _window_problems(rule: RuleConfig, name: str, model: ModelConfig) -> Iterator[Problem]:
    windows = tuple(window.name for window in model.windows)
    other = rule.compare_to.window if isinstance(rule.compare_to, ComparedConfig) else None
    for path, window in ((("window",), rule.window), (("compare_to", "window"), other)):
        if window is not None and window not in windows:
            yield Problem(path, _no_window(window, windows, name))
    if other in windows and other == (rule.window or windows[0]):
        yield Problem(("compare_to", "window"), "is the window of the rule itself; write another one")


def _no_window(window: str, windows: tuple[str, ...], name: str) -> str:
    if window == "all":
        return (
            "all holds whatever has been read, so that alerts would depend on how fast that was; write "
            "another window, a long one if need be"
        )
    if not windows:
        return f"{window!r}: models.{name} has no windows; write it there"
    return unknown(window, windows, f"window of models.{name}")
