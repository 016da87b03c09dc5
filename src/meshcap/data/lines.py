"""Captions in lines of text: one a line, after the picture's name, or in columns with a header.

Knows the forms of text files, in one table; nothing of JSON or of scores.
"""

import csv
import re
from collections.abc import Callable
from typing import NamedTuple

from meshcap.data.documents import lines_of
from meshcap.data.gathering import CAPTION_KEYS, ID_KEYS, LINE_NUMBERS, Gathering, Place
from meshcap.errors import FileError

_NUMBERED_CAPTION = re.compile(r"#\d+$")


class TextForm(NamedTuple):
    """A form of text files: a row of the table."""

    name: str
    fits: Callable[[list[str]], bool]
    read: Callable[[list[str], Gathering], None]


def read_lines(text: str, gathered: Gathering) -> str:
    """Gather the captions of a text file; the name of its form."""
    lines = lines_of(text)
    form = next(form for form in TEXT_FORMS if form.fits(lines))
    form.read(lines, gathered)
    return form.name


# ---- columns: `image,caption` as on Kaggle, `image_name| comment_number| comment` of Flickr30k


def _columns(header: str) -> tuple[str, list[str]] | None:
    """The separator and the names of the columns, if this is a header."""
    for separator in ",|\t;":
        names = [name.strip().strip('"').lower() for name in header.split(separator)]
        if any(name in ID_KEYS for name in names) and any(name in CAPTION_KEYS for name in names):
            return separator, names
    return None


def _has_header(lines: list[str]) -> bool:
    return _columns(lines[0]) is not None


def _read_columns(lines: list[str], gathered: Gathering) -> None:
    header = _columns(lines[0])
    assert header is not None, "only files with a header come here"
    separator, names = header
    picture = next(names.index(key) for key in ID_KEYS if key in names)
    caption = next(names.index(key) for key in CAPTION_KEYS if key in names)
    gathered.named_by = names[picture]
    rows = csv.reader(
        (line + "\n" for line in lines),
        delimiter=separator,
        # Flickr30k's bars and tabs are not quoted, and its captions hold quotation marks.
        quoting=csv.QUOTE_MINIMAL if separator in ",;" else csv.QUOTE_NONE,
        skipinitialspace=True,
        strict=True,
    )
    try:
        for row in rows:
            if rows.line_num == 1 or not any(row):
                continue
            place = Place(gathered.source, "line", rows.line_num)
            if len(row) != len(names):
                raise place.wrong(f"found {len(row)} columns; expected {len(names)}")
            name = row[picture].strip()
            if not name:
                raise place.wrong("the picture's name is empty")
            gathered.add(name, [row[caption].strip()])
    except csv.Error as error:
        raise FileError(
            f"'{gathered.source}' is broken at line {rows.line_num}: {error}"
        ) from error


# ---- `name<TAB>caption`, as `meshcap caption` prints; Flickr8k.token.txt adds `#0` to names


def _has_tab(lines: list[str]) -> bool:
    return any("\t" in line for line in lines)


def _tabbed(lines: list[str], gathered: Gathering) -> list[tuple[str, str]]:
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, tab, caption = line.partition("\t")
        place = Place(gathered.source, "line", number)
        if not tab:
            raise place.wrong(
                "there is no tab, as there is in others; expected 'picture<TAB>caption' in "
                "every line, or captions without tabs"
            )
        if not name:
            raise place.wrong("the picture's name before the tab is empty")
        found.append((name, caption))
    return found


def _read_tabbed(lines: list[str], gathered: Gathering) -> None:
    gathered.named_by = "file"
    for name, caption in _tabbed(lines, gathered):
        gathered.add(name, [caption])


def _has_numbered_names(lines: list[str]) -> bool:
    return all(
        "\t" in line and _NUMBERED_CAPTION.search(line.partition("\t")[0])
        for line in lines
        if line.strip()
    )


def _read_tokens(lines: list[str], gathered: Gathering) -> None:
    gathered.named_by = "file"
    for name, caption in _tabbed(lines, gathered):
        gathered.add(_NUMBERED_CAPTION.sub("", name), [caption])


# ---- a caption a line


def _anything(_: list[str]) -> bool:
    return True


def _read_plain(lines: list[str], gathered: Gathering) -> None:
    gathered.named_by = LINE_NUMBERS
    for number, line in enumerate(lines, 1):
        gathered.add(str(number), [line])


TEXT_FORMS = (
    TextForm("columns of text", _has_header, _read_columns),
    TextForm("Flickr's token lines", _has_numbered_names, _read_tokens),
    TextForm("lines of picture and caption", _has_tab, _read_tabbed),
    TextForm("lines of text", _anything, _read_plain),
)
"""In the order in which they are tried; the last takes any text."""
