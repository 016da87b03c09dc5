"""The tree of errors: whole, described, and all of it below MeshcapError.

Knows `meshcap.errors` and where in the package errors are made.
"""

import ast
import inspect
import re
from pathlib import Path

import pytest

from meshcap import errors
from meshcap.errors import MeshcapError, nearest

PACKAGE = Path(errors.__file__).parent
PUBLIC = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and not name.startswith("_") and kind.__module__ == errors.__name__
}
TREE = inspect.getdoc(errors) or ""
BRANCH = re.compile(r"^\s*[├└]── (?P<name>\w+)\s+(?P<meaning>\S.*)$", re.MULTILINE)


def test_there_are_errors_to_look_at() -> None:
    assert {"MeshcapError", "FileError", "SettingError", "VocabularyError"} <= PUBLIC.keys()


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_error_is_a_meshcap_error(name: str) -> None:
    assert issubclass(PUBLIC[name], MeshcapError)
    assert issubclass(PUBLIC[name], Exception)
    with pytest.raises(MeshcapError, match=r"^a sentence$"):
        raise PUBLIC[name]("a sentence")


def test_the_tree_on_the_page_is_the_tree_of_classes() -> None:
    drawn = {found["name"] for found in BRANCH.finditer(TREE)}
    assert drawn == PUBLIC.keys() - {"MeshcapError"}
    assert re.search(r"^\s*MeshcapError$", TREE, re.MULTILINE), "the root stands above"


def test_every_error_is_described_in_the_tree_and_at_its_class() -> None:
    meanings = [found["meaning"] for found in BRANCH.finditer(TREE)]
    assert len(set(meanings)) == len(meanings), "no two mean the same"
    assert all(len(meaning.split()) > 3 for meaning in meanings)
    for name, kind in PUBLIC.items():
        own = kind.__dict__.get("__doc__") or ""
        assert own.endswith("."), f"{name} says what it means"


def error_classes(source: str) -> list[str]:
    """Classes of a file whose bases end in Error or Exception."""
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
    ]


def test_no_error_a_user_can_meet_is_made_elsewhere() -> None:
    elsewhere = [
        f"{path.relative_to(PACKAGE).as_posix()}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "errors.py"
        for name in error_classes(path.read_text(encoding="utf-8"))
        if not name.startswith("_")
    ]
    assert elsewhere == []
    assert error_classes("class Wrong(errors.MeshcapError): ...\nclass Fine: ...") == ["Wrong"]


KNOWN = ["m2", "m2-no-memory", "transformer", "transformer-6"]

# A name, names that are known, the end of the sentence about it.
NEAREST = [
    ("tranformer", KNOWN, "did you mean 'transformer'?"),
    ("m2-no-memroy", KNOWN, "did you mean 'm2-no-memory'?"),
    ("m2", KNOWN, "did you mean 'm2'?"),
    ("zzz", KNOWN, "known are m2, m2-no-memory, transformer, transformer-6"),
    ("", KNOWN, "known are m2, m2-no-memory, transformer, transformer-6"),
    ("zzz", ["b", "a"], "known are a, b"),
    ("widht", iter(["heads", "width"]), "did you mean 'width'?"),
    ("beems", {"beams": 1, "length": 2}, "did you mean 'beams'?"),
]


@pytest.mark.parametrize(("name", "known", "end"), NEAREST)
def test_an_unknown_name_is_answered_by_the_nearest_or_by_all(name, known, end: str) -> None:
    assert nearest(name, known) == end
