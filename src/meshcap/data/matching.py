"""Which candidate belongs to which references: the same name, file name, or number if asked.

Knows names of pictures on both sides; nothing of files' forms or of scores. A name is matched in
one way for all candidates or not at all, and what could mean two pictures means none.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from meshcap.data.captions import Captions
from meshcap.errors import CaptionError

_NUMBER_AT_THE_END = re.compile(r"(?<!\d)(\d+)(?:\.\w{1,5})?$")
_ENDING = re.compile(r"\.\w{1,5}$")
_FEW = 3
_COUNTS = frozenset(("imgid",))
"""Kinds of names that only count."""


@dataclass(frozen=True)
class Matched:
    """Candidates and references under the same names, those of the references, in their order."""

    candidates: dict[str, str]
    references: dict[str, tuple[str, ...]]
    by: str
    """How the names were matched: "image_id", "file name without its ending"."""


def matched(
    candidates: Captions, references: Captions, *, subset: bool = False, numbers: bool = False
) -> Matched:
    """One candidate and all references of each picture.

    Each candidate must have references. Each picture with references must have a candidate,
    unless `subset`. `numbers` matches by the number that a name ends with, as in
    COCO_val2014_000000391895.jpg, where names match in no other way.
    """
    given = candidates.one_each()
    _expect_comparable(candidates, references)
    views = list(_views(candidates, references, numbers))
    view = next((view for view in views if view.is_whole), None)
    if view is None:
        raise CaptionError(_unmatched(candidates, references, views, numbers))
    candidate_of = {picture: name for name, picture in view.found.items()}
    referenced = {name: captions for name, captions in references.by_picture.items() if captions}
    for picture, name in candidate_of.items():
        if picture not in referenced:
            raise CaptionError(
                f"'{references.source}' lists picture '{picture}' without a caption; expected "
                f"references for the candidate '{name}' of '{candidates.source}'"
            )
    left_over = [picture for picture in referenced if picture not in candidate_of]
    if left_over and not subset:
        raise CaptionError(_without_candidates(candidates, references, candidate_of, left_over))
    kept = [picture for picture in referenced if picture in candidate_of]
    return Matched(
        {picture: given[candidate_of[picture]] for picture in kept},
        {picture: referenced[picture] for picture in kept},
        view.by,
    )


def _expect_comparable(candidates: Captions, references: Captions) -> None:
    """Lines that are numbered match lines that are numbered, and as many."""
    if candidates.numbered and references.numbered:
        if len(candidates) != len(references):
            raise CaptionError(
                f"'{candidates.source}' has {len(candidates):,} captions, "
                f"'{references.source}' {len(references):,}; expected parallel files, "
                "a line a picture"
            )
    elif candidates.numbered or references.numbered:
        lines, names = (candidates, references) if candidates.numbered else (references, candidates)
        if lines.by_picture.keys() != names.by_picture.keys():
            raise CaptionError(
                f"'{lines.source}' numbers its pictures by line, '{names.source}' names them "
                f"({_few(names.by_picture)}); expected names in both, or lines in both"
            )


# ---- ways to match


@dataclass(frozen=True)
class _View:
    """One way of matching: the references' picture of each candidate for which there is one."""

    by: str
    found: Mapping[str, str]
    is_whole: bool
    twice: str = ""
    """Why this way cannot be taken although names match."""


def _views(candidates: Captions, references: Captions, numbers: bool) -> Iterator[_View]:
    """The ways of matching, from the strictest to the loosest."""
    pictures = list(candidates.by_picture)
    ours, theirs = list(_names(candidates)), list(_names(references))
    readings = [*_READINGS, (_number, ", by the number at the end")] if numbers else _READINGS
    for read, ending in readings:
        for own, names in ours:
            for kind, known in theirs:
                # Karpathy's count beside COCO's ids: the same numbers mean other pictures.
                if kind in _COUNTS and kind not in (own, references.named_by):
                    continue
                yield _view(kind + ending, pictures, names, known, read)


