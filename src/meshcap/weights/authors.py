"""The authors' checkpoints, read and written, as one table of names used both ways.

Knows tensors' names and shapes in their files and in our model; nothing of what they compute,
nor of how a file of torch.save is read (`pickles.py`).
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from meshcap.errors import FileError, SettingError, WeightsError
from meshcap.files import written_whole
from meshcap.model import VARIANTS, CaptioningTransformer, ModelConfig
from meshcap.text import Vocabulary
from meshcap.weights.assembly import TensorInfo, expect_words, fill, listed, naming, skeleton
from meshcap.weights.pickles import read_tensors

# Ours, theirs. `{i}` is a layer from 0, `{j}` a level from 0, `{j+1}` from 1.
_ATTENTION = (
    ("queries", "fc_q"),
    ("keys", "fc_k"),
    ("values", "fc_v"),
    ("output", "fc_o"),
)
_AFFINE = ("weight", "bias")


def names(config: ModelConfig) -> dict[str, str]:
    """Our name → theirs, of every tensor that holds something."""
    table: dict[str, str] = {"words.embedding.weight": "decoder.word_emb.weight"}

    def affine(ours: str, theirs: str) -> None:
        for part in _AFFINE:
            table[f"{ours}.{part}"] = f"{theirs}.{part}"

    def attention(ours: str, theirs: str) -> None:
        for own, other in _ATTENTION:
            affine(f"{ours}.{own}", f"{theirs}.attention.{other}")

    def feed_forward(ours: str, theirs: str) -> None:
        affine(f"{ours}.feed_forward.inner", f"{theirs}.pwff.fc1")
        affine(f"{ours}.feed_forward.outer", f"{theirs}.pwff.fc2")
        affine(f"{ours}.feed_forward_norm.norm", f"{theirs}.pwff.layer_norm")

    if config.projection == "relu-norm":
        affine("projection.linear", "encoder.fc")
        affine("projection.norm", "encoder.layer_norm")
    for i in range(config.encoding_layers):
        ours, theirs = f"encoder.layers.{i}", f"encoder.layers.{i}"
        attention(f"{ours}.attention", f"{theirs}.mhatt")
        if config.memory_slots:
            table[f"{ours}.attention.memory_keys"] = f"{theirs}.mhatt.attention.m_k"
            table[f"{ours}.attention.memory_values"] = f"{theirs}.mhatt.attention.m_v"
        affine(f"{ours}.attention_norm.norm", f"{theirs}.mhatt.layer_norm")
        feed_forward(ours, theirs)
    for i in range(config.decoding_layers):
        ours, theirs = f"decoder.{i}", f"decoder.layers.{i}"
        attention(f"{ours}.self_attention", f"{theirs}.self_att")
        affine(f"{ours}.self_norm.norm", f"{theirs}.self_att.layer_norm")
        attention(f"{ours}.mesh.attention", f"{theirs}.enc_att")
        affine(f"{ours}.mesh.level_norm.norm", f"{theirs}.enc_att.layer_norm")
        for j in range(config.encoding_layers):
            affine(f"{ours}.mesh.gates.levels.{j}", f"{theirs}.fc_alpha{j + 1}")
        feed_forward(ours, theirs)
    table["words.positions"] = "decoder.pos_emb.weight"
    table["words.output.weight"] = "decoder.fc.weight"
    return table


# What their stateful decoding leaves in a file. Its shapes are those of an empty state, so that
# their code loads what we write.
_EMPTY_STATE = re.compile(
    r"decoder\.(running_mask_self_attention|running_seq"
    r"|layers\.[0-9]+\.self_att\.running_(keys|values))"
)


def empty_state(config: ModelConfig) -> Iterator[tuple[str, Tensor]]:
    """The empty decoding state that their files hold besides weights."""
    yield "decoder.running_mask_self_attention", torch.zeros(1, 1, 0, dtype=torch.uint8)
    yield "decoder.running_seq", torch.zeros(1, dtype=torch.int64)
    for i in range(config.decoding_layers):
        for name in ("running_keys", "running_values"):
            yield f"decoder.layers.{i}.self_att.{name}", torch.zeros(0, config.width)


def from_authors(theirs: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Their tensors under our names and in our shapes; each exactly once, leftovers refused."""
    table = names(config)
    missing = [other for other in table.values() if other not in theirs]
    known = {*table.values()}
    unknown = [name for name in theirs if name not in known and not _EMPTY_STATE.fullmatch(name)]
    for what, found in (("lacks", missing), ("holds unknown", unknown)):
        if found:
            raise WeightsError(f"the checkpoint {what} tensors: {listed(found)}")
    ours = {}
    for own, other in table.items():
        tensor = theirs[other]
        if _is_slots(own):
            # Their memory slots are (1, M, D); ours (M, D).
            if tensor.dim() != 3 or tensor.shape[0] != 1:
                shape = tuple(tensor.shape)
                raise WeightsError(
                    f"tensor {other} has the shape {shape}; expected (1, slots, width)"
                )
            tensor = tensor[0]
        ours[own] = tensor
    return ours


