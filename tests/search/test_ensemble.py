"""Several models as one: means computed by hand, and small networks of different variants.

Knows scripts and tables of probabilities; a small network only where variants are meant.
"""

import math
from functools import cache
from itertools import permutations
from typing import Any

import pytest
import torch
from torch import Tensor

from fakes import NEVER, ScriptedWords, Sentence, Table, pictures, random_table, scripted_table
from meshcap.errors import SettingError, VocabularyError
from meshcap.model import CaptioningTransformer
from meshcap.regions import Regions
from meshcap.search import Ensemble, Hypotheses, beam_search, greedy_search
from meshcap.search.ensemble import Mean
from meshcap.special_words import AUTHORS_SPECIAL_WORDS, SPECIAL_WORDS, SpecialWords
from recipes import opinionated

BOS, END, A, B = 2, 3, 4, 5
SIZE = 6
MEANS: tuple[Mean, Mean] = ("probabilities", "log-probabilities")
TOGETHER: dict[str, Any] = {"beams": 3, "length": 6}


def says(**probabilities: float) -> ScriptedWords:
    """A member that begins with these probabilities and then ends."""
    numbers = {"a": A, "b": B, "end": END}
    first = {numbers[word]: probability for word, probability in probabilities.items()}
    return ScriptedWords(scripted_table(SIZE, {(): first}))


def first_word(ensemble: Ensemble) -> list[float]:
    """The probabilities of a, b and the end as the first word."""
    said, _ = ensemble.step(torch.tensor([BOS]), ensemble.start([0]))
    assert said.shape == (1, SIZE)
    return said[0, [A, B, END]].exp().tolist()


