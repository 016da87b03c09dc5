"""Rewards on word numbers equal scoring the text, and the authors' own rewards.

The truth: the official tools' CIDEr-D and BLEU (through `cider_d` and `bleu`, which are compared
with them elsewhere) and what the authors' training code gave (../shared/golden/m2).
"""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.errors import CaptionError, SettingError, VocabularyError
from meshcap.metrics import score
from meshcap.metrics.cider import cider_d
from meshcap.metrics.idf import DocumentFrequencies
from meshcap.metrics.ptb import tokenise, tokenise_all
from meshcap.metrics.reward import BleuReward, CiderReward, Known, Mixture
from meshcap.metrics.reward.grams import Table, entries
from meshcap.metrics.reward.words import OfficialWords

SPECIAL = ["<unk>", "<pad>", "<bos>", "<eos>"]
END, PADDING = 3, 1
pytestmark = pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")


def numbered(captions, words, length=None):
    """Rows of word numbers, each up to its end and then padding."""
    numbers = {word: number for number, word in enumerate(words)}
    rows = [[numbers.get(word, 0) for word in caption.split(" ") if word] for caption in captions]
    longest = length or max(map(len, rows)) + 1
    found = np.full((len(rows), longest), PADDING)
    for row, words_of in zip(found, rows, strict=True):
        words_of = [*words_of, END][:longest]
        row[: len(words_of)] = words_of
    return found


# ---- against the official scores


@pytest.fixture(scope="module")
def sentences(small):
    """The small golden set as word numbers: (48, 1, T), and its vocabulary."""
    captions = list(small["kept"]["candidates_tokenised"].values())
    words = SPECIAL + sorted({word for caption in captions for word in caption.split()})
    return words, numbered(captions, words)[:, None]


@pytest.mark.parametrize("threads", [1, 3])
def test_rewards_are_the_official_scores_of_each_picture(small, sentences, threads, monkeypatch):
    monkeypatch.setattr("meshcap.metrics.reward.rewards._WORTH_A_THREAD", 5)
    words, numbers = sentences
    known = Known(words, small["references"], end=False)
    pictures = list(small["references"])
    cider = CiderReward(known, threads)(numbers, pictures)
    np.testing.assert_allclose(cider[:, 0], small["kept"]["per_picture"]["CIDEr"], rtol=1e-12)
    for order in range(1, 5):
        bleu = BleuReward(known, order, threads)(numbers, pictures)
        official = small["kept"]["per_picture"]["BLEU"][order - 1]
        np.testing.assert_allclose(bleu[:, 0], official, rtol=1e-12)


@pytest.mark.parametrize(
    ("over", "key"),
    [
        ("captions", "cider_d_df_over_captions_as_in_train_py"),
        ("pictures", "cider_d_df_over_images"),
    ],
)
def test_the_authors_rewards_come_out_with_their_switches(golden, small, sentences, over, key):
    reward = json.loads((golden / "evaluation.json").read_text(encoding="utf-8"))["reward"]
    documents = tokenise_all(reward["df_captions"])
    groups = [documents[at : at + 5] for at in range(0, 2000, 5)]
    frequencies = DocumentFrequencies.count(groups, over=over)
    logarithm = reward["log_ref_len_captions" if over == "captions" else "log_ref_len_images"]
    assert np.log(frequencies.documents) == pytest.approx(logarithm, rel=1e-12)
    words, numbers = sentences
    known = Known(words, small["references"], end=False, idf=frequencies)
    ours = CiderReward(known)(numbers, list(small["references"]))
    np.testing.assert_allclose(ours[:, 0], reward[key], rtol=1e-12)


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("over", ["pictures", "captions"])
def test_the_reward_of_2000_captions_equals_scoring_their_text(shared, end, over):
    path = shared / "data" / "coco" / "captions_train.json"
    if not path.is_file():
        pytest.skip(f"COCO's captions, '{path}', are absent")
    written: dict[str, list[str]] = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["annotations"]:
        written.setdefault(str(row["image_id"]), []).append(row["caption"])
    pictures = [picture for picture, texts in written.items() if len(texts) == 5][:1000]
    references = {picture: written[picture][1:] for picture in pictures}
    # The training tokeniser's words, as a model would say them: with "n't", "'s", digits, marks.
    from meshcap.text import Vocabulary

    vocabulary = Vocabulary.count([text for picture in pictures for text in written[picture]])
    said = [written[pictures[n]][0] for n in range(1000)]
    said += [written[pictures[(n + 7) % 1000]][0] for n in range(1000)]
    numbers = np.array(vocabulary.padded(said))[:, 1:].reshape(2, 1000, -1).transpose(1, 0, 2)
    known = Known(vocabulary.words, references, end=end, idf=over)
    ours = CiderReward(known)(numbers, pictures)
    frequencies = DocumentFrequencies.count(
        [tokenise_all(references[picture]) for picture in pictures], over=over, end=end
    )
    for beam in range(2):
        texts = known.official.texts(numbers[:, beam])
        assert texts == [vocabulary.decode(row) for row in numbers[:, beam]]
        found = score(
            dict(zip(pictures, texts, strict=True)),
            references,
            cider_d(idf=frequencies, end=end),
        )["cider-d"]
        np.testing.assert_allclose(
            ours[:, beam], list(found.per_picture.values()), rtol=1e-10, atol=1e-12
        )
    assert ours[:, 0].mean() > 5 * ours[:, 1].mean()


