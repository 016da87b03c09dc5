"""Files that are broken, foreign or meant to harm: one sentence, nothing run, nothing written.

Knows how such files are made, by hand; nothing of good ones but where to begin.
"""

import io
import json
import os
import pickle
import pickletools
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections import OrderedDict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from meshcap.cli.main import main
from meshcap.errors import MeshcapError, WeightsError
from meshcap.model import build
from meshcap.text import Vocabulary
from meshcap.weights import describe, load, load_authors, read, save, save_authors
from recipes import SMALL_AUTHORS as SMALL


class Runs:
    """A pickle of this runs a shell command when the plain unpickler reads it."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


class Evaluates:
    """The same by `eval`, which belongs to no module that PyTorch forbids by name."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return eval, (f"open({str(self.mark)!r}, 'w').close()",)


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.json"
    vocabulary = Vocabulary(["<unk>", "<pad>", "<bos>", "<eos>", *"abcdefgh"])
    vocabulary.save(path)
    return path


@pytest.fixture
def model_file(tmp_path, words):
    path = tmp_path / "good.safetensors"
    save(build(SMALL), path, vocabulary=Vocabulary.load(words))
    return path


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "good.pth"
    save_authors(build(SMALL), path)
    return path


def refused(arguments, capsys, tmp_path) -> str:
    """The one sentence that a command ends with, which has changed nothing on disk."""
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main([str(each) for each in arguments]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("meshcap: ")
    assert told.err.endswith("\n")
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    assert told.err[:-1].isprintable()
    assert len(told.err) < 1200
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before
    return told.err


def header(value: object, data: bytes = b"") -> bytes:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return struct.pack("<Q", len(text)) + text + data


FOUR = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
NOT_MODELS = {
    "an empty file": (b"", "ends after 0 bytes"),
    "seven bytes": (b"1234567", "ends after 7 bytes"),
    "text": (b"hello world, this is no model\n", "does not begin with the length of a header"),
    "a header larger than the file": (struct.pack("<Q", 10**6) + b"{}", "claims 1,000,000 bytes"),
    "a header of 2^63 bytes": (
        struct.pack("<Q", 2**63) + b"{}",
        "does not begin with the length of a header",
    ),
    "a header that is no JSON": (header(b"{{{{"), "not a whole safetensors file"),
    "a header that is no UTF-8": (header(b"\xff\xfe\xfd\xfc"), "not a whole safetensors file"),
    "a header without metadata": (header({}), "without meshcap's metadata"),
    "a foreign file": (header({"a": FOUR}, b"\0" * 4), "without meshcap's metadata"),
    "data shorter than claimed": (header({"a": FOUR}, b"\0" * 3), "not a whole safetensors file"),
    "data longer than claimed": (header({"a": FOUR}, b"\0" * 5), "not a whole safetensors file"),
    "tensors that overlap": (header({"a": FOUR, "b": FOUR}, b"\0" * 4), "not a whole"),
    "a gap between tensors": (
        header({"a": FOUR, "b": FOUR | {"data_offsets": [8, 12]}}, b"\0" * 12),
        "not a whole",
    ),
    "a shape larger than its data": (
        header({"a": FOUR | {"shape": [9]}}, b"\0" * 4),
        "not a whole",
    ),
    "a shape that overflows": (
        header({"a": FOUR | {"shape": [2**63, 4]}}, b"\0" * 4),
        "not a whole",
    ),
    "a type that nobody knows": (header({"a": FOUR | {"dtype": "F3"}}, b"\0" * 4), "not a whole"),
    "metadata that are a number": (header({"__metadata__": {"meshcap": 1}}), "not a whole"),
    "metadata that are no JSON": (header({"__metadata__": {"meshcap": "{"}}), "not JSON"),
    "metadata with a command for the terminal": (
        header(
            {
                "__metadata__": {
                    "meshcap": json.dumps({"format": "meshcap model", "version": "\x1b[2J\n"})
                }
            }
        ),
        "expected 1 to 1",
    ),
    "a pickle": (pickle.dumps({"a": 1}), "a pickle or a file of torch.save"),
    "an old pickle": (pickle.dumps({"a": 1}, 2), "a pickle or a file of torch.save"),
    "a zip archive": (b"PK\x03\x04" + b"\0" * 60, "a pickle or a file of torch.save"),
}


@pytest.mark.parametrize("case", NOT_MODELS)
def test_what_is_no_model_file_is_one_sentence(case, tmp_path, capsys):
    data, sentence = NOT_MODELS[case]
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    for reader in (load, read, describe):
        with pytest.raises(MeshcapError) as caught:
            reader(path)
        assert str(caught.value).startswith(f"'{path}': ")
        assert sentence in str(caught.value)
    out = tmp_path / "back.pth"
    out.write_bytes(b"old")
    told = refused(["convert", path, "--to-authors", "--out", out], capsys, tmp_path)
    assert sentence in told
    assert str(path) in told
    refused(["info", path], capsys, tmp_path)


@pytest.mark.parametrize("share", [0.001, 0.3, 0.9, 0.999])
def test_a_truncated_model_file_is_one_sentence(share, model_file, tmp_path, capsys):
    data = model_file.read_bytes()
    model_file.write_bytes(data[: int(len(data) * share)])
    told = refused(["info", model_file], capsys, tmp_path)
    assert "safetensors file" in told
    with pytest.raises(WeightsError, match="safetensors file"):
        load(model_file)


def test_every_changed_byte_of_a_header_is_read_or_refused(model_file):
    data = model_file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    places = [*range(16), *range(16, 8 + length, max(1, length // 150))]
    for place in places:
        for byte in (0, 0x22, 0x7B, 0xFF):
            model_file.write_bytes(data[:place] + bytes([byte]) + data[place + 1 :])
            try:
                load(model_file)
            except MeshcapError as error:
                assert str(error).startswith(f"'{model_file}': ")


def test_a_hostile_tensor_name_reaches_no_terminal(model_file, tmp_path, capsys):
    with safe_open(model_file, framework="pt") as file:
        metadata = file.metadata()
    name = "\x1b]0;owned\x07\n\u202e" + "x" * 10_000
    save_file(load_file(model_file) | {name: torch.ones(1)}, model_file, metadata=metadata)
    assert "no place for the tensors" in refused(["info", model_file], capsys, tmp_path)


def test_words_and_notes_reach_a_terminal_as_they_are_harmless(tmp_path, capsys):
    path = tmp_path / "model.safetensors"
    hostile = "\x1b[31mred\x1b[0m\nnew\x9bline"
    words = Vocabulary(["<unk>", "<pad>", "<bos>", "<eos>", hostile, *"abcdefg"])
    save(build(SMALL), path, vocabulary=words, notes={hostile: hostile})
    assert main(["info", str(path), "--tensors"]) == 0
    assert all(line.isprintable() for line in capsys.readouterr().out.split("\n"))


# ---- pickles


def places_for(trap):
    """A trap in each part of a checkpoint."""
    good = OrderedDict(a=torch.ones(2))
    return {
        "whole": trap,
        "beside the state dict": {"state_dict": good, "epoch": trap},
        "as the state dict": {"state_dict": trap},
        "among the tensors": {"state_dict": OrderedDict(a=torch.ones(2), b=trap)},
        "as a name": {"state_dict": {trap: torch.ones(2)}},
        "in numpy's random state": {
            "state_dict": good,
            "numpy_rng_state": ("MT19937", np.array([trap, 1], dtype=object)),
        },
        "deep": {"state_dict": good, "optimizer": {"state": [{"x": (1, [trap])}]}},
        "bare": OrderedDict(a=torch.ones(2), b=trap),
    }


@pytest.mark.parametrize("kind", ["system", "eval"])
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("place", places_for(None))
def test_code_in_a_checkpoint_is_never_run(place, zipped, kind, tmp_path, words, capsys):
    mark, path = tmp_path / "it-ran", tmp_path / "trap.pth"
    trap = Runs(f"touch '{mark}'") if kind == "system" else Evaluates(mark)
    torch.save(places_for(trap)[place], path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(WeightsError) as caught:
        load_authors(path, heads=2)
    name = "eval" if kind == "eval" else f"{os.system.__module__}.system"
    assert f"it asks to run {name}, which is no part of tensors and was not run" in str(
        caught.value
    )
    out = tmp_path / "m.safetensors"
    out.write_bytes(b"old")
    arguments = ["convert", path, "--vocabulary", words, "--out", out, "--heads", 2]
    assert name in refused(arguments, capsys, tmp_path)
    refused(["info", path], capsys, tmp_path)
    assert not mark.exists()


def test_the_trap_of_these_tests_works_on_the_plain_unpickler(tmp_path):
    mark, path = tmp_path / "it-ran", tmp_path / "trap.pth"
    torch.save({"state_dict": Runs(f"touch '{mark}'")}, path)
    torch.load(path, weights_only=False)
    assert mark.exists()


def test_a_plain_pickle_with_code_is_not_run(tmp_path, words, capsys):
    mark, path = tmp_path / "it-ran", tmp_path / "trap.pkl"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Runs(f"touch '{mark}'"), protocol))
        for arguments in (
            ["info", path],
            ["convert", path, "--vocabulary", words, "--out", tmp_path / "m", "--heads", 2],
            ["convert", path, "--to-authors", "--out", tmp_path / "m"],
        ):
            refused(arguments, capsys, tmp_path)
    assert not mark.exists()


def test_code_behind_a_good_beginning_is_not_run(tmp_path, checkpoint):
    """The legacy form is several pickles in a row; the restricted reader reads each of them."""
    mark = tmp_path / "it-ran"
    trap = pickle.dumps(Runs(f"touch '{mark}'"), 2)
    with checkpoint.open("rb") as file:
        ends = [0]
        for _ in range(5):
            list(pickletools.genops(file))
            ends.append(file.tell())
    data = checkpoint.read_bytes()
    for begin, end in pairwise(ends[1:]):
        checkpoint.write_bytes(data[:begin] + trap + data[end:])
        with pytest.raises(WeightsError):
            load_authors(checkpoint, heads=2)
    assert not mark.exists()


def test_a_tar_archive_that_looks_like_a_checkpoint_is_not_opened(tmp_path, checkpoint, capsys):
    mark, path = tmp_path / "it-ran", tmp_path / "tar.pth"
    trap = pickle.dumps(Runs(f"touch '{mark}'"), 2)
    magic = checkpoint.read_bytes()[:15].decode("latin-1")
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        for name in (magic, "storages", "tensors", "pickle"):
            part = tarfile.TarInfo(name)
            part.size = len(trap)
            archive.addfile(part, io.BytesIO(trap))
    assert path.read_bytes().startswith(checkpoint.read_bytes()[:15])
    with pytest.raises(WeightsError, match="not a checkpoint of torch"):
        load_authors(path, heads=2)
    refused(["info", path], capsys, tmp_path)
    assert not mark.exists()


NOT_CHECKPOINTS = {
    "an empty file": (b"", "the file is empty"),
    "text": (b"hello world\n", "not a checkpoint of torch.save"),
    "a pickle": (pickle.dumps([1, 2]), "a pickle, but not a checkpoint of torch.save"),
    "half a zip archive": (b"PK\x03\x04" + b"\0" * 60, "zip archive that is truncated"),
    "a safetensors file": (header({"a": FOUR}, b"\0" * 4), "a safetensors file?"),
}


@pytest.mark.parametrize("case", NOT_CHECKPOINTS)
def test_what_is_no_checkpoint_is_one_sentence(case, tmp_path, words, capsys):
    data, sentence = NOT_CHECKPOINTS[case]
    path = tmp_path / "model.pth"
    path.write_bytes(data)
    arguments = ["convert", path, "--vocabulary", words, "--out", tmp_path / "m", "--heads", 2]
    assert sentence in refused(arguments, capsys, tmp_path)


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("share", [0.001, 0.05, 0.5, 0.9, 0.999])
def test_a_truncated_checkpoint_is_one_sentence(share, zipped, tmp_path, words, capsys):
    path = tmp_path / "model.pth"
    state = torch.load(_saved(tmp_path), weights_only=True)
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    arguments = ["convert", path, "--vocabulary", words, "--out", tmp_path / "m", "--heads", 2]
    assert str(path) in refused(arguments, capsys, tmp_path)


def _saved(folder: Path) -> Path:
    save_authors(build(SMALL), folder / "whole.pth")
    return folder / "whole.pth"


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_every_changed_byte_of_a_checkpoint_is_read_or_refused(zipped, tmp_path):
    path = tmp_path / "model.pth"
    torch.save({"state_dict": {"a": torch.ones(3)}}, path, _use_new_zipfile_serialization=zipped)
    data = path.read_bytes()
    for place in range(0, len(data), max(1, len(data) // 400)):
        for byte in (0, 0x2E, 0xFF):
            path.write_bytes(data[:place] + bytes([byte]) + data[place + 1 :])
            with pytest.raises(MeshcapError, match="model"):
                load_authors(path, heads=2)


@pytest.mark.parametrize(
    ("whole", "sentence"),
    [
        ([1, 2], "the state dict is of type list"),
        (7, "the state dict is of type int"),
        ({"state_dict": [1]}, "the state dict is of type list"),
        ({"state_dict": {}}, "the state dict is empty"),
        ({}, "the state dict is empty"),
        ({"epoch": 3}, "no state dict: beside plain tensors there are epoch (int)"),
        ({"state_dict": {1: torch.ones(1)}}, "a int (Tensor)"),
        ({"state_dict": {"a": None}}, "a (NoneType)"),
        ({"state_dict": {"a": torch.eye(2).to_sparse()}}, "a (Tensor)"),
        ({"state_dict": {"a": torch.empty(2, device="meta")}}, "a (Tensor)"),
        ({"state_dict": {"a": torch.ones(1)}}, "lacks tensors: decoder.word_emb.weight"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # PyTorch's, of sparse tensors, when these files are made
def test_a_file_of_other_things_is_one_sentence(whole, sentence, tmp_path, words, capsys):
    path = tmp_path / "model.pth"
    for zipped in (True, False):
        torch.save(whole, path, _use_new_zipfile_serialization=zipped)
        arguments = ["convert", path, "--vocabulary", words, "--out", tmp_path / "m", "--heads", 2]
        assert sentence in refused(arguments, capsys, tmp_path)


def test_a_tensor_that_grows_when_read_is_refused(tmp_path, words, capsys):
    path = tmp_path / "model.pth"
    torch.save({"state_dict": {"a": torch.ones(1).expand(10**6, 10**6)}}, path)
    arguments = ["convert", path, "--vocabulary", words, "--out", tmp_path / "m", "--heads", 2]
    assert "claim 4,000,000,000,000 bytes" in refused(arguments, capsys, tmp_path)


def test_an_archive_that_grows_when_read_is_refused(tmp_path, words, capsys):
    whole, path = tmp_path / "whole.pth", tmp_path / "model.pth"
    torch.save({"state_dict": {"a": torch.zeros(2**22)}}, whole)
    with zipfile.ZipFile(whole) as archive:
        parts = {part.filename: archive.read(part) for part in archive.infolist()}
    whole.unlink()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    assert path.stat().st_size < 2**20
    arguments = ["convert", path, "--vocabulary", words, "--out", tmp_path / "m", "--heads", 2]
    assert "compressed" in refused(arguments, capsys, tmp_path)


@pytest.mark.parametrize("reader", [load, load_authors])
def test_a_file_larger_than_any_model_is_not_read(reader, tmp_path):
    path = tmp_path / "model"
    with path.open("wb") as file:
        file.truncate(5 * 2**30)  # a hole: it takes no room on disk
    with pytest.raises(MeshcapError, match="holds 5,368,709,120 bytes; at most"):
        reader(path)


@pytest.mark.parametrize("reader", [load, read, describe, load_authors])
def test_a_folder_and_a_missing_file_are_one_sentence(reader, tmp_path):
    with pytest.raises(MeshcapError, match="is a folder"):
        reader(tmp_path)
    with pytest.raises(MeshcapError, match="does not exist"):
        reader(tmp_path / "gone")


def test_a_vocabulary_that_does_not_fit_is_one_sentence(tmp_path, checkpoint, capsys):
    words = tmp_path / "few.json"
    Vocabulary(["<unk>", "<pad>", "<bos>", "<eos>", "a"]).save(words)
    arguments = [
        "convert",
        checkpoint,
        "--vocabulary",
        words,
        "--out",
        tmp_path / "m",
        "--heads",
        2,
    ]
    assert "5 words; the model expects 12" in refused(arguments, capsys, tmp_path)
    words.write_text("[1, 2", encoding="utf-8")
    assert "not JSON" in refused(arguments, capsys, tmp_path)
    assert "not JSON" in refused(["info", words], capsys, tmp_path)


def test_from_outside_too_there_is_one_sentence_and_no_traceback(tmp_path, words):
    mark, path = tmp_path / "it-ran", tmp_path / "trap.pth"
    torch.save({"state_dict": Runs(f"touch '{mark}'")}, path)
    arguments = ["convert", path, "--vocabulary", words, "--out", tmp_path / "m"]
    source = Path(__file__).resolve().parents[2] / "src"
    told = subprocess.run(
        [sys.executable, "-m", "meshcap", *arguments],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1
    assert not mark.exists()
    assert not (tmp_path / "m").exists()
