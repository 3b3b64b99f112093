"""Versions, and what is refused on the way out."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from monitor import __version__
from monitor.checkpoint.errors import CheckpointError, NewerCheckpoint
from monitor.checkpoint.format import MAGIC, MAJOR, MINOR, Preamble, decode, encode


def written_by(writer: str, major: int, minor: int) -> bytes:
    entry = {"path": ["a"], "dtype": "i1", "shape": [2], "offset": 0, "new": True}
    header = json.dumps({"tree": {"a": None, "b": 1}, "arrays": [entry], "also new": []}).encode()
    start = Preamble(MAGIC, writer.encode(), major, minor, len(header), 2).pack() + header + b"\1\2"
    return start + hashlib.sha256(start).digest()


def test_a_newer_minor_version_is_read():
    tree = decode(written_by("9.9.9", MAJOR, MINOR + 1))
    assert tree["a"].tolist() == [1, 2]
    assert tree["b"] == 1


def test_a_newer_major_version_is_refused_with_its_writer_and_the_remedy():
    with pytest.raises(NewerCheckpoint) as e:
        decode(written_by("9.9.9", MAJOR + 1, 0), "state/monitor/checkpoint-3-7")
    assert str(e.value) == (
        "state/monitor/checkpoint-3-7 was written by monitor 9.9.9 in format 2.0; this is monitor "
        f"{__version__}, which reads format 1: run monitor 9.9.9 or later, or move the file away to go on "
        "from an older checkpoint"
    )


def test_a_major_version_that_never_was_is_damage():
    with pytest.raises(CheckpointError, match="damaged"):
        decode(written_by("0.0.1", 0, 0))


def test_damage_names_the_file_and_the_remedy():
    with pytest.raises(CheckpointError, match=r"^here is damaged: it ends after 4 bytes; remove it or put"):
        decode(b"oops", "here")


@pytest.mark.parametrize(
    ("leaf", "words"),
    [
        (float("nan"), r"\['a'\]\[0\] is nan"),
        (float("inf"), "is inf"),
        (np.float64("-inf"), "is -inf"),
        (np.array([None]), "array of object"),
        (np.array(["x"]), "array of <U1"),
        (np.zeros(2, "i4,f8"), "array of"),
        (np.zeros(2, "complex128"), "array of complex128"),
        (np.zeros(2, "float16"), "array of float16"),
        (np.ma.masked_array([1]), "of type MaskedArray"),
        (np.int64(1), "of type int64"),
        ((1, 2), "of type tuple"),
        ({1}, "of type set"),
        (b"x", "of type bytes"),
        ({1: 2}, "has the key 1"),
        (10**5000, "integer"),
    ],
    ids=lambda leaf: f"{leaf!r:.20}" if isinstance(leaf, str) else type(leaf).__name__,
)
def test_what_would_not_come_back_as_it_was_is_refused_at_once(leaf, words):
    with pytest.raises(CheckpointError, match=words):
        encode({"a": [leaf]})


def test_a_tree_that_is_too_deep_or_endless_is_refused():
    endless: dict[str, object] = {}
    endless["again"] = endless
    with pytest.raises(CheckpointError, match="more than 100 levels"):
        encode(endless)
    with pytest.raises(CheckpointError, match="a tree is a dict"):
        encode([])  # type: ignore[arg-type]


def test_the_deepest_tree_comes_back():
    tree: dict[str, object] = {}
    for _ in range(99):
        tree = {"a": tree}
    assert decode(b"".join(encode(tree))) == tree
