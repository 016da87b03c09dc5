"""Files of tuples: the two forms, and which sentence names a fault."""

import json

import pytest

from meshcap.errors import CaptionError, FileError
from meshcap.metrics.spice.tuple_files import Judged, Plain, read_tuples

OFFICIAL = {
    "image_id": 391895,
    "test_tuples": [
        {"tuple": ["man"], "truth_value": True},
        {"tuple": ["man", "ride on", "horse"], "truth_value": False},
    ],
    "ref_tuples": [{"tuple": ["man/guy"]}, {"tuple": ["man/guy", "tall"]}],
    "scores": {"All": {"f": 0.5}},
}


@pytest.fixture
def written(tmp_path):
    def write(value):
        path = tmp_path / "tuples.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return path

    return write


def test_the_official_output_is_read_with_its_findings(written):
    file = read_tuples(written([OFFICIAL]))
    assert file.judged
    assert file.of("391895") == Judged(
        ((("man",), True), (("man", "ride on", "horse"), False)),
        (("man/guy",), ("man/guy", "tall")),
    )


def test_the_plain_form_is_read_in_lower_case(written):
    row = {"candidate": [["Man"], ["man", "ride  on", "horse"]], "references": [["man", "tall"]]}
    file = read_tuples(written({"7": row}))
    assert not file.judged
    assert file.of("7") == Plain((("man",), ("man", "ride on", "horse")), (("man", "tall"),))


def test_a_picture_that_is_not_there_is_named(written):
    path = written([OFFICIAL])
    with pytest.raises(CaptionError) as error:
        read_tuples(path).of("12")
    assert str(error.value) == (
        f"'{path}' has no tuples of picture 12; expected each picture that is scored, found 1"
    )


def plain(**changes):
    return {"7": {"candidate": [["man"]], "references": [["man"]]} | changes}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("3", " holds a number; expected tuples by picture: a list as official SPICE writes it"),
        ([3], ", entry 1 is a number; expected an object with 'image_id'"),
        (
            [{**OFFICIAL, "image_id": None}],
            ", entry 1: 'image_id' is nothing; expected a number or a text",
        ),
        ([OFFICIAL, OFFICIAL], ", picture 391895 comes twice; expected one entry for each"),
        (
            [{"image_id": 1, "scores": {}}],
            ", picture 1 has no 'test_tuples' and 'ref_tuples'; expected official SPICE's output "
            "made with -detailed",
        ),
        (
            [{**OFFICIAL, "test_tuples": [{"tuple": ["man"]}]}],
            ", picture 391895, 'test_tuples' 1: 'truth_value' is nothing; expected true or false",
        ),
        (
            [{**OFFICIAL, "ref_tuples": [{"tuple": []}]}],
            ", picture 391895, 'ref_tuples' 1: 'tuple' has 0 parts; expected [\"object\"], ",
        ),
        (
            [{**OFFICIAL, "ref_tuples": {}}],
            ", picture 391895: 'ref_tuples' is an object; expected a list of tuples",
        ),
        ({"7": []}, ", picture 7 is a list; expected an object with 'candidate' and 'references'"),
        (
            {"7": {"candidate": []}},
            ", picture 7 holds 'candidate'; expected 'candidate' and 'references'",
        ),
        (plain(candidate="man"), ", picture 7: 'candidate' is a text; expected a list of tuples"),
        (
            plain(references=[["a"], "man"]),
            ", picture 7, 'references' 2 is a text; expected a list such as [\"object\"], ",
        ),
        (plain(candidate=[["a", "b", "c", "d"]]), ", picture 7, 'candidate' 1 has 4 parts; "),
        (plain(candidate=[["a", 3]]), ", picture 7, 'candidate' 1 holds a number; expected words"),
        (
            plain(candidate=[["a", " "]]),
            ", picture 7, 'candidate' 1 holds an empty text; expected words",
        ),
        # the references' tuples of all captions stand in one list
        (
            plain(references=[[["man"]]]),
            ", picture 7, 'references' 1 holds a list; expected words",
        ),
        ("{", " is not JSON: "),
    ],
)
def test_a_fault_is_named_with_its_place(written, value, message):
    path = written(value)
    with pytest.raises(FileError) as error:
        read_tuples(path)
    assert str(error.value).startswith(f"'{path}'{message}")
