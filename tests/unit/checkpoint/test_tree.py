"""Where arrays may be put back."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.checkpoint.tree import insert, separate


def test_an_array_goes_where_it_was_taken_from():
    array = np.arange(3)
    tree = {"a": [1, {"b": array}], "c": None}
    plain, arrays = separate(tree)
    assert plain == {"a": [1, {"b": None}], "c": None}
    assert arrays == [(("a", 1, "b"), array)]
    assert tree["a"][1]["b"] is array
    for path, taken in arrays:
        insert(plain, path, taken)
    assert plain == tree


@pytest.mark.parametrize(
    "path",
    [
        *([], ["x"], ["a"], ["a", 0], ["a", 2], ["a", "b"], ["a", 1, "b", 0], ["a", 2**70]),
        *([0], [["a"]], None, 3, {"a": 1}, ["text", 0], ["taken"], ["taken", 0]),
    ],
    ids=str,
)
def test_an_array_goes_nowhere_else(path):
    tree = {"a": [1, {"b": None}], "text": "abc", "taken": np.zeros(2)}
    with pytest.raises(ValueError, match="no array can stand at"):
        insert(tree, path, np.zeros(1))
