"""A file of named arrays: written whole, checked whenever it is opened, mapped into memory.

Knows bytes and numpy arrays; nothing of what they mean.

The file: 8 bytes of name and version, 32 bytes of BLAKE2b over all that follows, the length of the
header (8 bytes, little-endian), the header (JSON), and the arrays, each at a multiple of 64 bytes.
The header says of what the arrays were made, and each one's name, type, length and place. Pages
are mapped, so that only those that are read take memory; checking reads through a small buffer.
"""

import json
import mmap
from collections.abc import Mapping
from hashlib import blake2b
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meshcap.files import written_whole

Arrays = Mapping[str, NDArray[Any]]

_NAME = b"MCarray\x01"
_DIGEST = 32
_AT_ONCE = 1 << 20
_ALIGNED = 64
_LENGTH = 8


def write_arrays(path: Path, made_of: str, arrays: Arrays) -> None:
    """Write one-dimensional arrays, and of what they were made, under a temporary name first."""
    rows: list[tuple[str, str, int, int]] = []
    place = 0
    for name, array in arrays.items():
        assert array.ndim == 1, name
        rows.append((name, array.dtype.newbyteorder("<").str, len(array), place))
        place += _aligned(array.nbytes)
    header = json.dumps({"made_of": made_of, "arrays": rows}).encode()
    # Blanks after the header bring the first array to a multiple of 64 bytes.
    before = len(_NAME) + _DIGEST + _LENGTH
    header += b" " * (_aligned(before + len(header)) - before - len(header))
    with written_whole(path) as temporary, temporary.open("wb") as file:
        digest = blake2b(digest_size=_DIGEST)

        def write(data: bytes) -> None:
            digest.update(data)
            file.write(data)

        file.write(_NAME + bytes(_DIGEST))
        write(len(header).to_bytes(_LENGTH, "little") + header)
        for array in arrays.values():
            write(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
            write(bytes(_aligned(array.nbytes) - array.nbytes))
        file.seek(len(_NAME))
        file.write(digest.digest())


def _aligned(place: int) -> int:
    return -(-place // _ALIGNED) * _ALIGNED


def read_arrays(path: Path, made_of: str) -> dict[str, NDArray[Any]] | None:
    """The arrays of a file that was made of `made_of`, or None if it is another, or not whole."""
    try:
        with path.open("rb") as file:
            return _read(file, made_of)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read(file: BufferedReader, made_of: str) -> dict[str, NDArray[Any]] | None:
    if file.read(len(_NAME)) != _NAME:
        return None
    expected = file.read(_DIGEST)
    digest = blake2b(digest_size=_DIGEST)
    buffer = bytearray(_AT_ONCE)
    view = memoryview(buffer)
    while count := file.readinto(buffer):
        digest.update(view[:count])
    if digest.digest() != expected:
        return None
    file.seek(len(_NAME) + _DIGEST)
    length = int.from_bytes(file.read(_LENGTH), "little")
    header = json.loads(file.read(length))
    if header["made_of"] != made_of:
        return None
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    first = len(_NAME) + _DIGEST + _LENGTH + length
    return {
        name: np.frombuffer(mapped, np.dtype(kind), count, first + place)
        for name, kind, count, place in header["arrays"]
    }
