"""Every row of VARIANTS, shrunk: the three doors agree, learn, save, and bear odd pictures.

Knows small models with random weights; what they compute is compared with the equations in
`test_config.py` and with the authors' code in `test_golden_model.py`.
"""

import copy
import math
import pickle
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from meshcap import Regions
from meshcap.errors import SettingError, VocabularyError
from meshcap.model import (
    VARIANTS,
    CaptioningTransformer,
    ModelConfig,
    State,
    Trace,
    build,
    linear,
)
from meshcap.model.linear import Linear
from meshcap.search import Hypotheses, beam_search
from meshcap.weights import load, save

NEAR = {"atol": 1e-5, "rtol": 0.0}
ROUNDING = {"atol": 1e-6, "rtol": 0.0}
PAD, BEGINNING = 1, 2
VOCABULARY, REGION_WIDTH, LONGEST = 60, 24, 12
PICTURES, REGIONS = 3, 7

every_variant = pytest.mark.parametrize("name", VARIANTS)


def small(name: str) -> ModelConfig:
    config = VARIANTS[name]
    return replace(
        config,
        vocabulary_size=VOCABULARY,
        region_width=REGION_WIDTH,
        width=32,
        heads=4,
        feed_forward=64,
        longest=LONGEST,
        memory_slots=min(config.memory_slots, 6),
        word_vectors=min(config.word_vectors, 12),
    )


def built(name: str) -> CaptioningTransformer:
    """A small model in which no bias is 0 and no gain 1, so that each of them counts."""
    torch.manual_seed(zlib.crc32(name.encode()))
    config = small(name)
    given = None
    if config.word_vectors:
        given = torch.randn(VOCABULARY, config.word_vectors) * config.word_vectors**-0.5
    model = build(config, given)
    with torch.no_grad():
        for each in model.parameters():
            if each.dim() == 1:
                each.add_(torch.randn_like(each), alpha=0.2)
    return model.eval()


