"""Whether a model's probabilities are credible."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.grafana.headline import describe
from monitor.grafana.panel import Panel, Query, timeseries, trend
from monitor.grafana.queries import OF_CLASS_OR_WHOLE, WHOLE_SCOPE, each

_CLASS = 'class="$class"'


def probability_panels() -> Iterator[Panel]:
    """Yield the panels."""
    yield _reliability()
    yield timeseries(
        "Calibration error, and what chance alone gives",
        _of("calibration_error", "calibration_error_expected", "calibration_error_debiased"),
        unit="percentunit",
        description=describe("classifier_calibration_error"),
    )
    yield timeseries(
        "Calibration slope",
        _of("calibration_slope"),
        width=6,
        description=describe("classifier_calibration_slope"),
    )
    yield timeseries(
        "Calibration intercept",
        _of("calibration_intercept"),
        width=6,
        description=describe("classifier_calibration_intercept"),
    )
    yield timeseries(
        "Parts of the Brier score",
        _of("brier_reliability", "brier_resolution", "brier_uncertainty"),
        description="Brier score = reliability - resolution + uncertainty. "
        + describe("classifier_brier_reliability"),
    )


def _of(*families: str) -> list[Query]:
    return [
        Query(
            each("version", f"classifier_{family}", WHOLE_SCOPE, _CLASS),
            f"{family.partition('_')[2].replace('_', ' ')} {{{{version}}}}",
        )
        for family in families
    ]


def _reliability() -> Panel:
    # A multiclass model has one diagram, of its top label, without a class.
    rate, score = (
        each("bin", f"classifier_reliability_{column}", WHOLE_SCOPE, OF_CLASS_OR_WHOLE)
        for column in ("rate", "mean_score")
    )
    return trend(
        "Reliability diagram",
        [("mean score", score), ("rate", rate), ("calibrated", score)],
        "mean score",
        by="bin",
        width=12,
        description=(
            "How often events of a probability come true, over that probability; of a multiclass model how "
            "often its top label is right. Above the line of calibrated ones the model is too timid, below "
            "too sure. Needs `export: {reliability: whole}`; choose one version."
        ),
    )
