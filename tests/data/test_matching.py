"""Candidates meet the references of their own pictures, and of no others.

Knows names of pictures; the forms of files are in test_captions.py.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.data import Captions, captions_of, matched
from meshcap.errors import CaptionError


def candidates(*names: str) -> Captions:
    return Captions({name: (f"caption {name}",) for name in names}, "form", "c", "file")


def references(*names: str, **also) -> Captions:
    by_picture = {name: (f"one {name}", f"two {name}") for name in names}
    return Captions(by_picture, "form", "r", "image_id", also)


def pairs(found) -> dict[str, str]:
    """Which candidate each picture of the references got."""
    assert list(found.candidates) == list(found.references)
    assert all(captions[0].endswith(f" {name}") for name, captions in found.references.items())
    return {name: text.removeprefix("caption ") for name, text in found.candidates.items()}


FILES = {"9": "COCO_val2014_000000000009.jpg", "61": "COCO_val2014_000000000061.jpg"}

# Names of candidates, of references and what else these are called; pairs; how they match.
MATCHES = [
    (["9", "61"], references("9", "61"), {"9": "9", "61": "61"}, "image_id"),
    (["61", "9"], references("9", "61"), {"9": "9", "61": "61"}, "image_id"),
    (
        list(FILES.values()),
        references("9", "61", file=FILES),
        FILES,
        "file",
    ),
    (
        ["photos/COCO_val2014_000000000061.jpg", "C:\\p\\COCO_val2014_000000000009.jpg"],
        references("9", "61", file=FILES),
        {
            "9": "C:\\p\\COCO_val2014_000000000009.jpg",
            "61": "photos/COCO_val2014_000000000061.jpg",
        },
        "file, without folders",
    ),
    (
        ["a/COCO_val2014_000000000061.webp", "COCO_val2014_000000000009.png"],
        references("9", "61", file=FILES),
        {"9": "COCO_val2014_000000000009.png", "61": "a/COCO_val2014_000000000061.webp"},
        "file, without folders and endings",
    ),
    (["a.jpg"], references("val/a.jpg"), {"val/a.jpg": "a.jpg"}, "image_id, without folders"),
    # What is listed first wins: 9 is a number of COCO's here, and not the tenth picture.
    (["9"], references("9", imgid={"9": "0"}), {"9": "9"}, "image_id"),
    # Names in a folder of the same names match as they stand.
    (
        ["a/1.jpg", "b/1.jpg"],
        references("a/1.jpg", "b/1.jpg"),
        {"a/1.jpg": "a/1.jpg", "b/1.jpg": "b/1.jpg"},
        "image_id",
    ),
]


@pytest.mark.parametrize(("names", "theirs", "expected", "by"), MATCHES)
def test_names_match_as_they_stand_or_as_file_names(names, theirs, expected, by):
    found = matched(candidates(*names), theirs)
    assert pairs(found) == expected
    assert found.by == by
    assert list(found.references) == list(theirs.by_picture), "in the references' order"


def test_karpathy_s_count_of_pictures_is_no_coco_id():
    # 0 and 1 are small numbers of COCO's too, and would be other pictures.
    with pytest.raises(CaptionError, match="no references"):
        matched(candidates("0", "1"), references("9", "61", imgid={"9": "0", "61": "1"}))


def test_names_of_both_sides_that_are_not_the_first_match_too():
    entries = [{"image_id": 1, "file_name": "a.webp", "caption": "caption a"}]
    images = [{"imgid": 7, "filename": "a.jpg", "sentences": [{"raw": "a cat"}]}]
    found = matched(
        captions_of(json.dumps(entries), source="c"),
        captions_of(json.dumps({"images": images}), source="r"),
    )
    assert found.candidates == {"7": "caption a"}


NAMES = ["COCO_val2014_000000000009.jpg", "COCO_val2014_000000000061.jpg"]


def test_numbers_at_the_end_match_only_when_asked():
    ours, theirs = candidates(*NAMES), references("9", "61")
    with pytest.raises(CaptionError) as told:
        matched(ours, theirs)
    assert str(told.value) == (
        "2 of 2 candidates of 'c' have no references in 'r': 'COCO_val2014_000000000009.jpg', "
        "'COCO_val2014_000000000061.jpg'; its pictures are '9', '61', …; --match-numbers would "
        "match them by the number at the end"
    )
    found = matched(ours, theirs, numbers=True)
    assert pairs(found) == dict(zip(("9", "61"), NAMES, strict=True))
    assert found.by == "image_id, by the number at the end"
    back = matched(candidates("9", "61"), references(*NAMES), numbers=True)
    assert pairs(back) == dict(zip(NAMES, ("9", "61"), strict=True))


def test_numbers_that_are_several_pictures_match_none():
    theirs = references("COCO_val2014_000000000009.jpg", "COCO_train2014_000000000009.jpg")
    with pytest.raises(CaptionError, match="'9' could mean several pictures"):
        matched(candidates("9"), theirs, numbers=True, subset=True)
    with pytest.raises(CaptionError, match="'x9' and '09' would both be '9'"):
        matched(candidates("x9", "09"), references("9"), numbers=True)


def test_a_file_name_that_is_several_pictures_matches_none():
    theirs = references("a/1.jpg", "b/1.jpg")
    with pytest.raises(CaptionError, match=r"'1\.jpg' could mean several pictures"):
        matched(candidates("1.jpg"), theirs, subset=True)
    with pytest.raises(CaptionError, match=r"'x/1\.jpg' and 'y/1\.jpg' would both be '1\.jpg'"):
        matched(candidates("x/1.jpg", "y/1.jpg"), references("1.jpg"))


def test_all_candidates_match_in_one_way_or_none_does():
    with pytest.raises(CaptionError, match=r"1 of 2 candidates .*: 'p/b\.jpg'$"):
        matched(candidates("a.jpg", "p/b.jpg"), references("a.jpg", "q/b.jpg.jpg"))


@pytest.mark.parametrize(
    ("ours", "theirs", "sentence"),
    [
        (
            candidates("9", "7", "8", "5", "6"),
            references("9"),
            "4 of 5 candidates of 'c' have no references in 'r': '7', '8', '5', …",
        ),
        (
            candidates("9"),
            references("9", "61"),
            "1 picture of 'r' has no candidate in 'c': '61'; --subset scores only pictures that "
            "have one",
        ),
        (
            candidates("9"),
            Captions({"9": ("a",), "61": ("b",)}, "f", "r", splits={"9": "test", "61": "train"}),
            "1 picture of 'r' has no candidate in 'c': '61'; --split test takes the split of the "
            "candidates",
        ),
        (
            candidates("9"),
            Captions({"9": ("a",), "61": ("b",)}, "f", "r", splits={"9": "test", "61": "test"}),
            "--subset scores only",
        ),
        (
            candidates("9", "61"),
            Captions({"9": ("a",), "61": ()}, "f", "r"),
            "'r' lists picture '61' without a caption; expected references for the candidate '61'",
        ),
        (
            captions_of("a\nb\n", source="c"),
            captions_of("a\n", source="r"),
            "'c' has 2 captions, 'r' 1; expected parallel files, a line a picture",
        ),
        (
            captions_of("a\nb\n", source="c"),
            references("1", "3"),
            "'c' numbers its pictures by line, 'r' names them ('1', '3'); expected names in both",
        ),
        (
            candidates("1", "3"),
            captions_of("a\nb\n", source="r"),
            "'r' numbers its pictures by line, 'c' names them ('1', '3')",
        ),
        (
            Captions({"9": ("a", "a")}, "f", "c"),
            references("9"),
            "'c': picture '9' has 2 captions; expected one candidate a picture",
        ),
        (Captions({"9": ()}, "f", "c"), references("9"), "'c' lists pictures without captions"),
    ],
)
def test_what_does_not_match_is_named(ours, theirs, sentence):
    with pytest.raises(CaptionError) as told:
        matched(ours, theirs)
    assert sentence in str(told.value)


def test_a_subset_leaves_out_pictures_without_candidates_and_no_candidate():
    found = matched(candidates("61"), references("9", "61", "7"), subset=True)
    assert pairs(found) == {"61": "61"}
    with pytest.raises(CaptionError, match="1 of 2 candidates"):
        matched(candidates("61", "8"), references("9", "61"), subset=True)


def test_a_picture_with_neither_candidate_nor_references_is_no_matter():
    theirs = Captions({"9": ("one 9",), "61": ()}, "f", "r")
    assert pairs(matched(candidates("9"), theirs)) == {"9": "9"}


def test_lines_match_lines_and_names_that_are_all_their_numbers():
    lines = captions_of("caption 1\ncaption 2\n", source="c")
    assert pairs(matched(lines, captions_of("one 1\none 2\n", source="r"))) == {"1": "1", "2": "2"}
    assert pairs(matched(lines, references("2", "1"))) == {"2": "2", "1": "1"}


NAME = st.text(st.sampled_from("ab1/.\\_0"), min_size=1, max_size=6)


@given(
    st.lists(NAME, unique=True, min_size=1), st.lists(NAME, unique=True, min_size=1), st.booleans()
)
def test_no_two_candidates_share_references_whatever_the_names(ours, theirs, numbers):
    try:
        found = matched(candidates(*ours), references(*theirs), subset=True, numbers=numbers)
    except CaptionError:
        return
    got = pairs(found)
    assert sorted(got.values()) == sorted(ours), "every candidate is scored once"
    exact = [name for name in ours if name in theirs]
    if len(exact) == len(ours):
        assert all(name == candidate for name, candidate in got.items())
