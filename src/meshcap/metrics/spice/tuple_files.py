"""Files of tuples that users bring.

Knows the two forms and says what is wrong with a file; nothing of graphs and scores.

- The official tool's output with -detailed: a list of objects with "image_id", "test_tuples" (each
  with "tuple" and "truth_value", that is whether it was found) and "ref_tuples". Its concepts are
  merged already, so the tool's own findings are taken as they stand.
- Our plain form: {"391895": {"candidate": [["man"], ["man", "tall"], ["man", "ride", "horse"]],
  "references": [...]}}, the references' tuples of a picture all in one list. They are merged and
  compared here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meshcap.errors import CaptionError, FileError
from meshcap.files import MIB, read_json

Tuple = tuple[str, ...]

_AT_MOST = 2048 * MIB
_SHAPES = '["object"], ["object", "attribute"] or ["subject", "relation", "object"]'


@dataclass(frozen=True)
class Plain:
    """A picture's tuples as they were found, not merged yet."""

    candidate: tuple[Tuple, ...]
    references: tuple[Tuple, ...]


@dataclass(frozen=True)
class Judged:
    """A picture's tuples as the official tool prints them: merged, and found in the references."""

    found: tuple[tuple[Tuple, bool], ...]
    references: tuple[Tuple, ...]


@dataclass(frozen=True)
class TupleFile:
    """Tuples by picture, all of one form."""

    path: Path
    pictures: Mapping[str, Plain | Judged]
    judged: bool

    def of(self, picture: str) -> Plain | Judged:
        """A picture's tuples; CaptionError names one that the file does not hold."""
        if picture not in self.pictures:
            raise CaptionError(
                f"'{self.path}' has no tuples of picture {picture}; expected each picture that is "
                f"scored, found {len(self.pictures):,}"
            )
        return self.pictures[picture]


def read_tuples(path: Path | str) -> TupleFile:
    """The tuples in a file of either form."""
    path = Path(path)
    value = read_json(path, at_most=_AT_MOST)
    if isinstance(value, list):
        return TupleFile(path, _judged(path, value), judged=True)
    if isinstance(value, dict):
        return TupleFile(path, _plain(path, value), judged=False)
    raise FileError(
        f"'{path}' holds {_kind(value)}; expected tuples by picture: a list as official SPICE "
        'writes it with -detailed, or an object such as {"391895": {"candidate": [["man"]], '
        '"references": [["man"]]}}'
    )


def _judged(path: Path, rows: list[Any]) -> dict[str, Judged]:
    pictures: dict[str, Judged] = {}
    for number, row in enumerate(rows, 1):
        where = f"'{path}', entry {number}"
        if not isinstance(row, dict):
            raise FileError(f"{where} is {_kind(row)}; expected an object with 'image_id'")
        picture = row.get("image_id")
        if isinstance(picture, bool) or not isinstance(picture, str | int):
            raise FileError(f"{where}: 'image_id' is {_kind(picture)}; expected a number or a text")
        where = f"'{path}', picture {picture}"
        if str(picture) in pictures:
            raise FileError(f"{where} comes twice; expected one entry for each picture")
        if "test_tuples" not in row or "ref_tuples" not in row:
            raise FileError(
                f"{where} has no 'test_tuples' and 'ref_tuples'; expected official SPICE's output "
                "made with -detailed"
            )
        found = []
        for place, entry in _entries(where, "test_tuples", row["test_tuples"]):
            truth = entry.get("truth_value") if isinstance(entry, dict) else None
            if not isinstance(truth, bool):
                raise FileError(f"{place}: 'truth_value' is {_kind(truth)}; expected true or false")
            found.append((_tuple(f"{place}: 'tuple'", entry.get("tuple")), truth))
        references = [
            _tuple(f"{place}: 'tuple'", entry.get("tuple") if isinstance(entry, dict) else entry)
            for place, entry in _entries(where, "ref_tuples", row["ref_tuples"])
        ]
        pictures[str(picture)] = Judged(tuple(found), tuple(references))
    return pictures


def _plain(path: Path, table: dict[str, Any]) -> dict[str, Plain]:
    pictures: dict[str, Plain] = {}
    for picture, row in table.items():
        where = f"'{path}', picture {picture}"
        if not isinstance(row, dict):
            raise FileError(
                f"{where} is {_kind(row)}; expected an object with 'candidate' and 'references'"
            )
        if set(row) != {"candidate", "references"}:
            raise FileError(
                f"{where} holds {', '.join(map(repr, sorted(row))) or 'nothing'}; expected "
                "'candidate' and 'references'"
            )
        candidate, references = (
            tuple(_tuple(place, entry) for place, entry in _entries(where, side, row[side]))
            for side in ("candidate", "references")
        )
        pictures[picture] = Plain(candidate, references)
    return pictures


def _entries(where: str, name: str, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, list):
        raise FileError(f"{where}: '{name}' is {_kind(value)}; expected a list of tuples")
    return [(f"{where}, '{name}' {number}", entry) for number, entry in enumerate(value, 1)]


def _tuple(where: str, value: Any) -> Tuple:
    if not isinstance(value, list):
        raise FileError(f"{where} is {_kind(value)}; expected a list such as {_SHAPES}")
    if not 1 <= len(value) <= 3:
        raise FileError(f"{where} has {len(value)} parts; expected {_SHAPES}")
    for part in value:
        if not isinstance(part, str) or not part.strip():
            shown = "an empty text" if isinstance(part, str) else _kind(part)
            raise FileError(f"{where} holds {shown}; expected words")
    return tuple(" ".join(part.lower().split()) for part in value)


def _kind(value: Any) -> str:
    names = {type(None): "nothing", bool: "true or false", str: "a text", list: "a list"}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return names.get(type(value), "an object")
