"""What only a GPU can show: the kernel, recorded searches, and that a search asks for nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from meshcap import Regions
from meshcap.model import VARIANTS, CaptioningTransformer, build, few_queries, fused
from meshcap.model.attention import attend
from meshcap.model.decoder import Gates
from meshcap.model.keys_values import KeysValues
from meshcap.model.layers import AddNorm
from meshcap.search import Ensemble, beam_search

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

DEVICE = "cuda"


@pytest.fixture(autouse=True)
def exact_products() -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    yield
    torch.set_float32_matmul_precision(before)


@pytest.fixture(scope="module")
def model() -> CaptioningTransformer:
    torch.manual_seed(3)
    return build(VARIANTS["m2"]).eval().to(DEVICE)


def a_few(pictures: int, *, some_absent: bool = False) -> Regions:
    features = torch.rand(pictures, 50, 2048, device=DEVICE)
    present = None
    if some_absent:
        counts = torch.randint(1, 51, (pictures, 1), device=DEVICE)
        present = torch.arange(50, device=DEVICE) < counts
    return Regions(features, present)


@pytest.mark.parametrize(
    ("queries", "attended", "head"),
    [(1, 1, 64), (5, 50, 64), (5, 96, 16), (17, 200, 32), (50, 90, 64)],
)
@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize("masked", [False, True])
def test_kernel_gives_what_attend_gives(
    queries: int, attended: int, head: int, levels: int | None, masked: bool
) -> None:
    torch.manual_seed(queries)
    pictures, heads = 7, 4
    over = () if levels is None else (levels,)
    asking = torch.randn(pictures, *(() if levels is None else (1,)), queries, heads * head)
    known = KeysValues(
        torch.randn(pictures, *over, heads, attended, head) * 0.3,
        torch.randn(pictures, *over, heads, attended, head),
    )
    hidden = None
    if masked:
        hidden = torch.rand(pictures, *((1,) * len(over)), 1, queries, attended) < 0.4
        hidden[0] = True  # a picture of which nothing is to be seen
    split = asking.double().unflatten(-1, (heads, head)).transpose(-3, -2)
    want, _ = attend(split, KeysValues(*(each.double() for each in known)), hidden)
    want = want.transpose(-3, -2).flatten(-2)
    torch.set_float32_matmul_precision("high")
    for dtype, room in ((torch.float32, 2e-3), (torch.bfloat16, 2e-2)):
        on_gpu = KeysValues(*(each.to(DEVICE, dtype) for each in known))
        with torch.no_grad():
            assert few_queries.applies(asking.to(DEVICE, dtype), on_gpu)
            found = few_queries.attend_few(
                asking.to(DEVICE, dtype), on_gpu, None if hidden is None else hidden.to(DEVICE)
            )
        assert found.shape == want.shape
        error = (found.cpu().double() - want)[1:].norm() / want[1:].norm()
        assert error < room
        assert found.isfinite().all()


@pytest.mark.parametrize("width", [512, 48, 1000])
@pytest.mark.parametrize(("dtype", "room"), [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)])
def test_fused_steps_give_what_the_plain_ones_give(
    width: int, dtype: torch.dtype, room: float
) -> None:
    torch.manual_seed(width)
    gates, add_norm = Gates(width, 3), AddNorm(width, 0.1).eval()
    nn.init.normal_(add_norm.norm.weight)
    nn.init.normal_(add_norm.norm.bias)
    words, crossed = torch.randn(7, 5, width), torch.randn(7, 3, 5, width)
    with torch.no_grad():
        want = gates.double().mesh(words.double(), crossed.double())
        want_norm = add_norm.double()(words.double(), want)
        for part in (gates, add_norm):
            part.to(DEVICE, dtype)
        found = gates.mesh(words.to(DEVICE, dtype), crossed.to(DEVICE, dtype))
        assert fused.serve(found)
        found_norm = add_norm(words.to(DEVICE, dtype), want.to(DEVICE, dtype))
    for ours, exact in ((found, want), (found_norm, want_norm)):
        assert (ours.cpu().double() - exact).norm() / exact.norm() < room


@pytest.mark.parametrize("some_absent", [False, True])
def test_search_on_a_gpu_finds_what_it_finds_on_a_cpu(
    model: CaptioningTransformer, some_absent: bool
) -> None:
    regions = a_few(4, some_absent=some_absent)
    found = beam_search(model, regions)
    want = beam_search(build_like(model), regions.to("cpu"))
    # Random weights make near ties, so scores are compared, not sentences.
    torch.testing.assert_close(found.scores.cpu(), want.scores, atol=2e-3, rtol=0.0)


def build_like(model: CaptioningTransformer) -> CaptioningTransformer:
    other = build(model.config).eval()
    other.load_state_dict({name: weight.cpu() for name, weight in model.state_dict().items()})
    return other


def test_a_replayed_search_is_the_search(model: CaptioningTransformer) -> None:
    for _ in range(4):
        regions = a_few(12, some_absent=True)
        want = beam_search(model, regions, replay=False)
        found = beam_search(model, regions)
        assert torch.equal(found.words, want.words)
        assert torch.equal(found.log_probs, want.log_probs)


def test_a_smaller_batch_is_served_by_a_larger_recording(model: CaptioningTransformer) -> None:
    whole = a_few(16)
    for _ in range(2):
        want = beam_search(model, whole, beams=3)
    found = beam_search(model, Regions(whole.features[:9]), beams=3)
    assert torch.equal(found.words, want.words[:9])
    assert torch.equal(found.scores, want.scores[:9])


def test_changed_weights_are_seen_by_a_recording() -> None:
    torch.manual_seed(5)
    model = build(VARIANTS["m2-no-memory"]).eval().to(DEVICE)
    regions = a_few(3)
    for _ in range(3):
        before = beam_search(model, regions)
    with torch.no_grad():
        model.words.output.weight.mul_(1.5)
    want = beam_search(model, regions, replay=False)
    found = beam_search(model, regions)
    assert torch.equal(found.log_probs, want.log_probs)
    assert not torch.equal(found.log_probs, before.log_probs)


def test_training_and_evaluation_are_recorded_apart() -> None:
    torch.manual_seed(6)
    model = build(VARIANTS["m2-no-memory"]).to(DEVICE)
    regions = a_few(3)
    for _ in range(3):
        model.train()
        loose = [beam_search(model, regions, dropout=True).scores for _ in range(3)]
        model.eval()
        firm = [beam_search(model, regions).scores for _ in range(3)]
    assert torch.equal(firm[0], firm[1]) and torch.equal(firm[1], firm[2])
    assert not torch.equal(loose[1], loose[2]), "dropout must differ from search to search"


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_a_search_never_waits_for_the_gpu(model: CaptioningTransformer) -> None:
    regions = a_few(6, some_absent=True)
    settings = {"least": 3, "no_repeats": True, "length_normalisation": 0.7}
    beam_search(model, regions, **settings, replay=False)
    both = Ensemble([model, model])
    beam_search(both, regions, replay=False)
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        beam_search(model, regions, **settings, replay=False)
        beam_search(both, regions, replay=False)
        for _ in range(3):
            beam_search(model, regions)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_an_ensemble_is_recorded_too(model: CaptioningTransformer) -> None:
    torch.manual_seed(8)
    both = Ensemble([model, build(VARIANTS["m2-softmax"]).eval().to(DEVICE)])
    regions = a_few(5)
    want = beam_search(both, regions, replay=False)
    for _ in range(3):
        assert torch.equal(beam_search(both, regions).words, want.words)


class Asking:
    """A NextWord that asks the GPU at each step, which cannot be recorded."""

    def __init__(self, model: CaptioningTransformer) -> None:
        self.model = model
        self.start, self.replay_key = model.start, model.replay_key

    def step(self, words, state):
        log_probs, state = self.model.step(words, state)
        assert log_probs.max().item() <= 0
        return log_probs, state


def test_a_search_that_cannot_be_recorded_runs_as_it_is_written(
    model: CaptioningTransformer, caplog: pytest.LogCaptureFixture
) -> None:
    regions, asking = a_few(3), Asking(model)
    want = beam_search(model, regions, replay=False)
    for _ in range(4):
        assert torch.equal(beam_search(asking, regions).words, want.words)
    assert sum("cannot be recorded" in message for message in caplog.messages) == 1
    for _ in range(3):
        assert torch.equal(beam_search(model, regions).words, want.words)


def test_a_hook_is_called_though_the_search_had_been_recorded(model: CaptioningTransformer) -> None:
    regions, called = a_few(3), []
    for _ in range(3):
        beam_search(model, regions)
    hook = model.encoder.register_forward_hook(lambda *_: called.append(1))
    beam_search(model, regions)
    hook.remove()
    assert called == [1]


def test_the_precision_of_products_is_not_taken_from_a_recording(
    model: CaptioningTransformer,
) -> None:
    regions = a_few(8)
    for _ in range(3):
        exact = beam_search(model, regions)
    torch.set_float32_matmul_precision("high")
    rough = [beam_search(model, regions) for _ in range(3)]
    assert torch.equal(rough[0].log_probs, rough[2].log_probs)
    assert not torch.equal(rough[2].log_probs, exact.log_probs)


def test_memory_of_a_thousand_pictures_stays_under_six_gib(model: CaptioningTransformer) -> None:
    torch.cuda.empty_cache()
    regions = a_few(1000)
    torch.cuda.reset_peak_memory_stats()
    beam_search(model, regions, replay=False)
    assert torch.cuda.max_memory_allocated() < 6 * 2**30


@pytest.mark.parametrize("name", ["m2", "m2b", "nomem", "masked", "masked_nomem"])
def test_beams_on_a_gpu_are_the_codes(golden: Path, name: str) -> None:
    from meshcap.weights.authors import from_authors
    from model.test_golden_model import CONFIGS, inputs

    model = build(CONFIGS[name])
    theirs = load_file(golden / f"{name}.weights.safetensors")
    model.load_state_dict(from_authors(theirs, model.config))
    model = model.eval().to(DEVICE)
    regions, _ = inputs(golden, name)
    want = load_file(golden / f"{name}.outputs.safetensors")
    for _ in range(3):
        found = beam_search(model, regions.to(DEVICE), beams=5, length=12)
        assert torch.equal(found.words.cpu(), want["beam5.out5.sequences"])
        torch.testing.assert_close(
            found.log_probs.cpu(), want["beam5.out5.log_probs"], atol=2e-5, rtol=0.0
        )
