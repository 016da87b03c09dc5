"""The authors' checkpoints: what their code computed, ours computes, and files go both ways.

Knows small models; what must not be run is in tests/hostile.
"""

import json
import pickletools
import re
import zipfile
from collections import OrderedDict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from meshcap.errors import FileError, SettingError, VocabularyError, WeightsError
from meshcap.model import VARIANTS, build
from meshcap.search import beam_search
from meshcap.text import Vocabulary
from meshcap.weights import load_authors, save_authors
from meshcap.weights.authors import from_authors, names, to_authors
from meshcap.weights.pickles import read_tensors

SMALL = replace(
    VARIANTS["m2-authors"],
    vocabulary_size=30,
    region_width=20,
    width=16,
    heads=2,
    feed_forward=24,
    memory_slots=5,
)
SPECIAL = ["<unk>", "<pad>", "<bos>", "<eos>"]
TINY = ["released_legacy", "train_legacy", "train_zip"]


def vocabulary(size: int = 30) -> Vocabulary:
    return Vocabulary([*SPECIAL, *(f"word{number}" for number in range(4, size))])


def state(**changes):
    """Their state dict of a small random model."""
    return to_authors(build(replace(SMALL, **changes)))


def training_checkpoint(state_dict):
    """As their train.py writes it."""
    return {
        "torch_rng_state": torch.get_rng_state(),
        "cuda_rng_state": torch.zeros(16, dtype=torch.uint8),
        "numpy_rng_state": np.random.RandomState(3).get_state(),
        "random_rng_state": (3, (2147483648, *range(624)), None),
        "epoch": 3,
        "val_loss": 2.5,
        "val_cider": np.float64(1.125),
        "state_dict": state_dict,
        "optimizer": {"state": {139_900_000_000_000: {"step": 4}}, "param_groups": [{"lr": 1e-4}]},
        "scheduler": {"base_lrs": [1.0], "last_epoch": 4, "lr_lambdas": [None]},
        "patience": 1,
        "best_cider": np.float64(1.125),
        "use_rl": False,
    }


def equal(ours, theirs):
    """Byte-equal: names, shapes, types and numbers."""
    assert set(ours) == set(theirs)
    for name, tensor in theirs.items():
        assert ours[name].shape == tensor.shape, name
        assert ours[name].dtype == tensor.dtype, name
        assert ours[name].numpy().tobytes() == tensor.numpy().tobytes(), name
    return True


# ---- the golden files


@pytest.mark.parametrize("name", TINY)
def test_the_authors_checkpoints_compute_what_the_authors_code_computed(name, golden):
    model = load_authors(golden / f"tiny_checkpoint_{name}.pth", heads=2)
    truth = load_file(golden / "tiny_checkpoint.outputs.safetensors")
    features, captions = truth["features"], truth["captions"]
    with torch.no_grad():
        levels = model.encode(features)
        log_probs = model.decode(features, captions[:, None])[:, 0]
    assert (levels - truth["encoder_output"]).abs().max() < 2e-5
    real = captions != model.special_words.padding
    assert real.any()
    assert (log_probs - truth["log_probs"])[real].abs().max() < 2e-5
    found = beam_search(model, features, beams=5, length=6)
    assert torch.equal(found.words, truth["beam5.sequences"])
    assert (found.log_probs - truth["beam5.log_probs"]).abs().max() < 2e-5


@pytest.mark.parametrize("name", TINY)
def test_the_authors_checkpoints_come_back_byte_for_byte(name, golden, tmp_path):
    path = golden / f"tiny_checkpoint_{name}.pth"
    back = tmp_path / "back.pth"
    save_authors(load_authors(path, heads=2), back)
    assert equal(read_tensors(back).tensors, read_tensors(path).tensors)
    # PyTorch's own reader, too, since what `read_tensors` alone can read serves nobody.
    whole = torch.load(back, weights_only=True)
    assert list(whole) == ["state_dict"]
    assert equal(whole["state_dict"], read_tensors(path).tensors)


