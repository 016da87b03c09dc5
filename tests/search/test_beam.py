"""Beam search against searches so plain that one sees they are right (fakes.py), and by hand.

Knows scripts and tables of probabilities; a small network only where its states are meant.
"""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from fakes import (
    NEVER,
    Found,
    ScriptedWords,
    Sentence,
    Spoken,
    Table,
    exhaustive_search,
    pictures,
    plain_beam_search,
    random_table,
    scripted_table,
)
from meshcap.errors import FeatureError, SettingError
from meshcap.model import CaptioningTransformer, State
from meshcap.regions import Regions
from meshcap.search import Hypotheses, beam_search, greedy_search
from meshcap.special_words import AUTHORS_SPECIAL_WORDS, SPECIAL_WORDS, SpecialWords
from recipes import opinionated

UNK, PAD, BOS, END = 0, 1, 2, 3
A, B, C, D = 4, 5, 6, 7
TABLES, WORDS, STEPS = 200, 6, 4
# Six words of which one is the end and all may be said: 781 sentences of up to four words.
SMALL = SpecialWords(unknown=0, padding=1, beginning=2, end=5, never_spoken=(), after_end=1)
ALL_SENTENCES = 1 + 5 + 25 + 5**3 + 5**4


def sentences(found: Hypotheses, picture: int = 0, special: SpecialWords = SPECIAL_WORDS):
    """The sentences of a picture up to their end, with scores; without rows that hold none."""
    rows = zip(found.words[picture].tolist(), found.scores[picture].tolist(), strict=True)
    return [(until_end(words, special), score) for words, score in rows if score > NEVER]


def until_end(words: Sequence[int], special: SpecialWords = SPECIAL_WORDS) -> Sentence:
    length = words.index(special.end) + 1 if special.end in words else len(words)
    return tuple(words[:length])


def check_form(
    found: Hypotheses,
    shape: tuple[int, int, int],
    special: SpecialWords = SPECIAL_WORDS,
    normalised: float = 0.0,
) -> None:
    """What is true of every result: shapes, order, sums, filling."""
    assert found.words.shape == found.log_probs.shape == shape
    assert found.scores.shape == shape[:2]
    assert len(found) == shape[0]
    assert found.words.dtype == torch.int64
    assert found.log_probs.dtype == found.scores.dtype == torch.float32
    assert not found.scores.isnan().any()
    assert not found.scores.requires_grad
    for picture in range(shape[0]):
        scores = found.scores[picture].tolist()
        assert scores == sorted(scores, reverse=True)
        spoken = [words for words, _ in sentences(found, picture, special)]
        assert len(set(spoken)) == len(spoken), "no sentence is found twice"
        for row, words in enumerate(spoken):
            log_probs = found.log_probs[picture, row]
            total = log_probs.sum().item() / len(words) ** normalised
            assert scores[row] == pytest.approx(total, abs=1e-5)
            assert (found.words[picture, row, len(words) :] == special.after_end).all()
            assert (log_probs[len(words) :] == 0).all()
            assert log_probs.isfinite().all()


def check_same(
    found: Hypotheses,
    expected: list[Found],
    picture: int = 0,
    special: SpecialWords = SPECIAL_WORDS,
) -> None:
    """The same sentences in the same order, with the same scores and log-probabilities."""
    got = sentences(found, picture, special)
    assert [words for words, _ in got] == [each.words for each in expected]
    assert [score for _, score in got] == pytest.approx([each.score for each in expected], abs=1e-5)
    for row, each in enumerate(expected):
        log_probs = found.log_probs[picture, row, : len(each.words)].tolist()
        assert log_probs == pytest.approx(list(each.log_probs), abs=1e-6)


@cache
def small_tables() -> tuple[Table, ...]:
    return tuple(random_table(seed, WORDS, sharpness=1.5) for seed in range(TABLES))


@cache
def all_sentences() -> list[list[Found]]:
    return [exhaustive_search(table, length=STEPS, special=SMALL) for table in small_tables()]


# Random tables -----------------------------------------------------------------------------------


def test_with_enough_beams_the_best_sentence_of_all_is_found() -> None:
    words = ScriptedWords(*small_tables(), special_words=SMALL)
    for picture, every in enumerate(all_sentences()):
        assert len(every) == ALL_SENTENCES
        found = beam_search(words, [picture], beams=ALL_SENTENCES, length=STEPS)
        (best, score), *others = sentences(found, 0, SMALL)
        assert best == every[0].words
        assert score == pytest.approx(every[0].score, abs=1e-5)
        # And every other sentence, with its score: nothing is lost or said twice.
        assert dict([(best, score), *others]) == pytest.approx(
            {each.words: each.score for each in every}, abs=1e-5
        )


