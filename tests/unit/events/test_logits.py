"""Models whose scores are logits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax

from monitor.events.batch import Columns
from monitor.events.decisions import score_threshold
from monitor.events.decoder import Decoder
from monitor.events.position import Positions
from monitor.events.spec import ModelSpec
from tests.support.records import batch

BINARY = ModelSpec(
    "fraud", "binary", ("legit", "fraud"), 1, thresholds=(0.7,), scores="logit", temperature=1.5
)
MULTI = ModelSpec("iris", "multiclass", ("a", "b", "c"), scores="logit", temperature=2.0)
TAGS = ModelSpec(
    "tags", "multilabel", ("a", "b", "c"), thresholds=(0.0, 0.25, 1.0), scores="logit", temperature=2.0
)
INF = math.inf


def read(messages: list[Any], spec: ModelSpec) -> Columns:
    """Decode events of one version, none of which is refused."""
    result = Decoder({}, {spec.name: spec}, Positions(["t"])).decode([batch(messages)])
    assert result.rejected == ()
    [columns] = result.columns.values()
    return columns


def test_binary_logits_are_kept_as_they_are() -> None:
    sent = [40.0, 30.0, -2.5, 1e-3, 1e39, -1e39, INF, -INF, 0]
    columns = read([{"score": z} for z in sent], BINARY)
    kept = [40.0, 30.0, -2.5, float(np.float32(1e-3)), INF, -INF, INF, -INF, 0.0]
    assert columns.score[:, 0].tolist() == kept


def test_minus_zero_is_zero() -> None:
    columns = read([{"score": -0.0}, {"score": 0.0}], BINARY)
    assert not np.signbit(columns.score).any()


def test_the_threshold_of_logits_is_a_probability() -> None:
    limit = score_threshold(BINARY, 0.7)
    assert expit(limit / 1.5) == pytest.approx(0.7, abs=1e-15)
    tie = np.float32(limit)
    sent = [float(tie), float(np.nextafter(tie, np.float32(0))), INF, -INF]
    assert read([{"score": z} for z in sent], BINARY).decision.tolist() == [1, 0, 1, 0]


def test_thresholds_of_0_and_1_are_infinite() -> None:
    columns = read([{"scores": z} for z in ([-1e30, 0, 1e30], [-INF, -2.2, INF])], TAGS)
    assert columns.decision.tolist() == [[1, 1, 0, 0], [1, 0, 1, 0]]
    assert columns.score.tolist() == np.float32([[-1e30, 0, 1e30], [-INF, -2.2, INF]]).tolist()
    assert score_threshold(replace(TAGS, scores="probability"), 1.0) == 1.0


@pytest.mark.parametrize("scores", [[1.5, 4.0], {"fraud": 4.0, "legit": 1.5}])
def test_two_logits_of_a_binary_model_differ_by_that_of_the_positive_class(scores: Any) -> None:
    columns = read([{"scores": scores}, {"score": 2.5}], BINARY)
    assert columns.score.tolist() == [[2.5], [2.5]]
    assert expit(2.5 / 1.5) == pytest.approx(softmax([1.5 / 1.5, 4.0 / 1.5])[1])


def test_confidence_is_no_score_of_a_logit_model() -> None:
    columns = read([{"prediction": "fraud", "confidence": 0.9}, {"prediction": "legit", "score": 3}], BINARY)
    assert np.isnan(columns.score[0, 0])
    assert columns.score[1, 0] == 3
    assert columns.decision.tolist() == [1, 0]


def test_multiclass_logits_become_probabilities() -> None:
    rows = [[1.0, -2.0, 0.5], [1000.0, 999.0, -1000.0], [3.0, 3.0, 3.0], [1e308, -1e308, 0.0]]
    columns = read([{"scores": row} for row in rows], MULTI)
    with np.errstate(over="ignore"):
        expected = softmax((np.array(rows) - np.max(rows, axis=1, keepdims=True)) / 2.0, axis=1)
    np.testing.assert_allclose(columns.score, expected, rtol=1e-6)
    assert columns.decision.tolist() == [0, 0, 0, 0]


def test_a_class_may_be_ruled_out() -> None:
    columns = read([{"scores": [-INF, 0.0, 0.0], "label": "b"}], MULTI)
    assert columns.score.tolist() == [[0.0, 0.5, 0.5]]
    assert columns.decision.tolist() == [1]


def test_probabilities_of_logits_do_not_depend_on_the_batch() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 5, (67, 3)).tolist()
    together = read([{"scores": row} for row in rows], MULTI).score
    alone = np.concatenate([read([{"scores": row}], MULTI).score for row in rows])
    assert together.tobytes() == alone.tobytes()