# Members, the mean of their probabilities, the mean of their log-probabilities (a geometric one).
BY_HAND: list[tuple[list[dict[str, float]], list[float], list[float]]] = [
    (
        [{"a": 0.5, "b": 0.25, "end": 0.25}],
        [0.5, 0.25, 0.25],
        [0.5, 0.25, 0.25],
    ),
    (
        [{"a": 0.8, "b": 0.2}, {"a": 0.2, "b": 0.8}],
        [0.5, 0.5, 0.0],
        [0.4, 0.4, 0.0],
    ),
    (
        [{"a": 0.9, "end": 0.1}, {"a": 0.4, "b": 0.2, "end": 0.4}],
        [0.65, 0.1, 0.25],
        [0.6, 0.0, 0.2],
    ),
    (
        [{"a": 1.0}, {"b": 1.0}, {"b": 0.5, "end": 0.5}],
        [1 / 3, 0.5, 1 / 6],
        [0.0, 0.0, 0.0],
    ),
    (
        [{"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5}, {"a": 0.064, "b": 0.936}],
        [0.354667, 0.645333, 0.0],
        [(0.25 * 0.064) ** (1 / 3), (0.25 * 0.936) ** (1 / 3), 0.0],
    ),
]


@pytest.mark.parametrize(("members", "mean", "mean_of_logs"), BY_HAND)
def test_the_mean_is_the_one_computed_by_hand(
    members: list[dict[str, float]], mean: list[float], mean_of_logs: list[float]
) -> None:
    doubles = [says(**each) for each in members]
    assert first_word(Ensemble(doubles)) == pytest.approx(mean, abs=1e-6)
    assert first_word(Ensemble(doubles, "probabilities")) == pytest.approx(mean, abs=1e-6)
    assert first_word(Ensemble(doubles, "log-probabilities")) == pytest.approx(
        mean_of_logs, abs=1e-6
    )


def test_a_word_that_no_member_says_stays_impossible() -> None:
    for mean in MEANS:
        said, _ = (ensemble := Ensemble([says(a=1.0), says(a=0.5, b=0.5)], mean)).step(
            torch.tensor([BOS]), ensemble.start([0])
        )
        assert said[0, END] == NEVER
        assert not said.isnan().any()


def test_members_that_differ_agree_on_a_sentence_that_none_of_them_prefers() -> None:
    # One wants "a", one wants "end", both can live with "b".
    members = [says(a=0.6, b=0.4), says(end=0.6, b=0.4)]
    alone = [greedy_search(each, [0], length=4).words[0, 0, 0].item() for each in members]
    assert alone == [A, END]
    for mean in MEANS:
        found = greedy_search(Ensemble(members, mean), [0], length=4)
        assert found.words[0, 0].tolist() == [B, END, 1, 1]
    scores = [greedy_search(Ensemble(members, mean), [0], length=4).scores.item() for mean in MEANS]
    assert scores == pytest.approx([math.log(0.4), math.log(0.4)], abs=1e-6)


def test_a_search_of_an_ensemble_follows_every_members_rows() -> None:
    tables = [[random_table(10 * member + k, 9) for k in range(4)] for member in range(3)]
    ensemble = Ensemble([ScriptedWords(*each) for each in tables])

    def joint(picture: int) -> Table:
        @cache
        def table(so_far: Sentence) -> Tensor:
            said = [tables[member][picture](so_far).double().exp() for member in range(3)]
            return (sum(said) / 3).log().float()

        return table

    one = ScriptedWords(*(joint(picture) for picture in range(4)))
    found = beam_search(ensemble, pictures(0, 1, 2, 3), **TOGETHER)
    expected = beam_search(one, pictures(0, 1, 2, 3), **TOGETHER)
    check_same(found, expected)


@pytest.mark.parametrize("mean", MEANS)
def test_one_member_is_that_member(mean: Mean) -> None:
    words = ScriptedWords(*(random_table(seed, 9, silent=0.3) for seed in range(5)))
    alone = beam_search(words, range(5), **TOGETHER)
    found = beam_search(Ensemble([words], mean), range(5), **TOGETHER)
    assert torch.equal(found.words, alone.words)
    torch.testing.assert_close(found.scores, alone.scores)
    torch.testing.assert_close(found.log_probs, alone.log_probs)


@pytest.mark.parametrize("mean", MEANS)
def test_a_member_given_twice_counts_as_once(mean: Mean) -> None:
    words = ScriptedWords(*(random_table(seed, 9) for seed in range(5)))
    check_same(
        beam_search(Ensemble([words, words], mean), range(5), **TOGETHER),
        beam_search(words, range(5), **TOGETHER),
    )


@pytest.mark.parametrize("mean", MEANS)
def test_the_order_of_members_does_not_matter(mean: Mean) -> None:
    members = [ScriptedWords(*(random_table(5 * m + k, 9) for k in range(5))) for m in range(3)]
    first, *others = (
        beam_search(Ensemble(order, mean), range(5), **TOGETHER) for order in permutations(members)
    )
    assert len(others) == 5
    for found in others:
        check_same(found, first)


def check_same(found: Hypotheses, expected: Hypotheses) -> None:
    assert torch.equal(found.words, expected.words)
    torch.testing.assert_close(found.scores, expected.scores, atol=1e-5, rtol=0)
    torch.testing.assert_close(found.log_probs, expected.log_probs, atol=1e-5, rtol=0)


# What members must share -------------------------------------------------------------------------


def test_different_vocabularies_are_refused() -> None:
    ensemble = Ensemble([ScriptedWords(random_table(0, size)) for size in (9, 7, 9)])
    with pytest.raises(VocabularyError) as error:
        beam_search(ensemble, [0])
    assert str(error.value) == (
        "an ensemble's members have vocabularies of [7, 9] words; expected one vocabulary"
    )


def test_an_ensemble_of_nobody_is_refused() -> None:
    for nobody in ([], ()):
        with pytest.raises(SettingError) as error:
            Ensemble(nobody)
        assert str(error.value) == "an ensemble has no members; expected at least one"


@pytest.mark.parametrize("mean", ["", "median", "log_probabilities", None, 1])
def test_an_unknown_mean_is_refused(mean: Any) -> None:
    with pytest.raises(SettingError) as error:
        Ensemble([says(a=1.0)], mean)
    assert str(error.value) == (
        f"an ensemble's 'mean' is {mean!r}; expected probabilities or log-probabilities"
    )


# The longest sentences of members, None where one has no limit; the ensemble's.
LONGEST: list[tuple[list[int | None], int | None]] = [
    ([10], 10),
    ([10, 7, 12], 7),
    ([None, 9], 9),
    ([9, None, 8], 8),
    ([None, None], None),
]


@pytest.mark.parametrize(("members", "expected"), LONGEST)
def test_the_longest_sentence_is_that_of_the_member_with_least_room(
    members: list[int | None], expected: int | None
) -> None:
    table = random_table(0, 9)
    ensemble = Ensemble([ScriptedWords(table, longest=longest) for longest in members])
    assert getattr(ensemble, "longest", None) == expected
    if expected is None:
        assert beam_search(ensemble, [0], length=40).words.shape == (1, 5, 40)
        return
    assert beam_search(ensemble, [0], length=expected).words.shape == (1, 5, expected)
    with pytest.raises(SettingError, match=f"this model has positions for {expected} words"):
        beam_search(ensemble, [0], length=expected + 1)


def test_the_special_words_are_the_members() -> None:
    table = random_table(0, 9)
    assert Ensemble([ScriptedWords(table)]).special_words == SPECIAL_WORDS
    authors = [ScriptedWords(table, special_words=AUTHORS_SPECIAL_WORDS) for _ in range(2)]
    assert Ensemble(authors).special_words == AUTHORS_SPECIAL_WORDS


# Networks ----------------------------------------------------------------------------------------

VARIED: dict[str, dict[str, Any]] = {
    "m2": {},
    "transformer": {"encoding_layers": 1, "decoding_layers": 3},
    "m2-softmax": {"width": 12, "heads": 3, "longest": 9},
    "m2-authors": {"speech": "words"},
}


@cache
def tiny(variant: str) -> CaptioningTransformer:
    return opinionated(variant, seed=sum(map(ord, variant)), **VARIED[variant])


def some_regions() -> Regions:
    return Regions(torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(1)))


@pytest.mark.parametrize("mean", MEANS)
def test_members_may_be_of_different_variants_and_sizes(mean: Mean) -> None:
    members, regions = [tiny(variant) for variant in VARIED], some_regions()
    ensemble = Ensemble(members, mean)
    assert ensemble.longest == 9
    found = beam_search(ensemble, regions, beams=3, length=7)
    # Each word's log-probability is the mean of what the members say in their parallel passes.
    beginning = torch.full((3, 3, 1), BOS)
    with torch.no_grad():
        said = torch.stack(
            [
                model.decode(regions, torch.cat([beginning, found.words[..., :-1]], dim=-1))
                for model in members
            ]
        )
    said = said.double()
    joint = said.mean(dim=0) if mean == "log-probabilities" else said.exp().mean(dim=0).log()
    own = joint.gather(-1, found.words[..., None])[..., 0]
    ended = (found.words == END).cumsum(-1) - (found.words == END).int() > 0
    torch.testing.assert_close(
        found.log_probs, own.masked_fill(ended, 0.0).float(), atol=2e-5, rtol=0
    )
    backwards = beam_search(Ensemble(members[::-1], mean), regions, beams=3, length=7)
    check_same(backwards, found)


def test_an_ensemble_of_networks_makes_room_in_those_that_can() -> None:
    network, scripted = tiny("m2"), ScriptedWords(random_table(0, 12))
    mixed = Ensemble([network, scripted])
    regions = Regions(torch.zeros(2, 4, 6))  # the scripted member reads its table's number there
    state = mixed.start(regions)
    roomy = state.reserve(3, 7)
    assert roomy.members[0].room is not None
    assert roomy.members[1] is state.members[1]
    found = beam_search(mixed, regions, **TOGETHER)
    backwards = beam_search(Ensemble([scripted, network]), regions, **TOGETHER)
    check_same(backwards, found)
    assert torch.equal(found.words[0], found.words[1])  # equal pictures, equal sentences


def test_a_member_that_cannot_be_recorded_keeps_the_ensemble_from_being_replayed() -> None:
    network, scripted = tiny("m2"), ScriptedWords(random_table(0, 12))
    both = Ensemble([network, tiny("transformer")])
    assert both.replay_key() == both.replay_key()
    assert both.replay_key() != Ensemble([network]).replay_key()
    assert Ensemble([network, scripted]).replay_key() is None


def test_what_one_member_never_says_the_ensemble_never_says() -> None:
    paper, code = ScriptedWords(random_table(0, 9)), ScriptedWords(random_table(1, 9))
    code.special_words = AUTHORS_SPECIAL_WORDS
    for members in ([paper, code], [code, paper]):
        special = Ensemble(members).special_words
        assert (special.never_spoken, special.after_end) == ((0, 1, 2), 1)
    special = Ensemble([code, code]).special_words
    assert (special.never_spoken, special.after_end) == ((), 0)


def test_members_that_number_the_end_differently_are_refused() -> None:
    one, other = ScriptedWords(random_table(0, 9)), ScriptedWords(random_table(1, 9))
    other.special_words = SpecialWords(end=8)
    with pytest.raises(VocabularyError, match="expected one numbering"):
        Ensemble([one, other])
