"""Small models whose weights and inputs come from a recipe, the same on every machine.

`golden/equations.json` says the recipes in words, and holds what the equations make of them.
"""

import math
import zlib
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

import numpy as np
import torch

from meshcap.model import VARIANTS, CaptioningTransformer, ModelConfig, build

Array = np.ndarray[Any, Any]
Weights = dict[str, Array]

PAD, BEGINNING = 1, 2

SMALL_AUTHORS = replace(
    VARIANTS["m2-authors"],
    vocabulary_size=12,
    region_width=6,
    width=8,
    heads=2,
    feed_forward=5,
    memory_slots=3,
    longest=7,
)
"""The code's model in a size for files that tests write by the hundred."""


def tiny(config: ModelConfig) -> ModelConfig:
    return replace(
        config,
        vocabulary_size=30,
        region_width=12,
        width=16,
        heads=2,
        feed_forward=24,
        longest=9,
        memory_slots=min(config.memory_slots, 5),
        word_vectors=min(config.word_vectors, 10),
    )


def recipe(name: str, shape: tuple[int, ...]) -> Array:
    """`equations.json` says it in words."""
    n = np.random.RandomState(zlib.crc32(name.encode())).standard_normal(shape)
    if len(shape) == 1:
        n = 0.3 * n
        return 1 + n if "norm" in name and name.endswith("weight") else n
    if fnmatch(name, "*memory_*") or fnmatch(name, "words.*"):
        return 0.7 * n
    return 1.3 * n / math.sqrt(shape[1])


def by_recipe(config: ModelConfig) -> tuple[CaptioningTransformer, Weights]:
    model = build(config)
    w = {key: recipe(key, tuple(each.shape)) for key, each in model.state_dict().items()}
    model.load_state_dict({key: torch.from_numpy(each) for key, each in w.items()})
    # The model's numbers are float32; the equations start from the same.
    return model.eval(), {key: each.astype(np.float32).astype(float) for key, each in w.items()}


def inputs(region_width: int = 12) -> tuple[Array, Array, Array]:
    """Features (2, 6, D_in), present (2, 6), words (2, 2, 7)."""
    random = np.random.RandomState(zlib.crc32(b"inputs"))
    features = random.standard_normal((2, 6, region_width)).astype(np.float32)
    words = random.randint(4, 30, (2, 2, 7))
    words[..., 0] = BEGINNING
    words[0, 1, 5:] = PAD
    words[1, 0, 3] = PAD  # out of place: later words tell whether they see it
    return features, np.arange(6) < np.array([[6], [4]]), words


def opinionated(variant: str, seed: int, **settings: Any) -> CaptioningTransformer:
    """A small network for searches: freshly made ones hardly prefer any word, this one does."""
    sizes: dict[str, Any] = {
        "vocabulary_size": 12,
        "region_width": 6,
        "width": 8,
        "heads": 2,
        "feed_forward": 16,
        "encoding_layers": 2,
        "decoding_layers": 2,
        "longest": 12,
    }
    torch.manual_seed(seed)
    model = build(replace(VARIANTS[variant], **sizes | settings)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model