@pytest.mark.parametrize("beams", [1, 2, 3, 4, 5])
def test_beams_find_what_the_plain_search_finds(beams: int) -> None:
    words = ScriptedWords(*small_tables(), special_words=SMALL)
    found = beam_search(words, range(TABLES), beams=beams, length=STEPS)
    check_form(found, (TABLES, beams, STEPS), SMALL)
    as_good_as_all = 0
    for picture, table in enumerate(small_tables()):
        plain = plain_beam_search(table, beams=beams, length=STEPS, special=SMALL)
        check_same(found, plain, picture, SMALL)
        best_of_all = all_sentences()[picture][0]
        assert found.scores[picture, 0].item() <= best_of_all.score + 1e-5
        as_good_as_all += until_end(found.words[picture, 0].tolist(), SMALL) == best_of_all.words
    # Each misses some of the best, else these tables would be too easy to tell searches apart.
    assert TABLES // 3 < as_good_as_all < TABLES


OPTIONS: dict[str, dict[str, Any]] = {
    "as they are": {},
    "anything may be said": {"forbidden": ()},
    "some are forbidden": {"forbidden": (0, 1, 2, 6, 9)},
    "the end is forbidden": {"forbidden": (3,)},
    "an end not before the third word": {"least": 2},
    "an end as the last word only": {"least": 6},
    "no word twice in a row": {"no_repeats": True},
    "a little normalised": {"length_normalisation": 0.7},
    "a mean over words": {"length_normalisation": 1.0},
    "more than a mean": {"length_normalisation": 2.0},
    "long sentences made worse": {"length_normalisation": -0.5},
    "repeats and all words": {"forbidden": (), "no_repeats": True},
    "all at once": {
        "forbidden": (0, 1, 2, 7),
        "least": 3,
        "no_repeats": True,
        "length_normalisation": 0.8,
    },
}


@pytest.mark.parametrize("beams", [1, 3, 5])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_every_option_does_what_it_does_in_the_plain_search(
    options: dict[str, Any], beams: int
) -> None:
    # Low numbers are likely: the special words, the end and the word before are among the best.
    tables = [random_table(seed, 12, slope=0.5) for seed in range(12)]
    tables += [random_table(seed, 12, sharpness=2.0, silent=0.4) for seed in range(12)]
    found = beam_search(ScriptedWords(*tables), range(24), beams=beams, length=7, **options)
    normalised = options.get("length_normalisation", 0.0)
    check_form(found, (24, beams, 7), normalised=normalised)
    for picture, table in enumerate(tables):
        plain = plain_beam_search(table, beams=beams, length=7, **options)
        check_same(found, plain, picture)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_every_option_in_a_search_of_all_sentences_gives_the_best(options: dict[str, Any]) -> None:
    if options.get("least", 0) > 3:
        options = options | {"least": 3}
    for seed in range(4):
        table = random_table(seed, 6, slope=0.3)
        rules = options | {"forbidden": [f for f in options.get("forbidden", (0, 1, 2)) if f < 6]}
        every = exhaustive_search(table, length=4, **rules)
        found = beam_search(ScriptedWords(table), [0], beams=900, length=4, **rules)
        check_same(found, every)


@pytest.mark.parametrize("forbidden", [range(70), range(4, 84), [*range(3), *range(20, 99)]])
@pytest.mark.parametrize("options", [{}, {"least": 2, "no_repeats": True}])
def test_a_long_list_of_forbidden_words_is_kept_out(
    forbidden: Sequence[int], options: dict[str, Any]
) -> None:
    tables = [random_table(seed, 100, slope=0.1) for seed in range(5)]
    found = beam_search(
        ScriptedWords(*tables), range(5), beams=4, length=5, forbidden=forbidden, **options
    )
    for picture, table in enumerate(tables):
        plain = plain_beam_search(table, beams=4, length=5, forbidden=forbidden, **options)
        check_same(found, plain, picture)
        assert not {word for words, _ in sentences(found, picture) for word in words} & {*forbidden}


# The search looks at a vocabulary in chunks of 101 words from 16 chunks on (search/top.py).
@pytest.mark.parametrize("size", [1615, 1616, 1617, 1716, 1717, 1718, 10198, 10201])
def test_large_vocabularies_are_searched_as_plainly_as_small_ones(size: int) -> None:
    tables = [random_table(seed, size, sharpness=3.0) for seed in range(2)]
    for options in ({}, {"least": 2, "no_repeats": True, "forbidden": (0, 1, size - 1)}):
        found = beam_search(ScriptedWords(*tables), [0, 1], beams=3, length=3, **options)
        for picture, table in enumerate(tables):
            plain = plain_beam_search(table, beams=3, length=3, **options)
            check_same(found, plain, picture)


# Scripts -----------------------------------------------------------------------------------------

