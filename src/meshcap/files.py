"""Reading and writing files so that nothing is lost and nothing runs away.

Knows bytes, JSON and paths; nothing of weights, words or pictures. Nothing here unpickles.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from meshcap.errors import FileError

MIB = 1024 * 1024


@contextmanager
def written_whole(path: Path | str) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it onto `path` only when the block succeeds.

    A reader sees the old file or the whole new one, never half of one; a failed or interrupted
    write leaves the old file as it was.
    """
    target = Path(path)
    if target.is_dir():
        raise FileError(f"'{target}' is a folder; expected the name of a file to write")
    if not target.parent.is_dir():
        raise FileError(f"'{target}' cannot be written: the folder '{target.parent}' is missing")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise FileError(f"'{target}' cannot be written: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files that only the owner reads; give what the user's umask would give.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    except OSError as error:
        raise FileError(f"'{target}' cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def existing_file(path: Path | str, *, at_most: int) -> Path:
    """`path` as a Path, when it is a readable file of no more than `at_most` bytes."""
    found = Path(path)
    try:
        if found.is_dir():
            raise FileError(f"'{found}' is a folder; expected a file")
        size = found.stat().st_size
    except FileNotFoundError as error:
        raise FileError(f"'{found}' does not exist") from error
    except OSError as error:
        raise FileError(f"'{found}' cannot be read: {error.strerror}") from error
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


def read_json(path: Path | str, *, at_most: int = 64 * MIB) -> Any:
    """The value in a JSON file; FileError says where it is broken."""
    data = read_bytes(path, at_most=at_most)
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
        temporary.write_text(text + "\n", encoding="utf-8")
