"""Headline metrics of one model: value, interval and limits."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.alerts.rule import Rule
from monitor.grafana.panel import BLUE, RED, Json, Panel, Query, override, timeseries
from monitor.grafana.queries import OF_CLASS_OR_WHOLE, OF_VERSION, SCOPE, WHOLE_WINDOW, select
from monitor.grafana.settings import Settings
from monitor.metrics.catalog import CATALOG
from monitor.metrics.metric import Metric
from monitor.presets import Pick, Preset
from monitor.prometheus_rules.text import quote

_METRICS = {metric.name: metric for metric in CATALOG}
_LOWER, _UPPER, _LIMIT = "lower bound", "upper bound", "limit"


def headline_panels(preset: Preset, settings: Settings) -> Iterator[Panel]:
    """Yield a panel for each of the preset's metrics, the first ones larger."""
    for picks, width, height in ((preset.first, 24 // len(preset.first), 9), (preset.second, 6, 7)):
        for pick in picks:
            yield _panel(pick, settings, width, height)


def title(pick: Pick) -> str:
    """Return what a metric is called."""
    name = pick.family.removeprefix("classifier_").replace("_", " ").capitalize()
    for word in ("roc auc", "fpr"):
        name = name.replace(word, word.upper())
    return name if pick.subset == "all" else f"{name} of {pick.subset}s"


def label_matchers(pick: Pick) -> Iterator[str]:
    """Yield what of a metric's labels is fixed, or chosen by a variable."""
    for label in _METRICS[pick.family].labels:
        if label == "class":
            # A value of the whole is there where classes have none, and equals the positive class's.
            yield OF_CLASS_OR_WHOLE if _is_of_whole(pick) else 'class="$class"'
        elif label == "subset":
            yield f'subset="{pick.subset}"'
        elif label in ("max_fpr", "k"):
            yield f'{label}="${label}"'


def unit(family: str) -> str:
    """Return the unit of a family's values: most are shares."""
    return "percentunit" if _METRICS[family].range == (0, 1) else "short"


def describe(family: str) -> str:
    """Return what a family is, and when to look at it."""
    metric = _METRICS[family]
    return f"{metric.help} {metric.use}".strip()


def _is_of_whole(pick: Pick) -> bool:
    return pick.family == "classifier_expected_cost"


def _panel(pick: Pick, settings: Settings, width: int, height: int) -> Panel:
    metric = _METRICS[pick.family]
    scope = SCOPE if metric.headline else OF_VERSION + WHOLE_WINDOW
    matchers = (scope, *label_matchers(pick))
    queries = [Query(_of(pick.family, *matchers), f"{title(pick).lower()} {{{{version}}}}")]
    overrides = []
    if metric.interval is not None:
        for end, legend in (("lower", _LOWER), ("upper", _UPPER)):
            expr = _of(f"{pick.family}_{end}", *matchers, 'method!="bootstrap"')
            queries.append(Query(expr, legend))
        overrides = _band()
    limits = [*_limits(pick, metric, matchers, settings)]
    if limits:
        overrides.append(
            override(
                f"^{_LIMIT} .*",
                regex=True,
                color={"mode": "fixed", "fixedColor": RED},
                custom__lineStyle={"fill": "dash", "dash": [10, 10]},
                custom__showPoints="never",
            )
        )
    about = describe(pick.family)
    if metric.interval is not None:
        about += " The band is the interval by the analytic method; choose one version to see it."
    if not metric.headline:
        about += " Of all events: segments do not export it by default."
    return timeseries(
        title(pick),
        [*queries, *limits],
        unit=unit(pick.family),
        width=width,
        height=height,
        description=about,
        overrides=overrides,
    )


def _of(family: str, *matchers: str) -> str:
    return f"max by (version) ({select(family, *matchers)})"


def _band() -> list[Json]:
    hidden = {"legend": False, "tooltip": False, "viz": False}
    look: Json = {
        "custom__lineWidth": 0,
        "custom__showPoints": "never",
        "color": {"mode": "fixed", "fixedColor": BLUE},
        "custom__hideFrom": {**hidden, "legend": True},
    }
    return [
        override(_LOWER, **look),
        override(_UPPER, **look, custom__fillBelowTo=_LOWER, custom__fillOpacity=15),
    ]


def _limits(pick: Pick, metric: Metric, matchers: tuple[str, ...], settings: Settings) -> Iterator[Query]:
    """Yield the fixed limits of alerts on the metric: each is drawn where the alert looks."""
    for rule in settings.rules:
        fits = rule.metric == metric.name and rule.labels.get("subset", "all") == pick.subset
        if fits and rule.limit.kind == "number" and rule.limit.number is not None:
            there = select(metric.name, *matchers, *_of_rule(rule))
            yield Query(f"0 * max({there}) + {rule.limit.number:.12g}", f"{_LIMIT} of {rule.name}")


def _of_rule(rule: Rule) -> Iterator[str]:
    if rule.model != "*":
        yield f"model={quote(rule.model)}"
    if rule.class_ != "*":
        yield f"class={quote(rule.class_)}"
    if rule.window:
        yield f"window={quote(rule.window)}"
    if rule.segment.endswith("=*"):
        yield 'segment!=""'
    else:
        yield f"segment={quote(rule.segment)}"
    for label, value in rule.labels.items():
        yield f"{label}={quote(value)}"