# "a" begins better, "b" goes on better.
MISLEADING = {
    (): {A: 0.6, B: 0.4},
    (A,): {C: 0.5, D: 0.5},
    (A, C): {END: 1.0},
    (A, D): {END: 1.0},
    (B,): {C: 0.9, D: 0.1},
    (B, C): {END: 1.0},
}


def test_two_beams_find_what_greedy_search_misses() -> None:
    words = ScriptedWords(scripted_table(8, MISLEADING))
    greedy = greedy_search(words, [0], length=5)
    (missed, score), *_ = sentences(greedy)
    assert missed[0] == A
    assert score == pytest.approx(math.log(0.3), abs=1e-6)
    found = beam_search(words, [0], beams=2, length=5)
    assert sentences(found)[0] == ((B, C, END), pytest.approx(math.log(0.36), abs=1e-6))
    assert found.words[0, 0].tolist() == [B, C, END, PAD, PAD]
    assert found.log_probs[0, 0].tolist() == pytest.approx(
        [math.log(0.4), math.log(0.9), 0, 0, 0], abs=1e-6
    )


def test_a_finished_beam_keeps_its_score_and_is_the_best_at_last() -> None:
    # "c." ends at once and is the worst of three; the others decay below it.
    script = {
        (): {A: 0.45, B: 0.35, END: 0.2},
        (A,): {A: 0.5, B: 0.5},
        (A, A): {A: 0.5, B: 0.5},
        (A, B): {A: 0.5, B: 0.5},
        (B,): {A: 0.5, B: 0.5},
        (B, A): {A: 0.5, B: 0.5},
        (B, B): {A: 0.5, B: 0.5},
    }
    words = ScriptedWords(scripted_table(6, script))
    order = []
    for length in (1, 2, 3):
        found = sentences(beam_search(words, [0], beams=3, length=length))
        assert dict(found)[(END,)] == pytest.approx(math.log(0.2), abs=1e-6)
        order.append([each for each, _ in found].index((END,)))
    assert order == [2, 2, 0]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_length_normalisation_prefers_the_longer_of_two_and_says_the_normalised_score(
    alpha: float,
) -> None:
    script = {(): {A: 0.5, END: 0.5}, (A,): {B: 0.9, END: 0.1}, (A, B): {END: 1.0}}
    words = ScriptedWords(scripted_table(6, script))
    found = sentences(beam_search(words, [0], beams=3, length=4, length_normalisation=alpha))
    longer = ((A, B, END), pytest.approx(math.log(0.45) / 3**alpha, abs=1e-6))
    shorter = ((END,), pytest.approx(math.log(0.5), abs=1e-6))
    assert found[:2] == ([longer, shorter] if alpha else [shorter, longer])


ENDS_AFTER_THREE = {
    (): {A: 0.5, B: 0.3, END: 0.2},
    (A,): {END: 1.0},
    (B,): {A: 1.0},
    (B, A): {END: 1.0},
}


@pytest.mark.parametrize(
    ("beams", "length", "steps"), [(1, 9, 2), (2, 9, 3), (3, 9, 3), (3, 2, 2), (1, 1, 1), (1, 2, 2)]
)
def test_a_search_ends_when_all_beams_have_finished_and_not_earlier(
    beams: int, length: int, steps: int
) -> None:
    words = ScriptedWords(scripted_table(6, ENDS_AFTER_THREE))
    found = beam_search(words, [0], beams=beams, length=length)
    assert words.steps == steps
    check_form(found, (1, beams, length))


def test_a_search_of_several_pictures_ends_with_the_last_of_them() -> None:
    soon = scripted_table(6, {(): {END: 1.0}})
    late = scripted_table(6, {(A,) * words: {A: 1.0} for words in range(4)})
    for order, steps in (([0], 1), ([1], 5), ([0, 1], 5), ([1, 0], 5)):
        words = ScriptedWords(soon, late)
        found = beam_search(words, order, beams=1, length=12)
        assert words.steps == steps
        expected = [(END,), (A, A, A, A, END)]
        assert [sentences(found, i)[0][0] for i in range(len(order))] == [
            expected[picture] for picture in order
        ]


def test_sentences_that_never_end_are_cut_at_the_length() -> None:
    words = ScriptedWords(random_table(0, 9))
    found = beam_search(words, [0], beams=3, length=6, forbidden=(0, 1, 2, END))
    assert words.steps == 6
    assert (found.words >= A).all()
    assert (found.log_probs < 0).all()


@pytest.mark.parametrize("after_end", [0, 1, 3, 5])
def test_what_follows_the_end_is_what_the_special_words_say(after_end: int) -> None:
    special = replace(SPECIAL_WORDS, after_end=after_end)
    words = ScriptedWords(scripted_table(6, ENDS_AFTER_THREE), special_words=special)
    found = beam_search(words, [0], beams=3, length=5)
    rest = after_end
    assert found.words[0].tolist() == [
        [A, END, rest, rest, rest],
        [B, A, END, rest, rest],
        [END, rest, rest, rest, rest],
    ]
    assert (found.log_probs[0, 2, 1:] == 0).all()


