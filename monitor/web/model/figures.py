"""Charts of a window with what to read from them, and the thresholds that could be used. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.report import BestThreshold
from monitor.report_curves import follows_threshold
from monitor.web.charts import CHARTS, draw
from monitor.web.html import Html, h, join
from monitor.web.links import of_chart, of_report
from monitor.web.model.chosen import Chosen
from monitor.web.model.values import Values
from monitor.web.numbers import shown_value
from monitor.web.tables import row, table
from monitor.wording import number, printable, threshold

_CAPTIONS = {
    "roc": "Higher is better, above all at the left, where false alarms are few: the area up to the largest "
    "tolerable false-positive rate is the partial ROC AUC. The point is what the decisions do.",
    "precision_recall": "How many alarms are right, for each share of the class that is caught. A random "
    "ranking has the prevalence everywhere.",
    "reliability": "Right probabilities lie on the diagonal; below it scores are too high. Bars are "
    "intervals; the histogram says how many events have such scores.",
    "thresholds": "What another threshold would have given on this window.",
    "confidence_decay": "How good decisions are among the highest scores. It should not fall at the left.",
    "cost_sensitivity": "The best threshold for each ratio of costs. In a wide band it matters little.",
}

_CRITERIA = {
    "cost": "cost per event",
    "f1": "F1",
    "min_fpr_at_recall": "false-positive rate at the least recall",
}


_BROUGHT = {"cost": "classifier_expected_cost", "F1": "classifier_f1"}


def figures_section(chosen: Chosen) -> Html:
    """Return the charts of the chosen class, over all events, and the thresholds beside the sweep."""
    whole, drawn = chosen.whole, list(_figures(chosen))
    about = f"Class {printable(chosen.class_)}, over all events."
    if chosen.window.segment:
        about += " There are no charts of a segment."
    if whole.curves is None:
        text = (
            "Charts were not computed for this window." if chosen.kept is None else "Charts are in the JSON."
        )
        drawn = [h("p", text, class_="quiet")]
    elif not drawn:
        drawn = [h("p", "There is nothing to draw: no labeled event with a score.", class_="quiet")]
    return h(
        "section",
        h("header", h("h2", "Charts")),
        h("p", about, class_="quiet"),
        h("div", *drawn, class_="figures"),
        thresholds_table(chosen),
        class_="card",
        id="charts",
    )


def _figures(chosen: Chosen) -> Iterator[Html]:
    """Yield every chart that can be drawn; a multiclass model has some of its top label, too."""
    classes = [chosen.class_, ""] if chosen.whole.task == "multiclass" else [chosen.class_]
    for name, chart in CHARTS.items():
        for class_ in classes:
            svg = draw(name, chosen.whole, class_)
            if svg is not None:
                title = chart.title if class_ or len(classes) == 1 else f"{chart.title} of the top label"
                yield _figure(chosen, name, title, class_, svg)


def _figure(chosen: Chosen, name: str, title: str, class_: str, svg: Html) -> Html:
    links = h(
        "span",
        h("a", "SVG", href=of_chart(name, chosen.whole, class_), aria_label=f"{title} as SVG"),
        " ",
        h("a", "data", href=of_report(chosen.whole, "json"), aria_label=f"{title}: data as JSON"),
        class_="links",
    )
    caption = h("figcaption", h("strong", title), " ", _CAPTIONS.get(name), " ", links)
    suffix = name if class_ or chosen.whole.task != "multiclass" else f"{name}-top"
    return h("figure", svg, caption, class_="chart", id=f"chart-{suffix}")


def thresholds_table(chosen: Chosen) -> Html | None:
    """Return the threshold in use and the best ones, and what these would have brought since chosen."""
    whole, curves = chosen.whole, chosen.whole.curves
    if curves is None:
        return None
    own = whole.threshold({"class": chosen.class_})
    best = list(curves.best_thresholds(whole.scored.index(chosen.class_)))
    if own is None and not best:
        return None
    in_use = _in_use(Values(whole), chosen.class_)
    follows = follows_threshold(whole, whole.scored.index(chosen.class_))
    rows = []
    if own is not None:
        name, shown = ("in use", number(own)) if follows else ("decisions taken", None)
        rows.append(row(name, shown, in_use, None, None, None, data_segment=""))
    rows += [_best(each) for each in best]
    note = (
        "The gain is that of the threshold chosen on the older half over the one in use, both judged on the "
        "newer half: on events that it was not chosen on."
    )
    if own is not None and not follows:
        note += (
            f" The decisions came with the events and do not follow the configured threshold of {own:.6g}, "
            "which the column In use and the gain are about."
        )
    return table(
        f"Thresholds of {printable(chosen.class_)}",
        (
            "Best by",
            "Threshold",
            "On this window",
            "On its newer half, chosen on the older",
            "In use",
            "Gain",
        ),
        rows,
        note,
    )


def _in_use(values: Values, class_: str) -> Html | None:
    """Return what decisions have brought by the criteria that a best threshold may have."""
    found = [
        join(f"{name} ", shown_value(value))
        for name, family in _BROUGHT.items()
        if (value := values.get(family, class_=class_)) is not None and value.value is not None
    ]
    return join(*(join(", " if place else "", each) for place, each in enumerate(found))) if found else None


def _best(best: BestThreshold) -> Html:
    def text(found: float | None) -> str | None:
        return None if found is None else number(found)

    gain = best.cross_validated_gain
    return row(
        _CRITERIA.get(best.criterion, best.criterion),
        threshold(best.threshold),
        text(best.value),
        text(best.cross_validated_value),
        text(best.own_threshold_value),
        None if gain is None else f"{gain:+.4f}",
    )
