"""Where METEOR's word lists and its table of paraphrases are, and what the lists hold.

Knows the package that brings them, the official jar (a zip file) and its lists; nothing of caches
or scores. Nothing of the package is imported, and no Java runs.

The places, in this order: what the caller names; the environment variable MESHCAP_METEOR; the
package pycocoevalcap. A place is the jar, with the table in the folder `data` beside it or beside
it as such, or the folder that holds them.
"""

import os
import zipfile
from collections.abc import Mapping
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from meshcap.errors import FileError, MissingError

INSTALL = "pip install 'meshcap[meteor]'"
VARIABLE = "MESHCAP_METEOR"
JAR = "meteor-1.5.jar"
TABLE = "paraphrase-en.gz"

OFFICIAL = "8b8c08a043705e772092aeaa2508efd3"
"""The fingerprint of the data that the official caption tools use."""

_SYNSETS = "synonym/english.synsets"
_EXCEPTIONS = "synonym/english.exceptions"
_FUNCTION_WORDS = "function/english.words"
_PREFIXES = "nonbreaking/english.prefixes"
_LISTS = (_SYNSETS, _EXCEPTIONS, _FUNCTION_WORDS, _PREFIXES)
_BEFORE_DIGITS = "#NUMERIC_ONLY#"
_LIST_AT_MOST = 64 << 20


class Sources(NamedTuple):
    """The two files that METEOR's data come from."""

    jar: Path
    table: Path


class WordLists(NamedTuple):
    """The jar's lists for English."""

    synsets: Mapping[str, tuple[int, ...]]
    exceptions: Mapping[str, tuple[str, ...]]
    """By form: its irregular bases."""
    function_words: frozenset[str]
    prefixes: Mapping[str, bool]
    """Words that keep a final dot; True marks one that keeps it before a digit only."""


def located(data: Path | str | None = None) -> Sources:
    """The files, from `data`, the environment or the package; MissingError or FileError."""
    if data is not None:
        return _at(Path(data), "data")
    if named := os.environ.get(VARIABLE):
        return _at(Path(named).expanduser(), VARIABLE)
    spec = find_spec("pycocoevalcap")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        jar = Path(folder) / "meteor" / JAR
        if jar.is_file() and (found := _beside(jar)):
            return found
    raise MissingError(
        f"METEOR needs word lists and a table of paraphrases that are not installed: {INSTALL} "
        f"brings them (or {VARIABLE} names the folder with {JAR} and {TABLE})"
    )


def _at(place: Path, named_by: str) -> Sources:
    jar = place / JAR if place.is_dir() else place
    found = _beside(jar) if jar.is_file() else None
    if found is None:
        what = f"has no {TABLE} beside the jar or in a folder data there"
        if not jar.is_file():
            what = f"holds no {JAR}" if place.is_dir() else "does not exist"
        raise FileError(
            f"'{place}', which {named_by} names as METEOR's data, {what}; expected a folder with "
            f"{JAR} and {TABLE}, or the jar itself"
        )
    return found


def _beside(jar: Path) -> Sources | None:
    tables = (jar.parent / "data" / TABLE, jar.parent / TABLE)
    return next((Sources(jar, table) for table in tables if table.is_file()), None)


def fingerprint(sources: Sources) -> str:
    """Hexadecimal digits that change with the files' content, found without reading all of it.

    Both formats hold checksums of what they contain: a zip file in its list of members, a gzip
    file in its last eight bytes.
    """
    found = blake2b(digest_size=16)
    with _opened(sources.jar) as jar:
        for name in _LISTS:
            member = _member(sources.jar, jar, name)
            found.update(f"{name} {member.CRC} {member.file_size}\n".encode())
    try:
        with sources.table.open("rb") as table:
            table.seek(max(table.seek(0, os.SEEK_END) - 8, 0))
            found.update(table.read())
    except OSError as error:
        raise FileError(f"'{sources.table}' cannot be read: {error.strerror}") from error
    return found.hexdigest()


def word_lists(sources: Sources) -> WordLists:
    """The jar's lists, without the words that no normalised caption can hold."""
    with _opened(sources.jar) as jar:
        lines = {name: _text(sources.jar, jar, name).split("\n") for name in _LISTS}
    numbers = _pairs(lines[_SYNSETS])
    try:
        # A caption's words hold neither blanks nor underscores: no list of several words is met.
        synsets = {
            word: tuple(map(int, line.split()))
            for word, line in numbers
            if "_" not in word and " " not in word
        }
    except ValueError as error:
        raise FileError(f"'{sources.jar}', {_SYNSETS}: {error}; expected numbers") from error
    exceptions: dict[str, tuple[str, ...]] = {}
    for base, line in _pairs(lines[_EXCEPTIONS]):
        for form in line.split():
            exceptions[form] = (*exceptions.get(form, ()), base)
    prefixes: dict[str, bool] = {}
    for line in lines[_PREFIXES]:
        if line.strip() and not line.startswith("#"):
            prefixes[line.split()[0]] = _BEFORE_DIGITS in line
    words = frozenset(line.strip() for line in lines[_FUNCTION_WORDS] if line.strip())
    return WordLists(synsets, exceptions, words, prefixes)


def _pairs(lines: list[str]) -> list[tuple[str, str]]:
    """Of lines that alternate: a word, and what belongs to it."""
    return list(zip(lines[0::2], lines[1::2], strict=False))  # the last line may be empty


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise FileError(f"'{path}' cannot be read as a jar: {error}") from error


def _member(path: Path, jar: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    try:
        member = jar.getinfo(name)
    except KeyError as error:
        raise FileError(f"'{path}' holds no {name}; expected METEOR's jar, {JAR}") from error
    if member.file_size > _LIST_AT_MOST:
        raise FileError(
            f"'{path}', {name} holds {member.file_size:,} bytes; at most {_LIST_AT_MOST:,} are "
            "allowed"
        )
    return member


def _text(path: Path, jar: zipfile.ZipFile, name: str) -> str:
    try:
        return jar.read(_member(path, jar, name)).decode("utf-8")
    except (OSError, zipfile.BadZipFile, EOFError, UnicodeDecodeError) as error:
        raise FileError(f"'{path}', {name} cannot be read: {error}") from error