def test_without_special_words_of_its_own_a_next_word_has_the_papers() -> None:
    table = scripted_table(6, ENDS_AFTER_THREE)
    bare, named = ScriptedWords(table), ScriptedWords(table, special_words=SPECIAL_WORDS)
    assert not hasattr(bare, "special_words")
    assert not hasattr(bare, "longest")
    found, same = (beam_search(each, [0], beams=2, length=50) for each in (bare, named))
    assert torch.equal(found.words, same.words)
    assert found.words[0, 0].tolist() == [A, END] + [PAD] * 48


@pytest.mark.parametrize("captions", [1, 2, 4])
def test_fewer_captions_than_beams_are_the_best_of_them(captions: int) -> None:
    words = ScriptedWords(*small_tables()[:3], special_words=SMALL)
    every = beam_search(words, range(3), beams=4, length=STEPS)
    found = beam_search(words, range(3), beams=4, length=STEPS, captions=captions)
    check_form(found, (3, captions, STEPS), SMALL)
    assert torch.equal(found.words, every.words[:, :captions])
    assert torch.equal(found.log_probs, every.log_probs[:, :captions])
    assert torch.equal(found.scores, every.scores[:, :captions])


@pytest.mark.parametrize("beams", [3, 4, 20])
@pytest.mark.parametrize("options", [{}, {"length_normalisation": 1.0}])
def test_places_for_sentences_that_do_not_exist_score_minus_infinity(
    beams: int, options: dict[str, Any]
) -> None:
    script = {(): {A: 0.5, B: 0.3, END: 0.2}}
    found = beam_search(
        ScriptedWords(scripted_table(6, script)), [0], beams=beams, length=4, **options
    )
    check_form(found, (1, beams, 4), normalised=options.get("length_normalisation", 0.0))
    assert {each for each, _ in sentences(found)} == {(A, END), (B, END), (END,)}
    assert found.scores[0, 3:].tolist() == [NEVER] * (beams - 3)


def test_more_beams_than_sentences_of_one_word() -> None:
    found = beam_search(ScriptedWords(random_table(1, 6)), [0], beams=9, length=1)
    check_form(found, (1, 9, 1))
    assert {each for each, _ in sentences(found)} == {(END,), (4,), (5,)}
    assert found.scores[0, 3:].tolist() == [NEVER] * 6


@pytest.mark.parametrize("beams", [1, 2, 5])
def test_a_certain_sentence_has_the_score_0(beams: int) -> None:
    script = {(): {A: 1.0}, (A,): {B: 1.0}}
    found = beam_search(ScriptedWords(scripted_table(6, script)), [0], beams=beams, length=6)
    check_form(found, (1, beams, 6))
    assert sentences(found) == [((A, B, END), 0.0)]


def test_words_without_any_probability_are_never_said() -> None:
    tables = [random_table(seed, 9, sharpness=2.0, silent=0.6) for seed in range(30)]
    words = ScriptedWords(*tables)
    found = beam_search(words, range(30), beams=4, length=5, forbidden=())
    check_form(found, (30, 4, 5))
    for picture, table in enumerate(tables):
        plain = plain_beam_search(table, beams=4, length=5, forbidden=())
        check_same(found, plain, picture)


def test_where_nothing_may_be_said_every_score_is_minus_infinity() -> None:
    words = ScriptedWords(random_table(0, 6))
    found = beam_search(words, [0], beams=2, length=3, forbidden=range(6))
    assert found.scores.tolist() == [[NEVER, NEVER]]
    assert sentences(found) == []


# What may be said --------------------------------------------------------------------------------

LIKELY_UNKNOWN = {
    (): {UNK: 0.4, PAD: 0.25, BOS: 0.2, A: 0.1, B: 0.05},
    (A,): {A: 0.5, END: 0.3, B: 0.2},
    (A, A): {A: 0.5, END: 0.3, B: 0.2},
}

# Options, special words, the greedy sentence of four words.
SPOKEN: list[tuple[dict[str, Any], SpecialWords | None, Sentence]] = [
    ({}, None, (A, A, A, END)),
    ({"forbidden": None}, None, (A, A, A, END)),
    ({"forbidden": ()}, None, (UNK, END)),
    ({"forbidden": [UNK]}, None, (PAD, END)),
    ({"forbidden": iter([UNK, UNK, PAD])}, None, (BOS, END)),
    ({}, AUTHORS_SPECIAL_WORDS, (UNK, END)),
    ({"forbidden": (0, 1, 2)}, AUTHORS_SPECIAL_WORDS, (A, A, A, END)),
    ({"no_repeats": True}, None, (A, END)),
    ({"no_repeats": True, "least": 2}, None, (A, B, END)),
    ({"forbidden": (0, 1, 2, A)}, None, (B, END)),
]


