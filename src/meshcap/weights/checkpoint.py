"""Our model file: tensors, config, vocabulary and notes in one safetensors file.

Knows the file's metadata; nothing of what the tensors compute, nor of the authors' files. No
code lies in such a file, and none is run to read it.

The metadata has one entry, `meshcap`: a JSON object with `format`, `version`, `config`,
`vocabulary` (or null) and `notes`. One entry, since safetensors writes several in any order: so
the same model makes the same bytes.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from meshcap.errors import FileError, SettingError, WeightsError
from meshcap.files import MIB, existing_file, written_whole
from meshcap.model import CaptioningTransformer, ModelConfig
from meshcap.text import Vocabulary
from meshcap.weights.assembly import (
    MOST_BYTES,
    TensorInfo,
    expect_words,
    fill,
    listed,
    naming,
    skeleton,
)

FORMAT = "meshcap model"
VERSION = 1
_ENTRY = "meshcap"
_FIELDS = ("format", "version", "config", "vocabulary", "notes")
_MOST_HEADER = 100_000_000  # what safetensors allows
_MOST_METADATA = 32 * MIB  # safetensors refuses headers of more than 100 MB
_TYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


@dataclass(frozen=True)
class Checkpoint:
    """All that a model file holds."""

    model: CaptioningTransformer
    vocabulary: Vocabulary | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Description:
    """What a model file holds, without the tensors' numbers."""

    version: int
    config: ModelConfig
    vocabulary: Vocabulary | None
    notes: Mapping[str, Any]
    tensors: Mapping[str, TensorInfo]
    size: int
    """Bytes of the file."""