@pytest.mark.parametrize("name", ["masked", "masked_nomem"])
def test_a_checkpoint_without_projection_computes_what_the_authors_code_computed(
    name, golden, tmp_path
):
    path = tmp_path / "base.pth"
    torch.save({"state_dict": load_file(golden / f"{name}.weights.safetensors")}, path)
    model = load_authors(path, heads=4)
    assert model.config.projection == "none"
    features = load_file(golden / "inputs.safetensors")["features_d_model"]
    truth = load_file(golden / f"{name}.outputs.safetensors")
    with torch.no_grad():
        levels = model.encode(features)
    real = ~truth["encoder_mask"][:, 0, 0]  # (B, R)
    found, expected = levels.transpose(1, 2)[real], truth["encoder_output"].transpose(1, 2)[real]
    assert (found - expected).abs().max() < 2e-5
    beams = beam_search(model, features, beams=5, length=12)
    assert torch.equal(beams.words, truth["beam5.out5.sequences"])


def test_the_name_table_holds_every_tensor_of_the_full_size_checkpoint(golden):
    full = json.loads((golden / "fullsize_keys_shapes_init.json").read_text(encoding="utf-8"))
    with torch.device("meta"):
        model = build(VARIANTS["m2-authors"])
    ours = {name: list(each.shape) for name, each in to_authors(model).items()}
    assert ours == {name: each["shape"] for name, each in full.items() if "." in name}


# ---- without the golden files


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("form", ["published", "training", "bare"])
def test_each_form_of_checkpoint_is_read(form, zipped, tmp_path):
    theirs, path = state(), tmp_path / "model.pth"
    whole = {
        "published": {"state_dict": theirs},
        "training": training_checkpoint(theirs),
        "bare": theirs,
    }[form]
    torch.save(whole, path, _use_new_zipfile_serialization=zipped)
    model = load_authors(path, vocabulary(), heads=2)
    assert model.config == SMALL
    assert not model.training
    assert equal(to_authors(model), theirs)
    if form == "training":
        facts = read_tensors(path).facts
        assert facts == {"epoch": 3, "val_loss": 2.5, "patience": 1, "use_rl": False}


@pytest.mark.parametrize("module", [b"numpy.core", b"numpy._core"])
@pytest.mark.parametrize("zipped", [True, False])
def test_numpy_s_old_module_names_are_read_as_well_as_the_new(zipped, module, tmp_path):
    path = tmp_path / "2019.pth"
    torch.save(training_checkpoint(state()), path, _use_new_zipfile_serialization=zipped)

    def renamed(data: bytes) -> bytes:
        return re.sub(rb"numpy\._?core\.multiarray", module + b".multiarray", data)

    if zipped:
        with zipfile.ZipFile(path) as archive:
            parts = {part.filename: archive.read(part) for part in archive.infolist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, renamed(data))
    else:
        path.write_bytes(renamed(path.read_bytes()))
    data = path.read_bytes()
    assert set(re.findall(rb"(numpy\._?core)\.multiarray", data)) == {module}
    assert load_authors(path, heads=2).config == SMALL


def test_what_a_program_has_allowed_pytorch_does_not_hold_here_and_holds_again_after(tmp_path):
    path = tmp_path / "model.pth"
    torch.save({"state_dict": state(), "extra": Fraction(1, 2)}, path)
    with torch.serialization.safe_globals([Fraction]):
        before = set(torch.serialization.get_safe_globals())
        with pytest.raises(WeightsError, match=r"fractions\.Fraction, which is no part of tensors"):
            load_authors(path, heads=2)
        assert set(torch.serialization.get_safe_globals()) == before
        assert Fraction in before


@pytest.mark.parametrize(
    "changes",
    [
        {"memory_slots": 0},
        {"decoding_layers": 2},
        {"longest": 20, "vocabulary_size": 11},
        {"projection": "none", "region_width": 16, "padding": "zero-sum"},
        {"width": 32, "heads": 2, "feed_forward": 5},
    ],
)
def test_sizes_are_read_from_the_tensors(changes, tmp_path):
    config = replace(SMALL, **changes)
    model, path = build(config).eval(), tmp_path / "model.pth"
    save_authors(model, path)
    found = load_authors(path, heads=2)
    assert found.config == config
    regions = torch.rand(2, 4, config.region_width)
    words = torch.randint(4, 11, (2, 1, 5))
    assert torch.equal(model.decode(regions, words), found.decode(regions, words))


