"""METEOR's data for tests: a small set made up here, and the official ones where installed.

Knows where golden numbers lie and how METEOR's data are packed; nothing of our scores.
"""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from meshcap.errors import MissingError
from meshcap.metrics.base import Corpus
from meshcap.metrics.meteor.sources import JAR, TABLE, located

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "meteor.json"


@pytest.fixture(scope="session")
def printed():
    """What the official program printed, in numbers that every clone has."""
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def official():
    """Skips where METEOR's own data are not installed."""
    try:
        return located()
    except MissingError as error:
        pytest.skip(str(error))


def lines_of(pairs):
    return "".join(f"{word}\n{' '.join(map(str, others))}\n" for word, others in pairs)


def packed(folder, data, table=None):
    """Write lists as a jar, and a table beside it, as the official package has them."""
    folder.mkdir(parents=True, exist_ok=True)
    prefixes = "".join(
        f"{word} #NUMERIC_ONLY#\n" if before_digits else f"{word}\n"
        for word, before_digits in data["prefixes"].items()
    )
    with zipfile.ZipFile(folder / JAR, "w") as jar:
        jar.writestr("synonym/english.synsets", lines_of(data["synsets"].items()))
        exceptions = ((base, [forms]) for base, forms in data["exceptions"].items())
        jar.writestr("synonym/english.exceptions", lines_of(exceptions))
        jar.writestr("function/english.words", "\n".join(data["function_words"]) + "\n")
        jar.writestr("nonbreaking/english.prefixes", "# a remark\n\n" + prefixes)
    entries = data["table"] if table is None else table
    (folder / "data").mkdir(exist_ok=True)
    with gzip.open(folder / "data" / TABLE, "wt", encoding="utf-8", newline="\n") as text:
        text.writelines(f"{line}\n" for entry in entries for line in entry)
    return folder


@pytest.fixture
def pack():
    """The function that packs data into a folder."""
    return packed


@pytest.fixture(scope="session")
def small(printed, tmp_path_factory):
    """A folder with the small data, packed as the official ones are."""
    return packed(tmp_path_factory.mktemp("small"), printed["data"])


@pytest.fixture
def corpus_of():
    """Rows with a candidate and references, as a corpus."""

    def corpus(rows):
        return Corpus(
            tuple(str(number) for number in range(len(rows))),
            tuple(row["candidate"] for row in rows),
            tuple(tuple(row["references"]) for row in rows),
        )

    return corpus
