"""From a config to a model: which parts it is made of.

Knows every part in this folder and which setting asks for which; computes nothing.
"""

import logging

from torch import Tensor, nn

from meshcap.errors import SettingError
from meshcap.model.attention import Attention, MemoryAttention
from meshcap.model.config import ModelConfig
from meshcap.model.decoder import (
    DecodingLayer,
    Gates,
    MeshedAttention,
    NormedMeshedAttention,
    SoftmaxGates,
)
from meshcap.model.encoder import (
    Encoder,
    EncodingLayer,
    IdentityMapEncodingLayer,
    RegionProjection,
)
from meshcap.model.initial import initialise
from meshcap.model.layers import FeedForward
from meshcap.model.linear import Linear
from meshcap.model.transformer import CaptioningTransformer
from meshcap.model.words import GivenWords, LearnedWords, Words, sinusoids
from meshcap.special_words import AUTHORS_SPECIAL_WORDS, SPECIAL_WORDS


def build(config: ModelConfig, word_vectors: Tensor | None = None) -> CaptioningTransformer:
    """The model that `config` describes, freshly initialised; `word_vectors` (V, W) for GloVe."""
    if not isinstance(config, ModelConfig):
        raise SettingError(
            f"a model cannot be built of {config!r}; expected a ModelConfig such as VARIANTS['m2']"
        )
    model = CaptioningTransformer(
        config,
        AUTHORS_SPECIAL_WORDS if config.speech == "anything" else SPECIAL_WORDS,
        _projection(config),
        Encoder([_encoding_layer(config) for _ in range(config.encoding_layers)]),
        [_decoding_layer(config, layer) for layer in range(config.decoding_layers)],
        _words(config),
    )
    initialise(model, config.initialise, head_width=config.width // config.heads)
    if isinstance(model.words, GivenWords):
        if word_vectors is not None:
            model.words.give(word_vectors)
        else:
            logging.getLogger(__name__).warning(
                "this model's words have random stand-ins for given vectors; "
                "pass build(config, word_vectors=…) or load weights"
            )
    return model


def _projection(config: ModelConfig) -> nn.Module:
    match config.projection:
        case "linear":
            return Linear(config.region_width, config.width)
        case "relu-norm":
            return RegionProjection(config.region_width, config.width, config.dropout)
        case "none":
            return nn.Identity()


def _attention(config: ModelConfig) -> Attention:
    return Attention(config.width, config.heads, on_attention=config.attention_on_attention)


def _memory_attention(config: ModelConfig) -> Attention:
    if not config.memory_slots:
        return _attention(config)
    return MemoryAttention(
        config.width,
        config.heads,
        config.memory_slots,
        scaled=config.memory_scaled,
        on_attention=config.attention_on_attention,
    )


def _feed_forward(config: ModelConfig) -> FeedForward:
    inside = config.dropout if config.feed_forward_dropout else 0.0
    return FeedForward(config.width, config.feed_forward, inside)


def _encoding_layer(config: ModelConfig) -> EncodingLayer:
    kinds = {"add-norm": EncodingLayer, "identity-map": IdentityMapEncodingLayer}
    return kinds[config.encoding_order](
        _memory_attention(config), _feed_forward(config), config.width, config.dropout
    )


def _gates(config: ModelConfig, levels: int) -> Gates | None:
    match config.gates:
        case "sigmoid":
            return Gates(config.width, levels)
        case "softmax":
            return SoftmaxGates(config.width, levels)
        case "none":
            return None


def _decoding_layer(config: ModelConfig, layer: int) -> DecodingLayer:
    cross, gates = _attention(config), _gates(config, len(config.levels_of(layer)))
    after_sum = config.norm == "mesh"
    return DecodingLayer(
        _attention(config),
        MeshedAttention(cross, gates)
        if after_sum
        else NormedMeshedAttention(cross, gates, config.width, config.dropout),
        _feed_forward(config),
        config.width,
        config.dropout,
        norm_after_mesh=after_sum,
    )


def _words(config: ModelConfig) -> Words:
    positions = sinusoids(config.longest, config.width)
    fixed = config.positions == "table"
    size, width = config.vocabulary_size, config.width
    if config.word_vectors:
        return GivenWords(size, config.word_vectors, width, positions, positions_are_weights=fixed)
    return LearnedWords(size, width, positions, positions_are_weights=fixed)
