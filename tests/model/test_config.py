"""Each setting of a model: what it refuses, what it does; and Eq. 1–9 computed a second time.

The second computation is written from the paper, with numpy in float64, head by head and caption
by caption. It knows the names of weights and nothing else of the network. The golden data of
`test_golden_model.py` have the authors' variant only; here is the paper's.
"""

import json
import math
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from meshcap import Regions
from meshcap.errors import SettingError
from meshcap.model import VARIANTS, CaptioningTransformer, ModelConfig, build
from meshcap.search import beam_search
from meshcap.weights.authors import names
from recipes import BEGINNING, PAD, Array, Weights, by_recipe, inputs, tiny

NEAR = {"atol": 1e-5, "rtol": 0.0}
TINY = tiny(VARIANTS["m2"])
FACTS = Path(__file__).resolve().parent.parent / "golden" / "equations.json"


# Eq. 1–9 and the variants, from the paper; the code's ways from reference-differences.md.


def affine(w: Weights, name: str, x: Array) -> Array:
    result = x @ w[f"{name}.weight"].T
    return result + w[f"{name}.bias"] if f"{name}.bias" in w else result


def layer_norm(w: Weights, name: str, x: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]


def softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def attention(
    w: Weights, config: ModelConfig, name: str, asking: Array, attended: Array, seen: Array
) -> Array:
    """Eq. 1–3 for vectors (Q, D) and (N, D); `seen` (Q, N) says which sees which."""
    queries = affine(w, f"{name}.queries", asking)
    keys, values = affine(w, f"{name}.keys", attended), affine(w, f"{name}.values", attended)
    d = config.width // config.heads
    heads = []
    for head in range(config.heads):
        own = slice(head * d, (head + 1) * d)
        k, v, sees = keys[:, own], values[:, own], seen
        if f"{name}.memory_keys" in w:
            slots_k, slots_v = w[f"{name}.memory_keys"][:, own], w[f"{name}.memory_values"][:, own]
            if config.memory_scaled:
                slots_k, slots_v = slots_k * math.sqrt(d), slots_v * math.sqrt(len(slots_v))
            k, v = np.concatenate([k, slots_k]), np.concatenate([v, slots_v])
            sees = np.concatenate([sees, np.ones((len(asking), len(slots_k)), bool)], axis=1)
        scores = np.where(sees, queries[:, own] @ k.T / math.sqrt(d), -np.inf)
        heads.append(softmax(scores, 1) @ v)
    result = affine(w, f"{name}.output", np.concatenate(heads, axis=1))
    if config.attention_on_attention:
        both = np.concatenate([result, asking], axis=1)
        information = affine(w, f"{name}.on_attention.information", both)
        result = information * sigmoid(affine(w, f"{name}.on_attention.gate", both))
    return result


def feed_forward(w: Weights, name: str, x: Array) -> Array:
    """Eq. 4."""
    return affine(w, f"{name}.outer", np.maximum(affine(w, f"{name}.inner", x), 0))


def encode(
    w: Weights, config: ModelConfig, features: Array, present: Array
) -> tuple[list[Array], Array]:
    """Eq. 5, N times: the levels (R, D) of one picture, and which regions are seen (R,)."""
    x = features * present[:, None]
    if config.projection == "linear":
        x = affine(w, "projection", x)
    elif config.projection == "relu-norm":
        x = layer_norm(w, "projection.norm", np.maximum(affine(w, "projection.linear", x), 0))
    if config.padding == "attended":
        present = np.ones_like(present)
    elif config.padding == "zero-sum":
        present = x.sum(1) != 0
    seen = np.broadcast_to(present, (len(x), len(x)))
    levels = []
    for i in range(config.encoding_layers):
        name = f"encoder.layers.{i}"
        first, second = f"{name}.attention_norm.norm", f"{name}.feed_forward_norm.norm"
        if config.encoding_order == "add-norm":
            z = layer_norm(w, first, x + attention(w, config, f"{name}.attention", x, x, seen))
            x = layer_norm(w, second, z + feed_forward(w, f"{name}.feed_forward", z))
        else:
            y = layer_norm(w, first, x)
            x = x + np.maximum(attention(w, config, f"{name}.attention", y, y, seen), 0)
            y = layer_norm(w, second, x)
            x = x + np.maximum(feed_forward(w, f"{name}.feed_forward", y), 0)
        levels.append(x)
    return levels, present


