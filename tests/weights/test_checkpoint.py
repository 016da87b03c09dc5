"""Our model file: what is saved comes back, and whatever does not fit is one sentence.

Knows small models with random weights; damaged and foreign files are in tests/hostile.
"""

import json
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from meshcap.errors import FileError, SettingError, VocabularyError, WeightsError
from meshcap.model import VARIANTS, ModelConfig, build
from meshcap.text import Vocabulary
from meshcap.weights import describe, load, read, save

SMALL = {
    "vocabulary_size": 30,
    "region_width": 20,
    "width": 16,
    "heads": 2,
    "feed_forward": 24,
    "longest": 9,
}


def small(name: str) -> ModelConfig:
    config = VARIANTS[name]
    slots = min(config.memory_slots, 5)
    return replace(config, **SMALL, memory_slots=slots, word_vectors=min(config.word_vectors, 12))


def built(name: str = "m2"):
    config = small(name)
    given = torch.randn(30, 12) if config.word_vectors else None
    return build(config, given).eval()


def vocabulary(size: int = 30) -> Vocabulary:
    return Vocabulary(
        ["<unk>", "<pad>", "<bos>", "<eos>", *(f"word{number}" for number in range(4, size))]
    )


def rewritten(path, change):
    """The file with another JSON document, which `change` makes of the old one."""
    with safe_open(path, framework="pt") as file:
        document = json.loads(file.metadata()["meshcap"])
    changed = change(document)
    text = changed if isinstance(changed, str) else json.dumps(changed)
    save_file(load_file(path), path, metadata={"meshcap": text})


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m2.safetensors"
    save(built(), path, vocabulary=vocabulary(), notes={"seed": 7})
    return path


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_comes_back_and_computes_the_same(name, tmp_path, caplog):
    model, path = built(name), tmp_path / "model.safetensors"
    save(model, path)
    caplog.clear()
    found = load(path)
    assert not caplog.records, "a loaded model's words are no random stand-ins"
    assert found.config == model.config
    assert found.config.row == model.config.row
    assert not found.training
    ours, theirs = model.state_dict(), found.state_dict()
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    computed = dict(model.named_buffers())  # what no file holds, too
    assert all(torch.equal(computed[key], each) for key, each in found.named_buffers())
    assert {key for key, _ in model.named_parameters()} == {
        key for key, each in found.named_parameters() if each.requires_grad
    }
    regions, words = torch.randn(2, 7, 20), torch.randint(4, 30, (2, 1, 6))
    assert torch.equal(model.decode(regions, words), found.decode(regions, words))


def test_vocabulary_and_notes_come_back(tmp_path):
    path = tmp_path / "m2.safetensors"
    notes = {
        "scores": {"cider-d": 1.312},
        "recipe": "m2",
        "naïve": ["ü", None, True],
        "half": "\ud83d",
    }
    save(built(), path, vocabulary=vocabulary(), notes=notes)
    found = read(path)
    assert found.vocabulary == vocabulary()
    assert found.notes == notes
    save(built(), path)
    assert (read(path).vocabulary, read(path).notes) == (None, {})


def test_a_model_keeps_the_type_of_its_tensors(tmp_path):
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        model, path = built().to(dtype), tmp_path / "model.safetensors"
        save(model, path)
        found = load(path)
        assert {each.dtype for each in found.state_dict().values()} == {dtype}
        assert torch.equal(found.words.positions, model.words.positions)
        assert found.words.positions.dtype == dtype


@pytest.mark.parametrize("name", ["m2", "m2-authors", "m2-glove"])
def test_loading_leaves_the_random_state_as_it_was(name, tmp_path):
    path = tmp_path / "model.safetensors"
    save(built(name), path)
    before = torch.get_rng_state()
    load(path)
    describe(path)
    assert torch.equal(before, torch.get_rng_state())


def test_a_loaded_model_can_be_trained(saved):
    model = load(saved).train()
    model.decode(torch.randn(1, 3, 20), torch.full((1, 1, 4), 5)).sum().backward()
    assert all(each.grad is not None for each in model.parameters())


