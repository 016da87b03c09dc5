"""Captions files that are broken, foreign or meant to harm: one sentence, nothing run or written.

Knows how such files are made, by hand; nothing of good ones but where to begin.
"""

import gzip
import io
import json
import os
import pickle
import random
import zipfile
import zlib
from pathlib import Path

import pytest

from meshcap.cli.main import main
from meshcap.data import captions_in, read_captions
from meshcap.errors import FileError, MeshcapError

CANDIDATES = {"9": "a cat on a mat", "61": "two dogs run"}
REFERENCES = {"9": ["a cat on the mat"], "61": ["two dogs run", "dogs"]}
FAST = ["--tokens", "none", "--metric", "bleu,rouge-l", "--quiet"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with good candidates, references and an earlier run's result."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("c", CANDIDATES), ("r", REFERENCES)):
        Path(name).write_text(json.dumps(value), encoding="utf-8")
    assert main(["score", "c", "r", *FAST, "--per-picture", "run"]) == 0
    return tmp_path


@pytest.fixture
def refused(folder, capsys):
    """Runs the command, which must say one sentence and change nothing."""
    capsys.readouterr()

    def run(*arguments) -> str:
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert main(["score", *arguments, *FAST]) == 1
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("meshcap: ")
        assert told.err.endswith("\n")
        assert told.err.count("\n") == 1
        assert told.err[:-1].isprintable()
        assert len(told.err) < 1200
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        return told.err

    return run


class Runs:
    """A pickle of this runs a shell command when the plain unpickler reads it."""

    def __reduce__(self):
        return os.system, ("touch harmed",)


def zip_of(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("c.json", data)
    return file.getvalue()


GOOD = json.dumps(CANDIDATES).encode()
PACKED = gzip.compress(GOOD * 50, mtime=0)

NOT_CAPTIONS = {
    "an empty file": (b"", "'x' is empty"),
    "white space": (b" \r\n\t\n", "'x' is empty"),
    "a byte order mark alone": (b"\xef\xbb\xbf", "'x' is empty"),
    "an empty file, packed": (gzip.compress(b""), "'x' is empty"),
    "UTF-16": ('{"9": "a"}'.encode("utf-16"), "'x' is UTF-16 text; expected UTF-8"),
    "UTF-32": ("a cat".encode("utf-32"), "'x' is UTF-32 text; expected UTF-8"),
    "Latin-1": (b"a cat\na caf\xe9\n", "'x' is not UTF-8 text: line 2 holds the byte 0xe9"),
    "half a character": (b'{"9": "\xf0\x9f', "'x' is not UTF-8 text: line 1 holds the byte 0xf0"),
    "a surrogate in UTF-8": (b"\xed\xa0\x80", "'x' is not UTF-8 text"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(64), "'x' is not UTF-8 text"),
    "a null character": (b"a cat\na\0dog\n", "'x' is not text: line 2 holds a null character"),
    "nothing but nulls": (bytes(1000), "'x' is not text: line 1 holds a null character"),
    "a pickle": (pickle.dumps(Runs()), "'x' is not UTF-8 text"),
    "an old pickle": (pickle.dumps(Runs(), 0), "'x' "),
    "a zip archive": (zip_of(GOOD), "'x' is not"),
    "half a gzip file": (PACKED[: len(PACKED) // 2], "'x' is a broken gzip file: "),
    "the first bytes of a gzip file": (PACKED[:5], "'x' is a broken gzip file: "),
    "a gzip file with a wrong sum": (
        PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:],
        "'x' is a broken gzip file: ",
    ),
    "gzip of no known method": (b"\x1f\x8b\x07" + PACKED[3:], "'x' is a broken gzip file: "),
    "gzip in gzip": (gzip.compress(PACKED), "'x' is not"),
    "half a JSON document": (GOOD[:20], "'x' is broken JSON at line 1, column"),
    "JSON with a comma too many": (b'{"9": "a",}', "'x' is broken JSON at line 1, column"),
    "JSON with a comment": (b'{"9": "a"} // cats', "'x' is broken JSON at line 1, column"),
    "JSON of Python": (b"{'9': 'a'}", "'x' is broken JSON at line 1, column 2"),
    "a newline in a string": (b'{"9": "a\nb"}', "'x' is broken JSON at line 1, column 9: Invalid"),
    "doubled ids": (b'{"9": "a cat", "9": "a dog"}', "'x' holds the key '9' twice"),
    "doubled ids of results": (
        b'[{"image_id": 9, "caption": "a"}, {"image_id": "9", "caption": "b"}]',
        "'x': picture '9' has 2 captions; expected one candidate a picture",
    ),
    "null": (b"null", "'x' holds the JSON value null"),
    "a caption that is null": (b'{"9": null, "61": "a"}', "the caption of '9' is null"),
    "a caption that is a number": (
        b'{"9": 5, "61": "a"}',
        "the caption of '9' is 5; expected",
    ),
    "an id that is a list": (b'[{"image_id": [], "caption": "a"}]', "'image_id' is an empty list"),
    "brackets without end": (b"[" * 200_000, "'x' is JSON that is nested too deeply"),
    "objects without end": (b'{"a":' * 200_000, "'x' is JSON that is nested too deeply"),
    "lines that are nested without end": (
        b'{"id": 1, "caption": "a"}\n{"id": ' + b"[" * 200_000,
        "'x', line 2, is JSON that is nested too deeply",
    ),
    "a number of many digits": (b'{"9": ' + b"9" * 100_000 + b"}", "'x' is JSON that cannot be"),
    "a name with a command for the terminal": (
        json.dumps({"\x1b[2J\n": "a", "61": "b"}).encode(),
        r"'\x1b[2J\n'",
    ),
    "a very long name": (json.dumps({"n" * 10**6: "a", "61": "b"}).encode(), "1 of 2 candidates"),
    "a very long caption that is none": (
        json.dumps({"9": {"n" * 10**6: 1}, "61": "b"}).encode(),
        "the caption of '9' is an object with the keys",
    ),
    "a model file": (b"\x08\0\0\0\0\0\0\0{}      ", "'x' is not text"),
    "HTML": (b"<!DOCTYPE html>\n<html></html>\n", "'x' numbers its pictures by line, 'r' names"),
}


@pytest.mark.parametrize("case", NOT_CAPTIONS)
def test_what_is_no_captions_file_is_one_sentence(case, refused, folder):
    data, sentence = NOT_CAPTIONS[case]
    Path("x").write_bytes(data)
    assert sentence in refused("x", "r")
    if "doubled ids of" not in case and "HTML" not in case and "name" not in case:
        said = refused("c", "x")
        assert sentence.partition("expected")[0] in said
        assert sentence.partition("expected")[0] in refused("c", "r", "--against", "x")
    assert not Path("harmed").exists()


def test_a_name_of_a_million_letters_is_no_page_of_output(refused):
    for value in ({"n" * 10**6: ["a"]}, {"9": ["a"], "n" * 10**6: ["b"]}):
        Path("x").write_text(json.dumps(value), encoding="utf-8")
        refused("c", "x")


@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a device", "nothing", "a broken link"])
def test_what_is_no_file_is_one_sentence(kind, refused):
    path = Path("x")
    if kind == "a folder":
        path.mkdir()
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path = Path("/dev/zero")
    elif kind == "a broken link":
        path.symlink_to("gone")
    for arguments in ((str(path), "r"), ("c", str(path)), ("c", "r", "--against", str(path))):
        said = refused(*arguments)
        assert "expected a file" in said or "does not exist" in said


def test_a_file_s_size_is_bounded_packed_or_not(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(GOOD * 100)
    with pytest.raises(FileError, match=r"holds 4,500 bytes; at most 1,000 are allowed"):
        read_captions(path, at_most=1000)
    # 100 MiB of blanks in 100 KiB; the reader stops at its limit and does not unpack the rest.
    path.write_bytes(gzip.compress(b" " * 100 * 1024 * 1024))
    with pytest.raises(FileError, match="unpacks to more than the 1,000,000 bytes that are allow"):
        read_captions(path, at_most=1_000_000)


@pytest.mark.parametrize("form", ["COCO", "Karpathy", "lines", "text", "gzip"])
def test_flipped_bytes_are_captions_or_one_sentence(form):
    images = [{"id": 9, "file_name": "9.jpg"}, {"id": 61, "file_name": "61.jpg"}]
    annotations = [{"id": 1, "image_id": 9, "caption": "a cat"}]
    karpathy = [{"imgid": 1, "filename": "a.jpg", "split": "test", "sentences": [{"raw": "a cat"}]}]
    good = {
        "COCO": json.dumps({"images": images, "annotations": annotations}).encode(),
        "Karpathy": json.dumps({"images": karpathy}).encode(),
        "lines": b'{"image_id": 9, "caption": "a cat"}\n{"image_id": 61, "caption": "dogs"}\n',
        "text": b"9.jpg\ta cat\n61.jpg\ttwo dogs\n",
        "gzip": gzip.compress(b"9.jpg\ta cat\n61.jpg\ttwo dogs\n", mtime=0),
    }[form]
    chance = random.Random(7)
    refusals = 0
    for _ in range(500):
        data = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.choice(b'\0"{}[],:\n\t\x80\xff 9a')
        cut = chance.choice([len(data), chance.randrange(len(data))])
        try:
            captions_in(bytes(data[:cut]), source="x")
        except MeshcapError as error:
            refusals += 1
            assert str(error).startswith("'x'")
            assert not isinstance(error.__cause__, zlib.error) or "broken gzip" in str(error)
    assert refusals > 100


BROKEN_RUNS = {
    "of another version": (lambda text: text.replace('"version": 1', '"version": 2'), "version 2"),
    "without scores": (
        lambda text: text.replace('"scores": {', '"points": {', 1),
        "no whole result",
    ),
    "with scores that are a list": (
        lambda text: '{"format": "meshcap scores", "version": 1, "scores": []}',
        "no whole result",
    ),
    "with no score of ours": (
        lambda text: '{"format": "meshcap scores", "version": 1, "scores": {"mine": {}}}',
        "has none of our scores: it has mine, we have bleu-1",
    ),
    "with a value that is text": (
        lambda text: text.replace('"value": ', '"value": "many", "was": ', 1),
        "no whole result",
    ),
    "without signatures": (lambda text: text.replace('"choices"', '"choice"'), "no whole result"),
    "cut in a line": (lambda text: text[: len(text) - 20], "'x' is broken JSON at line 3"),
    "cut after a line": (
        lambda text: text[: text.rindex("\n", 0, -1)],
        "of different pictures (2 and 1",
    ),
    "with a line twice": (
        lambda text: text + text.splitlines()[-1],
        "no whole result of `meshcap score` (ValueError: a picture has several lines)",
    ),
    "with a line that is no object": (lambda text: text + "[1]\n", "no whole result"),
    "with a number that is text": (
        lambda text: text.replace('"rouge-l": 1.0', '"rouge-l": "all"'),
        "no whole result",
    ),
    "with statistics of another shape": (
        lambda text: text.replace('"bleu-1 bleu-2 bleu-3 bleu-4": [', '"bleu-1": [7, ', 1),
        "no whole result",
    ),
}


@pytest.mark.parametrize("case", BROKEN_RUNS)
def test_a_broken_earlier_run_is_one_sentence(case, refused):
    change, sentence = BROKEN_RUNS[case]
    text = Path("run").read_text(encoding="utf-8")
    assert change(text) != text
    Path("x").write_text(change(text), encoding="utf-8")
    assert sentence in refused("c", "r", "--against", "x")


def test_an_earlier_run_is_no_captions_file(refused, capsys):
    assert main(["score", "c", "r", *FAST, "--json"]) == 0
    Path("printed").write_text(capsys.readouterr().out, encoding="utf-8")
    for path in ("run", "printed"):
        refused(path, "r")
        refused("c", path)