def to_authors(model: CaptioningTransformer) -> "OrderedDict[str, Tensor]":
    """Our model's tensors under their names and in their shapes, empty state included."""
    ours = model.state_dict()
    theirs: OrderedDict[str, Tensor] = OrderedDict(empty_state(model.config))
    for own, other in names(model.config).items():
        theirs[other] = ours[own][None] if _is_slots(own) else ours[own]
    return theirs


def _is_slots(own: str) -> bool:
    return own.endswith(("memory_keys", "memory_values"))


# ---- what their file says of the model, and what it does not

_AUTHORS = VARIANTS["m2-authors"]
_PUBLISHED_WIDTH, _PUBLISHED_HEADS = 512, 8
_LAYER = re.compile(r"(encoder|decoder)\.layers\.([0-9]{1,4})\.")
_GATE = re.compile(r"decoder\.layers\.([0-9]{1,4})\.fc_alpha([0-9]{1,4})\.weight")


def sizes(theirs: Mapping[str, Tensor]) -> dict[str, Any]:
    """The settings that shapes tell. Heads are not among them: they leave no trace in a file."""
    vocabulary_size, width = _shape(theirs, "decoder.word_emb.weight", 2)
    encoding_layers = _layers(theirs, "encoder")
    decoding_layers = _layers(theirs, "decoder")
    gates: dict[int, set[int]] = {layer: set() for layer in range(decoding_layers)}
    for gate in filter(None, map(_GATE.fullmatch, theirs)):
        gates[int(gate[1])].add(int(gate[2]))
    for layer, levels in gates.items():
        if levels != set(range(1, encoding_layers + 1)):
            shown = listed(map(str, sorted(levels))) or "none"
            raise WeightsError(
                f"decoder layer {layer} has the gates {shown}; "
                f"expected 1 to {encoding_layers}, one for each encoder layer"
            )
    slots = "encoder.layers.0.mhatt.attention.m_k"
    found: dict[str, Any] = {
        "vocabulary_size": vocabulary_size,
        "width": width,
        "encoding_layers": encoding_layers,
        "decoding_layers": decoding_layers,
        "feed_forward": _shape(theirs, "encoder.layers.0.pwff.fc1.weight", 2)[0],
        "memory_slots": _shape(theirs, slots, 3)[1] if slots in theirs else 0,
        "longest": _shape(theirs, "decoder.pos_emb.weight", 2)[0] - 1,
    }
    if "encoder.fc.weight" in theirs:
        return found | {"region_width": _shape(theirs, "encoder.fc.weight", 2)[1]}
    # Their base encoder takes regions as they are, and so its mask does what it is meant to.
    return found | {"region_width": width, "projection": "none", "padding": "zero-sum"}


def _shape(theirs: Mapping[str, Tensor], name: str, dimensions: int) -> tuple[int, ...]:
    if name not in theirs:
        raise WeightsError(f"the checkpoint lacks tensors: {name}; is it one of the authors' code?")
    shape = tuple(theirs[name].shape)
    if len(shape) != dimensions or 0 in shape:
        raise WeightsError(f"tensor {name} has the shape {shape}; expected {dimensions} dimensions")
    return shape


