"""A captions file's bytes to text, and text to JSON: gzip, byte order marks, limits.

Knows encodings and where a document is broken; nothing of captions or pictures.
"""

import codecs
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from meshcap.errors import FileError
from meshcap.files import MIB, read_bytes, unpacked

MOST_BYTES = 1024 * MIB
"""A captions file holds no more, unpacked: ten times COCO's training captions."""

_WIDE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class _DoubledError(ValueError):
    """An object of a JSON document has a key twice."""


def read_text(path: Path | str, *, at_most: int = MOST_BYTES) -> str:
    """The text of a file, or of what is gzipped in it."""
    return decoded(read_bytes(path, at_most=at_most), source=str(path), at_most=at_most)


def decoded(data: bytes, *, source: str, at_most: int = MOST_BYTES) -> str:
    """The text that `data` is in UTF-8, gzipped or not; `source` is named in errors."""
    data = unpacked(data, source=source, at_most=at_most)
    for mark, name in _WIDE.items():
        if data.startswith(mark):
            raise FileError(f"'{source}' is {name} text; expected UTF-8")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"'{source}' is not UTF-8 text: line {line} holds the byte {data[error.start]:#04x}"
        ) from error
    if (place := text.find("\0")) >= 0:
        line = text.count("\n", 0, place) + 1
        raise FileError(f"'{source}' is not text: line {line} holds a null character")
    return text


def parsed(text: str, *, source: str, line: int | None = None) -> Any:
    """The value of a JSON document, or of line number `line` of a file of JSON lines."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        number = error.lineno if line is None else line
        raise FileError(
            f"'{source}' is broken JSON at line {number}, column {error.colno}: {error.msg}"
        ) from error
    except _DoubledError as error:
        raise FileError(f"'{source}'{_at(line)} holds the key {error} twice in one object") from (
            error
        )
    except RecursionError as error:
        raise FileError(f"'{source}'{_at(line)} is JSON that is nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise FileError(f"'{source}'{_at(line)} is JSON that cannot be read: {error}") from error


def _at(line: int | None) -> str:
    return "" if line is None else f", line {line},"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object none of whose keys hides another: the last of two captions is no answer."""
    found = dict(pairs)
    if len(found) != len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise _DoubledError(repr(key))
    return found


def is_json_lines(text: str) -> bool:
    """Whether the text is one JSON object a line, rather than one document."""
    start = text.lstrip()
    if not start.startswith("{"):
        return False
    first, more, rest = start.partition("\n")
    if not more or not rest.strip():
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        # A document over several lines; or a first line that is broken, of which there is a
        # second one that begins like it.
        return first.rstrip().endswith("}") and rest.lstrip().startswith("{")


def lines_of(text: str) -> list[str]:
    """The lines of a text; what separates them is LF or CR LF and nothing else.

    Other characters that Python takes as an end of line, U+2028 say, stand inside captions.
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def json_lines(text: str, *, source: str) -> Iterator[tuple[int, Any]]:
    """The number and the value of each line that is not blank."""
    for number, line in enumerate(lines_of(text), 1):
        if line.strip():
            yield number, parsed(line, source=source, line=number)
