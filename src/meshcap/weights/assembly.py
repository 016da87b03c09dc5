"""Named tensors to the model that a config describes: each exactly once, in its shape.

Knows names, shapes and types of tensors, and how readers of weights complain; nothing of files'
formats.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from meshcap.errors import MeshcapError, SettingError, VocabularyError, WeightsError
from meshcap.files import MIB
from meshcap.model import CaptioningTransformer, ModelConfig, build
from meshcap.text import Vocabulary

MOST_BYTES = 4096 * MIB
"""No file of weights is read that is larger: the paper's models have 150 MB."""

_MOST_POSITIONS = 2**26
_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
_SHOWN = 3
_LONGEST_NAME = 80


class TensorInfo(NamedTuple):
    """A tensor without its numbers."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @classmethod
    def of(cls, tensor: Tensor) -> "TensorInfo":
        return cls(tuple(tensor.shape), tensor.dtype)

    @property
    def type_name(self) -> str:
        return str(self.dtype).removeprefix("torch.")


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Whatever is wrong inside is said of the file `path`."""
    try:
        yield
    except MeshcapError as error:
        raise type(error)(f"'{path}': {error}") from error


def listed(names: Iterable[str]) -> str:
    """A few names for a sentence, and how many more there are."""
    every = [name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…" for name in names]
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more


def expect_words(vocabulary: Vocabulary, words: int) -> None:
    """A vocabulary fits a model of so many words, or a sentence says that it does not."""
    if len(vocabulary) != words:
        raise VocabularyError(
            f"the vocabulary has {len(vocabulary)} words; the model expects {words}"
        )


class _Unfilled(TorchFunctionMode):
    """While it lasts, new tensors that wait for numbers take no memory and get none.

    So a config's wishes cost nothing, and random numbers stay as they were. `torch.device("meta")`
    would do the same, at the price of importing PyTorch's compiler for a second.
    """

    FILLING = (Tensor.uniform_, Tensor.normal_, Tensor.zero_, Tensor.fill_)

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if function in (torch.empty, torch.randn):
            return torch.empty(*args, **named | {"device": "meta"})
        if function in self.FILLING or getattr(function, "__module__", "") == "torch.nn.init":
            return args[0] if args else named["tensor"]
        return function(*args, **named)


def skeleton(
    config: ModelConfig,
    found: Mapping[str, TensorInfo],
    called: Mapping[str, str] | None = None,
) -> CaptioningTransformer:
    """The model without numbers, if the tensors `found` are exactly those it is made of.

    `called`: our name → the file's, where a file calls its tensors otherwise.
    """
    layers = config.encoding_layers + config.decoding_layers
    # A config may ask for anything; ask the file, before its wishes cost memory or time.
    if layers > len(found):
        raise WeightsError(f"the config asks for {layers} layers; found {len(found)} tensors")
    if (config.longest + 1) * config.width > _MOST_POSITIONS:
        raise SettingError(
            f"model setting 'longest' is {config.longest}; at width {config.width} "
            f"expected at most {_MOST_POSITIONS // config.width - 1}"
        )
    vectors = None
    if config.word_vectors:
        size = (config.vocabulary_size, config.word_vectors)
        given = found.get("words.given")
        if given is None or given.shape != size:
            what = "missing" if given is None else f"of the shape {given.shape}"
            raise WeightsError(f"tensor words.given is {what}; the config asks for {size}")
        vectors = torch.zeros(()).expand(size)  # else `build` warns of random stand-ins
    try:
        with _Unfilled():
            model = build(config, vectors)
    except (RuntimeError, OverflowError, MemoryError, TypeError) as error:
        raise SettingError(
            "the config asks for sizes that no tensor can have: "
            f"width {config.width}, vocabulary_size {config.vocabulary_size}, "
            f"region_width {config.region_width}, feed_forward {config.feed_forward}, "
            f"memory_slots {config.memory_slots}, longest {config.longest}"
        ) from error
    _expect({name: tuple(each.shape) for name, each in model.state_dict().items()}, found, called)
    return model


def _expect(
    shapes: Mapping[str, tuple[int, ...]],
    found: Mapping[str, TensorInfo],
    called: Mapping[str, str] | None,
) -> None:
    def shown(name: str) -> str:
        return (called or {}).get(name, name)

    missing = [shown(name) for name in shapes if name not in found]
    if missing:
        raise WeightsError(f"the model needs tensors that are missing: {listed(missing)}")
    unknown = [shown(name) for name in found if name not in shapes]
    if unknown:
        raise WeightsError(f"the model has no place for the tensors {listed(unknown)}")
    misshapen = [
        f"{shown(name)} {found[name].shape} instead of {shape}"
        for name, shape in shapes.items()
        if found[name].shape != shape
    ]
    if misshapen:
        raise WeightsError(f"tensors have other shapes than the model: {listed(misshapen)}")
    foreign = [
        f"{shown(name)} ({each.type_name})"
        for name, each in found.items()
        if each.dtype not in _FLOATS
    ]
    if foreign:
        raise WeightsError(
            f"tensors hold no floating-point numbers of 16, 32 or 64 bits: {listed(foreign)}"
        )


def fill(model: CaptioningTransformer, tensors: Mapping[str, Tensor]) -> CaptioningTransformer:
    """The skeleton with its tensors, which become the model's own; ready to be used."""
    model.load_state_dict(tensors, strict=True, assign=True)
    if "words.positions" not in tensors:
        # They are computed, not stored; `model.to(dtype)` casts them with the rest.
        dtype = tensors["encoder.layers.0.attention.queries.weight"].dtype
        model.words.positions = model.words.positions.to(dtype)
    assert not any(each.is_meta for each in (*model.parameters(), *model.buffers()))
    return model.eval()
