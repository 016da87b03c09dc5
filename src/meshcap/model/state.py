"""What a search holds between two words, and what may be asked of a step.

Knows tensors; nothing of the modules that fill them.

Shapes: B pictures, K rows (beams) a picture, L levels, R regions, M memory slots, H heads,
D width, d_k = D / H, E words spoken so far by any beam of a picture. In a trace G groups of words
that see one another and Q words of a group: in `step` B and K, in `decode` B · C and T, but
B and C · T where regions are attended.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from meshcap.errors import SettingError
from meshcap.model.keys_values import KeysValues


class State(NamedTuple):
    """A value: stepping gives a new one and leaves the old one as it was.

    Keys and values of regions are there once a picture, of words once a word: a beam is no copy
    of them but a row of `visible`, which says which of its picture's words are its own. So
    re-ordering beams moves a few booleans and nothing else.
    """

    levels: tuple[KeysValues, ...]  # of each decoding layer, (B, L, H, R, d_k)
    hidden: Tensor | None  # (B, 1, 1, 1, R); True: an absent region
    spoken: tuple[KeysValues, ...]  # of each decoding layer, (B, H, E, d_k)
    visible: Tensor  # (B, K, E); True: a word that this row has spoken
    step: Tensor  # (1,) words spoken by each row
    room: tuple[KeysValues, ...] | None = None  # see `reserve`

    @property
    def pictures(self) -> int:
        return self.visible.shape[0]

    @property
    def rows(self) -> int:
        """Rows that the next step takes: those of the first picture, then the second's …"""
        return self.visible.shape[0] * self.visible.shape[1]

    def reserve(self, beams: int, length: int) -> "State":
        """The same state with room for `length` more words of `beams` rows a picture.

        Stepping then writes into the room instead of copying what was spoken before. In return,
        of two states stepped from one the later takes the earlier one's place: for searches,
        which go on from each state once. Steps that gradients flow through are joined all the same.
        """
        if beams < 1 or length < 1:
            raise SettingError(
                f"room for {length} words of {beams} rows was asked for; expected one at least"
            )
        entries = self.visible.shape[2]

        def roomy(spoken: Tensor) -> Tensor:  # (B, H, E, d_k) → (B, H, E + beams * length, d_k)
            room = spoken.new_empty(*spoken.shape[:2], entries + beams * length, spoken.shape[3])
            room[:, :, :entries] = spoken
            return room

        return self._replace(
            room=tuple(KeysValues(roomy(each.keys), roomy(each.values)) for each in self.spoken)
        )

    def with_spoken(self, layer: int, newest: KeysValues) -> KeysValues:
        """What a decoding layer's words attend: all that was spoken, and the newest (B, H, K, d_k).

        Gives (B, H, E + K, d_k).
        """
        before = self.spoken[layer]
        entries = before.keys.shape[2]
        after = entries + newest.keys.shape[2]
        learning = torch.is_grad_enabled() and newest.keys.requires_grad
        if self.room is None or learning or after > self.room[layer].keys.shape[2]:
            return KeysValues(
                torch.cat([before.keys, newest.keys], dim=2),
                torch.cat([before.values, newest.values], dim=2),
            )
        room = self.room[layer]
        room.keys[:, :, entries:after] = newest.keys
        room.values[:, :, entries:after] = newest.values
        return KeysValues(room.keys[:, :, :after], room.values[:, :, :after])

    def follow(self, parents: Tensor) -> "State":
        """The state whose row i continues row `parents[i]` of this one; (rows,) → State.

        Rows stay with their picture. There may be more or fewer of them than before, the same
        number for every picture.
        """
        pictures, beams, entries = self.visible.shape
        count = parents.shape[0] if parents.dim() == 1 else 0
        if not count or count % pictures or parents.is_floating_point():
            raise SettingError(
                f"parents are {parents.dtype} of the shape {tuple(parents.shape)}; expected whole "
                f"numbers in one dimension, a multiple of {pictures} pictures"
            )
        parents = parents.view(pictures, -1)  # (B, K')
        # Asking a GPU would make the search wait for it.
        if parents.device.type == "cpu" and not torch.compiler.is_compiling():
            of = parents.div(beams, rounding_mode="floor")
            if not torch.equal(of, torch.arange(pictures, device="cpu")[:, None].expand_as(of)):
                raise SettingError(
                    "parents name rows of another picture; rows follow rows of their own picture"
                )
        own = (parents % beams)[:, :, None].expand(-1, -1, entries)
        visible = self.visible.gather(1, own)
        return self._replace(visible=visible)


@dataclass
class EncodingTrace:
    """What one encoding layer saw."""

    weights: Tensor  # (B, H, R, R + M): attention over regions, then memory slots
    looked: Tensor  # (B, R, D): Z of Eq. 5


@dataclass
class DecodingTrace:
    """What one decoding layer saw at one step; in `decode`, at all words at once."""

    words: Tensor = field(default_factory=lambda: torch.empty(0))  # (G, H, Q, E)
    visible: Tensor = field(default_factory=lambda: torch.empty(0))  # (G, Q, E): whose words
    levels: Tensor = field(default_factory=lambda: torch.empty(0))  # (B, L, H, Q, R): regions
    gates: Tensor = field(default_factory=lambda: torch.empty(0))  # (B, L, Q, D): α_i of Eq. 8
    crossed: Tensor = field(default_factory=lambda: torch.empty(0))  # (B, L, Q, D): C(X̃ⁱ, Y)
    said: Tensor = field(default_factory=lambda: torch.empty(0))  # (G, Q, D): AddNorm(S_mask)
    output: Tensor = field(default_factory=lambda: torch.empty(0))  # (G, Q, D): Ỹ of Eq. 9


@dataclass
class Trace:
    """Inner values, filled on request: pass one to `start`, `step` or `decode`.

    Each call adds to what is there; for another picture take another trace.
    """

    projected: Tensor | None = None  # (B, R, D): regions as the encoder gets them
    encoding: list[EncodingTrace] = field(default_factory=list)  # of each layer
    steps: list[list[DecodingTrace]] = field(default_factory=list)  # of each step, each layer

    def begin_step(self, layers: int) -> list[DecodingTrace]:
        """A new step's empty records, one a decoding layer."""
        self.steps.append([DecodingTrace() for _ in range(layers)])
        return self.steps[-1]
