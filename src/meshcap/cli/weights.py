"""`meshcap convert` and `meshcap info`: the authors' checkpoints both ways; what a file holds.

Knows the commands' options and words; what is read and written is `meshcap.weights`'s business.
"""

import argparse
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meshcap.cli.terminal import command, printable
from meshcap.errors import FileError, SettingError, VocabularyError

if TYPE_CHECKING:
    from meshcap.model import ModelConfig
    from meshcap.text import Vocabulary
    from meshcap.weights.assembly import TensorInfo

_FIRST_WORDS = 12
_LABEL = 11


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add these commands to the program's."""
    convert = command(
        commands,
        "convert",
        says="turn one of the authors' checkpoints into a model file, or back",
        example=(
            "  meshcap convert meshed_memory_transformer.pth --vocabulary vocabulary.json"
            " --out m2.safetensors\n"
            "  meshcap convert m2.safetensors --to-authors --out back.pth"
        ),
    )
    convert.add_argument("checkpoint", metavar="CHECKPOINT", help="the file to convert")
    convert.add_argument("--out", required=True, metavar="FILE", help="the file to write")
    convert.add_argument(
        "--vocabulary", metavar="FILE", help="the model's words, a JSON list or object; required"
    )
    convert.add_argument(
        "--heads", type=int, metavar="N", help="heads of a model that is not 512 wide"
    )
    convert.add_argument(
        "--to-authors",
        action="store_true",
        help="from a model file to a checkpoint for the authors' code; needs no --vocabulary",
    )
    convert.add_argument(
        "--vocabulary-out",
        metavar="FILE",
        help="with --to-authors: also write the model's words, as JSON",
    )
    convert.set_defaults(run=partial(_convert, convert))

    info = command(
        commands,
        "info",
        says="say what a model file, an authors' checkpoint or a vocabulary holds",
        example="  meshcap info m2.safetensors",
    )
    info.add_argument("file", metavar="FILE", help="the file to look into")
    info.add_argument("--json", action="store_true", help="as one JSON object")
    info.add_argument("--tensors", action="store_true", help="also every tensor's name and shape")
    info.set_defaults(run=_info)


# ---- convert


def _convert(usage: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.to_authors:
        if options.heads is not None:
            usage.error("--heads is for checkpoints; a model file says how many heads it has")
    elif options.vocabulary is None:
        usage.error("the following arguments are required: --vocabulary")
    elif options.vocabulary_out is not None:
        usage.error("--vocabulary-out goes with --to-authors")
    written = [options.out, *filter(None, [options.vocabulary_out])]
    read = [options.checkpoint, *filter(None, [options.vocabulary])]
    for place, path in enumerate(written):
        _expect_new(path, [*read, *written[:place]])
    words = _back(options) if options.to_authors else _forth(options)
    if not options.quiet:
        print(printable(words))
    return 0


def _forth(options: argparse.Namespace) -> str:
    from meshcap.text import Vocabulary
    from meshcap.weights import load_authors, save

    vocabulary = Vocabulary.load(options.vocabulary)
    model = load_authors(options.checkpoint, vocabulary, heads=options.heads)
    notes = {"converted_from": printable(Path(options.checkpoint).name)}
    save(model, options.out, vocabulary=vocabulary, notes=notes)
    numbers = sum(each.numel() for each in model.state_dict().values())
    return f"wrote '{options.out}': {numbers:,} numbers, {len(vocabulary):,} words"


def _back(options: argparse.Namespace) -> str:
    from meshcap.files import expect_writable
    from meshcap.text import Vocabulary
    from meshcap.weights import read, save_authors
    from meshcap.weights.assembly import expect_words, naming

    found = read(options.checkpoint)
    vocabulary = found.vocabulary
    if options.vocabulary is not None:
        given = Vocabulary.load(options.vocabulary)
        with naming(options.vocabulary):
            expect_words(given, found.model.config.vocabulary_size)
        vocabulary = vocabulary or given
    if options.vocabulary_out is not None and vocabulary is None:
        raise VocabularyError(
            f"'{options.checkpoint}' holds no vocabulary; expected one for --vocabulary-out"
        )
    for each in filter(None, [options.out, options.vocabulary_out]):
        expect_writable(each)  # both, before one of them is written
    with naming(options.checkpoint):
        save_authors(found.model, options.out)
    words = f"wrote '{options.out}': a checkpoint for the authors' code"
    if options.vocabulary_out is not None and vocabulary is not None:
        vocabulary.save(options.vocabulary_out)
        words += f"; and '{options.vocabulary_out}': {len(vocabulary):,} words"
    return words


def _expect_new(path: str, others: list[str]) -> None:
    """What is written must not replace what is read, or written, by the same command."""
    for other in others:
        same = Path(path).absolute() == Path(other).absolute()
        if same or (Path(path).exists() and Path(other).exists() and Path(path).samefile(other)):
            raise SettingError(f"'{path}' is named twice; expected another file to write")


# ---- info


def _info(options: argparse.Namespace) -> int:
    found = _held(options.file)
    tensors: Mapping[str, TensorInfo] = found.pop("tensors", {})
    if options.tensors and tensors:
        found["tensors"] = [
            {"name": name, "shape": list(each.shape), "type": each.type_name}
            for name, each in tensors.items()
        ]
    if options.json:
        print(json.dumps({"file": options.file, **found}))
        return 0
    for line in _lines(options.file, found):
        print(printable(line))
    return 0


def _held(path: str) -> dict[str, Any]:
    """What a file holds, by the kind of file it looks like."""
    from meshcap.files import existing_file
    from meshcap.weights.assembly import MOST_BYTES
    from meshcap.weights.pickles import is_torch_file

    try:
        with existing_file(path, at_most=MOST_BYTES).open("rb") as file:
            first = file.read(64)
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}") from error
    if is_torch_file(first):
        return _checkpoint(path)
    # A safetensors file begins with a length, whose upper bytes are zeros.
    if b"\0" not in first and first.lstrip()[:1] in (b"[", b"{"):
        return _vocabulary_file(path)
    return _model(path)


