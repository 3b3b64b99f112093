"""The export section beside the catalog: every name exists, and the estimate of series is one."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from monitor.clock import SystemClock
from monitor.config import Config, load_config
from monitor.errors import ConfigurationError
from monitor.exports import check_families, most_series
from monitor.metrics.catalog import CATALOG
from monitor.pipeline import Pipeline
from monitor.series import ExportOptions, select_series
from tests.support.records import RECORD_MS, batch

HEADLINE = {metric.name for metric in CATALOG if metric.headline}
PLAIN = "task: binary, classes: [legit, fraud]"
BINARY = f"{PLAIN}, costs: {{false_negative: 9, false_positive: 1}}, at_k: [3], reference_prevalence: 0.1"
OPTIONS = "at_k: [3, 0.1], max_fpr: [0.1]"
MULTICLASS = (
    f"task: multiclass, classes: [a, b, c, d, e], top_k: [1, 2], {OPTIONS}, "
    "reference_prevalence: {a: 0.1, b: 0.1, c: 0.1, d: 0.1, e: 0.6}, "
    "costs: [[0, 1, 1, 1, 1], [1, 0, 1, 1, 1], [1, 1, 0, 1, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 0]]"
)
MULTILABEL = (
    f"task: multilabel, classes: [a, b, c, d, e], {OPTIONS}, min_recall: 0.9, "
    "costs: {false_negative: 9, false_positive: 1}"
)
WINDOWS = "windows: [{name: w, events: 5000}, {name: h, duration: 1h}]"


def configured(folder: Path, model: str = BINARY, rest: str = "") -> Config:
    path = folder / "monitor.yaml"
    path.write_text(
        f"kafka: {{bootstrap_servers: [b], topics: [t]}}\nmodels: {{m: {{{model}}}}}\n"
        f"limits: {{segment_values: 3}}\n{rest}"
    )
    return load_config(path, {})


def exported(config: Config) -> int:
    """Return the series of one version that has everything."""
    model = config.models["m"]
    rng = np.random.default_rng(0)
    pairs = list(itertools.product(model.classes, [*model.classes, "none of them"])) * 20
    many = model.task == "multilabel"
    rows = []
    for label, prediction in pairs:
        shares = rng.dirichlet(np.ones(len(model.classes))).round(3).tolist()
        shares[-1] = 1 - sum(shares[:-1])
        known = prediction in model.classes
        rows += [
            {
                "timestamp": RECORD_MS / 1000 - 1,
                "label": [label] if many else label,
                "prediction": [prediction] if many else prediction,
                "scores": dict(zip(model.classes, shares, strict=True)) if known else None,
                "segments": {key: f"v{value}" for key in model.segments},
            }
            for value in range(5 if model.segments else 1)
        ]
    rows += [{**rows[0], "label": None}]
    pipeline = Pipeline(config, ["t"], SystemClock())
    pipeline.apply(pipeline.decode([batch(rows)]))
    pipeline.advance(frozenset())
    report = pipeline.evaluate(pipeline.snapshot()).report
    options = ExportOptions(**config.export.model_dump() | {"max_series": 10**9})
    return len(select_series(report, HEADLINE, options)[0])


@pytest.mark.parametrize(
    "model",
    [BINARY, PLAIN, MULTICLASS, MULTILABEL],
    ids=["binary", "plain", "multiclass", "multilabel"],
)
@pytest.mark.parametrize("segments", ["", "region, kind"])
@pytest.mark.parametrize(
    "export",
    [
        "{}",
        "{families: all}",
        "{families: all, segments: all, confusions: all}",
        "{families: [classifier_recall, classifier_roc_auc], segments: all}",
        "{segments: none, intervals: false, confusions: none}",
        "{windows: [all], reliability: whole}",
        "{windows: [h]}",
    ],
)
def test_the_estimate_is_above_what_is_exported_and_near(
    tmp_path: Path, model: str, segments: str, export: str
) -> None:
    config = configured(tmp_path, f"{model}, {WINDOWS}, segments: [{segments}]", f"export: {export}")
    actual, most = exported(config), most_series(config.models["m"], config)
    assert actual <= most <= 1.2 * actual + 12


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("recall", "did you mean classifier_recall?"),
        ("classifier_rocauc", "did you mean classifier_roc_auc?"),
        ("classifier_window_complete", "does not depend on this list; remove it"),
        ("monitor_ready", "is no family; see docs/metrics.md"),
    ],
)
def test_a_family_that_does_not_exist_is_refused(tmp_path: Path, family: str, words: str) -> None:
    config = configured(tmp_path, rest=f"export: {{families: [classifier_f1, {family}]}}")
    with pytest.raises(ConfigurationError) as refused:
        check_families(config)
    assert str(refused.value).startswith(f"export.families[1]: {family!r} ")
    assert words in str(refused.value)


@pytest.mark.parametrize("families", ["default", "all", "[]", "[classifier_recall, classifier_log_loss]"])
def test_families_that_exist_are_accepted(tmp_path: Path, families: str) -> None:
    check_families(configured(tmp_path, rest=f"export: {{families: {families}}}"))
