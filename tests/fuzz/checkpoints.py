"""Files of what is remembered: they come back as they were, or are refused as what they are."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import tracemalloc
from functools import cache
from random import Random
from typing import Any

import numpy as np

from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder
from monitor.checkpoint.format import CHECKSUM, MAGIC, PREAMBLE, decode
from monitor.checkpoint.tree import DTYPES, Tree
from tests.fuzz.mutation import ODD, changed_bytes, changed_tree
from tests.property.test_checkpoint_format import forged, same, whole

BESIDE_THE_FILE = 1 << 24
BYTES_PER_BYTE = 100
"""Memory that reading may take: Python's objects are larger than their text, but there is a bound."""


def fuzz_checkpoint(data: bytes) -> None:
    """Read bytes as they are, then with checksums that fit, so that the inside is looked at too."""
    for file in (data, sealed(data)):
        tracemalloc.start()
        try:
            read(file)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < BESIDE_THE_FILE + BYTES_PER_BYTE * len(file), f"{peak} bytes for {len(file)}"


def read(file: bytes) -> None:
    """Read a file by itself, and as the newest of two in a folder."""
    try:
        tree = decode(file)
    except CheckpointError:
        pass
    else:
        assert same(tree, decode(whole(tree)))
    folder = _folder()
    (folder.path / "checkpoint-1-2").write_bytes(file)
    found = folder.newest(understand)
    assert found is not None and found.refusal is None
    assert len(found.problems) == (found.path.name == "checkpoint-1-1")


@cache
def _folder() -> Folder:
    """Return a folder with a good checkpoint; making one takes longer than reading a hundred."""
    directory = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, directory)
    folder = Folder(directory, "g")
    folder.path.mkdir()
    (folder.path / "checkpoint-1-1").write_bytes(whole({"a": 1}))
    return folder


def understand(tree: Tree) -> Tree:
    return tree


def sealed(data: bytes) -> bytes:
    """Give a file the lengths and checksums that it should have; what stands in its header stays."""
    content = data[PREAMBLE : max(PREAMBLE, len(data) - CHECKSUM)]
    claimed = int.from_bytes(data[44:52], "little")
    header = min(claimed, len(content))
    return forged(content[:header], content[header:])


def opened(data: bytes) -> tuple[Any, bytes]:
    """Return the header, as JSON has it, and the arrays of a whole file."""
    end = PREAMBLE + int.from_bytes(data[44:52], "little")
    return json.loads(data[PREAMBLE:end]), data[end:-CHECKSUM]


def make_input(rng: Random) -> bytes:
    """Return a file of which some bits, or some values of its header, are other than they were."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.randbytes(rng.randrange(200))
    file = rng.choice(FILES)
    if kind < 4:
        header, arrays = opened(file)
        part = rng.choice(["tree", "arrays"])
        header[part] = changed_tree(rng, [header[part]], ODD_IN_HEADER)
        file = forged(json.dumps(header).encode(), arrays)
    return file if kind < 3 else changed_bytes(rng, file, rng.choice(FILES), TOKENS)


def _trees() -> list[Tree]:
    """Return small trees with all that a tree may hold."""
    arrays = {name: np.arange(4).astype(dtype) for name, dtype in DTYPES.items() if name != "b1"}
    return [
        {},
        {"a": None, "b": [1, 2.5, "é", True, {"c": -(2**70)}]},
        {"flag": np.array(True), "grid": np.zeros((2, 0, 3)), "deep": [[[[np.ones(2)]]]]},
        arrays,
    ]


FILES = [whole(tree) for tree in _trees()]
ODD_IN_HEADER = (*ODD, *DTYPES, "O", "<i4", [0, 2**62, 2**62], [1] * 65, [["a"]], -8)
TOKENS = [
    *(MAGIC, b"\xff" * 8, b"\0" * 8, b"\x80" + b"\0" * 7, b"\0" * 7 + b"\x7f", b"[" * 300, b"9" * 5000),
    *(b"1e999", b"NaN", b"Infinity", b"null", b"true", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\xff"),
    *(b"9223372036854775807", b"-1", b"4294967296", b'"offset":0', b'"shape":[]', b'"dtype":"O"'),
    *(b'"path":["a"]', b'"tree":', b'"<i4"'),
]
