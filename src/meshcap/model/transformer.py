"""Section 3 whole: the network's three doors, start, step and decode.

Knows the parts in this folder; nothing of searches, vocabularies' spelling, or files.

Shapes: B pictures, R regions, L levels, K rows (beams) a picture, C captions a picture, T words,
E words spoken so far by a picture's rows, H heads, D width, V vocabulary.
"""

from collections.abc import Hashable, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from meshcap.errors import FeatureError, SettingError, VocabularyError
from meshcap.model.attention import without
from meshcap.model.config import ModelConfig
from meshcap.model.decoder import DecodingLayer
from meshcap.model.encoder import Encoder
from meshcap.model.keys_values import KeysValues
from meshcap.model.linear import Linear
from meshcap.model.state import DecodingTrace, State, Trace
from meshcap.model.words import Words
from meshcap.regions import Regions
from meshcap.special_words import SpecialWords


class CaptioningTransformer(nn.Module):
    """Regions in, next words out. A NextWord, as `meshcap.search` asks for."""

    def __init__(
        self,
        config: ModelConfig,
        special_words: SpecialWords,
        projection: nn.Module,
        encoder: Encoder,
        decoder: list[DecodingLayer],
        words: Words,
    ) -> None:
        super().__init__()
        self.config = config
        self.special_words = special_words
        self.projection = projection
        self.encoder = encoder
        self.decoder = nn.ModuleList(decoder)
        self.words = words

    @property
    def layers(self) -> list[DecodingLayer]:
        """The decoding layers, the first first."""
        return cast(list[DecodingLayer], list(self.decoder))

    @property
    def longest(self) -> int:
        """The most words a sentence can have, its end included."""
        return self.config.longest

    def start(self, regions: Regions | Tensor, trace: Trace | None = None) -> State:
        """Look at pictures once: the state before the first word, one row a picture."""
        levels, hidden = self._encode(Regions.of(regions), trace)
        pictures, heads = levels[0].keys.shape[0], self.config.heads
        device = levels[0].keys.device
        none = levels[0].keys.new_empty(pictures, heads, 0, self.config.width // heads)
        return State(
            levels=levels,
            hidden=hidden,
            spoken=tuple(KeysValues(none, none) for _ in self.decoder),
            visible=torch.empty(pictures, 1, 0, dtype=torch.bool, device=device),
            step=torch.zeros(1, dtype=torch.int64, device=device),
        )

    def step(
        self,
        words: Tensor,  # (rows,) each row's newest word; at first the beginning
        state: State,
        trace: Trace | None = None,
    ) -> tuple[Tensor, State]:
        """Log-probabilities of each row's next word, (rows, V), and the state then."""
        if words.shape != (state.rows,):
            raise SettingError(
                f"words of a step have the shape {tuple(words.shape)}; expected ({state.rows},), "
                "one for each row of the state"
            )
        words = _whole(words)
        if words.device.type == "cpu" and not torch.compiler.is_compiling():
            self._expect_room(int(state.step) + 1)
            self._expect_known(words)
        step = state.step + 1
        position = self.words.positions.index_select(0, step)  # (1, D)
        numbers = words.reshape(state.pictures, -1)  # (B, K)
        padded = self._padded(numbers)
        # Each row sees what it has said; padding nobody sees, itself neither.
        newly = torch.eye(numbers.shape[1], dtype=torch.bool, device=words.device)
        if padded is not None:
            newly = newly & ~padded[:, None, :]
        visible = torch.cat([state.visible, newly.expand(state.pictures, -1, -1)], dim=-1)
        unseen, silent = ~visible, None if padded is None else padded[:, :, None]

        vectors = self.words.vectors(numbers) + position  # (B, K, D)
        records = _records(trace, len(self.decoder))
        spoken = []
        for i, layer in enumerate(self.layers):
            spoken.append(state.with_spoken(i, layer.self_attention.project(vectors)))
            vectors = layer(
                vectors,
                spoken[i],
                unseen[:, None],
                state.levels[i],
                state.hidden,
                silent,
                records[i],
            )
        logits = self.words.logits(vectors.flatten(0, 1))  # (rows, V)
        return _log_probabilities(logits), state._replace(
            spoken=tuple(spoken), visible=visible, step=step
        )

    def decode(
        self,
        regions: Regions | Tensor,
        words: Tensor,  # (B, C, T) word numbers, each caption from its beginning on
        trace: Trace | None = None,
    ) -> Tensor:
        """Log-probabilities of the word after each word, (B, C, T, V), in one parallel pass.

        A picture is encoded once for its C captions. Captions of unequal length are filled up
        with `<pad>` at their end.
        """
        regions = Regions.of(regions)
        pictures = regions.features.shape[0]
        if words.dim() != 3 or words.shape[0] != pictures or 0 in words.shape:
            raise SettingError(
                f"captions have the shape {tuple(words.shape)}; "
                f"expected ({pictures} pictures, captions, words)"
            )
        words = _whole(words)
        captions, length = words.shape[1:]
        self._expect_room(length)
        if words.device.type == "cpu" and not torch.compiler.is_compiling():
            self._expect_known(words)
        levels, hidden = self._encode(regions, trace)

        groups = words.flatten(0, 1)  # (B * C, T)
        later = torch.ones(length, length, dtype=torch.bool, device=words.device).triu(1)
        unseen, silent = later[None, None], None  # (1, 1, T, T)
        padded = self._padded(groups)
        if padded is not None:
            unseen, silent = unseen | padded[:, None, None, :], padded[:, :, None]

        vectors = self.words.vectors(groups) + self.words.positions[1 : length + 1]
        records = _records(trace, len(self.decoder))
        for layer, level, record in zip(self.layers, levels, records, strict=True):
            spoken = layer.self_attention.project(vectors)
            vectors = layer(vectors, spoken, unseen, level, hidden, silent, record)
        logits = self.words.logits(vectors).unflatten(0, (-1, captions))
        return _log_probabilities(logits)

    forward = decode  # so that hooks and compilers find the pass

    def encode(self, regions: Regions | Tensor, trace: Trace | None = None) -> Tensor:
        """Section 3.1 alone: every level of every region, (B, L, R, D)."""
        return self._levels(Regions.of(regions), trace)[0]

    def replay_key(self) -> Hashable | None:
        """What must be unchanged for a recorded search to be replayed (see search/replay.py)."""
        found: list[Hashable] = []
        for each in self.modules():
            if each._forward_hooks or each._forward_pre_hooks:
                return None  # a replay would not call them
            found.append(each.training)
            for own in (*each._parameters.values(), *each._buffers.values()):
                if own is not None:
                    found += (own.data_ptr(), own.dtype)
        return tuple(found)

    def _levels(
        self, regions: Regions, trace: Trace | None
    ) -> tuple[Tensor, Tensor | None]:  # (B, L, R, D), and absent regions (B, R)
        width = regions.features.shape[-1]
        if width != self.config.region_width:
            raise FeatureError(
                f"regions are {width} wide; this model expects {self.config.region_width}"
            )
        if regions.features.device != self.words.positions.device:
            raise FeatureError(
                f"regions are on {regions.features.device}; "
                f"this model is on {self.words.positions.device}"
            )
        features = regions.features.to(self.words.positions.dtype)
        absent = None if regions.present is None else ~regions.present
        if absent is not None:
            # Whatever stands in the place of an absent region, NaN too, must not come in.
            features = features.masked_fill(absent[:, :, None], 0.0)
        projected = self.projection(features)
        if self.config.padding == "attended":
            absent = None
        elif self.config.padding == "zero-sum":
            absent = projected.sum(dim=-1) == 0
        if trace is not None:
            trace.projected = projected
        return self.encoder(projected, absent, trace), absent

    def _encode(
        self, regions: Regions, trace: Trace | None
    ) -> tuple[tuple[KeysValues, ...], Tensor | None]:
        """Keys and values of the levels that each decoding layer sees; and what is hidden."""
        if not torch.compiler.is_compiling():
            # What follows reads the decoder's weights at every word.
            for part in (self.decoder, self.words):
                for each in part.modules():
                    if isinstance(each, Linear):
                        each.pack()
        levels, absent = self._levels(regions, trace)
        seen = []
        for i, layer in enumerate(self.layers):
            own = self.config.levels_of(i)
            projected = layer.mesh.attention.project(levels[:, own.start : own.stop])
            if absent is not None:
                projected = without(projected, absent[:, None, None, :, None])
            # Contiguous by head, (B, L, H, R, d_k): a product of batches would otherwise copy
            # them each time it is asked, and a search asks at every word.
            seen.append(KeysValues(*(each.contiguous() for each in projected)))
        return tuple(seen), None if absent is None else absent[:, None, None, None, :]

    def _padded(self, numbers: Tensor) -> Tensor | None:
        """Where words are padding, for models that silence it; None for those that ignore it."""
        if self.config.padded_words == "ignored":
            return None
        return numbers == self.special_words.padding

    def _expect_known(self, words: Tensor) -> None:
        # Not on a GPU, which would have to be waited for.
        size = self.config.vocabulary_size
        strange = words[(words < 0) | (words >= size)]
        if strange.numel():
            raise VocabularyError(
                f"a caption holds word number {int(strange[0])}; "
                f"this model has words 0 to {size - 1}"
            )

    def _expect_room(self, length: int) -> None:
        if length > self.config.longest:
            raise SettingError(
                f"a sentence of {length} words was asked for; "
                f"this model has positions for {self.config.longest}"
            )


def _whole(words: Tensor) -> Tensor:
    """Word numbers in the type that they are looked up by."""
    if words.is_floating_point() or words.is_complex() or words.dtype == torch.bool:
        raise SettingError(f"words are {words.dtype}; expected whole numbers")
    return words.long()


def _log_probabilities(logits: Tensor) -> Tensor:
    # bf16 has no room for sums over a vocabulary: probabilities are float32 at least.
    return F.log_softmax(logits, dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))


def _records(trace: Trace | None, layers: int) -> Sequence[DecodingTrace | None]:
    """Where each decoding layer writes what is asked of it."""
    return [None] * layers if trace is None else trace.begin_step(layers)