def test_a_loaded_model_does_not_change_with_its_file(saved):
    model = load(saved)
    before = {name: each.clone() for name, each in model.state_dict().items()}
    with saved.open("rb+") as file:
        file.write(b"\1" * saved.stat().st_size)
    assert all(torch.equal(before[name], each) for name, each in model.state_dict().items())


def test_the_same_model_makes_the_same_bytes(tmp_path):
    model = built()
    files = [tmp_path / f"{number}.safetensors" for number in range(5)]
    for path in files:
        save(model, path, vocabulary=vocabulary(), notes={"a": 1, "b": 2})
    assert len({path.read_bytes() for path in files}) == 1


def test_the_header_alone_describes_the_file(saved):
    found = describe(saved)
    assert found.config == small("m2")
    assert found.vocabulary == vocabulary()
    assert found.notes == {"seed": 7}
    assert found.size == saved.stat().st_size
    state = built().state_dict()
    assert {name: each.shape for name, each in found.tensors.items()} == {
        name: tuple(each.shape) for name, each in state.items()
    }
    assert {each.type_name for each in found.tensors.values()} == {"float32"}


def test_other_tools_can_read_the_tensors(saved):
    assert set(load_file(saved)) == set(built().state_dict())


# ---- what is not saved


def test_a_vocabulary_of_another_size_is_not_saved(tmp_path):
    with pytest.raises(VocabularyError, match="29 words; the model expects 30"):
        save(built(), tmp_path / "m2.safetensors", vocabulary=vocabulary(29))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("notes", [{"x": object()}, {"x": float("nan")}, {1: "x"}, {"x": {1, 2}}])
def test_notes_that_json_cannot_say_are_not_saved(notes, tmp_path):
    with pytest.raises(SettingError, match="notes"):
        save(built(), tmp_path / "m2.safetensors", notes=notes)
    assert not list(tmp_path.iterdir())


def test_a_model_that_could_not_be_loaded_is_not_saved(saved):
    before = saved.read_bytes()
    model = built()
    model.extra = torch.nn.Linear(2, 2)
    with pytest.raises(WeightsError, match=r"no place for the tensors extra\.weight, extra\.bias"):
        save(model, saved)
    assert saved.read_bytes() == before


