"""What researchers do to a model besides training it: transforms, wrappers, other types, export."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.func import functional_call, stack_module_state, vmap
from torch.utils.flop_counter import FlopCounterMode

from meshcap.errors import FeatureError, SettingError
from meshcap.model import VARIANTS, CaptioningTransformer, Trace, build
from meshcap.model.linear import Linear
from meshcap.regions import Regions
from meshcap.search import Ensemble, beam_search
from meshcap.weights import load, save

SMALL = replace(
    VARIANTS["m2"],
    vocabulary_size=60,
    region_width=24,
    width=32,
    heads=4,
    feed_forward=64,
    memory_slots=6,
)


def a_model(**settings: object) -> CaptioningTransformer:
    torch.manual_seed(4)
    return build(replace(SMALL, **settings)).eval()


def features(pictures: int = 3, regions: int = 5) -> Tensor:
    return torch.rand(pictures, regions, 24, generator=torch.Generator().manual_seed(1))


WORDS = torch.randint(4, 60, (3, 2, 6), generator=torch.Generator().manual_seed(2))


class Start(nn.Module):
    def __init__(self, model: CaptioningTransformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, features: Tensor, present: Tensor):
        return self.model.start(Regions(features, present))


class Decode(Start):
    def forward(self, features: Tensor, present: Tensor, words: Tensor):
        return self.model.decode(Regions(features, present), words)


def test_start_and_decode_are_exported_for_any_number_of_pictures_regions_and_words() -> None:
    model, present = a_model(), torch.ones(3, 5, dtype=torch.bool)
    pictures, regions = Dim("pictures", min=2, max=64), Dim("regions", min=2, max=50)
    over = {0: pictures, 1: regions}
    with torch.no_grad():
        start = torch.export.export(
            Start(model), (features(), present), dynamic_shapes=(over, over)
        ).module()
        said = {0: pictures, 1: Dim("captions", min=2, max=9), 2: Dim("length", min=2, max=50)}
        decode = torch.export.export(
            Decode(model), (features(), present, WORDS), dynamic_shapes=(over, over, said)
        ).module()
        more, there = features(7, 9), torch.rand(7, 9) < 0.7
        words = torch.randint(4, 60, (7, 4, 11))
        want = model.start(Regions(more, there))
        found = start(more, there)
        for ours, theirs in zip(found.levels, want.levels, strict=True):
            torch.testing.assert_close(ours.keys, theirs.keys, atol=1e-5, rtol=0)
        torch.testing.assert_close(
            decode(more, there, words),
            model.decode(Regions(more, there), words),
            atol=1e-5,
            rtol=0,
        )


def test_a_wrapped_layer_is_a_layer_still() -> None:
    model, wrapped = a_model(), a_model()
    wrapped.decoder[1] = torch.compile(wrapped.decoder[1], backend="eager")
    with torch.no_grad():
        want, _ = model.step(WORDS[:, 0, 0], model.start(features()))
        found, _ = wrapped.step(WORDS[:, 0, 0], wrapped.start(features()))
        torch.testing.assert_close(found, want, atol=1e-5, rtol=0)
        torch.testing.assert_close(
            wrapped.decode(features(), WORDS), model.decode(features(), WORDS)
        )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch by PyTorch
def test_forward_mode_gradients_are_right_without_backward_ones() -> None:
    model = a_model()
    direction = torch.randn(3, 5, 24)
    model.decode(features(), WORDS)

    def score(given: Tensor) -> Tensor:
        return model.decode(given, WORDS)[..., 7].sum()

    with torch.no_grad():
        score(features())  # weights are packed from here on
        _, slope = torch.func.jvp(score, (features(),), (direction,))
    given = features().requires_grad_()
    (gradient,) = torch.autograd.grad(score(given), given)
    torch.testing.assert_close(slope, (gradient * direction).sum(), atol=1e-4, rtol=1e-4)


def test_models_stacked_by_vmap_give_what_each_gives() -> None:
    models, given = [a_model(), build(SMALL).eval()], features()
    weights, fixed = stack_module_state(models)
    with torch.no_grad():
        want = torch.stack([model.decode(given, WORDS) for model in models])
        found = vmap(lambda own, kept: functional_call(models[0], (own, kept), (given, WORDS)))(
            weights, fixed
        )
    torch.testing.assert_close(found, want, atol=1e-5, rtol=0)


def test_a_counter_of_operations_counts_the_same_with_and_without_gradients() -> None:
    model, counts = a_model(), []
    for gradients in (True, False):
        with torch.set_grad_enabled(gradients), FlopCounterMode(display=False) as counter:
            model.decode(features(), WORDS)
        counts.append(counter.get_total_flops())
    assert counts[0] == counts[1] > 0


def test_a_double_precision_model_computes_in_double_precision() -> None:
    model = a_model().double()
    given = features(1).double().requires_grad_()
    words = WORDS[:1, :1, :3]
    assert model.decode(given, words).dtype == torch.float64
    assert torch.autograd.gradcheck(lambda x: model.decode(x, words)[..., :4], (given,))
    found = beam_search(model, features().double(), beams=3, length=6)
    assert found.scores.dtype == found.log_probs.dtype == torch.float32


@pytest.mark.parametrize("positions", ["sinusoidal", "table"])
def test_a_model_comes_back_whole_from_a_coarser_type(positions: str) -> None:
    model = a_model(positions=positions)
    weights = {name: weight.clone() for name, weight in model.state_dict().items()}
    want = model.decode(features(), WORDS)
    model.to(torch.bfloat16).float().load_state_dict(weights)
    assert torch.equal(model.decode(features(), WORDS), want)


def test_hooks_on_the_inside_of_a_feed_forward_see_gradients_and_values() -> None:
    model, seen = a_model(), []
    inner = model.encoder.layers[0].feed_forward.inner
    inner.register_full_backward_hook(lambda *given: seen.append(given[2][0]))
    inner.register_forward_hook(lambda *given: seen.append(given[2]))
    model.decode(features(), WORDS).sum().backward()
    values, gradient = seen
    assert (values < 0).any(), "values before the ReLU"
    assert gradient.isfinite().all()


def test_gradients_flow_through_a_reserved_state() -> None:
    model = a_model()
    words, gradients = WORDS[:, 0], []
    for reserve in (False, True):
        model.zero_grad()
        state = model.start(features())
        state = state.reserve(1, 6) if reserve else state
        total = torch.zeros(())
        for t in range(words.shape[1]):
            log_probs, state = model.step(words[:, t], state)
            total = total + log_probs[:, 5].sum()
        total.backward()
        gradients.append([each.grad.clone() for each in model.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_a_search_does_not_take_its_types_from_the_programs_defaults() -> None:
    model = a_model()
    want = beam_search(model, features(), beams=3, length=6)
    torch.set_default_dtype(torch.bfloat16)
    try:
        found = beam_search(model, features().float(), beams=3, length=6)
    finally:
        torch.set_default_dtype(torch.float32)
    assert found.log_probs.dtype == found.scores.dtype == torch.float32
    assert found.words.shape == want.words.shape


def test_a_trace_says_which_of_the_words_spoken_each_row_has_spoken() -> None:
    model, trace = a_model(), Trace()
    with torch.no_grad():
        state = model.start(features(1))
        _, state = model.step(torch.tensor([2]), state, trace)
        state = state.follow(torch.tensor([0, 0]))
        _, state = model.step(torch.tensor([5, 6]), state, trace)
        state = state.follow(torch.tensor([1, 1]))  # both go on from the second
        _, state = model.step(torch.tensor([7, 8]), state, trace)
    last = trace.steps[2][0]
    own = [[1, 0, 1, 1, 0], [1, 0, 1, 0, 1]]  # <bos>, 5, 6, 7, 8
    assert last.visible.int().tolist() == [own]
    assert (last.words[0] > 0).int().tolist() == [own] * 4


def test_a_trace_of_a_picture_of_nothing_shows_no_attention_to_regions() -> None:
    model, trace = a_model(), Trace()
    there = torch.zeros(3, 5, dtype=torch.bool)
    with torch.no_grad():
        model.decode(Regions(features(), there), WORDS, trace=trace)
    assert (trace.steps[0][0].levels == 0).all()
    assert (trace.encoding[0].weights[..., :5] == 0).all()
    torch.testing.assert_close(trace.encoding[0].weights.sum(-1), torch.ones(3, 4, 5))


@pytest.mark.parametrize("kind", [torch.int16, torch.int32, torch.uint8])
def test_word_numbers_of_any_whole_type_are_looked_up(kind: torch.dtype) -> None:
    model = a_model()
    with torch.no_grad():
        want = model.decode(features(), WORDS)
        assert torch.equal(model.decode(features(), WORDS.to(kind)), want)
        step, _ = model.step(WORDS[:, 0, 0].to(kind), model.start(features()))
    torch.testing.assert_close(step, want[:, 0, 0], atol=1e-5, rtol=0)


def test_what_a_door_cannot_take_is_one_sentence() -> None:
    model = a_model()
    state = model.start(features())
    for act, sentence in (
        (lambda: model.step(torch.ones(3), state), "words are torch.float32; expected whole"),
        (lambda: model.decode(features(), WORDS > 5), "words are torch.bool; expected whole"),
        (lambda: state.reserve(-1, 3), "room for 3 words of -1 rows was asked for"),
        (lambda: state.follow(torch.ones(3)), "parents are torch.float32 of the shape"),
        (lambda: beam_search(model, features(), forbidden=5), "'forbidden' is 5; expected several"),
    ):
        with pytest.raises(SettingError, match=sentence):
            act()
    with pytest.raises(FeatureError, match="'present' is on meta; the features are on cpu"):
        Regions(features(), torch.ones(3, 5, dtype=torch.bool, device="meta"))


def test_an_ensemble_takes_its_members_from_anything() -> None:
    models = [a_model(), build(SMALL).eval()]
    want = beam_search(Ensemble(models), features(), length=5)
    found = beam_search(Ensemble(each for each in models), features(), length=5)
    assert torch.equal(found.scores, want.scores)


def test_a_name_is_no_config() -> None:
    with pytest.raises(SettingError, match="'m2-softmax'; expected a ModelConfig such as"):
        build("m2-softmax")


def test_a_wrapped_model_is_saved_as_what_it_wraps(tmp_path) -> None:
    model = a_model()
    for wrapped in (torch.compile(model, backend="eager"), nn.DataParallel(model)):
        save(wrapped, tmp_path / "model.safetensors")
        found = load(tmp_path / "model.safetensors")
        assert torch.equal(found.decode(features(), WORDS), model.decode(features(), WORDS))
    with pytest.raises(SettingError, match="is of the type dict; expected a meshcap model"):
        save(dict(model.state_dict()), tmp_path / "model.safetensors")


def test_a_search_on_a_cpu_packs_the_decoders_weights_once() -> None:
    model = a_model()
    maps = [each for each in model.decoder.modules() if isinstance(each, Linear)]
    beam_search(model, features(), length=3)
    packed = [each._packed for each in maps]
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this PyTorch has no oneDNN")
    assert maps and None not in packed
    beam_search(model, features(), length=3)
    assert all(each._packed is before for each, before in zip(maps, packed, strict=True))
