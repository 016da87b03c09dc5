"""Checks of the model that turn red when the model is wrong: a table of mistakes, made on purpose.

Each row breaks one thing by a patch and names the check that must notice. Two of the checks
compare with numbers in tests/golden/equations.json, which come from the equations in
`test_config.py`, for the weights and inputs of `recipes.py`.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

import recipes
from meshcap import Regions
from meshcap.model import VARIANTS, CaptioningTransformer, ModelConfig, State, Trace
from meshcap.model import decoder as decoder_file
from meshcap.model import transformer as transformer_file
from meshcap.model.attention import Attention, AttentionOnAttention, MemoryAttention
from meshcap.model.decoder import DecodingLayer, Gates, MeshedAttention, SoftmaxGates
from meshcap.model.encoder import Encoder, EncodingLayer
from meshcap.model.keys_values import KeysValues
from meshcap.model.layers import AddNorm, FeedForward
from meshcap.model.words import GivenWords, Words
from recipes import by_recipe, tiny

NEAR = {"atol": 1e-5, "rtol": 0.0}
FACTS = Path(__file__).resolve().parent.parent / "golden" / "equations.json"

Patch = pytest.MonkeyPatch
Check = Callable[[], None]


def built(name: str) -> CaptioningTransformer:
    return by_recipe(tiny(VARIANTS[name]))[0]


def inputs() -> tuple[Regions, Tensor]:
    features, present, words = map(torch.from_numpy, recipes.inputs())
    return Regions(features, present), words


# The checks.


def levels_are_the_equations(name: str) -> None:
    want = json.loads(FACTS.read_text())["facts"][name]["levels[:, :, 2:4, :3]"]
    with torch.no_grad():
        found = built(name).encode(inputs()[0])[:, :, 2:4, :3]
    torch.testing.assert_close(found, torch.tensor(want), **NEAR)


def words_are_the_equations(name: str) -> None:
    want = json.loads(FACTS.read_text())["facts"][name]["log_probabilities[..., 3:7]"]
    with torch.no_grad():
        found = built(name).decode(*inputs())[..., 3:7]
    torch.testing.assert_close(found, torch.tensor(want), **NEAR)


def steps_are_the_parallel_pass(name: str) -> None:
    model, (regions, _) = built(name), inputs()
    spoken, beams = torch.full((2, 1, 1), 2), 1
    with torch.no_grad():
        state = model.start(regions).reserve(3, 4)
        for picks in ([[0, 0, 0], [0, 0, 0]], [[2, 0, 0], [1, 2, 0]], [[1, 2], [2, 0]], [[1], [0]]):
            found, state = model.step(spoken[..., -1].flatten(), state)
            want = model.decode(regions, spoken)[:, :, -1]
            torch.testing.assert_close(found.view_as(want), want, **NEAR)
            parents = torch.tensor(picks)
            state = state.follow((parents + beams * torch.arange(2)[:, None]).flatten())
            spoken = spoken.gather(1, parents[..., None].expand(-1, -1, spoken.shape[-1]))
            beams = parents.shape[1]
            newest = 4 + spoken.shape[-1] + 5 * torch.arange(2 * beams).view(2, beams, 1)
            spoken = torch.cat([spoken, newest % 30], dim=-1)


def earlier_words_do_not_see_later_ones(name: str) -> None:
    model, (regions, words) = built(name), inputs()
    with torch.no_grad():
        whole, short = model.decode(regions, words), model.decode(regions, words[..., :4])
    torch.testing.assert_close(whole[:, :, :4], short, **NEAR)


def absent_regions_are_as_good_as_left_out(name: str) -> None:
    model, (regions, words) = built(name), inputs()
    with torch.no_grad():
        together = model.decode(regions, words)[1]
        alone = model.decode(Regions(regions.features[1:, :4]), words[1:])[0]
    torch.testing.assert_close(together, alone, **NEAR)


def what_stands_in_an_absent_region_is_not_seen(name: str) -> None:
    model, (regions, words) = built(name), inputs()
    nowhere = torch.zeros(2, 6, dtype=torch.bool)
    with torch.no_grad():
        keys_moved = built(name)
        for layer in keys_moved.layers:
            layer.mesh.attention.values.bias += 1.0
        some, other = (
            each.decode(Regions(regions.features, nowhere), words) for each in (model, keys_moved)
        )
    torch.testing.assert_close(some, other, **NEAR)


def gates_share_out_one_among_the_levels(name: str) -> None:
    trace = Trace()
    built(name).decode(*inputs(), trace=trace)
    for each in trace.steps[0]:
        sums = each.gates.sum(dim=1)
        torch.testing.assert_close(sums, torch.ones_like(sums), **NEAR)


def every_parameter_learns(name: str) -> None:
    model, (regions, words) = built(name), inputs()
    model.decode(regions, words)[..., 5].sum().backward()
    for key, each in model.named_parameters():
        # A bias of all keys moves a query's scores alike, which a softmax does not see.
        unseen = key.endswith("keys.bias") and not key.startswith("encoder")
        assert unseen or (each.grad is not None and bool((each.grad != 0).any())), key


def traces_change_nothing(name: str) -> None:
    model, (regions, words) = built(name), inputs()
    with torch.no_grad():
        found = model.decode(regions, words, trace=Trace())
        torch.testing.assert_close(found, model.decode(regions, words), **NEAR)


# The mistakes: each takes a patch and makes one.


def gates_of_the_wrong_sign(patch: Patch) -> None:
    patch.setattr(Gates, "forward", lambda self, *given: (-self.logits(*given)).sigmoid())


def gates_that_see_only_the_words(patch: Patch) -> None:
    logits = Gates.logits
    patch.setattr(
        Gates,
        "logits",
        lambda self, words, crossed: logits(self, words, torch.zeros_like(crossed)),
    )


def gates_that_see_only_the_regions(patch: Patch) -> None:
    logits = Gates.logits
    patch.setattr(
        Gates,
        "logits",
        lambda self, words, crossed: logits(self, torch.zeros_like(words), crossed),
    )


def one_gate_for_all_levels(patch: Patch) -> None:
    logits = Gates.logits

    def first(self: Gates, words: Tensor, crossed: Tensor) -> Tensor:
        return logits(self, words, crossed[:, :1].expand_as(crossed))

    patch.setattr(Gates, "logits", first)


def softmax_over_the_channels(patch: Patch) -> None:
    patch.setattr(SoftmaxGates, "forward", lambda self, *given: self.logits(*given).softmax(-1))


def a_level_dropped(patch: Patch) -> None:
    forward = Gates.forward

    def without_the_last(self: Gates, words: Tensor, crossed: Tensor) -> Tensor:
        gates = forward(self, words, crossed)
        return torch.cat([gates[:, :-1], torch.zeros_like(gates[:, -1:])], dim=1)

    patch.setattr(Gates, "forward", without_the_last)


def _meshed(patch: Patch, change: Callable[[Any, Any, Any, Any], tuple[Any, Any, Any]]) -> None:
    """Other words, levels or hidden regions for the mesh."""
    forward = MeshedAttention.forward

    def changed(
        self: MeshedAttention, words: Tensor, levels: KeysValues, hidden: Any, trace: Any = None
    ) -> Tensor:
        return forward(self, *change(self, words, levels, hidden), trace)

    patch.setattr(MeshedAttention, "forward", changed)


def values_of_another_level(patch: Patch) -> None:
    def change(_: Any, words: Tensor, levels: KeysValues, hidden: Any) -> tuple[Any, Any, Any]:
        return words, KeysValues(levels.keys, levels.values.roll(1, dims=1)), hidden

    _meshed(patch, change)


def absent_regions_attended_by_words(patch: Patch) -> None:
    _meshed(patch, lambda _, words, levels, hidden: (words, levels, None))


def the_sum_of_levels_unscaled(patch: Patch) -> None:
    forward = MeshedAttention.forward

    def unscaled(
        self: MeshedAttention, words: Tensor, levels: KeysValues, hidden: Any, trace: Any = None
    ) -> Tensor:
        return forward(self, words, levels, hidden, trace) * levels.keys.shape[1] ** 0.5

    patch.setattr(MeshedAttention, "forward", unscaled)


def levels_in_reverse(patch: Patch) -> None:
    forward = Encoder.forward
    patch.setattr(Encoder, "forward", lambda self, *given: forward(self, *given).flip(1))


def one_to_one_with_the_last_level(patch: Patch) -> None:
    patch.setattr(ModelConfig, "levels_of", lambda self, layer: range(2, 3))


def the_last_level_mistaken_for_the_first(patch: Patch) -> None:
    patch.setattr(ModelConfig, "levels_of", lambda self, layer: range(1))


def _looking(patch: Patch, change: Callable[[Tensor | None], Tensor | None]) -> None:
    look = EncodingLayer.look

    def changed(
        self: EncodingLayer, regions: Tensor, absent: Tensor | None, *, weights_too: bool
    ) -> Any:
        return look(self, regions, change(absent), weights_too=weights_too)

    patch.setattr(EncodingLayer, "look", changed)


def absent_regions_attended_by_regions(patch: Patch) -> None:
    _looking(patch, lambda absent: None)


def present_regions_hidden_and_absent_ones_attended(patch: Patch) -> None:
    _looking(patch, lambda absent: None if absent is None else ~absent)


def memory_hidden(patch: Patch) -> None:
    patch.setattr(MemoryAttention, "project", Attention.project)


def _memory(patch: Patch, change: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> None:
    """Other keys and values (heads, M, d_k) of memory slots."""
    project = MemoryAttention.project

    def changed(self: MemoryAttention, vectors: Tensor) -> KeysValues:
        keys, values = project(self, vectors)
        regions = vectors.shape[-2]
        slots = change(keys[:, :, regions:], values[:, :, regions:])
        return KeysValues(
            torch.cat([keys[:, :, :regions], slots[0]], dim=2),
            torch.cat([values[:, :, :regions], slots[1]], dim=2),
        )

    patch.setattr(MemoryAttention, "project", changed)


def memory_keys_and_values_swapped(patch: Patch) -> None:
    d_k = 8
    _memory(patch, lambda keys, values: (values * d_k**-0.5, keys * d_k**0.5))


def memory_shared_by_all_heads(patch: Patch) -> None:
    _memory(
        patch, lambda keys, values: (keys[:, :1].expand_as(keys), values[:, :1].expand_as(values))
    )


def memory_that_learns_nothing(patch: Patch) -> None:
    _memory(patch, lambda keys, values: (keys.detach(), values.detach()))


def memory_with_the_paper_s_factors(patch: Patch) -> None:
    made = MemoryAttention.__init__

    def unscaled(self: MemoryAttention, *sizes: int, scaled: bool = False, **rest: Any) -> None:
        made(self, *sizes, scaled=not scaled, **rest)

    patch.setattr(MemoryAttention, "__init__", unscaled)


def scores_unscaled(patch: Patch) -> None:
    project = Attention.project

    def unscaled(self: Attention, vectors: Tensor) -> KeysValues:
        keys, values = project(self, vectors)
        return KeysValues(keys / self.scale, values)

    patch.setattr(Attention, "project", unscaled)


def keys_that_are_values(patch: Patch) -> None:
    project = Attention.project

    def alike(self: Attention, vectors: Tensor) -> KeysValues:
        keys, _ = project(self, vectors)
        return KeysValues(keys, keys)

    patch.setattr(Attention, "project", alike)


def attention_on_attention_blind_to_its_query(patch: Patch) -> None:
    forward = AttentionOnAttention.forward
    patch.setattr(
        AttentionOnAttention,
        "forward",
        lambda self, attended, asking: forward(self, attended, torch.zeros_like(asking)),
    )


def the_residual_left_out(patch: Patch) -> None:
    patch.setattr(AddNorm, "forward", lambda self, before, added: self.norm(self.dropout(added)))


def the_norm_left_out(patch: Patch) -> None:
    patch.setattr(AddNorm, "forward", lambda self, before, added: before + self.dropout(added))


def the_relu_left_out(patch: Patch) -> None:
    patch.setattr(FeedForward, "forward", lambda self, x: self.outer(self.inner(x)))


def _decoding(patch: Patch, unseen: Callable[[Tensor], Tensor]) -> None:
    """Other words that a decoding layer's words do not see."""
    forward = DecodingLayer.forward

    def changed(
        self: DecodingLayer, words: Tensor, spoken: KeysValues, hidden: Tensor, *rest: Any
    ) -> Tensor:
        return forward(self, words, spoken, unseen(hidden), *rest)

    patch.setattr(DecodingLayer, "forward", changed)


