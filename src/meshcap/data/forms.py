"""The forms of captions in JSON, in one table: COCO's, Karpathy's, lists, lines, plain objects.

Knows how each is told apart by what it holds, and how it is read; nothing of scores. Files that
do not begin like JSON are lines of text, which `lines.py` knows. A further form is one row here
or there.
"""

import json
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from meshcap.data.documents import is_json_lines, json_lines, parsed
from meshcap.data.gathering import (
    CAPTION_KEYS,
    FILE_KEYS,
    ID_KEYS,
    PLACES,
    Gathering,
    Place,
    captions_at,
    entries_at,
    name_at,
    object_at,
    shown,
    text_at,
)
from meshcap.data.lines import read_lines
from meshcap.errors import CaptionError

_SCALAR_LENGTH = 1000


class JsonForm(NamedTuple):
    """A form of JSON documents: a row of the table."""

    name: str
    fits: Callable[[Any], bool]
    read: Callable[[Any, Gathering], None]


def read_form(text: str, gathered: Gathering) -> str:
    """Gather the captions of a file's text; the name of its form."""
    start = text[:_SCALAR_LENGTH].lstrip()[:1] or text.lstrip()[:1]
    if not start:
        raise CaptionError(f"'{gathered.source}' is empty; expected captions")
    if start not in "{[":
        if len(text) < _SCALAR_LENGTH and (value := _scalar(text)) is not None:
            raise CaptionError(
                f"'{gathered.source}' holds the JSON value {value}; expected captions"
            )
        return read_lines(text, gathered)
    if is_json_lines(text):
        _read_entries(json_lines(text, source=gathered.source), gathered, "line")
        return "JSON lines"
    value = parsed(text, source=gathered.source)
    if isinstance(value, dict) and str(value.get("format")).startswith("meshcap "):
        raise CaptionError(f"'{gathered.source}' holds {value['format']}; expected captions")
    for form in JSON_FORMS:
        if form.fits(value):
            form.read(value, gathered)
            return form.name
    raise CaptionError(f"'{gathered.source}' is JSON, {_seen(value)}; expected {_known()}")