def test_a_model_with_another_number_of_levels_is_read(tmp_path):
    path = tmp_path / "two.pth"
    torch.save({"state_dict": state(encoding_layers=2)}, path)
    assert load_authors(path, heads=2).config == replace(SMALL, encoding_layers=2)


def test_states_filled_in_the_middle_of_decoding_are_ignored(tmp_path):
    theirs, path = state(), tmp_path / "model.pth"
    filled = dict(theirs) | {
        "decoder.running_seq": torch.full((50, 1), 7),
        "decoder.layers.1.self_att.running_keys": torch.ones(50, 7, 16),
    }
    torch.save({"state_dict": filled}, path)
    assert equal(to_authors(load_authors(path, heads=2)), theirs)


def test_the_published_width_has_eight_heads_and_others_must_be_said(tmp_path):
    path = tmp_path / "model.pth"
    torch.save({"state_dict": state()}, path)
    with pytest.raises(
        SettingError, match=r"16 wide instead of the published 512; expected .*heads"
    ):
        load_authors(path)
    with pytest.raises(SettingError, match="'heads' is 3, which does not divide"):
        load_authors(path, heads=3)
    published = replace(SMALL, width=512, heads=8)
    torch.save({"state_dict": to_authors(build(published))}, path)
    assert load_authors(path).config == published


def test_the_vocabulary_must_have_the_model_s_words(tmp_path):
    path, words = tmp_path / "model.pth", tmp_path / "words.json"
    torch.save({"state_dict": state()}, path)
    vocabulary().save(words)
    assert load_authors(path, words, heads=2).config.vocabulary_size == 30
    vocabulary(29).save(words)
    with pytest.raises(VocabularyError, match="29 words; the model expects 30"):
        load_authors(path, words, heads=2)
    with pytest.raises(VocabularyError, match=r"gone\.json' does not exist"):
        load_authors(path, tmp_path / "gone.json", heads=2)