# Words that the tokeniser reads by their neighbours, and plain ones.
ODD = ["no.", "5", "1,000", "b.", "a.", "s.", "3", "1/2", "'s", "n't", "cannot", '"', "(", "u.s."]
SAID = [*SPECIAL, *"a cat dog runs on mat t-shirt".split(), *ODD]


@given(
    st.lists(st.lists(st.sampled_from(SAID[4:] + ["<unk>"]), max_size=6), min_size=2, max_size=6),
    st.lists(st.lists(st.sampled_from(range(len(SAID))), max_size=6), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from(["pictures", "captions", "saved"]),
)
def test_the_reward_of_any_words_equals_scoring_their_text(written, said, end, over):
    references = {str(number): [" ".join(words), "a cat"] for number, words in enumerate(written)}
    documents = [tokenise_all(texts) for texts in references.values()]
    counted_over = "pictures" if over == "saved" else over
    frequencies = DocumentFrequencies.count(documents, over=counted_over, end=end)
    known = Known(SAID, references, end=end, idf=frequencies if over == "saved" else over)
    rows = np.full((1, len(said), 7), END)
    for row, words in zip(rows[0], said, strict=True):
        row[: len(words)] = words
    ours = CiderReward(known)(rows, ["0"])[0]
    texts = known.official.texts(rows[0])
    theirs = [
        score({"0": text}, {"0": references["0"]}, cider_d(idf=frequencies, end=end))["cider-d"]
        for text in texts
    ]
    np.testing.assert_allclose(ours, [each.value for each in theirs], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("said", "idf"),
    [
        ("a. <unk>", "pictures"),
        ("dog b. <unk> a", "captions"),
        ("dog no. 5", "saved"),
        ("no. 1,000", "saved"),
        ("cat 3 1/2 dog", "pictures"),
    ],
)
def test_words_that_are_read_by_their_neighbours_are_tokenised_as_text(said, idf):
    references = {"0": [said, "a cat"], "1": ["a dog runs"], "2": ["two cats"]}
    documents = [tokenise_all(texts) for texts in references.values()]
    over = "pictures" if idf == "saved" else idf
    frequencies = DocumentFrequencies.count(documents, over=over, end=True)
    known = Known(SAID, references, idf=frequencies if idf == "saved" else idf)
    [[ours]] = CiderReward(known)(numbered([said], SAID)[None], ["0"])
    metric = cider_d(idf=frequencies, end=True)
    theirs = score({"0": said}, {"0": references["0"]}, metric)["cider-d"]
    assert ours == pytest.approx(theirs.value, rel=1e-9)


def test_an_ngram_that_no_reference_holds_weighs_as_the_rarest(known):
    # Every known n-gram here is common; one that is nowhere must not take a known one's weight.
    references = {str(n): ["a cat"] for n in range(9)}
    known = Known([*SPECIAL, "a", "cat", "zebra"], references, end=False)
    words = [*SPECIAL, "a", "cat", "zebra"]
    frequencies = DocumentFrequencies.count([["a cat"]] * 9)
    for said in ("a cat zebra", "zebra zebra a cat", "zebra"):
        [[ours]] = CiderReward(known)(numbered([said], words)[None], ["3"])
        text = score({"3": said}, {"3": ["a cat"]}, cider_d(idf=frequencies))["cider-d"]
        assert ours == pytest.approx(text.value, abs=1e-12)
    far = {"0": ["a cat sits", "cat"], "1": ["a dog"], "2": ["a dog"]}
    known = Known([*words, "sits", "dog"], far, end=False)
    frequencies = DocumentFrequencies.count(far)
    numbers = numbered(["cat zebra sits"], [*words, "sits", "dog"])[None]
    text = score({"0": "cat zebra sits"}, {"0": far["0"]}, cider_d(idf=frequencies))["cider-d"]
    assert CiderReward(known)(numbers, ["0"])[0, 0] == pytest.approx(text.value, rel=1e-12)


def test_a_sentence_of_full_length_that_begins_with_the_beginning_loses_no_word():
    official = OfficialWords([*SPECIAL, "a", "cat", "dog"])
    assert official.texts(np.array([[2, 4, 5, 6]])) == ["a cat dog"]
    [tokens], [length] = official.tokens(np.array([[2, 4, 5, 6]]))
    assert length == 3
    assert np.count_nonzero(tokens) == 3


def test_one_long_reference_changes_nothing_for_the_others(monkeypatch):
    monkeypatch.setattr("meshcap.metrics.reward.references._AT_ONCE", 3)
    long = " ".join(["a", "red", "dog"] * 300)
    references = REFERENCES | {"10": [long, "a cat"], "11": ["the dog", "a red dog runs"]}
    in_blocks = Known(WORDS, references)
    monkeypatch.undo()
    at_once = Known(WORDS, references)
    numbers = numbered(["a red dog runs", "the dog"], WORDS).reshape(1, 2, -1)
    for picture in references:
        np.testing.assert_array_equal(
            CiderReward(in_blocks)(numbers, [picture]), CiderReward(at_once)(numbers, [picture])
        )


# ---- what counts as a word


def test_a_caption_cut_off_is_worth_less_when_the_end_is_a_word():
    references = {str(n): [f"the dog {n} runs"] for n in range(9)} | {"0": ["a man with a hat"]}
    words = [*SPECIAL, *"a man with hat".split()]
    numbers = numbered(["a man with a hat", "a man with a"], words)[None]
    whole, cut = CiderReward(Known(words, references, end=True))(numbers, ["0"])[0]
    whole_without, cut_without = CiderReward(Known(words, references, end=False))(numbers, ["0"])[0]
    assert whole == pytest.approx(10)
    assert whole_without == pytest.approx(10)
    assert 0 < cut < cut_without < 10


@pytest.mark.parametrize(
    "row",
    [
        [4, 5, END, 4, 5],
        [4, 5, END, PADDING, PADDING],
        [2, 4, 5, END, PADDING],
        [4, 5, END, 0, 0],
    ],
)
def test_only_words_up_to_the_first_end_count(row):
    words = [*SPECIAL, "a", "cat", "dog"]
    official = OfficialWords(words)
    [tokens], [length] = official.tokens(np.array([row]))
    assert length == 2
    assert tokens[:2].tolist() == [official.known("a"), official.known("cat")]
    assert not tokens[2:].any()
    assert official.texts(np.array([row])) == ["a cat"]


def test_words_that_are_several_tokens_or_none_are_those_of_the_text():
    words = [*SPECIAL, "a", "cannot", '"', "dog", "'s", "n't", "do", "3", "1/2", "(", "x"]
    said = ['a dog cannot "', "do n't", "3 1/2 dog", "( x", "dog 's", "", "<unk> dog", "a <pad> x"]
    numbers = numbered(said, words, 6)
    numbers[7, 1] = PADDING  # a model may say any word of its vocabulary
    official = OfficialWords(words)
    names = {official.known(token): token for text in said for token in tokenise(text).split()}
    tokens, lengths = official.tokens(numbers)
    for text, row, length in zip(said, tokens, lengths, strict=True):
        assert [names.get(number) for number in row[:length].tolist()] == tokenise(text).split()


def test_no_two_words_of_a_vocabulary_are_read_differently_side_by_side(golden):
    """What `OfficialWords` takes from single words is right for every pair that it does not check.

    All pairs of the authors' vocabulary's odd words, and each odd word beside plain ones.
    """
    vocabulary = json.loads((golden / "vocab_10201.json").read_text(encoding="utf-8"))
    vocabulary = vocabulary["words"] if isinstance(vocabulary, dict) else vocabulary
    official = OfficialWords(vocabulary)
    odd = [n for n, word in enumerate(vocabulary) if n > 3 and not word.isalpha()]
    plain = [vocabulary.index(word) for word in ("a", "man", "t-shirt", "is") if word in vocabulary]
    pairs = [(one, other) for one in odd for other in plain]
    pairs += [(other, one) for one in odd for other in plain]
    step = max(1, len(odd) ** 2 // 20000)
    pairs += [(one, other) for one in odd for other in odd][::step]
    rows = np.array(pairs)
    tokens, lengths = official.tokens(rows)
    texts = [f"{vocabulary[one]} {vocabulary[other]}" for one, other in pairs]
    for text, row, length in zip(tokenise_all(texts), tokens, lengths, strict=True):
        assert [official.known(token) for token in text.split()] == row[:length].tolist(), text


# ---- the arithmetic


@given(st.lists(st.lists(st.integers(1, 4), max_size=7), min_size=1, max_size=6))
def test_packed_ngrams_are_those_of_a_plain_loop(rows):
    longest = max(map(len, rows)) + 1
    tokens = np.zeros((len(rows), longest), np.int64)
    for row, given_row in zip(tokens, rows, strict=True):
        row[: len(given_row)] = given_row
    found = entries(tokens, np.array([len(row) for row in rows]))
    ours = {}
    for sentence, order, key, count in zip(*found, strict=True):
        gram = tuple(int(key) >> 16 * at & 0xFFFF for at in range(order + 1))
        assert (sentence, gram) not in ours, "each once a sentence"
        ours[int(sentence), gram] = int(count)
    plain = {}
    for sentence, row in enumerate(rows):
        for order in range(1, 5):
            for at in range(len(row) - order + 1):
                key = sentence, tuple(row[at : at + order])
                plain[key] = plain.get(key, 0) + 1
    assert ours == plain


@given(
    st.sets(st.integers(1, 2**64 - 1), min_size=1, max_size=200),
    st.lists(st.integers(1, 2**64 - 1), max_size=50),
)
def test_a_table_knows_its_keys_and_no_others(known, others):
    keys = np.array(sorted(known), np.uint64)
    table = Table(keys)
    assert table.places(keys).tolist() == list(range(len(keys)))
    asked = np.array([other for other in others if other not in known], np.uint64)
    assert (table.places(asked) == -1).all()


def test_a_table_finds_keys_that_share_a_bucket():
    keys = np.arange(1, 100_001, dtype=np.uint64) << np.uint64(16)
    table = Table(keys)
    assert (table.places(keys) == np.arange(100_000)).all()
    assert (table.places(keys + np.uint64(1)) == -1).all()


REFERENCES = {"7": ["a red cat", "the cat"], "8": ["a dog runs"], "9": ["two birds", "a bird", "x"]}
WORDS = [*SPECIAL, *"a red cat the dog runs two birds bird".split()]


@pytest.fixture(scope="module")
def known():
    return Known(WORDS, REFERENCES)


def test_pictures_may_have_different_numbers_of_references(known):
    numbers = numbered(["a red cat", "a dog runs", "a bird"], WORDS, 5)
    together = CiderReward(known)(numbers[:, None], ["7", "8", "9"])
    for at, picture in enumerate(REFERENCES):
        alone = CiderReward(known)(numbers[at][None, None], [picture])
        np.testing.assert_allclose(alone[0], together[at], rtol=1e-12)
    assert together.shape == (3, 1)
    assert (together > 0).all()


def test_a_picture_may_come_twice_and_be_named_by_number(known):
    numbers = numbered(["a red cat", "the cat", "a red cat", "runs"], WORDS, 5).reshape(2, 2, 5)
    found = CiderReward(known)(numbers, [7, "7"])
    assert found[0, 0] == found[1, 0]
    np.testing.assert_array_equal(found, CiderReward(known)(numbers, known.numbers(["7", "7"])))


def test_a_mixture_is_the_weighted_sum(known):
    numbers = numbered(["a red cat", "a cat"], WORDS, 5)[None]
    cider, bleu = CiderReward(known), BleuReward(known, 4)
    mixed = Mixture({cider: 1.0, bleu: 0.5, lambda words, _: words.shape[-1] + np.zeros((1, 2)): 2})
    expected = cider(numbers, ["7"]) + 0.5 * bleu(numbers, ["7"]) + 2 * 5
    np.testing.assert_allclose(mixed(numbers, ["7"]), expected)


def test_a_part_of_a_mixture_must_give_a_reward_for_each_sentence(known):
    numbers = numbered(["a red cat"], WORDS)[None]
    with pytest.raises(SettingError, match=r"rewards of shape \(7,\); expected \(1, 1\)"):
        Mixture({lambda words, pictures: np.zeros(7): 1.0})(numbers, ["7"])


def test_names_in_an_array_are_names(known):
    numbers = numbered(["a red cat", "a dog runs"], WORDS)[:, None]
    expected = CiderReward(known)(numbers, ["7", "8"])
    np.testing.assert_array_equal(CiderReward(known)(numbers, np.array([7, 8])), expected)
    with pytest.raises(CaptionError, match="picture 391895 has no references"):
        CiderReward(known)(numbers, np.array([7, 391895]))


def test_a_reward_with_threads_can_be_copied_and_sent_to_another_process(known, monkeypatch):
    monkeypatch.setattr("meshcap.metrics.reward.rewards._WORTH_A_THREAD", 1)
    numbers = numbered(["a red cat", "a dog runs"], WORDS)[:, None]
    reward = CiderReward(known, threads=2)
    expected = reward(numbers, ["7", "8"])
    again = pickle.loads(pickle.dumps(reward))  # noqa: S301 - our own
    np.testing.assert_array_equal(again(numbers, ["7", "8"]), expected)
    # A forked process has none of the threads of this one.
    monkeypatch.setattr("os.getpid", lambda: -1)
    np.testing.assert_array_equal(reward(numbers, ["7", "8"]), expected)


@pytest.mark.parametrize("row", [[END] * 4, [0, 0, 0, 0], [PADDING] * 4])
def test_empty_and_unknown_sentences_are_worth_nothing_but_do_not_fail(known, row):
    found = CiderReward(known)(np.array([[row]]), ["7"])
    assert found[0, 0] == pytest.approx(0, abs=1)
    assert np.isfinite(BleuReward(known)(np.array([[row]]), ["7"])).all()


def test_no_sentences_are_no_rewards(known):
    assert CiderReward(known)(np.zeros((0, 5, 4), np.int64), []).shape == (0, 5)


def test_a_picture_whose_references_are_empty_gives_nothing():
    known = Known(WORDS, {"1": [""], "2": ["a cat"]}, end=False)
    found = CiderReward(known)(numbered(["a cat"], WORDS)[None], ["1"])
    assert found.tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("sentences", "pictures", "error", "says"),
    [
        (np.zeros((1, 2)), ["7"], CaptionError, r"shape \(1, 2\)"),
        (np.zeros((1, 2, 3)), ["7"], CaptionError, "type float64"),
        (np.zeros((2, 2, 3), int), ["7"], CaptionError, "2 pictures, and 1 pictures are named"),
        (np.zeros((1, 2, 3), int), ["70"], CaptionError, "picture 70 has no references"),
        (np.full((1, 1, 3), 99), ["7"], VocabularyError, "word numbers from 99 to 99"),
        (np.full((1, 1, 3), -1), ["7"], VocabularyError, "word numbers from -1 to -1"),
    ],
)
def test_wrong_sentences_and_pictures_are_named(known, sentences, pictures, error, says):
    with pytest.raises(error, match=says):
        CiderReward(known)(sentences, pictures)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Known(WORDS, {}), "found none"),
        (lambda: Known(WORDS, {"1": []}), "picture 1 has no captions"),
        (lambda: Known(WORDS, {"1": "a cat"}), "picture 1 has one string"),
        (lambda: Known(WORDS, {"1": ["a"], 1: ["b"]}), "the same name"),
        (lambda: Known(WORDS, {"1": [""]}, end=False), "hold no words"),
        (lambda: Known(WORDS, REFERENCES, idf="words"), "idf is 'words'"),
        (lambda: Known(WORDS[:2], REFERENCES), "expected numbers below 2"),
        (lambda: Known(WORDS[4:], REFERENCES), "expected special words such as '<eos>' there"),
        (lambda: Known([*WORDS, "cat"], REFERENCES), "has a word twice"),
        (lambda: Mixture({print: float("nan")}), "expected numbers"),
        (
            lambda: Known(WORDS, REFERENCES, idf=DocumentFrequencies.count([["a"]])),
            "do not know the end as a word",
        ),
        (
            lambda: Known(WORDS, REFERENCES, idf=DocumentFrequencies({}, 3, unknown="UNK")),
            "spell words as another vocabulary",
        ),
        (lambda: Mixture({}), "no rewards"),
    ],
)
def test_impossible_rewards_are_refused(make, says):
    with pytest.raises((CaptionError, SettingError, VocabularyError), match=says):
        make()


def test_impossible_settings_of_rewards_are_refused(known):
    with pytest.raises(SettingError, match="0 threads"):
        CiderReward(known, threads=0)
    with pytest.raises(SettingError, match="BLEU-5"):
        BleuReward(known, 5)
