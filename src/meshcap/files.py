"""Reading and writing files so that nothing is lost and nothing runs away.

Knows bytes, JSON and paths; nothing of weights, words or pictures. Nothing here unpickles.
"""

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from stat import S_ISREG
from typing import Any

from meshcap.errors import FileError

MIB = 1024 * 1024
GZIP = b"\x1f\x8b"


def _expect_path(path: Path) -> None:
    if "\0" in str(path):
        raise FileError(f"{str(path)!r} is no path: it holds a null character")


def expect_writable(path: Path | str) -> None:
    """Say, before long work, that a file of this name cannot be written."""
    target = Path(path)
    _expect_path(target)
    if target.is_dir():
        raise FileError(f"'{target}' is a folder; expected the name of a file to write")
    if target.exists() and not target.is_file():
        # Renaming a file onto it would destroy it.
        raise FileError(f"'{target}' is a pipe or a device; expected the name of a file to write")
    if not target.parent.is_dir():
        raise FileError(f"'{target}' cannot be written: the folder '{target.parent}' is missing")


@contextmanager
def written_whole(path: Path | str) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it onto `path` only when the block succeeds.

    A reader sees the old file or the whole new one, never half of one; a failed or interrupted
    write leaves the old file as it was.
    """
    target = Path(path)
    expect_writable(target)
    # What a link leads to is what is meant, and it stays a link.
    target = target.resolve()
    temporary = target.parent / f".meshcap-{token_hex(8)}.tmp"
    try:
        temporary.touch(exist_ok=False)  # with the rights that the user's umask gives
    except OSError as error:
        raise FileError(f"'{target}' cannot be written: {error.strerror}") from error
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    except OSError as error:
        if error.filename not in (None, str(temporary), str(target)):
            raise  # it is about another file, which the block was reading, say
        raise FileError(f"'{target}' cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def existing_file(path: Path | str, *, at_most: int) -> Path:
    """`path` as a Path, when it is a readable file of no more than `at_most` bytes."""
    found = Path(path)
    _expect_path(found)
    try:
        if found.is_dir():
            raise FileError(f"'{found}' is a folder; expected a file")
        stat = found.stat()
    except FileNotFoundError as error:
        raise FileError(f"'{found}' does not exist") from error
    except OSError as error:
        raise FileError(f"'{found}' cannot be read: {error.strerror}") from error
    if not S_ISREG(stat.st_mode):
        # A pipe or a device says nothing of how much it will give.
        raise FileError(f"'{found}' is a pipe or a device; expected a file")
    size = stat.st_size
    if size > at_most:
        raise FileError(f"'{found}' holds {size:,} bytes; at most {at_most:,} are allowed")
    return found


def read_bytes(path: Path | str, *, at_most: int = 64 * MIB) -> bytes:
    """The bytes of a file that holds no more than `at_most` of them."""
    found = existing_file(path, at_most=at_most)
    try:
        return found.read_bytes()
    except OSError as error:
        raise FileError(f"'{found}' cannot be read: {error.strerror}") from error


def read_unpacked(path: Path | str, *, at_most: int = 64 * MIB) -> bytes:
    """The bytes of a file, unpacked if it is gzipped; no more than `at_most` either way."""
    return unpacked(read_bytes(path, at_most=at_most), source=str(path), at_most=at_most)


def unpacked(data: bytes, *, source: str, at_most: int) -> bytes:
    """What is gzipped in `data`, or `data` itself; `source` is named in errors."""
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            found = packed.read(at_most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"'{source}' is a broken gzip file: {error}") from error
    if len(found) > at_most:
        raise FileError(f"'{source}' unpacks to more than the {at_most:,} bytes that are allowed")
    return found


def read_json(path: Path | str, *, at_most: int = 64 * MIB) -> Any:
    """The value in a JSON file, which may be gzipped; FileError says where it is broken."""
    data = read_unpacked(path, at_most=at_most)
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(
            f"'{path}' is not text: byte {error.start} is not UTF-8; expected JSON"
        ) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"'{path}' is not JSON: {error}") from error


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as JSON that a person can read, whole or not at all."""
    with written_whole(path) as temporary:
        text = json.dumps(value, ensure_ascii=False, indent=1)
        try:
            temporary.write_text(text + "\n", encoding="utf-8")
        except UnicodeEncodeError as error:
            raise FileError(f"'{path}' cannot be written: {error}") from error