def later_words_seen(patch: Patch) -> None:
    _decoding(patch, torch.zeros_like)


def padding_aloud(patch: Patch) -> None:
    patch.setattr(decoder_file, "_silence", lambda vectors, silent: vectors)


def _positions(patch: Patch, change: Callable[[Tensor], Tensor]) -> None:
    """Another table of positions (longest + 1, D)."""
    made = Words.__init__

    def changed(self: Words, positions: Tensor, **rest: Any) -> None:
        made(self, change(positions), **rest)

    patch.setattr(Words, "__init__", changed)


def positions_from_0(patch: Patch) -> None:
    _positions(patch, lambda table: table.roll(1, dims=0))


def cosines_before_sines(patch: Patch) -> None:
    _positions(patch, lambda table: table.unflatten(1, (-1, 2)).flip(2).flatten(1))


def logits_without_the_way_back(patch: Patch) -> None:
    patch.setattr(GivenWords, "logits", lambda self, x: x[..., :10] @ self.given.T)


def _stepping(patch: Patch, change: Callable[[State, State], State]) -> None:
    """Another state after a step than the one that it gave, by the one that it got."""
    step = CaptioningTransformer.step

    def changed(self: CaptioningTransformer, words: Tensor, state: State, trace: Any = None) -> Any:
        log_probs, after = step(self, words, state, trace)
        return log_probs, change(state, after)

    patch.setattr(CaptioningTransformer, "step", changed)


