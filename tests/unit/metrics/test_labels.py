from __future__ import annotations

import pytest

from monitor.metrics.labels import BETA, CLASS, PREDICTED, TRUE, label_sets, other_name
from tests.support.counts import parameters


@pytest.mark.parametrize(
    ("classes", "name"),
    [(("a", "b"), "other"), (("a", "other"), "(other)"), (("(other)", "other"), "((other))")],
)
def test_name_of_other_is_no_class(classes, name):
    assert other_name(classes) == name


def test_label_sets_are_all_combinations_the_last_axis_fastest():
    sets = label_sets(((), (TRUE, PREDICTED)), parameters(classes=("a", "b")))
    assert sets[0] == {}
    assert [tuple(labels.values()) for labels in sets[1:4]] == [("a", "a"), ("a", "b"), ("a", "other")]
    assert len(sets) == 7


def test_axis_without_values_has_no_label_sets():
    assert label_sets(((CLASS, BETA),), parameters(costs=None)) == ()