WRONG = {
    "a tensor is missing": (lambda t: t.pop("decoder.fc.weight"), "lacks tensors: decoder.fc"),
    "many tensors are missing": (
        lambda t: [t.pop(name) for name in list(t) if ".pwff.layer_norm" in name],
        r"lacks tensors: .* and 9 more",
    ),
    "words are missing": (lambda t: t.pop("decoder.word_emb.weight"), "lacks .*word_emb"),
    "a stranger": (lambda t: t.update(stranger=torch.ones(1)), "unknown tensors: stranger"),
    "a wrong shape": (
        lambda t: t.update({"decoder.fc.weight": torch.ones(30, 15)}),
        r"decoder\.fc\.weight \(30, 15\) instead of \(30, 16\)",
    ),
    "a wrong type": (
        lambda t: t.update({"decoder.fc.weight": torch.ones(30, 16, dtype=torch.int64)}),
        r"no floating-point .*decoder\.fc\.weight \(int64\)",
    ),
    "two sets of slots": (
        lambda t: t.update({"encoder.layers.1.mhatt.attention.m_v": torch.ones(2, 5, 16)}),
        r"m_v has the shape \(2, 5, 16\)",
    ),
    "slots in one layer only": (
        lambda t: t.pop("encoder.layers.1.mhatt.attention.m_k"),
        "lacks tensors: .*m_k",
    ),
    "flat words": (
        lambda t: t.update({"decoder.word_emb.weight": torch.ones(480)}),
        r"word_emb\.weight has the shape \(480,\); expected 2 dimensions",
    ),
    "no words": (
        lambda t: t.update({"decoder.word_emb.weight": torch.ones(0, 16)}),
        r"word_emb\.weight has the shape \(0, 16\)",
    ),
    "a gap between layers": (
        lambda t: [t.pop(name) for name in list(t) if name.startswith("encoder.layers.1.")],
        "encoder's layers are 0, 2; expected 0, 1",
    ),
    "a gate less": (
        lambda t: [t.pop(f"decoder.layers.2.fc_alpha3.{part}") for part in ("weight", "bias")],
        "decoder layer 2 has the gates 1, 2; expected 1 to 3",
    ),
    "a level more": (
        lambda t: t.update(
            {
                name.replace("encoder.layers.2", "encoder.layers.3"): each
                for name, each in list(t.items())
                if name.startswith("encoder.layers.2")
            }
        ),
        "has the gates 1, 2, 3; expected 1 to 4",
    ),
    "a layer with a long number": (
        lambda t: t.update({f"encoder.layers.{'9' * 5000}.x": torch.ones(1)}),
        r"unknown tensors: encoder\.layers\.9+…$",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_tensor_must_be_there_once_in_its_shape(case, tmp_path):
    change, words = WRONG[case]
    theirs, path = state(), tmp_path / "model.pth"
    change(theirs)
    torch.save({"state_dict": theirs}, path)
    with pytest.raises(WeightsError, match=words) as caught:
        load_authors(path, heads=2)
    assert str(caught.value).startswith(f"'{path}': ")
    assert "\n" not in str(caught.value)


def test_every_tensor_has_one_name_on_either_side():
    table = names(SMALL)
    assert len(set(table.values())) == len(table)
    assert set(table) == set(build(SMALL).state_dict())
    assert set(from_authors(state(), SMALL)) == set(table)


# ---- written for their code


def test_what_we_write_names_only_what_pytorch_1_1_has(tmp_path):
    path = tmp_path / "back.pth"
    save_authors(build(SMALL), path)
    with path.open("rb") as file:
        head = [next(iter(pickletools.genops(file)))[0].name for _ in range(1)]
        assert head == ["PROTO"]
        file.seek(0)
        asked = {
            argument
            for _ in range(5)  # magic number, protocol, machine, value, storages' keys
            for code, argument, _ in pickletools.genops(file)
            if code.name in ("GLOBAL", "STACK_GLOBAL")
        }
    assert asked == {
        "collections OrderedDict",
        "torch._utils _rebuild_tensor_v2",
        "torch FloatStorage",
        "torch LongStorage",
        "torch ByteStorage",
    }


def test_what_we_write_is_an_ordered_state_dict_with_an_empty_decoding_state(tmp_path):
    path = tmp_path / "back.pth"
    save_authors(build(SMALL), path)
    whole = torch.load(path, weights_only=True)
    assert list(whole) == ["state_dict"]
    theirs = whole["state_dict"]
    assert isinstance(theirs, OrderedDict)
    empty = theirs["decoder.running_mask_self_attention"]
    assert (empty.shape, empty.dtype) == ((1, 1, 0), torch.uint8)
    assert torch.equal(theirs["decoder.running_seq"], torch.zeros(1, dtype=torch.int64))
    assert theirs["decoder.layers.2.self_att.running_keys"].shape == (0, 16)


@pytest.mark.parametrize(
    "changes",
    [
        {"norm": "mesh"},
        {"memory_scaled": False},
        {"positions": "sinusoidal"},
        {"mesh": "one-to-one"},
        {"gates": "softmax"},
        {"gates": "none"},
        {"word_vectors": 12},
        {"attention_on_attention": True},
        {"projection": "linear"},
        {"padding": "masked"},
        {"padded_words": "ignored"},
        {"encoding_order": "identity-map"},
        {"encoding_layers": 2},
        {"speech": "words"},
        {"feed_forward_dropout": False},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_the_authors_code_cannot_express_is_not_written(changes, tmp_path):
    config = replace(SMALL, **changes)
    model = build(config, torch.zeros(30, 12) if config.word_vectors else None)
    name, value = next(iter(changes.items()))
    with pytest.raises(SettingError, match=f"'{name}' is {value!r}; the authors' code can only"):
        save_authors(model, tmp_path / "back.pth")
    assert not list(tmp_path.iterdir())


def test_bfloat16_is_not_written(tmp_path):
    with pytest.raises(WeightsError, match=r"bfloat16: .* and \d+ more"):
        save_authors(build(SMALL).bfloat16(), tmp_path / "back.pth")


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "back.pth"
    path.write_bytes(b"old")

    def full(*_, **__):
        raise RuntimeError("write failed")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(FileError, match="cannot be written"):
        save_authors(build(SMALL), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