def some_regions(seed: int = 0, pictures: int = PICTURES, *, all_there: bool = False) -> Regions:
    """Pictures with 7, 5, 3 … regions of 7, the rest absent rows of zeros."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(pictures, REGIONS, REGION_WIDTH, generator=generator)
    if all_there:
        return Regions(features)
    count = REGIONS - 2 * torch.arange(pictures)[:, None] % REGIONS
    present = torch.arange(REGIONS) < count
    return Regions(features * present[..., None], present)


def some_words(*shape: int, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(4, VOCABULARY, shape, generator=generator)
    words[..., 0] = BEGINNING
    return words


def cross_entropy(model: CaptioningTransformer, regions: Regions, words: Tensor) -> Tensor:
    log_probs = model.decode(regions, words)[:, :, :-1]
    return F.nll_loss(log_probs.flatten(0, 2), words[:, :, 1:].flatten(), ignore_index=PAD)


def both(model: CaptioningTransformer, regions: Regions, words: Tensor) -> tuple[Tensor, Tensor]:
    """What decode says, and what a search finds: enough to tell two models apart."""
    with torch.no_grad():
        return model.decode(regions, words), beam_search(model, regions, beams=3, length=6).scores


# The table itself.

PROMISED = (
    "m2",
    "m2-no-memory",
    "m2-softmax",
    "m2-1to1",
    "m2-1to1-no-memory",
    "m2-memory-20",
    "m2-memory-60",
    "m2-memory-80",
    "m2-layers-2",
    "m2-layers-4",
    "m2-glove",
    "m2-authors",
    "transformer",
    "transformer-6",
    "transformer-aoa",
)


def test_every_promised_name_is_in_the_table() -> None:
    assert set(PROMISED) <= set(VARIANTS)


@every_variant
def test_every_variant_says_where_in_the_paper_it_stands(name: str) -> None:
    assert VARIANTS[name].row.strip()


def test_no_two_names_mean_the_same_model() -> None:
    assert len(set(VARIANTS.values())) == len(VARIANTS)


# At width 512, feed-forward 2048, 2048 features a region and 10 201 words, by hand:
ATTENTION = 4 * (512 * 512 + 512)
FEED_FORWARD = (512 * 2048 + 2048) + (2048 * 512 + 512)
NORM = 2 * 512
GATE = 1024 * 512 + 512
SLOT = 2 * 512
ON_ATTENTION = 2 * GATE
IN_AND_OUT = (2048 * 512 + 512) + 2 * 10201 * 512  # projection, word vectors, output
ENCODING = ATTENTION + FEED_FORWARD + 2 * NORM
DECODING = 2 * ATTENTION + FEED_FORWARD + 3 * NORM
GLOVE = (300 * 512 + 512) + (512 * 300 + 300) - 2 * 10201 * 512

FULL_SIZE = {
    "m2": IN_AND_OUT + 3 * (ENCODING + 40 * SLOT) + 3 * (DECODING + 3 * GATE),
    "m2-no-memory": IN_AND_OUT + 3 * ENCODING + 3 * (DECODING + 3 * GATE),
    "m2-softmax": IN_AND_OUT + 3 * (ENCODING + 40 * SLOT) + 3 * (DECODING + 3 * GATE),
    "m2-1to1": IN_AND_OUT + 3 * (ENCODING + 40 * SLOT) + 3 * (DECODING + GATE),
    "m2-memory-80": IN_AND_OUT + 3 * (ENCODING + 80 * SLOT) + 3 * (DECODING + 3 * GATE),
    "m2-layers-4": IN_AND_OUT + 4 * (ENCODING + 40 * SLOT) + 4 * (DECODING + 4 * GATE),
    "m2-layers-2-4": IN_AND_OUT + 2 * (ENCODING + 40 * SLOT) + 4 * (DECODING + 2 * GATE),
    "m2-glove": IN_AND_OUT + 3 * (ENCODING + 40 * SLOT) + 3 * (DECODING + 3 * GATE) + GLOVE,
    "transformer": IN_AND_OUT + 3 * (ENCODING + DECODING),
    "transformer-6": IN_AND_OUT + 6 * (ENCODING + DECODING),
    "transformer-aoa": IN_AND_OUT + 3 * (ENCODING + DECODING + 3 * ON_ATTENTION),
    # ../shared/spec/reference-differences.md: 38 439 424 with the 28 160 of the frozen positions.
    "m2-authors": 38_439_424 - 28_160,
}


@pytest.mark.parametrize("name", FULL_SIZE)
def test_full_size_models_have_the_numbers_that_the_paper_s_sizes_give(name: str) -> None:
    with torch.device("meta"):  # shapes without numbers
        model = build(VARIANTS[name])
    assert sum(each.numel() for each in model.parameters()) == FULL_SIZE[name]
    if name == "m2-authors":
        assert model.state_dict()["words.positions"].numel() == 28_160


# Three doors, one network.


@pytest.mark.parametrize("gradients", [False, True], ids=["no-grad", "grad"])
@pytest.mark.parametrize("reserved", [False, True], ids=["copying", "reserved"])
@every_variant
def test_steps_say_what_the_parallel_pass_says_whatever_beams_do(
    name: str, reserved: bool, gradients: bool
) -> None:
    model, regions = built(name), some_regions()
    generator = torch.Generator().manual_seed(3)
    with torch.set_grad_enabled(gradients):
        state = model.start(regions)
        if reserved:
            state = state.reserve(5, 7)
        beams = 1
        spoken = torch.full((PICTURES, 1, 1), BEGINNING)  # (B, K, t)
        for following in (4, 4, 2, 5, 5, 1, 3):  # more, re-ordered, fewer, one, more again
            found, state = model.step(spoken[..., -1].flatten(), state)
            want = model.decode(regions, spoken)[:, :, -1]
            torch.testing.assert_close(found.view_as(want), want, **NEAR)
            parents = torch.randint(beams, (PICTURES, following), generator=generator)
            rows = parents + beams * torch.arange(PICTURES)[:, None]
            state = state.follow(rows.flatten())
            # Padding too: in the authors' way it is seen by nobody.
            newest = torch.randint(1, VOCABULARY, (PICTURES, following, 1), generator=generator)
            newest[0, 0] = PAD
            history = spoken.gather(1, parents[..., None].expand(-1, -1, spoken.shape[-1]))
            spoken, beams = torch.cat([history, newest], dim=-1), following


@every_variant
def test_what_is_said_of_a_word_does_not_hang_on_later_words(name: str) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 8)
    other = words.clone()
    other[..., 5:] = some_words(PICTURES, 2, 3, seed=9)
    with torch.no_grad():
        before, after = model.decode(regions, words), model.decode(regions, other)
    assert torch.equal(before[:, :, :5], after[:, :, :5])
    assert not torch.allclose(before[:, :, 5:], after[:, :, 5:], atol=1e-3)


@every_variant
def test_probabilities_of_next_words_sum_to_one(name: str) -> None:
    model = built(name)
    with torch.no_grad():
        log_probs = model.decode(some_regions(), some_words(PICTURES, 2, 6))
    assert log_probs.shape == (PICTURES, 2, 6, VOCABULARY)
    assert log_probs.dtype == torch.float32
    torch.testing.assert_close(log_probs.logsumexp(-1), torch.zeros(PICTURES, 2, 6), **NEAR)


@every_variant
def test_captions_of_one_picture_do_not_see_each_other(name: str) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 3, 6)
    with torch.no_grad():
        together = model.decode(regions, words)
        for caption in range(3):
            alone = model.decode(regions, words[:, caption : caption + 1])
            torch.testing.assert_close(together[:, caption : caption + 1], alone, **NEAR)


def _counted(model: CaptioningTransformer) -> list[tuple[int, ...]]:
    """The shapes of regions that the encoder gets from now on."""
    seen: list[tuple[int, ...]] = []
    model.encoder.register_forward_hook(lambda _, given, __: seen.append(tuple(given[0].shape)))
    return seen


def test_a_picture_is_encoded_once_for_all_its_captions() -> None:
    model = built("m2")
    seen = _counted(model)
    model.decode(some_regions(), some_words(PICTURES, 5, 4))
    assert seen == [(PICTURES, REGIONS, 32)]


def test_a_picture_is_encoded_once_for_a_whole_search() -> None:
    model = built("m2")
    seen = _counted(model)
    beam_search(model, some_regions(), beams=4, length=6)
    assert seen == [(PICTURES, REGIONS, 32)]


# Learning.


def _shifted_alike(name: str, model: CaptioningTransformer) -> bool:
    """A bias that moves all scores of a query alike, which a softmax does not see."""
    owner = model.get_submodule(name.rpartition(".keys.bias")[0]) if "keys.bias" in name else None
    return owner is not None and not hasattr(owner, "memory_keys")


@every_variant
def test_cross_entropy_reaches_every_parameter(name: str) -> None:
    model = built(name)
    cross_entropy(model, some_regions(), some_words(PICTURES, 2, 8)).backward()
    for key, each in model.named_parameters():
        assert each.grad is not None, key
        assert bool(each.grad.isfinite().all()), key
        largest = each.grad.abs().max().item()
        if _shifted_alike(key, model):
            assert largest < 1e-6, key
        else:
            assert largest > 1e-6, key


@every_variant
def test_a_few_updates_lower_the_loss(name: str) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 8)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    before = cross_entropy(model, regions, words).item()
    model.train()
    for _ in range(6):
        optimiser.zero_grad()
        cross_entropy(model, regions, words).backward()
        optimiser.step()
    assert cross_entropy(model.eval(), regions, words).item() < before - 0.2


# Searching.


@every_variant
def test_beams_are_sorted_and_score_what_the_parallel_pass_gives_them(name: str) -> None:
    model, regions = built(name), some_regions()
    found = beam_search(model, regions, beams=4, length=6)
    assert found.words.shape == found.log_probs.shape == (PICTURES, 4, 6)
    assert bool(found.scores.isfinite().all())
    assert bool((found.scores.diff(dim=1) <= 0).all())
    torch.testing.assert_close(found.scores, found.log_probs.sum(-1), **NEAR)
    spoken = torch.cat([torch.full((PICTURES, 4, 1), BEGINNING), found.words[..., :-1]], dim=-1)
    with torch.no_grad():
        said = model.decode(regions, spoken).gather(3, found.words[..., None])[..., 0]
    over = (found.words == 3).cumsum(-1) - (found.words == 3).long() > 0
    torch.testing.assert_close(found.log_probs, said.masked_fill(over, 0.0), **NEAR)


def test_sentences_that_a_search_found_can_be_learned_from() -> None:
    model, regions = built("m2"), some_regions()
    found = beam_search(model, regions, beams=3, length=5)
    spoken = torch.cat([torch.full_like(found.words[..., :1], BEGINNING), found.words], dim=-1)
    cross_entropy(model, regions, spoken).backward()
    gradient = model.get_parameter("words.embedding.weight").grad
    assert gradient is not None
    assert bool((gradient[found.words[..., 0].unique()] != 0).any())


def greedy(model: CaptioningTransformer, regions: Regions, *, reserved: bool) -> Iterator[Tensor]:
    """The most probable words one by one, so that two searches can take turns."""
    with torch.no_grad():
        state = model.start(regions)
        if reserved:
            state = state.reserve(1, 8)
        words = torch.full((len(regions),), BEGINNING)
    for _ in range(8):
        with torch.no_grad():
            log_probs, state = model.step(words, state)
        words = log_probs.argmax(-1)
        yield log_probs


@pytest.mark.parametrize("reserved", [False, True], ids=["copying", "reserved"])
@pytest.mark.parametrize("name", ["m2", "m2-authors", "m2-glove", "transformer-aoa"])
def test_two_searches_that_take_turns_find_what_each_finds_alone(name: str, reserved: bool) -> None:
    model, first, second = built(name), some_regions(5), some_regions(6, 2)
    alone = [list(greedy(model, each, reserved=reserved)) for each in (first, second)]
    turns = zip(*(greedy(model, each, reserved=reserved) for each in (first, second)), strict=True)
    for t, pair in enumerate(turns):
        beam_search(model, some_regions(7), beams=2, length=3)  # and a third one in between
        assert torch.equal(pair[0], alone[0][t])
        assert torch.equal(pair[1], alone[1][t])


@every_variant
def test_a_state_stepped_twice_gives_each_word_its_own_answer(name: str) -> None:
    model, regions = built(name), some_regions()
    with torch.no_grad():
        _, state = model.step(torch.full((PICTURES,), BEGINNING), model.start(regions))
        ones, twos = torch.full((PICTURES,), 10), torch.full((PICTURES,), 20)
        first, after_first = model.step(ones, state)
        second, _ = model.step(twos, state)
        again, _ = model.step(ones, state)
        onward, _ = model.step(twos, after_first)
        spoken = torch.tensor([BEGINNING, 10, 20]).expand(PICTURES, 1, 3)
        want = model.decode(regions, spoken)[:, 0, 2]
    assert torch.equal(first, again)
    assert not torch.allclose(first, second, atol=1e-3)
    torch.testing.assert_close(onward, want, **NEAR)


# Files.


@every_variant
def test_a_saved_model_says_and_finds_the_same(name: str, tmp_path: Path) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    save(model, tmp_path / "model.safetensors")
    found = load(tmp_path / "model.safetensors")
    for ours, theirs in zip(both(model, regions, words), both(found, regions, words), strict=True):
        assert torch.equal(ours, theirs)


# Pictures are sets of regions, some of them absent.


@every_variant
def test_the_order_of_regions_does_not_matter(name: str) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    order = torch.tensor([4, 0, 6, 2, 5, 1, 3])
    assert regions.present is not None
    mixed = Regions(regions.features[:, order], regions.present[:, order])
    with torch.no_grad():
        torch.testing.assert_close(model.encode(mixed), model.encode(regions)[:, :, order], **NEAR)
        torch.testing.assert_close(model.decode(mixed, words), model.decode(regions, words), **NEAR)


@pytest.mark.parametrize("filling", [1e6, math.nan, math.inf, -math.inf])
@every_variant
def test_what_stands_in_an_absent_region_s_place_does_not_matter(name: str, filling: float) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    assert regions.present is not None
    absent = ~regions.present[..., None]
    filled = Regions(regions.features.masked_fill(absent, filling), regions.present)
    for ours, theirs in zip(both(model, regions, words), both(model, filled, words), strict=True):
        assert torch.equal(ours, theirs)
    cross_entropy(model, filled, words).backward()
    assert all(bool(each.grad.isfinite().all()) for each in model.parameters())


@pytest.mark.parametrize("name", [n for n, c in VARIANTS.items() if c.padding == "masked"])
def test_absent_regions_are_as_good_as_left_out(name: str) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    assert regions.present is not None
    said, _ = both(model, regions, words)
    for picture in range(PICTURES):
        alone = Regions(regions.features[picture, regions.present[picture]])
        left, _ = both(model, alone, words[picture : picture + 1])
        torch.testing.assert_close(said[picture], left[0], **NEAR)


def test_absent_regions_are_attended_as_zeros_where_the_config_says_so() -> None:
    model, regions, words = built("m2-authors"), some_regions(), some_words(PICTURES, 2, 6)
    said, _ = both(model, regions, words)
    as_zeros, _ = both(model, Regions(regions.features), words)
    assert torch.equal(said, as_zeros)
    left_out, _ = both(model, Regions(regions.features[2:, :3]), words[2:])
    assert not torch.allclose(said[2:], left_out, atol=1e-3)


@every_variant
def test_a_picture_may_have_one_region(name: str) -> None:
    model, words = built(name), some_words(1, 2, 6)
    regions = Regions(torch.randn(1, REGION_WIDTH, generator=torch.Generator().manual_seed(2)))
    assert len(regions) == 1
    said, scores = both(model, regions, words)
    assert bool(said.isfinite().all() and scores.isfinite().all())
    trace = Trace()
    model.decode(regions, words, trace=trace)
    for each in trace.steps[0]:  # there is nothing else to look at
        torch.testing.assert_close(each.levels, torch.ones_like(each.levels), **ROUNDING)


@every_variant
def test_a_picture_without_any_region_harms_neither_itself_nor_its_neighbours(name: str) -> None:
    model, words = built(name), some_words(2, 2, 6)
    features = torch.randn(2, REGIONS, REGION_WIDTH, generator=torch.Generator().manual_seed(2))
    features[0] = math.nan
    features.requires_grad_()
    present = torch.ones(2, REGIONS, dtype=torch.bool)
    present[0] = False
    regions = Regions(features, present)
    said, scores = both(model, regions, words)
    assert bool(said.isfinite().all() and scores.isfinite().all())
    alone, _ = both(model, Regions(features[1:]), words[1:])
    torch.testing.assert_close(said[1:], alone, **NEAR)
    cross_entropy(model, regions, words).backward()
    assert features.grad is not None
    assert bool((features.grad[0] == 0).all()) and bool(features.grad.isfinite().all())
    assert bool((features.grad[1] != 0).any())
    for key, each in model.named_parameters():
        assert bool(each.grad.isfinite().all()), key


# What can be looked at.


def traced(model: CaptioningTransformer, regions: Regions, words: Tensor) -> tuple[Tensor, Trace]:
    trace = Trace()
    with torch.no_grad():
        return model.decode(regions, words, trace=trace), trace


@every_variant
def test_looking_changes_nothing(name: str) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    with torch.no_grad():
        want = model.decode(regions, words)
    found, _ = traced(model, regions, words)
    torch.testing.assert_close(found, want, **ROUNDING)


@every_variant
def test_traces_have_the_documented_shapes(name: str) -> None:
    model, (captions, length) = built(name), (2, 6)
    config = model.config
    _, trace = traced(model, some_regions(), some_words(PICTURES, captions, length))
    seen = REGIONS + config.memory_slots
    groups, asked = PICTURES * captions, captions * length
    assert trace.projected is not None
    assert trace.projected.shape == (PICTURES, REGIONS, 32)
    assert len(trace.encoding) == config.encoding_layers
    for encoding in trace.encoding:
        assert encoding.weights.shape == (PICTURES, 4, REGIONS, seen)
        assert encoding.looked.shape == (PICTURES, REGIONS, 32)
    assert len(trace.steps) == 1
    assert len(trace.steps[0]) == config.decoding_layers
    for i, decoding in enumerate(trace.steps[0]):
        levels = len(config.levels_of(i))
        assert decoding.words.shape == (groups, 4, length, length)
        assert decoding.levels.shape == (PICTURES, levels, 4, asked, REGIONS)
        assert decoding.gates.shape == decoding.crossed.shape == (PICTURES, levels, asked, 32)
        assert decoding.said.shape == decoding.output.shape == (groups, length, 32)


@every_variant
def test_attention_weights_of_every_head_sum_to_one_and_see_nothing_hidden(name: str) -> None:
    model, regions = built(name), some_regions()
    _, trace = traced(model, regions, some_words(PICTURES, 2, 6))
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    everything = [each.weights for each in trace.encoding]
    for each in trace.steps[0]:
        everything += [each.words, each.levels]
        assert bool((each.words[..., later] == 0).all())
    for weights in everything:
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]), **NEAR)
        assert bool((weights >= 0).all())
    assert regions.present is not None
    absent = ~regions.present
    if model.config.padding == "masked":
        for encoding in trace.encoding:
            hidden = encoding.weights[..., :REGIONS].transpose(1, 3)[absent]
            assert bool((hidden == 0).all())
            if model.config.memory_slots:  # which is never hidden
                assert bool((encoding.weights[..., REGIONS:] > 0).all())
        for each in trace.steps[0]:
            assert bool((each.levels.permute(0, 4, 1, 2, 3)[absent] == 0).all())


@every_variant
def test_gates_lie_between_0_and_1_or_share_out_1_among_the_levels(name: str) -> None:
    model = built(name)
    _, trace = traced(model, some_regions(), some_words(PICTURES, 2, 6))
    for each in trace.steps[0]:
        if model.config.gates == "none":
            assert bool((each.gates == 1).all())
            continue
        assert bool((each.gates > 0).all() and (each.gates < 1).all())
        sums = each.gates.sum(1)
        if model.config.gates == "softmax":
            torch.testing.assert_close(sums, torch.ones_like(sums), **NEAR)
        else:
            assert not torch.allclose(sums, torch.ones_like(sums), atol=0.1)


@every_variant
def test_traces_of_steps_are_columns_of_the_parallel_pass_s_trace(name: str) -> None:
    model, regions = built(name), some_regions()
    captions, length = 2, 5
    words = some_words(PICTURES, captions, length)
    if model.config.padded_words == "ignored":
        words[0, 0, -2:] = PAD
    _, whole = traced(model, regions, words)
    steps = Trace()
    with torch.no_grad():
        state = model.start(regions, trace=steps)
        state = state.follow(torch.arange(PICTURES).repeat_interleave(captions))
        for t in range(length):
            _, state = model.step(words[:, :, t].flatten(), state, trace=steps)
    assert len(steps.steps) == length
    assert steps.projected is not None and whole.projected is not None
    torch.testing.assert_close(steps.projected, whole.projected, **NEAR)
    for ours, theirs in zip(steps.encoding, whole.encoding, strict=True):
        torch.testing.assert_close(ours.weights, theirs.weights, **NEAR)
        torch.testing.assert_close(ours.looked, theirs.looked, **NEAR)
    for t, step in enumerate(steps.steps):
        for ours, theirs in zip(step, whole.steps[0], strict=True):
            shape = (PICTURES, captions, length)
            for key in ("said", "output"):
                want = getattr(theirs, key).unflatten(0, shape[:2])[:, :, t]
                torch.testing.assert_close(getattr(ours, key), want, **NEAR, msg=key)
            for key in ("gates", "crossed"):
                want = getattr(theirs, key).unflatten(2, shape[1:])[:, :, :, t]
                torch.testing.assert_close(getattr(ours, key), want, **NEAR, msg=key)
            want = theirs.levels.unflatten(3, shape[1:])[:, :, :, :, t]
            torch.testing.assert_close(ours.levels, want, **NEAR)
            # A picture's rows have all its words before them, and see their own.
            assert ours.words.shape == (PICTURES, 4, captions, captions * (t + 1))
            by_row = ours.words.unflatten(-1, (t + 1, captions))  # (B, H, K, t + 1, K)
            own = by_row.diagonal(dim1=2, dim2=4).permute(0, 3, 1, 2)  # (B, K, H, t + 1)
            want = theirs.words.unflatten(0, shape[:2])[:, :, :, t, : t + 1]
            torch.testing.assert_close(own, want, **NEAR)
            torch.testing.assert_close(own.sum(-1), torch.ones(own.shape[:-1]), **NEAR)


# Compilers.


class Start(nn.Module):
    def __init__(self, model: CaptioningTransformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, features: Tensor, present: Tensor) -> State:
        return self.model.start(Regions(features, present))


class Step(Start):
    def forward(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        return self.model.step(words, state)


class Decode(Start):
    def forward(self, features: Tensor, present: Tensor, words: Tensor) -> Tensor:
        return self.model.decode(Regions(features, present), words)


COMPILED = ["m2", "m2-authors"]
EXPORTED = ["m2", "m2-authors", "m2-glove", "transformer-aoa"]


def _same_states(ours: State, theirs: State) -> None:
    for left, right in zip(ours.levels + ours.spoken, theirs.levels + theirs.spoken, strict=True):
        torch.testing.assert_close(left.keys, right.keys, **NEAR)
        torch.testing.assert_close(left.values, right.values, **NEAR)
    assert torch.equal(ours.visible, theirs.visible)
    assert torch.equal(ours.step, theirs.step)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_without_a_break_the_three_doors_say_the_same(name: str) -> None:
    torch.compiler.reset()
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 5)
    assert regions.present is not None
    given = (regions.features, regions.present)

    def compiled(door: nn.Module) -> Callable[..., object]:
        return torch.compile(door, fullgraph=True, backend="aot_eager")

    start, step, decode = (compiled(door(model)) for door in (Start, Step, Decode))
    with torch.no_grad():
        torch.testing.assert_close(decode(*given, words), model.decode(regions, words), **NEAR)
        ours, theirs = start(*given), model.start(regions)
        _same_states(ours, theirs)
        for t in range(4):
            found, ours = step(words[:, 0, t], ours)
            want, theirs = model.step(words[:, 0, t], theirs)
            torch.testing.assert_close(found, want, **NEAR)
            _same_states(ours, theirs)
    torch.compiler.reset()


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_the_three_doors_say_the_same(name: str) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 5)
    assert regions.present is not None
    given = (regions.features, regions.present)
    with torch.no_grad():
        _, state = model.step(words[:, 0, 0], model.start(regions))
        decode = torch.export.export(Decode(model), (*given, words)).module()
        torch.testing.assert_close(decode(*given, words), model.decode(regions, words), **NEAR)
        start = torch.export.export(Start(model), given).module()
        _same_states(start(*given), model.start(regions))
        step = torch.export.export(Step(model), (words[:, 0, 1], state)).module()
        ours, theirs = step(words[:, 0, 1], state), model.step(words[:, 0, 1], state)
        torch.testing.assert_close(ours[0], theirs[0], **NEAR)
        _same_states(ours[1], theirs[1])


# The multiplication that serves CPUs.


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("bias", [False, True], ids=["no-bias", "bias"])
@pytest.mark.parametrize("rows", [(1,), (5,), (64,), (200,), (2, 3), (2, 3, 4), (0,)])
def test_a_linear_map_is_torch_s(rows: tuple[int, ...], bias: bool, packed: bool) -> None:
    torch.manual_seed(4)
    module, given = Linear(48, 33, bias=bias), torch.randn(*rows, 48)
    want = F.linear(given, module.weight, module.bias)
    torch.testing.assert_close(module(given), want, **NEAR)
    with torch.no_grad():
        if packed:
            module.pack()
        torch.testing.assert_close(module(given), want.detach(), **NEAR)
        strided = torch.randn(*rows, 96)[..., ::2]
        torch.testing.assert_close(
            module(strided), F.linear(strided, module.weight, module.bias), **NEAR
        )


def _in_place(model: CaptioningTransformer) -> None:
    with torch.no_grad():
        for each in model.parameters():
            each.mul_(1.5)


def _through_data(model: CaptioningTransformer) -> None:
    for each in model.parameters():
        each.data.mul_(1.5)


def _one_number_through_data(model: CaptioningTransformer) -> None:
    weight = model.get_parameter("decoder.0.feed_forward.inner.weight")
    weight.data[0, 0] += 20.0


def _other_data(model: CaptioningTransformer) -> None:
    for each in model.parameters():
        each.data = each.data * 1.5


def _rows_the_other_way_round_through_data(model: CaptioningTransformer) -> None:
    for each in model.parameters():
        each.data.copy_(each.data.flip(0))


def _loaded(model: CaptioningTransformer) -> None:
    model.load_state_dict({key: each * 1.5 for key, each in model.state_dict().items()})


def _loaded_and_assigned(model: CaptioningTransformer) -> None:
    state = {key: each * 1.5 for key, each in model.state_dict().items()}
    model.load_state_dict(state, assign=True)


def _stepped(model: CaptioningTransformer) -> None:
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    cross_entropy(model, some_regions(), some_words(PICTURES, 2, 6)).backward()
    optimiser.step()


def _stepped_fused(model: CaptioningTransformer) -> None:
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05, fused=True)
    cross_entropy(model, some_regions(), some_words(PICTURES, 2, 6)).backward()
    optimiser.step()


def _coarse_and_back(model: CaptioningTransformer) -> None:
    model.to(torch.bfloat16).to(torch.float32)


def _new_parameters(model: CaptioningTransformer) -> None:
    for each in model.modules():
        if isinstance(each, Linear):
            each.weight = nn.Parameter(each.weight.detach() * 1.5)


CHANGES = (
    _in_place,
    _through_data,
    _one_number_through_data,
    _other_data,
    _rows_the_other_way_round_through_data,
    _loaded,
    _loaded_and_assigned,
    _stepped,
    _stepped_fused,
    _coarse_and_back,
    _new_parameters,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
@pytest.mark.parametrize("name", ["m2", "m2-glove"])
def test_the_next_pass_sees_changed_weights(
    name: str, change: Callable[[CaptioningTransformer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    before, _ = both(model, regions, words)
    change(model)
    found = both(model, regions, words)
    assert not torch.allclose(found[0], before, atol=1e-4)
    monkeypatch.setattr(linear, "_multiply", None)  # then F.linear multiplies, which keeps nothing
    want = both(model, regions, words)
    for ours, theirs in zip(found, want, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-5)


def _pickled(model: CaptioningTransformer) -> CaptioningTransformer:
    return pickle.loads(pickle.dumps(model))  # noqa: S301


@pytest.mark.parametrize("copied", [copy.deepcopy, _pickled], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("name", ["m2", "m2-authors", "m2-glove"])
def test_a_copy_made_after_a_search_is_a_model_of_its_own(
    name: str, copied: Callable[[CaptioningTransformer], CaptioningTransformer]
) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    want = both(model, regions, words)
    other = copied(model)
    for ours, theirs in zip(both(other, regions, words), want, strict=True):
        assert torch.equal(ours, theirs)
    _in_place(other)
    assert not torch.allclose(both(other, regions, words)[0], want[0], atol=1e-3)
    for ours, theirs in zip(both(model, regions, words), want, strict=True):
        assert torch.equal(ours, theirs)


def _sane(said: Tensor, found: Hypotheses, want: Tensor) -> None:
    assert said.dtype == torch.float32
    assert bool(found.scores.isfinite().all())
    assert all(bool((left >= right).all()) for left, right in pairwise(found.scores.unbind(1)))
    # bfloat16 has 8 bits: its probabilities differ, and not by much.
    assert (said.exp() - want.exp()).abs().max() < 0.1
    assert (said - want).abs().mean() < 0.2


@every_variant
def test_a_bfloat16_model_decodes_and_searches_on_a_cpu(name: str) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    with torch.no_grad():
        want = model.decode(regions, words)
        model.to(torch.bfloat16)
        said = model.decode(regions, words)
    _sane(said, beam_search(model, regions, beams=3, length=6), want)


@pytest.mark.parametrize("gradients", [False, True], ids=["no-grad", "grad"])
@every_variant
def test_automatic_mixed_precision_decodes_and_searches(name: str, gradients: bool) -> None:
    model, regions, words = built(name), some_regions(), some_words(PICTURES, 2, 6)
    with torch.no_grad():
        want = model.decode(regions, words)
    with torch.set_grad_enabled(gradients), torch.autocast("cpu", torch.bfloat16):
        said = model.decode(regions, words)
        found = beam_search(model, regions, beams=3, length=6)
    _sane(said.detach(), found, want)
    with torch.no_grad():  # and nothing of it remains
        assert torch.equal(model.decode(regions, words), want)


def test_inference_mode_and_no_grad_take_turns() -> None:
    model, regions, words = built("m2"), some_regions(), some_words(PICTURES, 2, 6)
    want = both(model, regions, words)
    with torch.inference_mode():
        inside = both(model, regions, words)
    for found in (inside, both(model, regions, words)):
        for ours, theirs in zip(found, want, strict=True):
            assert torch.equal(ours, theirs)
    cross_entropy(model, regions, words).backward()


@pytest.mark.parametrize(
    "words",
    [
        torch.zeros(PICTURES, 5, dtype=torch.int64),
        torch.zeros(PICTURES + 1, 1, 5, dtype=torch.int64),
        torch.zeros(PICTURES, 0, 5, dtype=torch.int64),
        torch.zeros(PICTURES, 2, 0, dtype=torch.int64),
        torch.zeros(PICTURES, 2, 5),
    ],
    ids=lambda words: f"{tuple(words.shape)} {words.dtype}",
)
def test_what_are_no_captions_is_refused_in_one_sentence(words: Tensor) -> None:
    model = build(small("m2"))
    with pytest.raises(
        SettingError, match=r"(captions have the shape .*|words are torch\.float32); expected"
    ):
        model.decode(some_regions(), words)


@pytest.mark.parametrize("strange", [-1, 60])
def test_a_word_outside_the_vocabulary_is_refused_in_one_sentence(strange: int) -> None:
    model = build(small("m2"))
    words = some_words(PICTURES, 1, 4)
    words[0, 0, 2] = strange
    sentence = f"a caption holds word number {strange}; this model has words 0 to 59"
    with pytest.raises(VocabularyError, match=sentence):
        model.decode(some_regions(), words)
    with pytest.raises(VocabularyError, match=sentence):
        model.step(torch.full((PICTURES,), strange), model.start(some_regions()))