def _layers(theirs: Mapping[str, Tensor], part: str) -> int:
    found = {int(name[2]) for name in map(_LAYER.match, theirs) if name and name[1] == part}
    if not found or found != set(range(len(found))):
        shown = listed(map(str, sorted(found))) or "none"
        raise WeightsError(f"the {part}'s layers are {shown}; expected 0, 1, … without a gap")
    return len(found)


def config_of(theirs: Mapping[str, Tensor], heads: int | None = None) -> ModelConfig:
    """The model that a checkpoint is of."""
    found = sizes(theirs)
    if heads is None:
        if found["width"] != _PUBLISHED_WIDTH:
            raise SettingError(
                f"a checkpoint does not say how many heads its model has, and this one is "
                f"{found['width']} wide instead of the published {_PUBLISHED_WIDTH}; "
                "expected the number of heads (heads=… or --heads …)"
            )
        heads = _PUBLISHED_HEADS
    config = replace(_AUTHORS, heads=heads, **found)
    # The row says what the published model scored, and others did not.
    return config if config == _AUTHORS else replace(config, row="the published code, other sizes")


def load_authors(
    path: Path | str,
    vocabulary: Vocabulary | Path | str | None = None,
    *,
    heads: int | None = None,
) -> CaptioningTransformer:
    """The model of one of the authors' checkpoints: published, of training, or a bare state dict.

    Nothing in the file is run. `vocabulary` (or its file) is compared with the model's words.
    `heads` must be said for models of another width than 512, the published one, which has 8.
    """
    if isinstance(vocabulary, str | Path):
        vocabulary = Vocabulary.load(vocabulary)
    theirs = read_tensors(path).tensors
    with naming(path):
        config = config_of(theirs, heads)
        if vocabulary is not None:
            expect_words(vocabulary, config.vocabulary_size)
        ours = from_authors(theirs, config)
        found = {name: TensorInfo.of(each) for name, each in ours.items()}
        return fill(skeleton(config, found, names(config)), ours)


# ---- back to their code

# Their constructors take these as arguments, so that their code can have any of them. What a
# model is initialised with leaves no trace.
_FREE = {
    *("row", "vocabulary_size", "region_width", "width", "heads", "decoding_layers"),
    *("feed_forward", "memory_slots", "dropout", "longest", "initialise"),
}
_PADDING = {"relu-norm": ("attended", "zero-sum"), "none": ("zero-sum",)}


def _expect_theirs(config: ModelConfig) -> None:
    checked = [each.name for each in fields(config) if each.name not in _FREE]
    allowed: dict[str, tuple[Any, ...]] = {name: (getattr(_AUTHORS, name),) for name in checked}
    allowed["projection"] = tuple(_PADDING)
    allowed["padding"] = _PADDING.get(config.projection, _PADDING[_AUTHORS.projection])
    for name, known in allowed.items():
        value = getattr(config, name)
        if value not in known:
            raise SettingError(
                f"model setting '{name}' is {value!r}; "
                f"the authors' code can only have {' or '.join(map(repr, known))}"
            )


def save_authors(model: CaptioningTransformer, path: Path | str) -> None:
    """Write a checkpoint as the authors published theirs: only `state_dict`, in the old form."""
    _expect_theirs(model.config)
    state = OrderedDict((name, each.cpu().contiguous()) for name, each in to_authors(model).items())
    young = [name for name, each in state.items() if each.dtype == torch.bfloat16]
    if young:
        raise WeightsError(
            f"tensors are bfloat16: {listed(young)}; the authors' PyTorch reads float32"
        )
    with written_whole(path) as temporary:
        try:
            # Their PyTorch, 1.1, knows no zip files.
            torch.save({"state_dict": state}, temporary, _use_new_zipfile_serialization=False)
        except RuntimeError as error:
            raise FileError(f"'{path}' cannot be written: {error}") from error
