"""One model: its headline metrics with intervals and limits, and what stands behind them."""

from __future__ import annotations

from monitor.grafana.frame import (
    NATURAL_DESCENDING,
    NUMBERS_DESCENDING,
    annotation,
    chosen,
    dashboard,
    variable,
)
from monitor.grafana.headline import describe, headline_panels, title, unit
from monitor.grafana.overview import alert_marks
from monitor.grafana.panel import BLUE, Json, Panel, Query, override, table, timeseries
from monitor.grafana.probabilities import probability_panels
from monitor.grafana.queries import (
    ALL_EVENTS,
    ANY,
    OF_CLASS_OR_WHOLE,
    OF_JOB,
    OF_MODEL,
    OF_VERSION,
    SCOPE,
    WHOLE_SCOPE,
    WHOLE_WINDOW,
    each,
    increase,
    select,
)
from monitor.grafana.settings import Settings
from monitor.presets import Pick

_CLASS = 'class="$class"'
_BOUNDS = 'method!="bootstrap"'


def model(settings: Settings) -> Json:
    """Return the dashboard of one model."""
    version = "&".join(f"{name}=${{{name}:percentencode}}" for name in ("model", "version", "window"))
    return dashboard(
        "monitor-model",
        "Monitor / model",
        "One model in one window. Segment All is all events; it is no sum over the segments.",
        settings,
        _variables(settings),
        _marks(),
        {
            **{name: list(headline_panels(preset, settings)) for name, preset in settings.headlines.items()},
            "What it rests on": _support(),
            "Probabilities": list(probability_panels()),
            "Decisions": _decisions(),
            "Classes": _classes(),
            "Segments": _segments(),
            "Versions": _versions(),
        },
        page=f"/model?{version}",
    )


def _variables(settings: Settings) -> list[Json]:
    found = [
        variable("model", select("classifier_labeled_events_total", OF_JOB)),
        variable(
            "version",
            select("classifier_labeled_events_total", OF_MODEL),
            sort=NATURAL_DESCENDING,
            all_value=ANY,  # events may have no version
        ),
        variable(
            "window", select("classifier_window_complete", OF_VERSION), current=chosen(settings.windows[0])
        ),
        variable("segment", select("classifier_recall", OF_VERSION), all_value=ALL_EVENTS),
        variable("class", select("classifier_recall", OF_VERSION), title="class"),
        variable(
            "classes",
            select("classifier_recall", OF_VERSION),
            "class",
            title="classes compared",
            multi=True,
            all_value=ANY,
            current={"text": ["All"], "value": ["$__all"]},
        ),
        variable(
            "max_fpr",
            select("classifier_partial_roc_auc", OF_VERSION),
            title="greatest false-positive rate",
            sort=NUMBERS_DESCENDING,
        ),
    ]
    picks = [pick for preset in settings.headlines.values() for pick in (*preset.first, *preset.second)]
    if any(pick.family.endswith("_at_k") for pick in picks):
        found.append(variable("k", select("classifier_precision_at_k", OF_VERSION), title="k of the highest"))
    return found


def _marks() -> list[Json]:
    attempts = select("monitor_action_attempts_total", OF_JOB)
    return [
        alert_marks(OF_VERSION),
        annotation(
            "New versions",
            f"1000 * {each('version', 'classifier_since_timestamp_seconds', OF_MODEL)}",
            BLUE,
            "version {{version}}",
            at_value=True,
        ),
        annotation(
            "Actions",
            # The counter of a result does not exist before the first.
            f"sum by (action, result) (({attempts} unless {attempts} offset 1m)"
            f" or ({attempts} - {attempts} offset 1m > 0))",
            "purple",
            "{{action}}: {{result}}",
            "of any model",
        ),
    ]


def _support() -> list[Panel]:
    shares = [
        Query(each("version", f"classifier_{family}", WHOLE_SCOPE, _CLASS), f"{name} {{{{version}}}}")
        for family, name in (
            ("prevalence", "prevalence"),
            ("predicted_rate", "predicted"),
            ("score_mean", "mean score"),
        )
    ]
    coverage = each("version", "classifier_label_coverage", WHOLE_SCOPE)
    complete = each("version", "classifier_window_complete", WHOLE_SCOPE)
    return [
        timeseries(
            "Labeled events by class",
            [Query(each("version, class", "classifier_class_support", SCOPE), "{{class}} {{version}}")],
            width=8,
            description=describe("classifier_class_support"),
        ),
        timeseries(
            "Prevalence, predicted rate and mean score",
            shares,
            unit="percentunit",
            width=8,
            description="Apart from each other: the model decides, or scores, other than the class comes.",
        ),
        timeseries(
            "Window complete, label coverage",
            [
                Query(complete, "complete {{version}}"),
                Query(coverage, "label coverage {{version}}"),
            ],
            unit="percentunit",
            width=8,
            custom={"lineInterpolation": "stepAfter"},
            description=(
                "Complete: whether the window holds all that it should. Label coverage is there only "
                "where events without labels are seen."
            ),
        ),
    ]


