"""BLEU, ROUGE and CIDEr equal the official tools' doubles.

The truth: what pycocoevalcap 1.2 and the authors' evaluation printed (see the golden READMEs).
"""

import numpy as np
import pytest

from meshcap.metrics import score
from meshcap.metrics.cider import cider, cider_d
from meshcap.metrics.idf import DocumentFrequencies

RELATIVE = 1e-12
OFFICIAL = [
    ("bleu-1", "Bleu_1"),
    ("bleu-2", "Bleu_2"),
    ("bleu-3", "Bleu_3"),
    ("bleu-4", "Bleu_4"),
    ("rouge-l", "ROUGE_L"),
    ("cider-d", "CIDEr"),
    ("cider-d", "CIDEr_D"),
    ("cider", "CIDEr_plain"),
]


@pytest.fixture(scope="module")
def scored(thousand):
    return score(
        thousand.tokenised_candidates,
        thousand.tokenised_references,
        ["bleu", "rouge-l", "cider-d", "cider"],
        tokeniser="none",
    )


def agrees(found, thousand, official):
    """Assert that a score and all its 1,000 pictures are the official doubles."""
    assert found.value == pytest.approx(thousand.corpus[official], rel=RELATIVE, abs=0)
    ours = np.array(list(found.per_picture.values()))
    theirs = np.array([thousand.per_picture[picture][official] for picture in thousand.pictures])
    np.testing.assert_allclose(ours, theirs, rtol=RELATIVE, atol=0)
    assert len(ours) == 1000


@pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")
@pytest.mark.parametrize(("name", "official"), OFFICIAL)
def test_a_score_equals_the_official_one_on_every_picture(scored, thousand, name, official):
    agrees(scored[name], thousand, official)


@pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")
@pytest.mark.parametrize(("name", "official"), OFFICIAL)
def test_raw_captions_give_the_same_corpus_scores(thousand, name, official):
    found = score(thousand.candidates, thousand.references, [name])
    agrees(found[name], thousand, official)


@pytest.fixture(scope="module")
def first_500(thousand):
    return [thousand.tokenised_references[picture] for picture in thousand.pictures[:500]]


@pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")
@pytest.mark.parametrize(
    ("make", "official"), [(cider_d, "CIDEr_D_df500"), (cider, "CIDEr_plain_df500")]
)
@pytest.mark.parametrize("saved", [False, True])
def test_document_frequencies_of_other_pictures(
    thousand, first_500, make, official, saved, tmp_path
):
    frequencies = DocumentFrequencies.count(first_500)
    assert frequencies.documents == 500
    if saved:
        frequencies.save(tmp_path / "df500.p")
        frequencies = DocumentFrequencies.load(tmp_path / "df500.p")
    metric = make(idf=frequencies)
    found = score(
        thousand.tokenised_candidates, thousand.tokenised_references, metric, tokeniser="none"
    )
    agrees(found[metric.name], thousand, official)


@pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")
def test_frequencies_of_word_numbers_with_the_end_token(thousand, first_500, tmp_path):
    # The golden README's vocabulary: words seen three times in the 500, sorted, from 1.
    words = [word for captions in first_500 for text in captions for word in text.split()]
    kept = sorted(word for word in set(words) if words.count(word) >= 3)
    assert len(kept) == 794
    numbers = {word: number for number, word in enumerate(kept, start=1)}
    spelt = DocumentFrequencies(
        {}, 1, end="0", unknown="795", numbers={word: str(n) for word, n in numbers.items()}
    )
    in_numbers = [
        [" ".join(spelt.spell(text.split(), end=True)) for text in captions]
        for captions in first_500
    ]
    DocumentFrequencies.count(in_numbers).save(tmp_path / "idxs.p")
    metric = cider_d(
        idf=DocumentFrequencies.load(tmp_path / "idxs.p", numbers=numbers, unknown=795), end=True
    )
    found = score(
        thousand.tokenised_candidates, thousand.tokenised_references, metric, tokeniser="none"
    )
    agrees(found["cider-d"], thousand, "CIDEr_D_df500_idx_eos")
    assert "|end:yes|" in str(found["cider-d"].signature)


# ---- on every clone: 48 pictures


@pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")
@pytest.mark.parametrize("repeats", ["kept", "removed"])
def test_the_authors_evaluation_with_and_without_repeated_words(small, repeats):
    found = score(
        small["kept"]["candidates"],
        small["references"],
        ["bleu", "rouge-l", "cider-d"],
        repeats=repeats,
    )
    official, per_picture = small[repeats]["scores"], small[repeats]["per_picture"]
    for order in range(4):
        ours = found[f"bleu-{order + 1}"]
        assert ours.value == pytest.approx(official["BLEU"][order], rel=RELATIVE, abs=0)
        np.testing.assert_allclose(
            list(ours.per_picture.values()), per_picture["BLEU"][order], rtol=RELATIVE
        )
    for name, theirs in (("rouge-l", "ROUGE"), ("cider-d", "CIDEr")):
        assert found[name].value == pytest.approx(official[theirs], rel=RELATIVE, abs=0)
        np.testing.assert_allclose(
            list(found[name].per_picture.values()), per_picture[theirs], rtol=RELATIVE
        )
    assert f"|repeats:{repeats}|" in str(found["cider-d"].signature)
