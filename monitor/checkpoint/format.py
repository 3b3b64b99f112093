"""The bytes of a checkpoint.

======================  =====================================================================
64 bytes                preamble, the same in every version: magic, the version of monitor
                        that wrote it (text), format version (major, minor), bytes of the header,
                        bytes of all arrays, crc32 of the 60 bytes before
header                  JSON in ASCII: ``{"tree": …, "arrays": [{"path", "dtype", "shape", "offset"}]}``;
                        the tree has null where an array stands, an offset counts from the header's end
arrays                  raw, C order, one after the other
32 bytes                sha256 of everything before
======================  =====================================================================

All numbers are little-endian. A reader ignores keys of the header that it doesn't know: what only adds keys
raises the minor version, anything else the major one.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from monitor import __version__
from monitor.checkpoint.errors import CheckpointError, DamagedCheckpoint, NewerCheckpoint
from monitor.checkpoint.tree import DTYPES, Array, Path, Tree, code, insert, separate

MAJOR, MINOR = 1, 0

# As in PNG: a high bit, both line ends and an end of file show a copy made as text.
MAGIC = b"\x89MCK\r\n\x1a\n"
_FIELDS = struct.Struct("<8s32sHHQQ")
_CRC = struct.Struct("<I")
PREAMBLE = _FIELDS.size + _CRC.size
CHECKSUM = hashlib.sha256().digest_size
_MAX_DIMENSIONS = 64  # numpy's own
_PIECE = 1 << 20

Source = bytes | bytearray | memoryview | io.BufferedIOBase
"""The bytes of a checkpoint, or a buffered file of them that can seek."""


class Preamble(NamedTuple):
    """What stands in the first bytes of a file."""

    magic: bytes
    writer: bytes
    major: int
    minor: int
    header: int
    arrays: int

    def pack(self) -> bytes:
        """Return it as `PREAMBLE` bytes."""
        fields = _FIELDS.pack(*self)
        return fields + _CRC.pack(zlib.crc32(fields))


def encode(tree: Tree) -> Iterator[bytes | memoryview]:
    """Make the bytes of a checkpoint, piece by piece.

    Parameters
    ----------
    tree
        Plain data with arrays: few large ones rather than many small ones, since each costs some 20
        microseconds beside its bytes. None is copied that is C contiguous and little-endian, so none may
        change before the last piece is taken.

    Returns
    -------
    iterator of bytes or memoryview
        Everything that can be refused has been when this function returns.

    Raises
    ------
    CheckpointError
        The tree holds what a checkpoint cannot: a number that is not finite, an array of objects, a tuple.
    """
    try:
        plain, arrays = separate(tree)
        header = _header(plain, arrays)
    except (TypeError, ValueError) as e:
        raise CheckpointError(f"the state cannot be written to a checkpoint: {e}; please report this") from e
    size = sum(array.nbytes for _, array in arrays)
    preamble = Preamble(MAGIC, __version__.encode(), MAJOR, MINOR, len(header), size)
    return _with_checksum(preamble.pack() + header, [array for _, array in arrays])


def _header(plain: Tree, arrays: list[tuple[Path, Array]]) -> bytes:
    entries: list[dict[str, Any]] = []
    offset = 0
    for path, array in arrays:
        entries.append({"path": path, "dtype": code(array), "shape": array.shape, "offset": offset})
        offset += array.nbytes
    header = {"tree": plain, "arrays": entries}
    return json.dumps(header, allow_nan=False, check_circular=False, separators=(",", ":")).encode("ascii")


def _with_checksum(start: bytes, arrays: list[Array]) -> Iterator[bytes | memoryview]:
    digest = hashlib.sha256(start)
    yield start
    for array in arrays:
        plain = np.ascontiguousarray(array, DTYPES[code(array)])
        piece = plain.reshape(-1).view(np.uint8).data
        digest.update(piece)
        yield piece
    yield digest.digest()


def decode(source: Source, name: str = "the checkpoint") -> Tree:
    """Read a checkpoint.

    Nothing is believed, or given memory, before the checksum has been found right.

    Parameters
    ----------
    source
        The bytes or a file.
    name
        What messages call it: the path of the file.

    Returns
    -------
    dict
        The tree as it was; its arrays are writable copies that share nothing with `source`.

    Raises
    ------
    DamagedCheckpoint
        A bit is not as it was written, or bytes are missing.
    NewerCheckpoint
        A later version with another format wrote it.
    """
    file = _file(source)
    preamble = verify(file, name)
    file.seek(PREAMBLE)
    try:
        return _read(file, preamble)
    except (ValueError, RecursionError) as e:
        raise DamagedCheckpoint(name, f"its header makes no sense ({e})") from e


def verify(source: Source, name: str = "the checkpoint") -> Preamble:
    """Check that a checkpoint is whole and of a format that can be read, in one pass and without memory.

    Raises
    ------
    DamagedCheckpoint, NewerCheckpoint
        As for `decode`.
    """
    file = _file(source)
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    start = file.read(PREAMBLE)
    if len(start) < PREAMBLE:
        raise DamagedCheckpoint(name, f"it ends after {size} bytes")
    preamble = Preamble._make(_FIELDS.unpack_from(start))
    if preamble.magic != MAGIC:
        raise DamagedCheckpoint(name, "it does not begin as a checkpoint does")
    if start != preamble.pack():
        raise DamagedCheckpoint(name, "its first bytes are not as they were written")
    if preamble.major > MAJOR:
        writer = preamble.writer.rstrip(b"\0").decode("ascii", "backslashreplace")
        raise NewerCheckpoint(
            f"{name} was written by monitor {writer} in format {preamble.major}.{preamble.minor}; this is "
            f"monitor {__version__}, which reads format {MAJOR}: run monitor {writer} or later, or move the "
            "file away to go on from an older checkpoint"
        )
    expected = PREAMBLE + preamble.header + preamble.arrays + CHECKSUM
    if preamble.major < MAJOR or size != expected:
        raise DamagedCheckpoint(name, f"it has {size} bytes instead of {expected}")
    digest = hashlib.sha256(start)
    rest = preamble.header + preamble.arrays
    while rest and (piece := file.read(min(rest, _PIECE))):
        digest.update(piece)
        rest -= len(piece)
    if file.read(CHECKSUM) != digest.digest():
        raise DamagedCheckpoint(name, "its checksum does not fit")
    return preamble


def _file(source: Source) -> io.BufferedIOBase:
    return io.BytesIO(source) if isinstance(source, bytes | bytearray | memoryview) else source


def _read(file: io.BufferedIOBase, preamble: Preamble) -> Tree:
    """Read header and arrays from a file that stands behind its preamble."""
    text = file.read(preamble.header).decode("ascii")
    match json.loads(text, parse_float=_finite, parse_constant=_finite):
        case {"tree": dict(tree), "arrays": list(entries)}:
            pass
        case _:
            raise ValueError("no tree")
    offset = 0
    for entry in entries:
        match entry:
            case {"path": path, "dtype": str(dtype), "shape": list(shape), "offset": int(begin)}:
                nbytes = _size(dtype, shape)
            case _:
                raise ValueError("an array that is not described")
        # One after the other, so that all together can't be larger than the file.
        if begin != offset or offset + nbytes > preamble.arrays:
            raise ValueError(f"an array of {nbytes} bytes at {begin}")
        offset += nbytes
        insert(tree, path, _array(file, dtype, shape))
    if offset != preamble.arrays:
        raise ValueError(f"{preamble.arrays - offset} bytes belong to no array")
    return tree


def _size(dtype: str, shape: list[Any]) -> int:
    """Return the bytes of an array, once its description is found to be possible."""
    if dtype not in DTYPES:
        raise ValueError(f"an array of {dtype!r:.50}")
    if len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise ValueError(f"an array of shape {shape!r:.50}")
    size: int = math.prod(shape) * DTYPES[dtype].itemsize
    return size


def _array(file: io.BufferedIOBase, dtype: str, shape: list[int]) -> Array:
    array = np.empty(shape, DTYPES[dtype])
    raw = array.reshape(-1).view(np.uint8)
    if file.readinto(raw.data) != array.nbytes:
        raise ValueError("the file got shorter while it was read")
    if dtype == "b1" and raw.max(initial=0) > 1:
        raise ValueError("a bool that is neither 0 nor 1")
    return array


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text}")
    return number