def _names(captions: Captions) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each kind of names that pictures have, that by which they are listed first."""
    yield captions.named_by, {name: name for name in captions.by_picture}
    yield from captions.also.items()


def _view(
    by: str,
    pictures: Iterable[str],
    names: Mapping[str, str],
    known: Mapping[str, str],
    read: Callable[[str], str | None],
) -> _View:
    """Match by what `read` makes of names on both sides, where that means one picture."""
    picture_of: dict[str, str | None] = {}  # None: several
    for listed, name in known.items():
        if (key := read(name)) is not None:
            picture_of[key] = None if key in picture_of else listed
    found: dict[str, str] = {}
    candidate_of: dict[str, str] = {}
    whole, twice = True, ""
    for candidate in pictures:
        key = read(names[candidate]) if candidate in names else None
        picture = None if key is None else picture_of.get(key)
        if picture is None:
            whole = False
            if key in picture_of and not twice:
                twice = f"'{candidate}' could mean several pictures"
        elif picture in candidate_of:
            whole = False
            twice = f"'{candidate_of[picture]}' and '{candidate}' would both be '{picture}'"
        else:
            found[candidate] = picture
            candidate_of[picture] = candidate
    return _View(by, found, whole, twice)


def _itself(name: str) -> str:
    return name


def _file(name: str) -> str | None:
    """The file's name in a path, if this is one."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return last if _ENDING.search(last) else None


def _stem(name: str) -> str:
    """The last part of a path without an ending, if it has one: an id is its picture's file."""
    return _ENDING.sub("", name.replace("\\", "/").rpartition("/")[2])


def _number(name: str) -> str | None:
    found = _NUMBER_AT_THE_END.search(name)
    return None if found is None else found.group(1).lstrip("0") or "0"


_READINGS: Sequence[tuple[Callable[[str], str | None], str]] = (
    (_itself, ""),
    (_file, ", without folders"),
    (_stem, ", without folders and endings"),
)
"""Pictures are moved and converted, and keep their names: photos/a.webp is a.jpg."""


# ---- sentences


def _few(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name, _ in zip(names, range(_FEW), strict=False))


def _unmatched(
    candidates: Captions, references: Captions, views: Sequence[_View], numbers: bool
) -> str:
    # Of ways that match nothing, one that says why.
    best = max(views, key=lambda view: (len(view.found), not view.found and bool(view.twice)))
    if best.twice:
        return (
            f"candidates of '{candidates.source}' cannot be matched with '{references.source}' "
            f"by {best.by}: {best.twice}"
        )
    missing = [name for name in candidates.by_picture if name not in best.found]
    sentence = (
        f"{len(missing):,} of {len(candidates):,} candidates of '{candidates.source}' "
        f"{'has' if len(missing) == 1 else 'have'} no references in '{references.source}': "
        f"{_few(missing)}{', …' if len(missing) > _FEW else ''}"
    )
    if best.found:
        return sentence
    sentence += f"; its pictures are {_few(references.by_picture)}, …"
    if not numbers and any(view.is_whole for view in _views(candidates, references, numbers=True)):
        sentence += "; --match-numbers would match them by the number at the end"
    return sentence


def _without_candidates(
    candidates: Captions,
    references: Captions,
    candidate_of: Mapping[str, str],
    left_over: Sequence[str],
) -> str:
    sentence = (
        f"{len(left_over):,} picture{'s' if len(left_over) > 1 else ''} of '{references.source}' "
        f"{'have' if len(left_over) > 1 else 'has'} no candidate in "
        f"'{candidates.source}': {_few(left_over)}{', …' if len(left_over) > _FEW else ''}"
    )
    splits = dict.fromkeys(references.splits.get(picture, "") for picture in candidate_of)
    left = {references.splits.get(picture, "") for picture in left_over}
    if "" not in splits and not left & splits.keys():
        return f"{sentence}; --split {','.join(splits)} takes the split of the candidates"
    return f"{sentence}; --subset scores only pictures that have one"