def meshed(
    w: Weights, config: ModelConfig, name: str, s: Array, levels: list[Array], seen: Array
) -> Array:
    """Eq. 6–8 for the words (T, D) of one caption."""
    crossed = [attention(w, config, f"{name}.attention", s, each, seen) for each in levels]
    if config.norm == "level":
        crossed = [layer_norm(w, f"{name}.level_norm.norm", s + c) for c in crossed]
    if config.gates == "none":
        gates = np.ones((len(levels), *s.shape))
    else:
        logits = [
            affine(w, f"{name}.gates.levels.{i}", np.concatenate([s, c], axis=1))
            for i, c in enumerate(crossed)
        ]
        gates = sigmoid(np.stack(logits))
        if config.gates == "softmax":
            gates = softmax(np.stack(logits), 0)
    total = sum(gate * c for gate, c in zip(gates, crossed, strict=True))
    return total / math.sqrt(len(levels))


def sinusoid(config: ModelConfig, position: int) -> Array:
    """sin and cos of position / 10000^(2i/d), in turns."""
    d = config.width
    angles = [position / 10000 ** (2 * (j // 2) / d) for j in range(d)]
    return np.array([math.cos(a) if j % 2 else math.sin(a) for j, a in enumerate(angles)])


def log_probabilities(
    w: Weights, config: ModelConfig, features: Array, present: Array, words: Array
) -> Array:
    """Eq. 9, N times, for one caption (T,): log p of the word after each word, (T, V)."""
    every, present = encode(w, config, features, present)
    length = len(words)
    padded = (words == PAD) if config.padded_words == "silenced" else np.zeros(length, bool)
    spoken = np.where(padded, 0.0, 1.0)[:, None]
    earlier = np.tril(np.ones((length, length), bool)) & ~padded
    seen = np.broadcast_to(present, (length, len(present)))
    if config.positions == "table":
        positions = w["words.positions"][1 : length + 1]
    else:
        positions = np.stack([sinusoid(config, t + 1) for t in range(length)])
    if config.word_vectors:
        x = affine(w, "words.into", w["words.given"][words]) + positions
    else:
        x = w["words.embedding.weight"][words] + positions
    for i in range(config.decoding_layers):
        name = f"decoder.{i}"
        levels = {"full": every, "one-to-one": every[i : i + 1], "last": every[-1:]}[config.mesh]
        s = attention(w, config, f"{name}.self_attention", x, x, earlier)
        s = layer_norm(w, f"{name}.self_norm.norm", x + s) * spoken
        z = meshed(w, config, f"{name}.mesh", s, levels, seen)
        if config.norm == "mesh":
            z = layer_norm(w, f"{name}.mesh_norm.norm", s + z)
        z = z * spoken
        f = feed_forward(w, f"{name}.feed_forward", z)
        x = layer_norm(w, f"{name}.feed_forward_norm.norm", z + f) * spoken
    if config.word_vectors:
        logits = affine(w, "words.back", x) @ w["words.given"].T
    else:
        logits = affine(w, "words.output", x)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def by_hand(config: ModelConfig, w: Weights) -> tuple[Array, Array]:
    """Levels (B, L, R, D) and log-probabilities (B, C, T, V)."""
    features, present, words = inputs(config.region_width)
    pictures = list(zip(features.astype(float), present, words, strict=True))
    levels = [encode(w, config, each, there)[0] for each, there, _ in pictures]
    said = [
        [log_probabilities(w, config, each, there, caption) for caption in captions]
        for each, there, captions in pictures
    ]
    return np.array(levels), np.array(said)


def by_model(model: CaptioningTransformer) -> tuple[Tensor, Tensor]:
    features, present, words = inputs(model.config.region_width)
    regions = Regions(torch.from_numpy(features), torch.from_numpy(present))
    with torch.no_grad():
        return model.encode(regions), model.decode(regions, torch.from_numpy(words))


def agree(config: ModelConfig) -> Array:
    """Asserts that the model computes the equations; gives what it said."""
    model, w = by_recipe(config)
    levels, said = by_hand(config, w)
    for found, want in zip(by_model(model), (levels, said), strict=True):
        torch.testing.assert_close(found.double(), torch.from_numpy(want), **NEAR)
    exact, _ = by_model(model.double())
    torch.testing.assert_close(exact, torch.from_numpy(levels), atol=1e-11, rtol=0.0)
    return said


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_computes_the_paper_s_equations(name: str) -> None:
    agree(tiny(VARIANTS[name]))


SETTINGS: dict[str, tuple[Any, ...]] = {
    "norm": ("mesh", "level"),
    "padding": ("masked", "attended"),
    "projection": ("linear", "relu-norm"),
    "positions": ("sinusoidal", "table"),
    "memory_scaled": (False, True),
    "memory_slots": (0, 1, 5),
    "padded_words": ("ignored", "silenced"),
    "encoding_order": ("add-norm", "identity-map"),
    "mesh": ("full", "one-to-one", "last"),
    "gates": ("sigmoid", "softmax", "none"),
    "attention_on_attention": (False, True),
    "word_vectors": (0, 10),
    "heads": (1, 2, 8),
    "encoding_layers": (3, 4),
    "decoding_layers": (2, 3),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_each_value_of_a_setting_computes_its_own_equations(setting: str) -> None:
    said = [agree(replace(TINY, **{setting: value})) for value in SETTINGS[setting]]
    for i, one in enumerate(said):
        for other in said[:i]:
            assert np.abs(one - other).max() > 0.05


def test_regions_of_the_model_s_width_need_no_projection() -> None:
    config = replace(TINY, projection="none", region_width=16)
    agree(config)
    model = build(config)
    assert not any(key.startswith("projection") for key in model.state_dict())


# Made by `PYTHONPATH=src:tests/model python -c "import test_config; test_config.write_facts()"`.
FACTS_OF = (
    "m2",
    "m2-softmax",
    "m2-1to1",
    "m2-glove",
    "m2-authors",
    "transformer",
    "transformer-aoa",
)


def facts() -> dict[str, dict[str, list]]:
    """A few numbers of each variant: all levels of two regions, all words of four captions."""
    result = {}
    for name in FACTS_OF:
        config = tiny(VARIANTS[name])
        levels, said = by_hand(config, by_recipe(config)[1])
        result[name] = {
            "levels[:, :, 2:4, :3]": levels[:, :, 2:4, :3].round(7).tolist(),
            "log_probabilities[..., 3:7]": said[..., 3:7].round(7).tolist(),
        }
    return result


def write_facts() -> None:
    document = {
        "from": "the equations in tests/model/test_config.py (numpy, float64, from the paper), "
        "which also hold the recipes",
        "model": "VARIANTS[name] with vocabulary 30, regions 12 wide, width 16, heads 2, "
        "feed-forward 24, longest 9, at most 5 slots, word vectors at most 10",
        "weights": "n = RandomState(crc32(name)).standard_normal(shape); one dimension: 0.3 n, "
        "and 1 more for weights of norms; memory and words.*: 0.7 n; "
        "else 1.3 n / sqrt(columns); to float32",
        "inputs": "r = RandomState(crc32(b'inputs')); r.standard_normal((2, 6, 12)) to float32; "
        "r.randint(4, 30, (2, 2, 7)), column 0 = 2, [0, 1, 5:] = 1, [1, 0, 3] = 1; "
        "present are 6 and 4 regions",
        "facts": facts(),
    }
    FACTS.write_text(json.dumps(document) + "\n")


def test_the_stored_facts_are_what_the_equations_give() -> None:
    stored = json.loads(FACTS.read_text())["facts"]
    assert tuple(stored) == FACTS_OF
    for name, found in facts().items():
        for key, numbers in found.items():
            np.testing.assert_allclose(stored[name][key], numbers, atol=2e-7, err_msg=name)


# What a setting refuses.

REFUSED = (
    # settings, what the sentence names, what was found, what is expected
    ({"mesh": "half"}, "'mesh'", "'half'", "full, one-to-one, last"),
    ({"gates": "tanh"}, "'gates'", "'tanh'", "sigmoid, softmax, none"),
    ({"norm": None}, "'norm'", "None", "mesh, level"),
    ({"padding": "guess"}, "'padding'", "'guess'", "masked, attended, zero-sum"),
    ({"projection": ["linear"]}, "'projection'", "['linear']", "linear, relu-norm, none"),
    ({"positions": "learned"}, "'positions'", "'learned'", "sinusoidal, table"),
    ({"padded_words": True}, "'padded_words'", "True", "ignored, silenced"),
    ({"encoding_order": "pre"}, "'encoding_order'", "'pre'", "add-norm, identity-map"),
    ({"speech": ""}, "'speech'", "''", "words, anything"),
    ({"initialise": "zeros"}, "'initialise'", "'zeros'", "paper, authors"),
    ({"memory_scaled": 1}, "'memory_scaled'", "1", "true or false"),
    ({"feed_forward_dropout": 0.1}, "'feed_forward_dropout'", "0.1", "true or false"),
    ({"attention_on_attention": "no"}, "'attention_on_attention'", "'no'", "true or false"),
    ({"width": 0}, "'width'", "0", "at least 1"),
    ({"width": "512"}, "'width'", "'512'", "a whole number"),
    ({"heads": True}, "'heads'", "True", "a whole number"),
    ({"encoding_layers": 0}, "'encoding_layers'", "0", "at least 1"),
    ({"decoding_layers": -1}, "'decoding_layers'", "-1", "at least 1"),
    ({"feed_forward": 2048.0}, "'feed_forward'", "2048.0", "a whole number"),
    ({"region_width": 0}, "'region_width'", "0", "at least 1"),
    ({"longest": 0}, "'longest'", "0", "at least 1"),
    ({"memory_slots": -1}, "'memory_slots'", "-1", "at least 0"),
    ({"word_vectors": -300}, "'word_vectors'", "-300", "at least 0"),
    ({"vocabulary_size": 4}, "'vocabulary_size'", "4", "at least 5"),
    ({"dropout": 1.0}, "'dropout'", "1.0", "from 0 up to 1"),
    ({"dropout": -0.1}, "'dropout'", "-0.1", "from 0 up to 1"),
    ({"dropout": math.nan}, "'dropout'", "nan", "from 0 up to 1"),
    ({"dropout": "0.1"}, "'dropout'", "'0.1'", "a number"),
    ({"heads": 7}, "'heads'", "7", "a divisor"),
    ({"width": 15, "heads": 3}, "'width'", "15", "an even number"),
    ({"mesh": "one-to-one", "decoding_layers": 4}, "'decoding_layers'", "4", "at most"),
    ({"projection": "none"}, "'region_width'", "2048", "as wide as the model, 512"),
)


@pytest.mark.parametrize(("settings", "named", "found", "expected"), REFUSED)
def test_a_wrong_setting_is_one_sentence_that_names_it(
    settings: dict[str, Any], named: str, found: str, expected: str
) -> None:
    with pytest.raises(SettingError) as caught:
        ModelConfig(**settings)
    sentence = str(caught.value)
    assert sentence.startswith(f"model setting {named} is {found}")
    assert expected in sentence
    assert "\n" not in sentence


def test_seven_heads_do_not_fit_a_width_of_512() -> None:
    sentence = "'heads' is 7, which does not divide 'width' 512; expected a divisor of it"
    with pytest.raises(SettingError, match=sentence):
        ModelConfig(width=512, heads=7)


def test_one_to_one_needs_an_encoding_layer_for_each_decoding_layer() -> None:
    ModelConfig(mesh="one-to-one", encoding_layers=4, decoding_layers=3)
    with pytest.raises(SettingError, match=r"'decoding_layers' is 3.* over 2 encoding layers"):
        ModelConfig(mesh="one-to-one", encoding_layers=2, decoding_layers=3)


@pytest.mark.parametrize(
    ("unknown", "hint"),
    [
        ("memory_slot", "did you mean 'memory_slots'?"),
        ("d_model", "known are attention_on_attention, decoding_layers"),
    ],
)
def test_unknown_settings_are_refused_with_the_nearest(unknown: str, hint: str) -> None:
    with pytest.raises(SettingError) as caught:
        ModelConfig.from_json({"width": 512, unknown: 40})
    assert str(caught.value).startswith(f"model setting '{unknown}' is unknown; {hint}")


@pytest.mark.parametrize("name", VARIANTS)
def test_settings_survive_json(name: str) -> None:
    config = VARIANTS[name]
    found = ModelConfig.from_json(json.loads(json.dumps(config.to_json())))
    assert found == config
    assert found.row == config.row


LEVELS = (
    # mesh, encoding layers, decoding layer, the levels it attends
    ("full", 3, 0, [0, 1, 2]),
    ("full", 3, 2, [0, 1, 2]),
    ("full", 2, 3, [0, 1]),
    ("one-to-one", 3, 0, [0]),
    ("one-to-one", 3, 2, [2]),
    ("last", 3, 0, [2]),
    ("last", 6, 5, [5]),
)


@pytest.mark.parametrize(("mesh", "layers", "layer", "levels"), LEVELS)
def test_a_mesh_says_which_levels_a_layer_attends(
    mesh: Any, layers: int, layer: int, levels: list[int]
) -> None:
    config = ModelConfig(mesh=mesh, encoding_layers=layers, decoding_layers=min(layers, 3))
    assert list(config.levels_of(layer)) == levels


# What a setting does, beyond the equations.


def test_regions_are_hidden_where_the_projected_row_sums_to_exactly_zero() -> None:
    config = replace(TINY, projection="none", region_width=16, padding="zero-sum")
    model, _ = by_recipe(config)
    features = torch.randn(1, 6, 16, generator=torch.Generator().manual_seed(1))
    features[0, 1] = 0.0
    features[0, 3] = torch.tensor([1.0, -1.0]).repeat(8)  # a true region, hidden by accident
    present = torch.tensor([[True] * 5 + [False]])
    state = model.start(Regions(features, present))
    assert state.hidden is not None
    hidden = [False, True, False, True, False, True]
    assert state.hidden.flatten().tolist() == hidden
    masked = build(replace(config, padding="masked")).eval()
    masked.load_state_dict(model.state_dict())
    words = torch.tensor([[[BEGINNING, 5, 6]]])
    left_out = Regions(features[:, [0, 2, 4]])
    with torch.no_grad():
        torch.testing.assert_close(
            model.decode(Regions(features, present), words), masked.decode(left_out, words), **NEAR
        )


def test_a_zero_row_is_not_hidden_once_a_bias_moves_its_sum() -> None:
    model, _ = by_recipe(replace(TINY, padding="zero-sum"))
    state = model.start(Regions(torch.zeros(1, 3, 12)))
    assert state.hidden is not None
    assert not bool(state.hidden.any())


@pytest.mark.parametrize("inside", [False, True])
def test_the_feed_forward_has_one_more_dropout_where_asked(inside: bool) -> None:
    model, _ = by_recipe(replace(TINY, dropout=0.5, feed_forward_dropout=inside))
    module = model.decoder[0].feed_forward
    given = torch.randn(400, 16, generator=torch.Generator().manual_seed(1))
    seen: list[Tensor] = []
    module.outer.register_forward_pre_hook(lambda _, rows: seen.append(rows[0]))
    torch.manual_seed(5)
    model.train()(Regions(torch.randn(1, 3, 12)), torch.tensor([[[BEGINNING]]]))
    seen.clear()
    module(given)
    model.eval()
    module(given)
    training, evaluating = seen
    rectified = module.inner(given).relu()
    torch.testing.assert_close(evaluating, rectified)
    if not inside:
        torch.testing.assert_close(training, rectified)
        return
    kept = training[rectified > 0] != 0
    assert kept.float().mean().item() == pytest.approx(0.5, abs=0.03)
    torch.testing.assert_close(training[training != 0], 2 * rectified[training != 0])


@pytest.mark.parametrize("settings", [{}, {"norm": "level", "projection": "relu-norm"}])
def test_dropout_acts_in_training_only(settings: dict[str, Any]) -> None:
    said = []
    for dropout in (0.0, 0.5):
        model, _ = by_recipe(replace(TINY, dropout=dropout, **settings))
        evaluated = by_model(model)[1]
        model.train()
        torch.manual_seed(6)
        trained = [by_model(model)[1] for _ in range(2)]
        said.append((evaluated, *trained))
    (plain, *alike), (same, first, second) = said
    assert torch.equal(plain, same)
    assert all(torch.equal(plain, each) for each in alike)
    assert not torch.allclose(first, same, atol=0.1)
    assert not torch.allclose(first, second, atol=0.1)


@pytest.mark.parametrize("dropout", [0.25, 0.5])
def test_add_norm_drops_the_sublayer_s_result_and_not_the_residual(dropout: float) -> None:
    module = build(replace(TINY, dropout=dropout)).train().decoder[0].self_norm
    seen: list[Tensor] = []
    module.norm.register_forward_pre_hook(lambda _, rows: seen.append(rows[0]))
    before, added = torch.full((300, 16), 5.0), torch.ones(300, 16)
    torch.manual_seed(7)
    module(before, added)
    values, counts = seen[0].unique(return_counts=True)
    torch.testing.assert_close(values, torch.tensor([5.0, 5.0 + 1 / (1 - dropout)]))
    assert counts[0].item() / 4800 == pytest.approx(dropout, abs=0.03)


@pytest.mark.parametrize(("padded_words", "silenced"), [("ignored", False), ("silenced", True)])
def test_padding_is_silent_and_unseen_where_asked(padded_words: Any, silenced: bool) -> None:
    model, _ = by_recipe(replace(TINY, padded_words=padded_words))
    features, _, _ = inputs()
    regions = Regions(torch.from_numpy(features[:1]))
    words = torch.tensor([[[BEGINNING, 5, PAD, 6]]])
    with torch.no_grad():
        said = model.decode(regions, words)
        # Zeroed outputs make every word equally probable, for want of a bias.
        uniform = torch.full((30,), -math.log(30))
        assert torch.allclose(said[0, 0, 2], uniform, atol=1e-5) == silenced
        # Padding at the end changes nothing before it, either way.
        torch.testing.assert_close(said[:, :, :2], model.decode(regions, words[..., :2]), **NEAR)
        # In the middle: later words see it or not, which its word vector tells.
        model.words.embedding.weight[PAD] += 3.0
        torch.testing.assert_close(said[0, 0, :2], model.decode(regions, words)[0, 0, :2], **NEAR)
        same = torch.allclose(said[0, 0, 3], model.decode(regions, words)[0, 0, 3], atol=1e-5)
    assert same == silenced


def opinionated(speech: Any) -> CaptioningTransformer:
    """A model that always finds <unk> most probable, then <pad>, <bos>, <eos> and word 4."""
    model = build(replace(TINY, speech=speech)).eval()
    with torch.no_grad():
        last = model.decoder[-1].feed_forward_norm.norm
        last.weight.zero_()
        last.bias.zero_()[0] = 1.0
        model.words.output.weight.zero_()[:5, 0] = torch.tensor([9.0, 8.0, 7.0, 6.0, 1.0])
    return model


SPEECH = (
    # speech, words that a search is told not to say, what it says
    ("words", None, [3, 1, 1, 1]),  # <eos>, and <pad> after it
    ("words", (), [0, 0, 0, 0]),  # told that it may say anything
    ("words", (0, 1, 2, 3), [4, 4, 4, 4]),
    ("anything", None, [0, 0, 0, 0]),  # <unk>, as in the code
    ("anything", (0,), [1, 1, 1, 1]),
    ("anything", (0, 1, 2), [3, 0, 0, 0]),  # <eos>, and <unk> after it
)


@pytest.mark.parametrize(("speech", "forbidden", "sentence"), SPEECH)
def test_a_model_says_words_or_anything(
    speech: Any, forbidden: tuple[int, ...] | None, sentence: list[int]
) -> None:
    model, regions = opinionated(speech), torch.randn(1, 3, 12)
    found = beam_search(model, regions, beams=1, length=4, forbidden=forbidden)
    assert found.words[0, 0].tolist() == sentence


@pytest.mark.parametrize(("positions", "stored"), [("sinusoidal", False), ("table", True)])
def test_positions_are_in_a_file_where_they_are_a_table(positions: Any, stored: bool) -> None:
    model = build(replace(TINY, positions=positions))
    assert ("words.positions" in model.state_dict()) == stored
    assert "words.positions" not in dict(model.named_parameters())
    assert model.words.positions.shape == (TINY.longest + 1, TINY.width)
    if stored:
        table = torch.randn(10, 16)
        model.load_state_dict({**model.state_dict(), "words.positions": table})
        assert torch.equal(model.words.positions, table)


@pytest.mark.parametrize("initialise", ["paper", "authors"])
def test_sinusoids_are_the_formula_s(initialise: Any) -> None:
    config = replace(TINY, width=32, heads=4, longest=54, initialise=initialise)
    want = np.stack([sinusoid(config, position) for position in range(55)])
    found = build(config).words.positions.double().numpy()
    np.testing.assert_allclose(found, want, atol=1e-7)


@pytest.mark.parametrize("positions", ["sinusoidal", "table"])
def test_the_first_word_stands_at_position_1(positions: Any) -> None:
    model, _ = by_recipe(replace(TINY, positions=positions))
    words, regions = torch.tensor([[[BEGINNING, 5]]]), torch.ones(1, 3, 12)
    with torch.no_grad():
        before = model.decode(regions, words)
        model.words.positions[0] += 1.0
        assert torch.equal(model.decode(regions, words), before)
        model.words.positions[2] += 1.0
        after = model.decode(regions, words)
        assert torch.equal(after[:, :, 0], before[:, :, 0])
        assert not torch.allclose(after[:, :, 1], before[:, :, 1], atol=1e-3)
        model.words.positions[1] += 1.0
        assert not torch.allclose(model.decode(regions, words)[:, :, 0], before[:, :, 0], atol=1e-3)


def test_a_sentence_has_as_many_words_as_there_are_positions() -> None:
    model = build(TINY).eval()
    regions, words = torch.ones(1, 3, 12), torch.full((1, 1, 10), 5)
    model.decode(regions, words[..., :9])
    with pytest.raises(SettingError, match=r"10 words was asked for; .* positions for 9"):
        model.decode(regions, words)
    state = model.start(regions)
    for _ in range(9):
        _, state = model.step(words[0, 0, :1], state)
    with pytest.raises(SettingError, match=r"10 words was asked for; .* positions for 9"):
        model.step(words[0, 0, :1], state)


def test_a_table_of_positions_may_have_an_odd_width() -> None:
    model = build(replace(TINY, width=15, heads=3, positions="table"))
    assert model.words.positions.shape == (10, 15)
    model.decode(torch.ones(1, 3, 12), torch.tensor([[[BEGINNING, 5]]]))


def test_given_words_are_no_parameters_and_shared_by_both_ends() -> None:
    given = torch.randn(30, 10)
    model = build(replace(TINY, word_vectors=10), given)
    assert torch.equal(model.state_dict()["words.given"], given)
    assert not any("given" in key for key, _ in model.named_parameters())
    shapes = {key: tuple(each.shape) for key, each in model.words.named_parameters()}
    assert shapes == {
        "into.weight": (16, 10),
        "into.bias": (16,),
        "back.weight": (10, 16),
        "back.bias": (10,),
    }


# Initial values.


@pytest.fixture(scope="module")
def paper() -> dict[str, Tensor]:
    torch.manual_seed(11)
    return dict(build(VARIANTS["m2"]).named_parameters())


def _glorot(rows: int, columns: int) -> float:
    return math.sqrt(6 / (rows + columns))


UNIFORM = (
    # weights, the bound of a uniform distribution
    ("*attention.queries.weight", _glorot(512, 512)),
    ("*attention.keys.weight", _glorot(512, 512)),
    ("*attention.values.weight", _glorot(512, 512)),
    ("*attention.output.weight", _glorot(512, 512)),
    ("decoder.*.gates.levels.*.weight", _glorot(512, 1024)),
    ("projection.weight", _glorot(512, 2048)),
    ("words.output.weight", _glorot(10201, 512)),
)
NORMAL = (
    # weights, the standard deviation of a normal distribution
    ("*feed_forward.inner.weight", math.sqrt(2 / 512)),
    ("*feed_forward.outer.weight", math.sqrt(2 / 2048)),
    ("*memory_keys", math.sqrt(1 / 64)),
    ("*memory_values", math.sqrt(1 / 40)),
    ("words.embedding.weight", math.sqrt(1 / 512)),
)
CONSTANT = (("*norm*.weight", 1.0), ("*.bias", 0.0))


def _fitting(parameters: dict[str, Tensor], pattern: str) -> list[tuple[str, Tensor]]:
    found = [(key, each.detach()) for key, each in parameters.items() if fnmatch(key, pattern)]
    assert found, pattern
    return found


@pytest.mark.parametrize(("pattern", "bound"), UNIFORM)
def test_the_supplement_s_glorot_values(
    paper: dict[str, Tensor], pattern: str, bound: float
) -> None:
    for key, each in _fitting(paper, pattern):
        assert 0.99 * bound < each.abs().max().item() <= bound * (1 + 1e-6), key
        assert each.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02), key
        assert abs(each.mean().item()) < 0.02 * bound, key


@pytest.mark.parametrize(("pattern", "deviation"), NORMAL)
def test_the_supplement_s_normal_values(
    paper: dict[str, Tensor], pattern: str, deviation: float
) -> None:
    for key, each in _fitting(paper, pattern):
        assert each.std().item() == pytest.approx(deviation, rel=0.03), key
        assert abs(each.mean().item()) < 0.05 * deviation, key
        # Of a normal distribution 4.6 % lie beyond two deviations; of a uniform one none.
        beyond = (each.abs() > 2 * deviation).float().mean().item()
        assert beyond == pytest.approx(0.0455, abs=0.01), key


@pytest.mark.parametrize(("pattern", "value"), CONSTANT)
def test_the_supplement_s_constant_values(
    paper: dict[str, Tensor], pattern: str, value: float
) -> None:
    for key, each in _fitting(paper, pattern):
        assert bool((each == value).all()), key


def test_every_parameter_has_its_line_in_one_of_the_three_tables(paper: dict[str, Tensor]) -> None:
    for key in paper:
        fits = [row[0] for row in (*UNIFORM, *NORMAL, *CONSTANT) if fnmatch(key, row[0])]
        assert len(fits) == 1, key


def test_the_authors_initial_values_are_their_code_s(golden: Path) -> None:
    torch.manual_seed(12)
    model = build(VARIANTS["m2-authors"])
    stored = json.loads((golden / "fullsize_keys_shapes_init.json").read_text())
    ours = model.state_dict()
    table = names(model.config)
    assert set(table) == set(ours)
    weights = {key for key in stored if ".running_" not in key}
    assert set(table.values()) == weights
    for own, other in table.items():
        found, want = ours[own].double(), stored[other]
        shape = want["shape"][1:] if other.endswith(("m_k", "m_v")) else want["shape"]
        assert list(found.shape) == shape, own
        if want["std"] == 0:
            assert bool((found == want["mean"]).all()), own
            continue
        # Samples: small ones stray more.
        count = found.numel()
        room = 0.01 + 2 / math.sqrt(count)
        assert found.std().item() == pytest.approx(want["std"], rel=room), own
        for key, value in (("min", found.min()), ("max", found.max())):
            assert value.item() == pytest.approx(want[key], rel=0.001 + 20 / count), own
        assert abs(found.mean().item() - want["mean"]) < 7 * want["std"] / math.sqrt(count), own


def test_a_seed_makes_the_same_model_twice() -> None:
    found = []
    for _ in range(2):
        torch.manual_seed(13)
        found.append(build(TINY).state_dict())
    first, second = found
    assert all(torch.equal(first[key], second[key]) for key in first)