def save(
    model: CaptioningTransformer,
    path: Path | str,
    *,
    vocabulary: Vocabulary | None = None,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a model file, whole or not at all. `notes` is whatever JSON can say."""
    # As torch.compile and DataParallel wrap it.
    model = getattr(model, "_orig_mod", getattr(model, "module", model))
    if not isinstance(model, CaptioningTransformer):
        kind = type(model).__name__
        raise SettingError(f"what is to be saved is of the type {kind}; expected a meshcap model")
    config = model.config
    if vocabulary is not None:
        expect_words(vocabulary, config.vocabulary_size)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "config": config.to_json(),
        "vocabulary": None if vocabulary is None else vocabulary.to_json(),
        "notes": dict(notes or {}),
    }
    wrong = [key for key in document["notes"] if not isinstance(key, str)]
    if wrong:
        raise SettingError(f"notes have the key {wrong[0]!r}; expected strings as keys")
    try:
        text = json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SettingError(f"notes cannot be written as JSON: {error}") from error
    if len(text) > _MOST_METADATA:
        raise SettingError(
            f"vocabulary and notes take {len(text):,} bytes; at most {_MOST_METADATA:,} are allowed"
        )
    tensors = {name: each.cpu().contiguous() for name, each in model.state_dict().items()}
    # What `load` would refuse is not written: a model with layers added by hand, for example.
    skeleton(config, {name: TensorInfo.of(each) for name, each in tensors.items()})
    with written_whole(path) as temporary:
        try:
            save_file(tensors, temporary, metadata={_ENTRY: text})
        except SafetensorError as error:
            raise FileError(f"'{path}' cannot be written: {error}") from error


def load(path: Path | str, *, device: torch.device | str = "cpu") -> CaptioningTransformer:
    """The model of a model file, in evaluation mode, in the types that its tensors have there."""
    place = _device(device)
    return read(path).model.to(place)


def read(path: Path | str) -> Checkpoint:
    """All that a model file holds; refused unless every tensor is there once and fits."""
    with _opened(path) as file:
        described, model = _described(file, Path(path))
        # The library's tensors are views of the file, which others may write to later.
        tensors = {name: file.get_tensor(name).clone() for name in described.tensors}
        return Checkpoint(fill(model, tensors), described.vocabulary, described.notes)


def describe(path: Path | str) -> Description:
    """What a model file holds, from its header alone; refused when `read` would refuse it."""
    with _opened(path) as file:
        return _described(file, Path(path))[0]


def _device(device: torch.device | str) -> torch.device:
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise SettingError(f"device {device!r} is unknown; expected such as cpu or cuda") from error
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        raise SettingError(
            f"device '{place}' was asked for; this machine has {torch.cuda.device_count()} "
            "that PyTorch can use"
        )
    return place


@contextmanager
def _opened(path: Path | str) -> Iterator[Any]:
    found = existing_file(path, at_most=MOST_BYTES)
    with naming(found):
        _expect_header(found)
        try:
            with safe_open(str(found), framework="pt", device="cpu") as file:
                yield file
        except SafetensorError as error:
            raise WeightsError(
                f"not a whole safetensors file ({_clause(error)}); truncated or damaged?"
            ) from error
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror or error}") from error


def _clause(error: SafetensorError) -> str:
    return str(error).removeprefix("Error while deserializing header: ")


def _expect_header(path: Path) -> None:
    """Tell foreign and truncated files apart, of which the library says little."""
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            first = file.read(8)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}") from error
    claimed = int.from_bytes(first, "little")
    if len(first) == 8 and claimed <= size - 8:
        return
    if first.startswith((b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")):
        raise WeightsError(
            "a pickle or a file of torch.save, which is not loaded as a model; the authors' "
            "checkpoints are read by `meshcap convert` and meshcap.weights.load_authors"
        )
    if len(first) < 8:
        raise WeightsError(f"no safetensors file: it ends after {size} bytes")
    if claimed > _MOST_HEADER:
        raise WeightsError("no safetensors file: it does not begin with the length of a header")
    raise WeightsError(
        "no safetensors file, or a truncated one: "
        f"its header claims {claimed:,} bytes, and {size - 8:,} follow"
    )


def _described(file: Any, path: Path) -> tuple[Description, CaptioningTransformer]:
    document = _document(file.metadata() or {})
    config = _config(document["config"])
    vocabulary = None
    if document["vocabulary"] is not None:
        vocabulary = Vocabulary.from_json(document["vocabulary"])
        expect_words(vocabulary, config.vocabulary_size)
    tensors = {name: _info(name, file.get_slice(name)) for name in file.keys()}  # noqa: SIM118
    described = Description(
        document["version"], config, vocabulary, document["notes"], tensors, path.stat().st_size
    )
    return described, skeleton(config, tensors)


def _document(metadata: Mapping[str, str]) -> dict[str, Any]:
    if _ENTRY not in metadata:
        raise WeightsError(
            "a safetensors file without meshcap's metadata; expected one that "
            "meshcap.weights.save or `meshcap convert` wrote"
        )
    try:
        document = json.loads(metadata[_ENTRY])
    except (ValueError, RecursionError) as error:
        raise WeightsError(f"the metadata are not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise WeightsError(f"the metadata are of another kind; expected the format '{FORMAT}'")
    version = document.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise WeightsError(f"the format's version is {version!r}; expected 1 to {VERSION}")
    if version > VERSION:
        raise WeightsError(
            f"the format's version is {version}; this meshcap reads versions up to {VERSION}, "
            "a newer one is needed"
        )
    for wrong, names in (
        ("lack", [name for name in _FIELDS if name not in document]),
        ("hold unknown", [name for name in document if name not in _FIELDS]),
    ):
        if names:
            raise WeightsError(
                f"the metadata {wrong} fields: {listed(names)}; expected {', '.join(_FIELDS)}"
            )
    if not isinstance(document["notes"], dict):
        raise WeightsError(
            f"the notes are of type {type(document['notes']).__name__}; expected a JSON object"
        )
    return document


def _config(settings: Any) -> ModelConfig:
    if not isinstance(settings, dict):
        raise SettingError(f"the config is of type {type(settings).__name__}; expected an object")
    config = ModelConfig.from_json(settings)
    if not isinstance(config.row, str):
        raise SettingError(
            f"model setting 'row' is of type {type(config.row).__name__}; expected a string"
        )
    return config


def _info(name: str, tensor: Any) -> TensorInfo:
    dtype = _TYPES.get(tensor.get_dtype())
    if dtype is None:
        raise WeightsError(
            f"tensor {listed([name])} is of type {tensor.get_dtype()}; expected F32 or BF16, "
            "F16, F64"
        )
    return TensorInfo(tuple(tensor.get_shape()), dtype)