def _model(path: str) -> dict[str, Any]:
    from meshcap.weights import describe

    found = describe(path)
    variant, settings = _variant(found.config), _settings(found.config)
    if not variant and settings["row"]:
        # The row came along when a variant's settings were changed; its score did not.
        settings["row"] = f"like {settings['row']}, with other settings"
    return {
        "kind": "model",
        "format": found.version,
        "variant": variant,
        **settings,
        **_amounts(found.tensors, found.size),
        "vocabulary": None if found.vocabulary is None else _vocabulary(found.vocabulary),
        "notes": dict(found.notes),
        "tensors": found.tensors,
    }


def _checkpoint(path: str) -> dict[str, Any]:
    from meshcap.weights.assembly import TensorInfo, naming
    from meshcap.weights.authors import sizes
    from meshcap.weights.pickles import read_tensors

    contents = read_tensors(path)
    with naming(path):
        found = sizes(contents.tensors)
    tensors = {name: TensorInfo.of(each) for name, each in contents.tensors.items()}
    return {
        "kind": "authors-checkpoint",
        "config": found,
        **_amounts(tensors, Path(path).stat().st_size),
        "notes": contents.facts,
        "tensors": tensors,
    }


def _vocabulary_file(path: str) -> dict[str, Any]:
    from meshcap.text import Vocabulary

    return {"kind": "vocabulary", "vocabulary": _vocabulary(Vocabulary.load(path))}


def _variant(config: "ModelConfig") -> str | None:
    """The name of the table's model that this is, but for its data's sizes."""
    from dataclasses import replace

    from meshcap.model import VARIANTS, ModelConfig

    def for_its_data(known: ModelConfig) -> ModelConfig:
        words, regions = config.vocabulary_size, config.region_width
        return replace(known, vocabulary_size=words, region_width=regions)

    return next((name for name, known in VARIANTS.items() if for_its_data(known) == config), None)


def _settings(config: "ModelConfig") -> dict[str, Any]:
    """The config, and of it what differs from the paper's M²."""
    from meshcap.model import ModelConfig

    every, usual = config.to_json(), ModelConfig().to_json()
    row = every.pop("row")
    differing = {name: value for name, value in every.items() if value != usual[name]}
    return {"row": row, "config": every, "differing": differing}


def _amounts(tensors: "Mapping[str, TensorInfo]", size: int) -> dict[str, Any]:
    from math import prod

    return {
        "numbers": sum(prod(each.shape) for each in tensors.values()),
        "types": sorted({each.type_name for each in tensors.values()}),
        "bytes": size,
    }


def _vocabulary(vocabulary: "Vocabulary") -> dict[str, Any]:
    return {
        "words": len(vocabulary),
        "fingerprint": vocabulary.fingerprint,
        "keep_white_space": vocabulary.keep_white_space,
        "first": list(vocabulary.words[:_FIRST_WORDS]),
    }


_KINDS = {
    "model": "a meshcap model",
    "authors-checkpoint": "a checkpoint of the authors' code",
    "vocabulary": "a vocabulary",
}


def _lines(path: str, found: dict[str, Any]) -> list[str]:
    lines = [f"{path}: {_KINDS[found['kind']]}"]

    def line(label: str, words: str) -> None:
        lines.append(f"  {label:{_LABEL}}{words}")

    if "variant" in found:
        line("variant", found["variant"] or "none of the table's")
        line("row", found["row"] or "none")
    settings = found.get("differing", found.get("config"))
    if settings is not None:
        line("settings", _said(settings) or "the paper's M²")
    if "numbers" in found:
        types = ", ".join(found["types"])
        line("tensors", f"{found['numbers']:,} numbers ({types}), {found['bytes']:,} bytes")
    if "vocabulary" in found:
        words = found["vocabulary"]
        line("vocabulary", "none" if words is None else _words_said(words))
    if "notes" in found:
        line("notes", _said(found["notes"]) or "none")
    lines += [
        f"  {each['name']} {tuple(each['shape'])} {each['type']}"
        for each in found.get("tensors", ())
    ]
    return lines


def _said(settings: Mapping[str, Any]) -> str:
    def value(each: Any) -> str:
        return each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)

    return ", ".join(f"{name} {value(each)}" for name, each in settings.items())


def _words_said(words: dict[str, Any]) -> str:
    first = " ".join(word if word.strip() else repr(word) for word in words["first"])
    more = " …" if words["words"] > len(words["first"]) else ""
    return f"{words['words']:,} words ({words['fingerprint']}): {first}{more}"