@pytest.mark.parametrize(("options", "special", "expected"), SPOKEN)
def test_unknown_padding_and_beginning_are_said_only_when_allowed(
    options: dict[str, Any], special: SpecialWords | None, expected: Sentence
) -> None:
    words = ScriptedWords(scripted_table(6, LIKELY_UNKNOWN), special_words=special)
    found = greedy_search(words, [0], length=4, **options)
    assert sentences(found)[0][0] == expected


@pytest.mark.parametrize("least", [0, 1, 2, 3, 4])
def test_no_sentence_ends_before_its_least_length(least: int) -> None:
    # The end is always the likeliest word.
    tables = [random_table(seed, 8, sharpness=0.5, slope=2.0) for seed in range(10)]
    special = SpecialWords(end=0, unknown=1, padding=2, beginning=3, never_spoken=())
    words = ScriptedWords(*tables, special_words=special)
    found = beam_search(words, range(10), beams=3, length=5, least=least)
    lengths = [
        len(spoken) - 1 for picture in range(10) for spoken, _ in sentences(found, picture, special)
    ]
    assert min(lengths) == least


def test_a_word_may_come_again_but_not_at_once() -> None:
    script = {(): {A: 0.9, B: 0.1}, (A,): {A: 0.9, B: 0.1}, (A, B): {B: 0.9, A: 0.1}}
    words = ScriptedWords(scripted_table(6, script))
    found = greedy_search(words, [0], length=4, no_repeats=True)
    assert sentences(found)[0][0] == (A, B, A, END)


# Batches, regions --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, OPTIONS["all at once"]])
def test_pictures_searched_together_find_what_each_finds_alone(options: dict[str, Any]) -> None:
    tables = [random_table(seed, 12, slope=0.2) for seed in range(8)]
    order = [5, 0, 7, 7, 2]
    together = beam_search(ScriptedWords(*tables), order, beams=4, length=6, **options)
    for place, picture in enumerate(order):
        alone = beam_search(ScriptedWords(*tables), [picture], beams=4, length=6, **options)
        assert torch.equal(together.words[place], alone.words[0])
        assert torch.equal(together.log_probs[place], alone.log_probs[0])
        assert torch.equal(together.scores[place], alone.scores[0])


def test_regions_may_be_a_value_a_batch_or_one_picture() -> None:
    words = ScriptedWords(*small_tables()[:3], special_words=SMALL)
    settings: dict[str, Any] = {"beams": 3, "length": STEPS}
    batch = pictures(2, 0)
    expected = beam_search(words, batch, **settings)
    as_tensor = beam_search(words, batch.features, **settings)  # (B, R, d)
    one = beam_search(words, batch.features[0], **settings)  # (R, d)
    assert torch.equal(as_tensor.words, expected.words)
    assert torch.equal(as_tensor.scores, expected.scores)
    assert one.words.shape == (1, 3, STEPS)
    assert torch.equal(one.words[0], expected.words[0])


def test_greedy_search_is_one_beam() -> None:
    words = ScriptedWords(*small_tables()[:20], special_words=SMALL)
    greedy = greedy_search(words, range(20), length=STEPS, least=1)
    beam = beam_search(words, range(20), beams=1, length=STEPS, least=1)
    assert torch.equal(greedy.words, beam.words)
    assert torch.equal(greedy.scores, beam.scores)
    for picture, table in enumerate(small_tables()[:20]):
        spoken = until_end(greedy.words[picture, 0].tolist(), SMALL)
        so_far: Sentence = ()
        for word in spoken:
            said = table(so_far).clone()
            if not so_far:
                said[SMALL.end] = NEVER
            assert word == said.argmax().item()
            so_far = (*so_far, word)


def test_greedy_search_says_up_to_twenty_words_unless_told() -> None:
    words = ScriptedWords(random_table(0, 8))
    assert greedy_search(words, [0], forbidden=[END]).words.shape == (1, 1, 20)
    assert beam_search(words, [0], forbidden=[END]).words.shape == (1, 5, 20)


