"""The demo's models are decent, and the fault is one that metrics can see."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, recall_score, roc_auc_score

from monitor.demo.model import Fault, breast_cancer, digits
from monitor.errors import MonitorError

COUNT = 5000


@pytest.fixture(scope="module")
def traffic():
    classifier = breast_cancer()
    return classifier, *classifier.draw(np.random.default_rng(3), COUNT)


def test_the_healthy_model_is_good_but_not_perfect(traffic):
    classifier, cases, labels = traffic
    scores = classifier.scores(cases)[:, 1]
    assert 0.85 < recall_score(labels, scores >= 0.5) < 0.95
    assert 0.95 < roc_auc_score(labels, scores) < 0.99


def test_the_wrong_measurement_makes_it_miss_positives(traffic):
    classifier, cases, labels = traffic
    before = recall_score(labels, classifier.scores(cases)[:, 1] >= 0.5)
    after = recall_score(labels, classifier.scores(Fault().measure(cases))[:, 1] >= 0.5)
    assert after < before - 0.4


def test_sharpened_scores_are_overconfident_and_rank_as_before(traffic):
    classifier, cases, labels = traffic
    scores = classifier.scores(cases)
    sharp = Fault().sharpen(scores)
    confidence, accuracy = sharp.max(axis=1).mean(), accuracy_score(labels, sharp.argmax(axis=1))
    assert confidence > accuracy + 0.02
    assert abs(scores.max(axis=1).mean() - accuracy) < 0.02
    assert log_loss(labels, sharp) > log_loss(labels, scores) + 0.01
    assert roc_auc_score(labels, sharp[:, 1]) == pytest.approx(roc_auc_score(labels, scores[:, 1]), abs=1e-9)


def test_sharpening_divides_the_logits():
    scores = np.array([[0.2, 0.8], [0.5, 0.5]])
    logits = np.log(scores[:, 1] / scores[:, 0])
    sharp = Fault(temperature=0.5).sharpen(scores)
    np.testing.assert_allclose(np.log(sharp[:, 1] / sharp[:, 0]), logits / 0.5)


def test_the_fault_leaves_its_input_alone():
    cases = np.ones((3, 4))
    Fault().measure(cases)
    assert (cases == 1).all()


def test_digits_has_ten_classes_and_makes_some_errors():
    classifier = digits()
    cases, labels = classifier.draw(np.random.default_rng(3), 2000)
    scores = classifier.scores(cases)
    assert scores.shape == (2000, 10)
    assert classifier.classes == tuple("0123456789")
    assert 0.9 < accuracy_score(labels, scores.argmax(axis=1)) < 1


def test_a_seed_gives_the_same_model_and_cases():
    first, second = (breast_cancer(seed=5) for _ in range(2))
    cases = [model.draw(np.random.default_rng(1), 10)[0] for model in (first, second)]
    np.testing.assert_array_equal(first.scores(cases[0]), second.scores(cases[1]))


def test_without_scikit_learn_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MonitorError, match=r"pip install 'monitor\[demo\]'"):
        breast_cancer()
