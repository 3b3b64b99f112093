"""What was written comes back as it was, and no other bytes are taken for a checkpoint."""

from __future__ import annotations

import hashlib
import io
import json
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from monitor.checkpoint.errors import CheckpointError, DamagedCheckpoint
from monitor.checkpoint.format import CHECKSUM, MAGIC, PREAMBLE, Preamble, decode, encode
from monitor.checkpoint.tree import DTYPES

ARRAYS = arrays_of.arrays(
    st.sampled_from([np.dtype(code) for code in DTYPES] + [np.dtype(">i8"), np.dtype(">f4")]),
    arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**200), 2**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())
    | ARRAYS
    | ARRAYS.map(lambda a: a.T)
)
TREES = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        LEAVES,
        lambda nodes: st.lists(nodes, max_size=4) | st.dictionaries(st.text(max_size=5), nodes, max_size=4),
        max_leaves=12,
    ),
    max_size=4,
)

SMALL = {"": [None, np.arange(3, dtype="int16"), {"x": -0.0}], "é": 2**80, "flag": np.array(True)}


def whole(tree: Any) -> bytes:
    return b"".join(encode(tree))


def same(a: Any, b: Any) -> bool:
    """Compare to the bit and to the type."""
    if isinstance(a, np.ndarray):
        # Byte order is not part of the value: files have one.
        return (
            isinstance(b, np.ndarray)
            and (a.dtype.name, a.shape) == (b.dtype.name, b.shape)
            and a.astype(a.dtype.newbyteorder("<")).tobytes() == b.tobytes()
        )
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b)


def forged(header: bytes, body: bytes = b"", /, **changes: Any) -> bytes:
    """Make a file whose checksums fit whatever it says."""
    fields = {"writer": b"0.1.0", "major": 1, "minor": 0, "header": len(header), "arrays": len(body)}
    start = Preamble(MAGIC, **{**fields, **changes}).pack() + header + body
    return start + hashlib.sha256(start).digest()


@given(TREES)
def test_every_tree_comes_back(tree):
    data = whole(tree)
    assert same(tree, decode(data))
    assert same(tree, decode(io.BytesIO(data)))
    assert whole(decode(data)) == data


def test_arrays_come_back_as_own_writable_copies():
    data = bytearray(whole({"a": np.zeros(4), "b": np.zeros(4)}))
    tree = decode(data)
    tree["a"] += 1
    assert decode(data)["a"].tolist() == [0.0] * 4
    assert tree["b"].tolist() == [0.0] * 4


def test_arrays_are_not_copied_on_the_way_out():
    array = np.zeros(1 << 20, dtype="int64")
    [_, piece, _] = encode({"array": array})
    assert np.shares_memory(array, np.frombuffer(piece, "int64"))


def test_every_flipped_bit_is_found():
    data = bytearray(whole(SMALL))
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(DamagedCheckpoint):
                decode(data)
            data[place] ^= 1 << bit
    assert same(SMALL, decode(data))


def test_every_truncation_is_found():
    data = whole(SMALL)
    for length in range(len(data)):
        with pytest.raises(DamagedCheckpoint):
            decode(data[:length])
    with pytest.raises(DamagedCheckpoint):
        decode(data + b"\0")


@given(st.binary(max_size=300), st.booleans())
def test_random_bytes_are_refused(noise, with_magic):
    with pytest.raises(CheckpointError):
        decode(MAGIC + noise if with_magic else noise)


@given(TREES, st.data())
def test_a_changed_file_is_refused(tree, data):
    good = whole(tree)
    changed = bytearray(good)
    for _ in range(data.draw(st.integers(1, 5))):
        begin = data.draw(st.integers(0, len(changed)))
        end = data.draw(st.integers(begin, min(len(changed), begin + 40)))
        changed[begin:end] = data.draw(st.binary(max_size=40))
    if changed != good:
        with pytest.raises(CheckpointError):
            decode(changed)