def _scalar(text: str) -> str | None:
    """What a file holds that is one JSON value but neither object, list nor text."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return None if isinstance(value, str) else shown(value)


def _seen(value: Any) -> str:
    if isinstance(value, list) and value:
        return f"{shown(value)} whose first is {shown(value[0])}"
    return shown(value)


def _known() -> str:
    return (
        "COCO's results or captions, Karpathy's form, or an object of pictures and their captions"
    )


# ---- entries: COCO's results, and JSON lines, of which `meshcap caption --json` prints some


def _is_entry(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and any(key in value for key in ID_KEYS)
        and any(key in value for key in (*CAPTION_KEYS, "error"))
    )


def _read_entry(value: Any, gathered: Gathering) -> None:
    _read_entries([(1, value)], gathered, "line")


def _is_entries(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _read_list(value: Any, gathered: Gathering) -> None:
    _read_entries(enumerate(value, 1), gathered, "entry")


def _read_entries(entries: Any, gathered: Gathering, list_name: str) -> None:
    named_by = None
    for number, value in entries:
        place = Place(gathered.source, list_name, number)
        entry = object_at(value, place)
        key = next((key for key in ID_KEYS if key in entry), None)
        if key is None:
            raise place.wrong(
                f"found {shown(entry)}; expected the picture as one of {', '.join(ID_KEYS)}"
            )
        named_by = named_by or key
        if key != named_by:
            raise place.wrong(f"'{named_by}' is missing, which others have; found {shown(entry)}")
        picture = name_at(entry, key, place)
        gathered.add(picture, _captions_of_entry(entry, picture, place))
        for other in FILE_KEYS:
            if other != key and isinstance(entry.get(other), str):
                gathered.call_also(picture, "file", entry[other])
    gathered.named_by = named_by or "id"


def _captions_of_entry(entry: Mapping[str, Any], picture: str, place: Place) -> list[str]:
    keys = [key for key in CAPTION_KEYS if key in entry]
    if not keys:
        if "error" in entry:
            raise place.wrong(
                f"picture '{picture}' has an error for a caption: {shown(entry['error'])}"
            )
        raise place.wrong(f"'caption' is missing; found {shown(entry)}")
    if keys == ["caption", "captions"] and _are_hypotheses(entry["captions"]):
        keys = ["caption"]
    if len(keys) > 1:
        raise place.wrong(f"there are both '{keys[0]}' and '{keys[1]}'; expected one of them")
    return captions_at(entry[keys[0]], f"'{keys[0]}'", place)


def _are_hypotheses(value: Any) -> bool:
    """Whether these are all that a search found, the best of which stands beside them."""
    return isinstance(value, list) and all(
        isinstance(each, dict) and "log_probability" in each for each in value
    )


# ---- COCO's captions; nocaps is of this form too


def _is_coco(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    images = value.get("images")
    listed = isinstance(images, list) and any(isinstance(each, dict) for each in images)
    return "annotations" in value or listed


def _read_coco(value: Any, gathered: Gathering) -> None:
    whole = Place(gathered.source)
    gathered.named_by = "image_id"
    listed = "images" in value
    for number, entry in enumerate(entries_at(value, "images", whole) if listed else (), 1):
        place = Place(gathered.source, "images, entry", number)
        picture = name_at(object_at(entry, place), "id", place)
        gathered.list_picture(picture, place)
        if "file_name" in entry:
            gathered.call_also(picture, "file", text_at(entry, "file_name", place))
    listed = bool(gathered.captions)
    for number, entry in enumerate(entries_at(value, "annotations", whole), 1):
        place = Place(gathered.source, "annotations, entry", number)
        picture = name_at(object_at(entry, place), "image_id", place)
        if listed and picture not in gathered.captions:
            raise place.wrong(f"picture '{picture}' is not among the images")
        gathered.add(picture, [text_at(entry, "caption", place)])


# ---- Karpathy's: pictures with their sentences and split


def _is_karpathy(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("images"), list):
        return False
    return any(isinstance(each, dict) and "sentences" in each for each in value["images"])


def _read_karpathy(value: Any, gathered: Gathering) -> None:
    entries = value["images"]
    # COCO's pictures are known by COCO's numbers, others by Karpathy's.
    kinds = [
        kind
        for kind in ("cocoid", "imgid", "filename")
        if all(isinstance(each, dict) and kind in each for each in entries)
    ]
    gathered.named_by = "file" if kinds == ["filename"] else next(iter(kinds), "imgid")
    for number, value in enumerate(entries, 1):
        place = Place(gathered.source, "images, entry", number)
        entry = object_at(value, place)
        picture = name_at(entry, kinds[0] if kinds else "imgid", place)
        gathered.list_picture(picture, place)
        for kind in kinds[1:]:
            name = name_at(entry, kind, place)
            gathered.call_also(picture, "file" if kind == "filename" else kind, name)
        if "split" in entry:
            gathered.splits[picture] = text_at(entry, "split", place)
        for sentence in entries_at(entry, "sentences", place):
            gathered.captions[picture].append(text_at(object_at(sentence, place), "raw", place))


# ---- lists in order, and objects of pictures


def _is_ordered(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], str | list)


def _read_ordered(value: Any, gathered: Gathering) -> None:
    gathered.named_by = PLACES
    for number, captions in enumerate(value, 1):
        place = Place(gathered.source, "entry", number)
        gathered.add(str(number), captions_at(captions, "the caption", place))


def _is_mapping(value: Any) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    # An object with other contents is none of our forms; one with some wrong captions is.
    return any(isinstance(each, str | list) for each in islice(value.values(), 100))


def _read_mapping(value: Any, gathered: Gathering) -> None:
    for number, (picture, captions) in enumerate(value.items(), 1):
        place = Place(gathered.source, "key", number)
        if not picture:
            raise place.wrong("the picture's name is empty")
        gathered.add(picture, captions_at(captions, f"the caption of '{picture}'", place))


JSON_FORMS = (
    JsonForm("Karpathy's form", _is_karpathy, _read_karpathy),
    JsonForm("COCO captions", _is_coco, _read_coco),
    JsonForm("JSON lines", _is_entry, _read_entry),
    JsonForm("COCO results", _is_entries, _read_list),
    JsonForm("a list in order", _is_ordered, _read_ordered),
    JsonForm("an object of pictures", _is_mapping, _read_mapping),
)
"""In the order in which they are tried, and a file is of the first that fits."""
