"""What a reader of a form fills, entry by entry, and the sentences about a wrong entry.

Knows pictures' names, captions and where in a file they stand; nothing of any form.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from meshcap.errors import CaptionError

LINE_NUMBERS = "line number"
PLACES = "place in the list"
"""The kinds of names that pictures have in files that do not name them."""

ID_KEYS = ("image_id", "picture", "file", "file_name", "filename", "image", "image_name", "id")
"""What an entry may call its picture by, best first."""

CAPTION_KEYS = ("caption", "captions", "text", "references", "comment", "candidate")
"""What an entry may call its captions; "candidate" stands in tables that `--per-picture` wrote."""

FILE_KEYS = ("file_name", "filename", "file")

_LONGEST = 60


class Place(NamedTuple):
    """Where an entry stands, for a sentence about it."""

    source: str
    list_name: str = ""
    """Such as "annotations, entry", or "line"; nothing for the whole document."""
    number: int = 0

    def wrong(self, what: str) -> CaptionError:
        """The error that says so."""
        where = f", {self.list_name} {self.number:,}" if self.list_name else ""
        return CaptionError(f"'{self.source}'{where}: {what}")


def shown(value: Any) -> str:
    """A short JSON-like description of a value, for a sentence about it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        keys = ", ".join(f"'{key}'" for key in list(value)[:5])
        return f"an object with the keys {keys}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value):,}" if value else "an empty list"
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


class Gathering:
    """The captions of one file, as they are found."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.captions: dict[str, list[str]] = {}
        self.named_by = "id"
        self.also: dict[str, dict[str, str]] = {}
        self.splits: dict[str, str] = {}

    def add(self, picture: str, captions: list[str]) -> None:
        """Captions of a picture, which may have some already."""
        if (known := self.captions.get(picture)) is None:
            self.captions[picture] = captions
        else:
            known.extend(captions)

    def list_picture(self, picture: str, place: Place) -> None:
        """A picture that its file lists once."""
        if picture in self.captions:
            raise place.wrong(f"picture '{picture}' is listed a second time")
        self.captions[picture] = []

    def call_also(self, picture: str, kind: str, name: str) -> None:
        """A further name of a picture; of two that differ the first counts."""
        self.also.setdefault(kind, {}).setdefault(picture, name)


# ---- what an entry holds


def object_at(value: Any, place: Place) -> Mapping[str, Any]:
    """An entry that must be an object."""
    if not isinstance(value, dict):
        raise place.wrong(f"found {shown(value)}; expected an object")
    return value


def name_at(entry: Mapping[str, Any], key: str, place: Place) -> str:
    """The name of a picture under `key`, as text."""
    value = entry.get(key)
    if isinstance(value, str):
        if value:
            return value
    elif isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _wrong_at(entry, key, place, "a whole number or text")


def _wrong_at(entry: Mapping[str, Any], key: str, place: Place, expected: str) -> CaptionError:
    if key not in entry:
        return place.wrong(f"'{key}' is missing; found {shown(entry)}")
    return place.wrong(f"'{key}' is {shown(entry[key])}; expected {expected}")


def text_at(entry: Mapping[str, Any], key: str, place: Place) -> str:
    """The text under `key`."""
    value = entry.get(key)
    if not isinstance(value, str):
        raise _wrong_at(entry, key, place, "text")
    return value


def entries_at(entry: Mapping[str, Any], key: str, place: Place) -> list[Any]:
    """The list under `key`."""
    value = entry.get(key)
    if not isinstance(value, list):
        raise _wrong_at(entry, key, place, "a list")
    return value


def captions_at(value: Any, name: str, place: Place) -> list[str]:
    """One caption or a list of them; each is text, or an object that holds one."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise place.wrong(f"{name} is {shown(value)}; expected text or a list of texts")
    found = []
    for each in value:
        if isinstance(each, dict):
            each = next((each[key] for key in ("caption", "text", "raw") if key in each), each)
        if not isinstance(each, str):
            raise place.wrong(f"{name} holds {shown(each)}; expected texts")
        found.append(each)
    return found
