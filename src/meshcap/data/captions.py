"""Captions by picture, from the files that people in this field have, whatever their form.

Knows what was read and how several files become one; nothing of the forms themselves, which are
rows of tables in `forms.py` and `lines.py`, nor of scores. A form is recognised by what a file
holds, never by its name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from meshcap.data.documents import MOST_BYTES, decoded, read_text
from meshcap.data.forms import read_form
from meshcap.data.gathering import LINE_NUMBERS, PLACES, Gathering
from meshcap.errors import CaptionError, SettingError, nearest


@dataclass(frozen=True)
class Captions:
    """What a file says of its pictures. Their names are text: COCO's 391895 is "391895".

    A picture that a file lists without a caption has () in `by_picture`.
    """

    by_picture: Mapping[str, tuple[str, ...]]
    form: str
    """Such as "COCO captions"."""
    source: str
    """The file's path, for sentences."""
    named_by: str = "id"
    """What kind of name the keys are: "image_id", "cocoid", "file", "line number"."""
    also: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Further names of the pictures, by kind: {"file": {"391895": "COCO_val2014_….jpg"}}."""
    splits: Mapping[str, str] = field(default_factory=dict)
    """The split of each picture, where the file says it."""

    def __len__(self) -> int:
        return len(self.by_picture)

    @property
    def numbered(self) -> bool:
        """Whether the pictures have no names but their places in the file."""
        return self.named_by in (LINE_NUMBERS, PLACES)

    def of_splits(self, names: Iterable[str]) -> "Captions":
        """The pictures of these splits alone."""
        wanted = list(names)
        there = dict.fromkeys(self.splits.values())
        for name in wanted:
            if not there:
                raise SettingError(
                    f"'{self.source}' says no splits ({self.form}); split '{name}' was asked for"
                )
            if name not in there:
                raise SettingError(f"'{self.source}' has no split '{name}'; {nearest(name, there)}")
        kept = [name for name in self.by_picture if self.splits.get(name) in wanted]
        return replace(
            self,
            by_picture={name: self.by_picture[name] for name in kept},
            also={kind: _of(called, kept) for kind, called in self.also.items()},
            splits=_of(self.splits, kept),
        )

    def one_each(self) -> dict[str, str]:
        """The only caption of each picture, as scoring expects of candidates."""
        found: dict[str, str] = {}
        for picture, captions in self.by_picture.items():
            if len(captions) > 1:
                raise CaptionError(
                    f"'{self.source}': picture '{picture}' has {len(captions)} captions; "
                    "expected one candidate a picture"
                )
            if captions:
                found[picture] = captions[0]
        if not found:
            raise CaptionError(f"'{self.source}' lists pictures without captions")
        return found


def _of(names: Mapping[str, str], pictures: Iterable[str]) -> dict[str, str]:
    return {picture: names[picture] for picture in pictures if picture in names}


def read_captions(path: Path | str, *, at_most: int = MOST_BYTES) -> Captions:
    """The captions of one file, of any form; CaptionError or FileError says what is wrong."""
    return captions_of(read_text(path, at_most=at_most), source=str(path))


def captions_in(data: bytes, *, source: str, at_most: int = MOST_BYTES) -> Captions:
    """The captions in the bytes of a file, from a pipe say; `source` is named in errors."""
    return captions_of(decoded(data, source=source, at_most=at_most), source=source)


def captions_of(text: str, *, source: str) -> Captions:
    """The captions in a file's text; `source` is named in errors."""
    gathered = Gathering(source)
    form = read_form(text, gathered)
    if not any(gathered.captions.values()):
        raise CaptionError(f"'{source}' holds no captions ({form})")
    return Captions(
        {picture: tuple(captions) for picture, captions in gathered.captions.items()},
        form,
        source,
        gathered.named_by,
        gathered.also,
        gathered.splits,
    )


def read_references(
    paths: Sequence[Path | str], *, splits: Sequence[str] = (), at_most: int = MOST_BYTES
) -> Captions:
    """The references in one or several files, of these splits or of all.

    Files that name their pictures are merged by name. Files of lines are parallel, one reference
    of each picture in each; there an empty line is no reference.
    """
    if not paths:
        raise SettingError("no files of references; expected at least one")
    read = [read_captions(path, at_most=at_most) for path in paths]
    if splits:
        read = [each.of_splits(splits) for each in read]
    read = [_without_empty_lines(each) for each in read]
    whole = read[0] if len(read) == 1 else merged(read)
    if whole.numbered:
        for picture, captions in whole.by_picture.items():
            if not captions:
                raise CaptionError(
                    f"'{whole.source}': line {picture} is empty; expected at least one reference"
                )
    return whole


def _without_empty_lines(part: Captions) -> Captions:
    """In parallel files of lines, a picture with fewer references has empty lines."""
    if part.named_by != LINE_NUMBERS:
        return part
    kept = {
        picture: tuple(caption for caption in captions if caption.strip())
        for picture, captions in part.by_picture.items()
    }
    return replace(part, by_picture=kept)


def merged(parts: Sequence[Captions]) -> Captions:
    """Several files' captions as one value, each picture's in the order of the files."""
    first = parts[0]
    for other in parts[1:]:
        _expect_alike(first, other)
    together: dict[str, tuple[str, ...]] = {}
    also: dict[str, dict[str, str]] = {}
    splits: dict[str, str] = {}
    for part in parts:
        for picture, captions in part.by_picture.items():
            together[picture] = together.get(picture, ()) + captions
        for kind, names in part.also.items():
            _join(also.setdefault(kind, {}), names, kind, part.source)
        _join(splits, part.splits, "split", part.source)
    form = ", ".join(dict.fromkeys(part.form for part in parts))
    source = "', '".join(part.source for part in parts)
    return Captions(together, form, source, first.named_by, also, splits)


def _expect_alike(first: Captions, other: Captions) -> None:
    if first.numbered != other.numbered:
        lines, names = (first, other) if first.numbered else (other, first)
        raise CaptionError(
            f"'{lines.source}' numbers its pictures by line, '{names.source}' names them; "
            "expected files of one kind"
        )
    if first.numbered and len(first) != len(other):
        raise CaptionError(
            f"'{first.source}' has {len(first):,} lines, '{other.source}' {len(other):,}; "
            "expected parallel files, a line a picture"
        )


def _join(known: dict[str, str], new: Mapping[str, str], kind: str, source: str) -> None:
    for picture, name in new.items():
        if known.setdefault(picture, name) != name:
            raise CaptionError(
                f"'{source}': the {kind} of picture '{picture}' is '{name}', and "
                f"'{known[picture]}' in another file; expected files of the same pictures"
            )