def every_step_at_position_1(patch: Patch) -> None:
    _stepping(patch, lambda before, after: after._replace(step=before.step))


def beams_that_see_one_another(patch: Patch) -> None:
    _stepping(
        patch,
        lambda before, after: after._replace(visible=torch.ones_like(after.visible)),
    )


def a_step_that_skips_the_last_layer(patch: Patch) -> None:
    step = CaptioningTransformer.step

    def skipping(self: CaptioningTransformer, *given: Any) -> Any:
        last = self.layers[-1]
        last.forward = lambda words, *rest: words
        try:
            return step(self, *given)
        finally:
            del last.forward

    patch.setattr(CaptioningTransformer, "step", skipping)


def beams_that_stay_where_they_were(patch: Patch) -> None:
    follow = State.follow

    def staying(self: State, parents: Tensor) -> State:
        pictures, before, _ = self.visible.shape
        own = torch.arange(len(parents) // pictures).clamp(max=before - 1)
        return follow(self, (own + before * torch.arange(pictures)[:, None]).flatten())

    patch.setattr(State, "follow", staying)


def room_written_from_its_start(patch: Patch) -> None:
    def forgetful(self: State, layer: int, newest: KeysValues) -> KeysValues:
        room, entries = self.room[layer], self.spoken[layer].keys.shape[2]
        count = newest.keys.shape[2]
        room.keys[:, :, :count], room.values[:, :, :count] = newest
        return KeysValues(*(each[:, :, : entries + count] for each in room))

    patch.setattr(State, "with_spoken", forgetful)


def hidden_values_kept(patch: Patch) -> None:
    patch.setattr(transformer_file, "without", lambda attended, absent: attended)


def a_trace_that_changes_weights(patch: Patch) -> None:
    forward = Attention.forward

    def meddling(self: Attention, *given: Any, weights_too: bool = False) -> Any:
        result, weights = forward(self, *given, weights_too=weights_too)
        return (result * 1.01 if weights_too else result), weights

    patch.setattr(Attention, "forward", meddling)


class Row(NamedTuple):
    mistake: Callable[[Patch], None]
    check: Callable[[str], None]
    variant: str


TABLE = (
    # Eq. 1–3, and attention on attention
    Row(scores_unscaled, levels_are_the_equations, "transformer"),
    Row(scores_unscaled, words_are_the_equations, "m2"),
    Row(keys_that_are_values, levels_are_the_equations, "m2"),
    Row(memory_hidden, levels_are_the_equations, "m2-authors"),
    Row(memory_keys_and_values_swapped, levels_are_the_equations, "m2"),
    Row(memory_shared_by_all_heads, levels_are_the_equations, "m2"),
    Row(memory_with_the_paper_s_factors, levels_are_the_equations, "m2-authors"),
    Row(memory_that_learns_nothing, every_parameter_learns, "m2"),
    Row(attention_on_attention_blind_to_its_query, words_are_the_equations, "transformer-aoa"),
    # Eq. 4–5
    Row(the_relu_left_out, levels_are_the_equations, "m2"),
    Row(the_residual_left_out, levels_are_the_equations, "m2"),
    Row(the_norm_left_out, levels_are_the_equations, "m2"),
    Row(absent_regions_attended_by_regions, levels_are_the_equations, "m2"),
    Row(absent_regions_attended_by_regions, absent_regions_are_as_good_as_left_out, "m2"),
    Row(present_regions_hidden_and_absent_ones_attended, levels_are_the_equations, "m2"),
    # Eq. 6–8
    Row(the_sum_of_levels_unscaled, words_are_the_equations, "m2"),
    Row(levels_in_reverse, words_are_the_equations, "m2"),
    Row(a_level_dropped, words_are_the_equations, "m2"),
    Row(values_of_another_level, words_are_the_equations, "m2"),
    Row(gates_of_the_wrong_sign, words_are_the_equations, "m2"),
    Row(gates_that_see_only_the_words, words_are_the_equations, "m2"),
    Row(gates_that_see_only_the_regions, words_are_the_equations, "m2"),
    Row(one_gate_for_all_levels, words_are_the_equations, "m2"),
    Row(softmax_over_the_channels, gates_share_out_one_among_the_levels, "m2-softmax"),
    Row(softmax_over_the_channels, words_are_the_equations, "m2-softmax"),
    Row(one_to_one_with_the_last_level, words_are_the_equations, "m2-1to1"),
    Row(the_last_level_mistaken_for_the_first, words_are_the_equations, "transformer"),
    Row(absent_regions_attended_by_words, absent_regions_are_as_good_as_left_out, "m2"),
    Row(absent_regions_attended_by_words, words_are_the_equations, "m2"),
    Row(hidden_values_kept, what_stands_in_an_absent_region_is_not_seen, "m2"),
    # Eq. 9 and words
    Row(the_residual_left_out, words_are_the_equations, "m2"),
    Row(later_words_seen, earlier_words_do_not_see_later_ones, "m2"),
    Row(later_words_seen, words_are_the_equations, "m2"),
    Row(padding_aloud, words_are_the_equations, "m2-authors"),
    Row(positions_from_0, words_are_the_equations, "m2"),
    Row(cosines_before_sines, words_are_the_equations, "m2"),
    Row(logits_without_the_way_back, words_are_the_equations, "m2-glove"),
    # Stepping and looking
    Row(every_step_at_position_1, steps_are_the_parallel_pass, "m2"),
    Row(a_step_that_skips_the_last_layer, steps_are_the_parallel_pass, "m2"),
    Row(beams_that_see_one_another, steps_are_the_parallel_pass, "m2"),
    Row(beams_that_stay_where_they_were, steps_are_the_parallel_pass, "m2"),
    Row(room_written_from_its_start, steps_are_the_parallel_pass, "m2"),
    Row(a_trace_that_changes_weights, traces_change_nothing, "m2"),
)


def _said(row: Row) -> str:
    return f"{row.mistake.__name__}-{row.check.__name__}-{row.variant}"


@pytest.mark.parametrize("row", TABLE, ids=_said)
def test_a_check_turns_red_by_a_mistake_and_only_by_it(row: Row, monkeypatch: Patch) -> None:
    check: Check = partial(row.check, row.variant)
    check()
    row.mistake(monkeypatch)
    with pytest.raises(AssertionError):
        check()
    monkeypatch.undo()
    check()


def test_every_mistake_and_every_check_of_this_file_is_in_the_table() -> None:
    takes = {"patch": {row.mistake for row in TABLE}, "name": {row.check for row in TABLE}}
    for argument, used in takes.items():
        here = {
            each
            for key, each in globals().items()
            if callable(each)
            and getattr(each, "__module__", "") == __name__
            and not key.startswith(("_", "test"))
            and key != "built"
            and getattr(each, "__code__", None)
            and each.__code__.co_varnames[: each.__code__.co_argcount] == (argument,)
        }
        assert here == used
