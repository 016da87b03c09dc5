"""The command line: what is printed where, exit codes, and what the commands write.

Knows small models; broken and hostile files are in tests/hostile.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from meshcap import __version__
from meshcap.cli.main import main, parser
from meshcap.cli.terminal import printable
from meshcap.cli.weights import _variant
from meshcap.model import VARIANTS, build
from meshcap.text import Vocabulary
from meshcap.weights import load, read, save, save_authors
from meshcap.weights.pickles import read_tensors
from recipes import SMALL_AUTHORS as SMALL

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMANDS = ["score", "convert", "info"]
WORDS = Vocabulary(["<unk>", "<pad>", "<bos>", "<eos>", " ", *"abcdefg"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a checkpoint, its vocabulary and nothing else."""
    monkeypatch.chdir(tmp_path)
    save_authors(build(SMALL), "theirs.pth")
    WORDS.save("words.json")
    return tmp_path


def run(*arguments, **settings):
    """The program as a user runs it."""
    return subprocess.run(
        [sys.executable, "-m", "meshcap", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        **settings,
    )


def usage_error(arguments, capsys) -> str:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("usage: meshcap")
    return told.err.splitlines()[-1]


# ---- the door


def test_help_shows_every_command_and_loads_no_torch(capsys):
    assert main(["--help"]) == 0
    told = capsys.readouterr()
    assert all(f"\n    {name} " in told.out for name in COMMANDS)
    assert told.err == ""
    question = (
        "import sys; from meshcap.cli.main import main; main(['--help']); main(['info', '--help']);"
        "sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    asked = subprocess.run(
        [sys.executable, "-c", question], env=environment, capture_output=True, check=False
    )
    assert asked.returncode == 0, "`meshcap --help` loads torch or numpy"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_the_shared_options(name, capsys):
    assert main([name, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"example:\n  meshcap {name} " in told
    assert "--quiet" in told
    assert "--device {auto,cpu,cuda}" in told


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"meshcap {__version__}\n"


def test_the_parser_is_open_to_the_documents():
    assert parser().prog == "meshcap"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["info"], "required: FILE"),
        (["info", "x", "--device", "tpu"], "invalid choice: 'tpu'"),
        (["info", "x", "--loud"], "unrecognized arguments: --loud"),
        (["convert", "x", "--vocabulary", "v"], "required: --out"),
        (["convert", "x", "--out", "m"], "required: --vocabulary"),
        (["convert", "x", "--vocabulary", "v", "--out", "m", "--heads", "x"], "invalid int"),
        (["convert", "x", "--to-authors", "--out", "m", "--heads", "2"], "--heads is for"),
        (
            ["convert", "x", "--vocabulary", "v", "--out", "m", "--vocabulary-out", "w"],
            "--vocabulary-out goes with --to-authors",
        ),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments, sentence, capsys):
    assert sentence in usage_error(arguments, capsys)


def test_bad_input_is_exit_code_1_and_one_sentence(folder, capsys):
    assert main(["info", "gone.safetensors"]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "meshcap: 'gone.safetensors' does not exist\n")


def test_an_interruption_is_exit_code_130(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("meshcap.cli.weights._held", interrupted)
    assert main(["info", "x"]) == 130
    assert capsys.readouterr().err == "meshcap: interrupted\n"


def test_an_interruption_from_outside_is_exit_code_130(tmp_path, run_python):
    code = (
        "import os, signal, sys, meshcap.cli.weights as weights, meshcap.cli.main as door\n"
        "weights._held = lambda _: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(door.main(['info', 'x']))"
    )
    told = run_python(code)
    assert (told.returncode, told.stderr) == (130, "meshcap: interrupted\n")


def test_our_own_mistakes_show_a_traceback(monkeypatch):
    def broken(_):
        raise ZeroDivisionError

    monkeypatch.setattr("meshcap.cli.weights._held", broken)
    with pytest.raises(ZeroDivisionError):
        main(["info", "x"])


@pytest.mark.parametrize("arguments", [["info", "words.json"], ["info", "--help"], ["--version"]])
def test_a_reader_who_has_enough_is_no_failure(arguments, folder):
    reading, writing = os.pipe()
    os.close(reading)
    told = subprocess.run(
        [sys.executable, "-m", "meshcap", *arguments],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (told.returncode, told.stderr) == (0, "")


def test_a_terminal_that_cannot_show_a_word_shows_its_code(folder):
    Vocabulary([*WORDS.words[:4], "café"]).save("cafe.json")
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "ascii"}
    told = subprocess.run(
        [sys.executable, "-m", "meshcap", "info", "cafe.json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0
    assert "caf\\xe9" in told.stdout


def test_text_for_a_terminal_is_one_harmless_line_of_moderate_length():
    assert printable("a cat: über\u00a0x") == "a cat: über\\xa0x"
    assert printable("\x1b[2J\n\u202e\udc80") == "\\x1b[2J\\n\\u202e\\udc80"
    assert len(printable("x" * 10**6)) < 1010


# ---- convert


def test_a_checkpoint_is_converted_and_back(folder, capsys):
    arguments = ["convert", "theirs.pth", "--vocabulary", "words.json", "--out", "m.safetensors"]
    assert main([*arguments, "--heads", "2"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("wrote 'm.safetensors': ")
    assert told.err == ""
    found = read("m.safetensors")
    assert found.model.config == SMALL
    assert found.vocabulary == WORDS
    assert found.notes == {"converted_from": "theirs.pth"}

    assert (
        main(
            ["convert", "m.safetensors", "--to-authors", "--out", "back.pth"]
            + ["--vocabulary-out", "again.json"]
        )
        == 0
    )
    assert "'again.json'" in capsys.readouterr().out
    assert Vocabulary.load("again.json") == WORDS
    before, after = read_tensors("theirs.pth").tensors, read_tensors("back.pth").tensors
    assert set(before) == set(after)
    for name, tensor in before.items():
        assert (tensor.shape, tensor.dtype) == (after[name].shape, after[name].dtype)
        assert tensor.numpy().tobytes() == after[name].numpy().tobytes()


def test_the_authors_checkpoints_are_converted_and_back(golden, folder):
    words = Vocabulary([*WORDS.words[:4], *(f"w{number}" for number in range(26))])
    words.save("words.json")
    for name in ("released_legacy", "train_legacy", "train_zip"):
        path = golden / f"tiny_checkpoint_{name}.pth"
        arguments = ["--vocabulary", "words.json", "--out", "m.safetensors", "--heads", "2"]
        assert main(["convert", str(path), *arguments]) == 0
        assert main(["convert", "m.safetensors", "--to-authors", "--out", "back.pth"]) == 0
        before, after = read_tensors(path).tensors, read_tensors("back.pth").tensors
        assert set(before) == set(after)
        for key, tensor in before.items():
            assert (tensor.shape, tensor.dtype) == (after[key].shape, after[key].dtype)
            assert tensor.numpy().tobytes() == after[key].numpy().tobytes()


def test_quiet_says_nothing(folder, capsys):
    arguments = [
        "convert",
        "theirs.pth",
        "--vocabulary",
        "words.json",
        "--out",
        "m",
        "--heads",
        "2",
    ]
    assert main([*arguments, "--quiet", "--device", "cpu"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")
    assert load("m").config == SMALL


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["theirs.pth", "--vocabulary", "words.json", "--out", "theirs.pth", "--heads", "2"],
            "'theirs.pth' is named twice",
        ),
        (
            ["theirs.pth", "--vocabulary", "words.json", "--out", "./words.json", "--heads", "2"],
            "'./words.json' is named twice",
        ),
        (
            ["theirs.pth", "--vocabulary", "words.json", "--out", "m"],
            "expected the number of heads",
        ),
        (["theirs.pth", "--vocabulary", "gone.json", "--out", "m"], "'gone.json' does not exist"),
        (["gone.pth", "--vocabulary", "words.json", "--out", "m"], "'gone.pth' does not exist"),
        (
            ["theirs.pth", "--vocabulary", "words.json", "--out", "gone/m", "--heads", "2"],
            "the folder 'gone' is missing",
        ),
        (["theirs.pth", "--to-authors", "--out", "m"], "a pickle or a file of torch.save"),
        (
            ["paper.safetensors", "--to-authors", "--out", "m"],
            "'norm' is 'mesh'; the authors' code",
        ),
        (["wordless", "--to-authors", "--out", "m", "--vocabulary-out", "v"], "no vocabulary"),
        (
            ["wordless", "--to-authors", "--out", "m", "--vocabulary", "few.json"],
            "'few.json': the vocabulary has 4 words; the model expects 12",
        ),
    ],
)
def test_what_cannot_be_converted_is_one_sentence(arguments, sentence, folder, capsys):
    sizes = {"vocabulary_size": 12, "region_width": 6, "width": 8, "heads": 2, "feed_forward": 5}
    save(build(replace(VARIANTS["m2"], **sizes)), "paper.safetensors")
    save(build(SMALL), "wordless")
    Vocabulary(WORDS.words[:4]).save("few.json")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["convert", *arguments]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("meshcap: ")
    assert told.err.count("\n") == 1
    assert sentence in told.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# ---- info


def test_info_says_what_a_model_file_holds(folder, capsys):
    save(build(SMALL), "m.safetensors", vocabulary=WORDS, notes={"seed": 7, "data": ["coco"]})
    assert main(["info", "m.safetensors"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("m.safetensors: a meshcap model\n")
    assert "norm level" in told
    assert "memory_slots 3" in told
    assert "dropout" not in told.replace("feed_forward_dropout", ""), "what is usual is not listed"
    assert f"12 words ({WORDS.fingerprint}): <unk> <pad> <bos> <eos> ' ' a b c d e f g\n" in told
    assert 'seed 7, data ["coco"]' in told
    assert "words.embedding.weight" not in told
    assert main(["info", "m.safetensors", "--tensors", "--quiet"]) == 0
    assert "  words.embedding.weight (12, 8) float32\n" in capsys.readouterr().out


def test_info_as_json_is_one_object(folder, capsys):
    save(build(SMALL), "m.safetensors", vocabulary=WORDS, notes={"seed": 7})
    assert main(["info", "m.safetensors", "--json", "--tensors"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == "m.safetensors"
    assert found["kind"] == "model"
    assert found["config"]["heads"] == 2
    assert found["differing"]["norm"] == "level"
    assert found["numbers"] == sum(each.numel() for each in build(SMALL).state_dict().values())
    assert found["bytes"] == Path("m.safetensors").stat().st_size
    assert found["vocabulary"]["fingerprint"] == WORDS.fingerprint
    assert found["notes"] == {"seed": 7}
    names = [each["name"] for each in found["tensors"]]
    assert sorted(names) == sorted(build(SMALL).state_dict())


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_known_by_its_config_whatever_its_data(name):
    config = replace(VARIANTS[name], vocabulary_size=6, region_width=3)
    assert _variant(config) == name
    assert _variant(replace(config, dropout=0.3)) is None


def test_info_says_what_a_checkpoint_is(folder, capsys):
    torch.save({"state_dict": read_tensors("theirs.pth").tensors, "epoch": 3}, "train.pth")
    for path, notes in (("theirs.pth", "none"), ("train.pth", "epoch 3")):
        assert main(["info", path]) == 0
        told = capsys.readouterr().out
        assert told.startswith(f"{path}: a checkpoint of the authors' code\n")
        assert "width 8, " in told
        assert f"notes      {notes}\n" in told
    assert main(["info", "train.pth", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["config"]["memory_slots"] == 3
    assert found["notes"] == {"epoch": 3}


def test_info_says_what_a_vocabulary_is(folder, capsys):
    Path("list.json").write_text(json.dumps(list(WORDS)), encoding="utf-8")
    for path in ("words.json", "list.json"):
        assert main(["info", path]) == 0
        told = capsys.readouterr().out
        assert told.startswith(f"{path}: a vocabulary\n")
        assert f"12 words ({WORDS.fingerprint})" in told


def test_the_program_runs_as_a_module(folder):
    told = run("info", "words.json")
    assert (told.returncode, told.stderr) == (0, "")
    assert "a vocabulary" in told.stdout