def _decisions() -> list[Panel]:
    # Of a multilabel model each class has a matrix, else there is one of the whole.
    confusions = select("classifier_window_confusions", WHOLE_SCOPE, OF_CLASS_OR_WHOLE)
    cells = f"sum by (true, predicted) ({confusions})"
    share = f"{cells} / on (true) group_left () sum by (true) ({cells})"
    best_threshold = each("version, criterion", "classifier_best_threshold", WHOLE_SCOPE, _CLASS)
    rate = increase("true, predicted", "classifier_confusions_total", OF_VERSION, OF_CLASS_OR_WHOLE)
    return [
        _matrix("Confusion matrix: events", cells, "short"),
        _matrix("Confusion matrix: share of the true class", share, "percentunit"),
        timeseries(
            "Confusions a second",
            [Query(f"{rate} > 0", "{{true}} as {{predicted}}")],
            unit="cps",
            description="Of all events, whatever the window.",
        ),
        timeseries(
            "Thresholds",
            [
                Query(each("version", "classifier_threshold", WHOLE_SCOPE, _CLASS), "in use {{version}}"),
                Query(best_threshold, "best by {{criterion}} {{version}}"),
            ],
            unit="percentunit",
            description=describe("classifier_best_threshold"),
        ),
    ]


def _matrix(name: str, cells: str, cell_unit: str) -> Panel:
    corner = "true\\predicted"
    to_matrix = {"columnField": "predicted", "rowField": "true", "valueField": "Value", "emptyValue": "zero"}
    return table(
        name,
        [("Value", cells)],
        transformations=[
            {"id": "groupingToMatrix", "options": to_matrix},
            {"id": "organize", "options": {"renameByName": {corner: "true \\ predicted"}}},
        ],
        overrides=[
            override(
                "^(?!true ).*",
                regex=True,
                custom__cellOptions={"type": "color-background", "mode": "gradient"},
                color={"mode": "continuous-blues"},
            )
        ],
        unit=cell_unit,
        width=12,
        description="A row for each true class, a column for each decision; zero cells are not exported.",
    )


def _classes() -> list[Panel]:
    of_classes = 'class=~"$classes",class!=""'
    columns = [
        (title(Pick(family)), each("class", family, WHOLE_SCOPE, of_classes))
        for family in (
            "classifier_recall",
            "classifier_precision",
            "classifier_f1",
            "classifier_roc_auc",
            "classifier_class_support",
            "classifier_low_support",
        )
    ]
    recall = each("class", "classifier_recall", SCOPE, of_classes)
    return [
        table(
            "Classes now",
            columns,
            overrides=[
                override("^(Recall|Precision|F1|Roc.*)$", regex=True, unit="percentunit"),
            ],
            width=12,
            description="Of several versions the greatest value. Low support: too few events to act on.",
        ),
        timeseries("Recall by class", [Query(recall, "{{class}}")], unit="percentunit"),
    ]


def _segments() -> list[Panel]:
    scope = OF_VERSION + ',window="$window",segment!=""'
    ends = [("", "Recall"), ("_lower", "Lower bound"), ("_upper", "Upper bound")]
    columns = [
        (name, each("segment, version", f"classifier_recall{end}", scope, _CLASS, end and _BOUNDS))
        for end, name in ends
    ]
    columns += [
        ("Precision", each("segment, version", "classifier_precision", scope, _CLASS)),
        ("Events of the class", each("segment, version", "classifier_class_support", scope, _CLASS)),
    ]
    return [
        table(
            "Segments now",
            columns,
            overrides=[override("^(Recall|Precision|.* bound)$", regex=True, unit="percentunit")],
            width=12,
            description="Segments that the model is configured for; of few events the bounds are far apart.",
        ),
        timeseries(
            "Recall by segment",
            [Query(each("segment, version", "classifier_recall", scope, _CLASS), "{{segment}} {{version}}")],
            unit="percentunit",
        ),
    ]


def _versions() -> list[Panel]:
    scope = OF_MODEL + WHOLE_WINDOW
    of = (
        ("classifier_recall", ""),
        ("classifier_precision", ""),
        ("classifier_partial_roc_auc", 'max_fpr="$max_fpr"'),
        ("classifier_brier_score", 'subset="all"'),
    )
    return [
        *(
            timeseries(
                f"{title(Pick(family))} by version",
                [Query(each("version", family, scope, _CLASS, matcher), "{{version}}")],
                unit=unit(family),
                width=6,
            )
            for family, matcher in of
        ),
        timeseries(
            "Labeled events a second by version",
            [Query(increase("version", "classifier_labeled_events_total", OF_MODEL), "{{version}}")],
            unit="cps",
            width=24,
            custom={"stacking": {"mode": "normal", "group": "A"}, "fillOpacity": 30},
        ),
    ]