def test_a_failed_write_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("meshcap.weights.checkpoint.save_file", full)
    with pytest.raises(FileError, match="No space left"):
        save(built(), saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


# ---- what is not loaded

WRONG_DOCUMENTS = {
    "not JSON": (lambda _: "{", WeightsError, "not JSON"),
    "deep JSON": (lambda _: "[" * 100_000, WeightsError, "not JSON"),
    "a list": (lambda _: [], WeightsError, "expected the format 'meshcap model'"),
    "another format": (lambda d: d | {"format": "x"}, WeightsError, "expected the format"),
    "a newer version": (lambda d: d | {"version": 2}, WeightsError, "version is 2; .* up to 1"),
    "no version": (lambda d: d | {"version": None}, WeightsError, "version is None; expected 1"),
    "true as version": (lambda d: d | {"version": True}, WeightsError, "version is True"),
    "an unknown field": (lambda d: d | {"tune": 1}, WeightsError, "unknown fields: tune"),
    "no config": (
        lambda d: {key: d[key] for key in d if key != "config"},
        WeightsError,
        "lack fields: config",
    ),
    "notes that are a list": (lambda d: d | {"notes": []}, WeightsError, "notes are of type list"),
    "a config that is a list": (lambda d: d | {"config": []}, SettingError, "of type list"),
    "a vocabulary that is a number": (lambda d: d | {"vocabulary": 1}, VocabularyError, "int"),
}
WRONG_SETTINGS = {
    "an unknown setting": ({"headz": 8}, SettingError, "'headz' is unknown; did you mean 'heads'"),
    "7 heads": ({"heads": 7}, SettingError, "'heads' is 7, which does not divide 'width' 16"),
    "a row that is a list": ({"row": []}, SettingError, "'row' is of type list"),
    "a wrong mesh": ({"mesh": ["full"]}, SettingError, "expected one of full"),
    "many layers": ({"encoding_layers": 10**9}, WeightsError, r"1000000003 layers; found \d+ ten"),
    "a vast width": ({"width": 2**62, "heads": 1}, SettingError, "longest"),
    "vast sizes": ({"feed_forward": 10**18}, SettingError, "sizes that no tensor can have"),
    "vast numbers": ({"region_width": 10**40}, SettingError, "sizes that no tensor can have"),
    "vast length": ({"longest": 10**12}, SettingError, "'longest' is 1000000000000"),
    "another width": ({"width": 32}, WeightsError, r"\(16, 20\) instead of .* and \d+ more"),
    "another layer": (
        {"decoding_layers": 4},
        WeightsError,
        r"missing: decoder\.3\..* and \d+ more",
    ),
    "a layer less": ({"decoding_layers": 2}, WeightsError, r"no place for .*decoder\.2\."),
    "other words": ({"vocabulary_size": 31}, VocabularyError, "30 words; the model expects 31"),
    "word vectors": ({"word_vectors": 7}, WeightsError, r"words\.given is missing; .*\(30, 7\)"),
}


@pytest.mark.parametrize("case", WRONG_DOCUMENTS)
def test_a_wrong_document_is_one_sentence_with_the_file_s_name(case, saved):
    change, error, words = WRONG_DOCUMENTS[case]
    rewritten(saved, change)
    for reader in (load, read, describe):
        with pytest.raises(error, match=words) as caught:
            reader(saved)
        assert str(caught.value).startswith(f"'{saved}': ")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", WRONG_SETTINGS)
def test_a_wrong_setting_is_one_sentence_with_the_file_s_name(case, saved):
    settings, error, words = WRONG_SETTINGS[case]
    rewritten(saved, lambda document: document | {"config": document["config"] | settings})
    with pytest.raises(error, match=words) as caught:
        load(saved)
    assert str(caught.value).startswith(f"'{saved}': ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.pop("words.output.weight"), "missing: words.output.weight"),
        (lambda t: t.update(extra=torch.ones(1)), "no place for the tensors extra"),
        (
            lambda t: t.update({"words.output.weight": torch.ones(30, 15)}),
            r"words\.output\.weight \(30, 15\) instead of \(30, 16\)$",
        ),
        (
            lambda t: t.update({"words.output.weight": torch.ones(30, 16, dtype=torch.int8)}),
            r"no floating-point numbers .*words\.output\.weight \(int8\)",
        ),
        (
            lambda t: t.update({"words.output.weight": torch.ones(30, 16).to(torch.float8_e5m2)}),
            "is of type F8_E5M2",
        ),
        (lambda t: [t.pop(name) for name in list(t)[3:]], "layers; found 3 tensors"),
    ],
)
def test_tensors_must_be_those_of_the_model(change, words, saved):
    with safe_open(saved, framework="pt") as file:
        metadata = file.metadata()
    tensors = load_file(saved)
    change(tensors)
    save_file(tensors, saved, metadata=metadata)
    with pytest.raises(WeightsError, match=words) as caught:
        load(saved)
    assert str(caught.value).startswith(f"'{saved}': ")


def test_a_long_list_of_names_is_cut(saved):
    with safe_open(saved, framework="pt") as file:
        metadata = file.metadata()
    long = {f"{letter * 500}": torch.ones(1) for letter in "abcdef"}
    save_file(load_file(saved) | long, saved, metadata=metadata)
    with pytest.raises(WeightsError, match=r"… and 3 more$") as caught:
        load(saved)
    assert len(str(caught.value)) < 500


def test_an_unknown_device_is_a_setting_error(saved):
    with pytest.raises(SettingError, match="device 'gpu' is unknown"):
        load(saved, device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(SettingError, match="device 'cuda' was asked for; this machine has 0"):
            load(saved, device="cuda")