class OneTensor(ScriptedWords):
    """A NextWord that hands out the same tensors again and again, as a cache would."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.given: dict[tuple[Sentence, ...], tuple[Tensor, Tensor]] = {}

    def step(self, words: Tensor, state: Spoken) -> tuple[Tensor, Spoken]:
        said, after = super().step(words, state)
        mine, _ = self.given.setdefault(after.sentences, (said, said.clone()))
        return mine, after


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("beams", [1, 3, 12])
def test_a_search_writes_nothing_into_what_it_was_given(
    beams: int, options: dict[str, Any]
) -> None:
    words = OneTensor(random_table(3, 12, slope=0.3))
    first = beam_search(words, [0], beams=beams, length=7, **options)
    for given, as_it_was in words.given.values():
        assert torch.equal(given, as_it_was)
    second = beam_search(words, [0], beams=beams, length=7, **options)
    assert torch.equal(first.words, second.words)
    assert torch.equal(first.scores, second.scores)


# Wrong settings ----------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"beams": 0}, "'beams' is 0; expected a whole number of at least 1"),
    ({"beams": -3}, "'beams' is -3; expected a whole number of at least 1"),
    ({"length": 0}, "'length' is 0; expected a whole number of at least 1"),
    ({"captions": 0}, "'captions' is 0; expected a whole number of at least 1"),
    ({"captions": 6}, "'captions' is 6; 5 beams find at most 5"),
    ({"beams": 2, "captions": 3}, "'captions' is 3; 2 beams find at most 2"),
    ({"least": -1}, "'least' is -1; expected a whole number of at least 0"),
    ({"length": 4, "least": 4}, "'least' is 4; expected less than 'length', 4"),
    ({"length": 4, "least": 9}, "'least' is 9; expected less than 'length', 4"),
    ({"length": 11}, "'length' is 11; this model has positions for 10 words"),
    ({"forbidden": [6]}, "forbidden word 6 is not among the 6 words"),
    ({"beams": 2.0}, "'beams' is 2.0; expected a whole number of at least 1"),
    ({"beams": True}, "'beams' is True; expected a whole number of at least 1"),
    ({"length": "2"}, "'length' is '2'; expected a whole number of at least 1"),
    ({"least": 1.5}, "'least' is 1.5; expected a whole number of at least 0"),
    (
        {"length_normalisation": float("nan")},
        "'length_normalisation' is nan; expected a number, 0 for none",
    ),
    (
        {"length_normalisation": "much"},
        "'length_normalisation' is 'much'; expected a number, 0 for none",
    ),
    ({"forbidden": ["dog"]}, "'forbidden' is 'dog'; expected a whole number of at least 0"),
    ({"forbidden": [0, -1]}, "'forbidden' is -1; expected a whole number of at least 0"),
]


@pytest.mark.parametrize(("settings", "sentence"), WRONG)
def test_a_wrong_setting_is_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    words = ScriptedWords(random_table(0, 6), longest=10)
    with pytest.raises(SettingError) as error:
        beam_search(words, [0], **{"length": 5} | settings)
    assert str(error.value) == sentence


def test_the_longest_length_a_model_has_positions_for_is_allowed() -> None:
    words = ScriptedWords(random_table(0, 6), longest=10)
    found = beam_search(words, [0], beams=2, length=10, captions=2, least=9)
    assert found.words.shape == (1, 2, 10)


# The network's own states ------------------------------------------------------------------------


@cache
def tiny(variant: str) -> CaptioningTransformer:
    return opinionated(variant, seed=5)


def some_regions(count: int = 3) -> Regions:
    generator = torch.Generator().manual_seed(11)
    present = torch.ones(count, 4, dtype=torch.bool)
    present[1:, 3] = False
    return Regions(torch.randn(count, 4, 6, generator=generator), present)


@pytest.mark.parametrize("variant", ["m2", "m2-authors", "transformer"])
@pytest.mark.parametrize("options", [{}, {"least": 3, "no_repeats": True}])
def test_a_search_of_the_network_is_the_plain_search_of_its_parallel_pass(
    variant: str, options: dict[str, Any]
) -> None:
    model, regions = tiny(variant), some_regions()
    special = model.special_words
    # After a padding word the authors' network finds all words alike, and ties decide.
    options = options | {"forbidden": (special.padding,)}
    found = beam_search(model, regions, beams=4, length=6, **options)
    check_form(found, (3, 4, 6), special)

    def table_of(picture: int) -> Table:
        alone = Regions(regions.features[picture, None], regions.there[picture, None])

        @cache
        def table(so_far: Sentence) -> Tensor:
            with torch.no_grad():
                said = model.decode(alone, torch.tensor([[[special.beginning, *so_far]]]))
            return said[0, 0, -1]

        return table

    for picture in range(3):
        plain = plain_beam_search(table_of(picture), beams=4, length=6, special=special, **options)
        check_same_roughly(found, plain, picture, special)


def check_same_roughly(
    found: Hypotheses, expected: list[Found], picture: int, special: SpecialWords
) -> None:
    """As `check_same`, with the rounding that two ways through a network differ by."""
    got = sentences(found, picture, special)
    assert [words for words, _ in got] == [each.words for each in expected]
    assert [score for _, score in got] == pytest.approx([each.score for each in expected], abs=5e-5)


# Pictures, beams a picture, the parents asked for, what is refused.
FOREIGN = "parents name rows of another picture; rows follow rows of their own picture"
REFUSED: list[tuple[int, int, list[int], str]] = [
    (2, 1, [0, 0], FOREIGN),
    (2, 1, [1, 0], FOREIGN),
    (2, 1, [0, 2], FOREIGN),
    (2, 1, [-1, 1], FOREIGN),
    (2, 2, [0, 2, 2, 3], FOREIGN),
    (2, 2, [0, 1, 2, 4], FOREIGN),
    (2, 2, [0, 1, 3, 1], FOREIGN),
    (2, 2, [0, 1, 2], "parents are torch.int64 of the shape (3,); expected whole numbers"),
    (2, 2, [], "parents are torch.int64 of the shape (0,); expected whole numbers"),
    (3, 1, [0, 1], "parents are torch.int64 of the shape (2,); expected whole numbers"),
]


def grown(state: State, beams: int) -> State:
    rows = torch.arange(state.pictures).repeat_interleave(beams)
    return state.follow(rows * (state.rows // state.pictures))


@pytest.mark.parametrize(("count", "beams", "parents", "sentence"), REFUSED)
def test_a_state_refuses_parents_of_another_picture_and_wrong_counts(
    count: int, beams: int, parents: list[int], sentence: str
) -> None:
    state = grown(tiny("m2").start(some_regions(count)), beams)
    with pytest.raises(SettingError) as error:
        state.follow(torch.tensor(parents, dtype=torch.int64))
    assert str(error.value).startswith(sentence)
    with pytest.raises(
        SettingError, match="expected whole numbers in one dimension, a multiple of"
    ):
        state.follow(torch.arange(count)[:, None])


def test_a_step_refuses_words_that_are_not_one_a_row() -> None:
    model = tiny("m2")
    state = grown(model.start(some_regions(2)), 2)
    for words in (torch.full((3,), BOS), torch.full((2, 2), BOS), torch.tensor(BOS)):
        with pytest.raises(SettingError, match=r"expected \(4,\), one for each row of the state"):
            model.step(words, state)


def said_along(
    model: CaptioningTransformer, state: State, walk: list[tuple[Tensor, Tensor]]
) -> list[Tensor]:
    """Log-probabilities along a walk of words and the parents that follow them."""
    said = []
    for words, parents in walk:
        log_probs, state = model.step(words, state)
        said.append(log_probs)
        state = state.follow(parents)
    return said


def random_walk(count: int, steps: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    """Words and parents with more and fewer beams from step to step."""
    generator = torch.Generator().manual_seed(seed)
    walk, beams = [], 1
    for step in range(steps):
        words = torch.randint(3, 12, (count * beams,), generator=generator)
        after = (4, 2, 3, 4, 1)[step % 5]
        parents = torch.randint(beams, (count, after), generator=generator)
        parents += beams * torch.arange(count)[:, None]
        walk.append((words, parents.flatten()))
        beams = after
    return walk


@pytest.mark.parametrize("variant", ["m2", "m2-authors", "transformer-aoa"])
@pytest.mark.parametrize("reserved", [(4, 7), (4, 2), (1, 1), (9, 9)])
def test_a_reserved_state_says_what_an_unreserved_one_says(
    variant: str, reserved: tuple[int, int]
) -> None:
    model, walk = tiny(variant), random_walk(3, 7, seed=2)
    with torch.no_grad():
        plain = said_along(model, model.start(some_regions()), walk)
        roomy = said_along(model, model.start(some_regions()).reserve(*reserved), walk)
    for one, other in zip(plain, roomy, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def test_room_can_be_made_in_the_middle_of_sentences() -> None:
    model, walk = tiny("m2"), random_walk(3, 6, seed=4)
    with torch.no_grad():
        plain = said_along(model, model.start(some_regions()), walk)
        state = model.start(some_regions())
        for words, parents in walk[:2]:
            state = model.step(words, state)[1].follow(parents)
        rest = said_along(model, state.reserve(4, 4), walk[2:])
    for one, other in zip(plain[2:], rest, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def test_a_state_is_a_value_that_steps_leave_as_it_was() -> None:
    model = tiny("m2")
    with torch.no_grad():
        state = model.start(some_regions(2))
        _, state = model.step(torch.full((2,), BOS), state)
        state = grown(state, 2)
        words = torch.tensor([4, 5, 6, 7])
        once, after = model.step(words, state)
        model.step(torch.tensor([8, 8, 8, 8]), state)  # another way on from the same state
        model.step(words, after.follow(torch.tensor([1, 1, 3, 3])))
        again, after_again = model.step(words, state)
        assert torch.equal(once, again)
        # Both are the same way on, whatever was stepped between them.
        assert torch.equal(model.step(words, after)[0], model.step(words, after_again)[0])


def test_following_rows_is_having_said_their_words() -> None:
    model, regions = tiny("m2-authors"), some_regions(1)
    with torch.no_grad():
        _, state = model.step(torch.full((1,), BOS), model.start(regions))
        _, state = model.step(torch.tensor([4, 5, 6]), state.follow(torch.tensor([0, 0, 0])))
        crossed, _ = model.step(torch.tensor([7, 8]), state.follow(torch.tensor([2, 0])))
        straight = model.decode(regions, torch.tensor([[[BOS, 6, 7], [BOS, 4, 8]]]))
    torch.testing.assert_close(crossed, straight[0, :, -1], atol=1e-5, rtol=0)


def test_two_searches_step_by_step_in_turn_do_not_disturb_each_other() -> None:
    model = tiny("m2")
    one, two = some_regions(3), Regions(some_regions(3).features.flip(0))
    walks = random_walk(3, 5, seed=6), random_walk(3, 5, seed=7)
    with torch.no_grad():
        alone = [
            said_along(model, model.start(r), w) for r, w in zip((one, two), walks, strict=True)
        ]
        states = [model.start(one).reserve(4, 5), model.start(two).reserve(4, 5)]
        for step in range(5):
            for search in range(2):
                words, parents = walks[search][step]
                log_probs, state = model.step(words, states[search])
                states[search] = state.follow(parents)
                torch.testing.assert_close(log_probs, alone[search][step], atol=1e-6, rtol=0)


def test_rows_that_are_no_sentence_are_all_filling_and_do_not_keep_the_search_going() -> None:
    words = ScriptedWords(scripted_table(6, {(): {4: 1.0}}))
    for beams in (1, 2, 3, 8):
        words.steps = 0
        found = beam_search(words, range(1), beams=beams, length=20)
        assert words.steps == 2
        none = found.scores[0] == -torch.inf
        assert not none[0]
        assert (found.words[0][none] == 1).all()
        assert (found.log_probs[0][none] == 0).all()


def test_a_model_in_training_mode_is_searched_with_one_warning_or_on_purpose(
    caplog: pytest.LogCaptureFixture,
) -> None:
    on_purpose, forgotten = deepcopy(tiny("m2")).train(), deepcopy(tiny("m2")).train()
    beam_search(on_purpose, some_regions(2), length=4, dropout=True)
    assert caplog.messages == []
    for _ in range(3):
        beam_search(forgotten, some_regions(2), length=4)
    (said,) = caplog.messages
    assert "is in training mode" in said
    beam_search(forgotten.eval(), some_regions(2), length=4)
    assert len(caplog.messages) == 1


class Says:
    """A NextWord whose every step gives the same."""

    def __init__(self, log_probs: Tensor) -> None:
        self.log_probs = log_probs

    def start(self, regions: object) -> "Says":
        return self

    def follow(self, parents: Tensor) -> "Says":
        return self

    def step(self, words: Tensor, state: "Says") -> tuple[Tensor, "Says"]:
        return self.log_probs, self


@pytest.mark.parametrize(
    ("log_probs", "kind", "sentence"),
    [
        (torch.zeros(8, 8), SettingError, r"of the shape \(8, 8\); expected \(2 rows, words\)"),
        (torch.zeros(2, 1, 8), SettingError, r"of the shape \(2, 1, 8\); expected"),
        (
            torch.full((2, 8), 0.125),
            SettingError,
            "log-probability of 0.125; expected none above 0",
        ),
        (torch.full((2, 8), torch.nan), FeatureError, "are all features numbers"),
    ],
)
def test_what_a_next_word_may_not_say_is_one_sentence(
    log_probs: Tensor, kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        beam_search(Says(log_probs), range(2), length=3)


@pytest.mark.parametrize("nothing", [[], 3, range(0)])
def test_a_search_for_no_pictures_is_refused(nothing: object) -> None:
    with pytest.raises(SettingError, match="of no pictures was given to a search"):
        beam_search(Says(torch.zeros(1, 8)), nothing)


def test_regions_that_are_no_numbers_are_named_by_the_search() -> None:
    features = torch.full((2, 3, tiny("m2").config.region_width), torch.inf)
    with pytest.raises(FeatureError, match="are all features numbers"):
        beam_search(tiny("m2"), features, length=3)


def test_sentences_and_regions_print_their_shapes_and_not_their_numbers() -> None:
    found = beam_search(tiny("m2"), some_regions(2), beams=3, length=4)
    assert repr(found) == "Hypotheses(2 pictures, 3 sentences of 4 words)"
    assert repr(Regions(torch.zeros(4, 5))) == "Regions(features (1, 4, 5))"