HEADERS = st.fixed_dictionaries(
    {
        "tree": st.just({"a": None, "b": [None, {"c": None}]}) | st.none() | st.just([None]),
        "arrays": st.lists(
            st.fixed_dictionaries(
                {
                    "path": st.lists(st.sampled_from(["a", "b", "c", 0, 1, -1, 2**70, None, []]), max_size=3)
                    | st.sampled_from(["a", None, 0, {"a": 0}]),
                    "dtype": st.sampled_from(
                        ["i1", "f8", "b1", "O", "V8", "i4,f8", "U4", "c8", "i", "<i4", 3, None]
                    ),
                    "shape": st.lists(st.sampled_from([0, 1, 2, 3, -1, 2**40, 2**63, True, 1.5]), max_size=3)
                    | st.just([1] * 65)
                    | st.just([0, 2**62, 2**62])
                    | st.none(),
                    "offset": st.sampled_from([0, 1, 8, -8, 2**63, None]),
                }
            ),
            max_size=3,
        )
        | st.none(),
    }
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(HEADERS, st.binary(max_size=24))
def test_a_header_that_lies_under_a_right_checksum_ends_in_one_error(header, body):
    data = forged(json.dumps(header).encode(), body)
    try:
        tree = decode(data)
    except DamagedCheckpoint:
        return
    assert same(tree, decode(whole(tree)))  # what was read is a tree that can be written


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 200_000,
        b'{"tree": ' + b"[" * 200_000,
        b'{"tree": {"a": 1e999}, "arrays": []}',
        b'{"tree": {"a": NaN}, "arrays": []}',
        b'{"tree": {"a": -Infinity}, "arrays": []}',
        b'{"tree": {"a": ' + b"9" * 5000 + b'}, "arrays": []}',
        b'{"tree": {"a": null}, "arrays": [{"path": ["a"], "dtype": "O", "shape": [1], "offset": 0}]}',
        b'{"tree": {"a": null}, "arrays": [{"path": ["a"], "dtype": "i1", "shape": ['
        + b"9223372036854775807," * 200_000
        + b'0], "offset": 0}]}',
    ],
    ids=lambda header: header[:20].decode("latin1"),
)
def test_a_header_of_nonsense_is_refused(header):
    with pytest.raises(DamagedCheckpoint, match="header makes no sense"):
        decode(forged(header))


def test_sizes_are_checked_before_memory_is_given():
    entry = {"dtype": "i1", "shape": [1000], "offset": 0}
    claims = [
        forged(b"{}", header=2**62),
        forged(b"{}", arrays=2**62),
        forged(
            json.dumps(
                {"tree": {"a": None}, "arrays": [{"path": ["a"], **entry, "shape": [2**40]}]},
            ).encode(),
            bytes(1000),
        ),
        # Each fits, but a thousand of the same bytes would not.
        forged(
            json.dumps(
                {"tree": {"a": [None] * 1000}, "arrays": [{"path": ["a", i], **entry} for i in range(1000)]}
            ).encode(),
            bytes(1000),
        ),
    ]
    tracemalloc.start()
    try:
        for claim in claims:
            with pytest.raises(DamagedCheckpoint):
                decode(claim)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_bytes_that_belong_to_no_array_are_refused():
    with pytest.raises(DamagedCheckpoint, match="8 bytes belong to no array"):
        decode(forged(b'{"tree": {}, "arrays": []}', bytes(8)))


def test_an_array_stands_where_the_header_says():
    entry = {"path": ["a"], "dtype": "i1", "shape": [1], "offset": 0}
    header = {"tree": {"a": None}, "arrays": [entry]}
    assert decode(forged(json.dumps(header).encode(), b"\7"))["a"].tolist() == [7]
    entry["offset"] = 1
    with pytest.raises(DamagedCheckpoint, match="an array of 1 bytes at 1"):
        decode(forged(json.dumps(header).encode(), b"\7"))


def test_a_bool_is_0_or_1():
    entry = {"path": ["a"], "dtype": "b1", "shape": [2], "offset": 0}
    header = json.dumps({"tree": {"a": None}, "arrays": [entry]}).encode()
    assert decode(forged(header, b"\0\1"))["a"].tolist() == [False, True]
    with pytest.raises(DamagedCheckpoint):
        decode(forged(header, b"\0\2"))


def test_the_preamble_has_its_documented_place():
    data = whole({})
    assert (PREAMBLE, CHECKSUM) == (64, 32)
    assert data[64:-32] == b'{"tree":{},"arrays":[]}'
