"""The bootstrap: right by a plain loop, the same by seed, and only between scores alike."""

import numpy as np
import pytest

from meshcap.errors import SettingError
from meshcap.metrics import Measured, Score, Signature, compare, interval, score
from meshcap.metrics.cider import cider_d

pytestmark = pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")

WORDS = "a cat dog on mat runs red bus the in street two".split()
NAMES = ["bleu", "rouge-l", "cider-d", "length"]


def system(seed, likeness, pictures=40):
    """References, and candidates that repeat one with a given probability for each word."""
    random = np.random.default_rng(7)
    references = {
        str(n): [" ".join(random.choice(WORDS, 7)) for _ in range(3)] for n in range(pictures)
    }
    random = np.random.default_rng(seed)
    candidates = {
        picture: " ".join(
            word if random.random() < likeness else str(random.choice(WORDS))
            for word in texts[0].split()
        )
        for picture, texts in references.items()
    }
    return candidates, references


@pytest.fixture(scope="module")
def systems():
    good, references = system(1, 0.9)
    bad, _ = system(2, 0.4)
    return score(good, references, NAMES), score(bad, references, NAMES), good, bad, references


def drawn(pictures, samples, seed):
    random = np.random.default_rng(seed)
    return [random.integers(0, pictures, pictures) for _ in range(samples)]


def test_a_mean_is_resampled_as_a_plain_loop_does(systems):
    ours, theirs, *_ = systems
    first = np.array(list(ours["rouge-l"].per_picture.values()))
    second = np.array(list(theirs["rouge-l"].per_picture.values()))
    differences = np.array([first[draw].mean() - second[draw].mean() for draw in drawn(40, 300, 5)])
    found = compare(ours["rouge-l"], theirs["rouge-l"], samples=300, seed=5)
    assert found.difference == pytest.approx(first.mean() - second.mean())
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])))
    beyond = np.sum(np.abs(differences - differences.mean()) >= abs(found.difference))
    assert found.p_value == pytest.approx((beyond + 1) / 301)


def test_a_small_difference_has_a_p_value_by_the_same_loop(systems):
    *_, good, _, references = systems
    nearly = good | {str(n): references[str(n)][1] for n in (3, 9)}
    first, second = (score(each, references, "rouge-l")["rouge-l"] for each in (good, nearly))
    ours, theirs = (np.array(list(each.per_picture.values())) for each in (first, second))
    differences = np.array([ours[d].mean() - theirs[d].mean() for d in drawn(40, 500, 11)])
    found = compare(first, second, samples=500, seed=11)
    beyond = np.sum(np.abs(differences - differences.mean()) >= abs(found.difference))
    assert found.p_value == pytest.approx((beyond + 1) / 501)
    assert 0.02 < found.p_value < 0.9


def test_samples_in_which_a_score_is_undefined_are_left_out():
    # A sub-score that most pictures do not have: in some samples none of the drawn has it.
    statistics = np.zeros((4, 2))
    statistics[0] = [0.5, 1.0]

    def total(sums, pictures):
        nothing = np.full(sums[..., 0].shape, np.nan)
        return np.divide(sums[..., 0], sums[..., 1], out=nothing, where=sums[..., 1] > 0)

    measured = Measured(0.5, np.array([0.5, *[np.nan] * 3]), statistics, total)
    higher = Measured(0.75, measured.per_picture, statistics * [1.5, 1], total)
    first, second = (
        Score("x", each.value, Signature.of("x", {}), ("1", "2", "3", "4"), each)
        for each in (measured, higher)
    )
    assert interval(first, samples=200) == (0.5, 0.5)
    found = compare(first, second, samples=200)
    assert (found.low, found.high) == (-0.25, -0.25)
    drawn_with = sum(0 in draw for draw in drawn(4, 200, 0))
    assert drawn_with < 200
    assert found.p_value == pytest.approx(1 / (drawn_with + 1))


def test_bleu_is_made_anew_of_the_drawn_pictures(systems):
    """The corpus' BLEU of a sample is the score of that sample as a corpus."""
    ours, _, good, _, references = systems
    values = []
    for draw in drawn(40, 20, 3):
        candidates = {str(n): good[str(picture)] for n, picture in enumerate(draw)}
        of_them = {str(n): references[str(picture)] for n, picture in enumerate(draw)}
        values.append(score(candidates, of_them, "bleu-4")["bleu-4"].value)
    low, high = interval(ours["bleu-4"], samples=20, seed=3)
    assert (low, high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), rel=1e-9)
    assert low < ours["bleu-4"].value < high


@pytest.mark.parametrize("name", ["bleu-1", "bleu-4", "rouge-l", "cider-d"])
def test_a_clear_difference_is_clear_and_none_is_none(systems, name):
    ours, theirs, *_ = systems
    clear = compare(ours[name], theirs[name])
    assert clear.low > 0
    assert clear.p_value == pytest.approx(1 / 1001)
    turned = compare(theirs[name], ours[name])
    assert turned.difference == -clear.difference
    assert (turned.low, turned.high) == pytest.approx((-clear.high, -clear.low))
    none = compare(ours[name], ours[name])
    assert (none.difference, none.low, none.high, none.p_value) == (0, 0, 0, 1)


def test_a_sample_is_decided_by_its_seed_alone(systems, monkeypatch):
    ours, theirs, *_ = systems
    first = compare(ours["cider-d"], theirs["cider-d"], samples=100, seed=1)
    assert compare(ours["cider-d"], theirs["cider-d"], samples=100, seed=1) == first
    assert compare(ours["cider-d"], theirs["cider-d"], samples=100, seed=2) != first
    # … and not by how many samples are in memory at once.
    monkeypatch.setattr("meshcap.metrics.comparison._AT_ONCE", 40 * 7)
    again = compare(ours["cider-d"], theirs["cider-d"], samples=100, seed=1)
    assert (again.low, again.high) == pytest.approx((first.low, first.high), rel=1e-12)


def test_scores_measured_differently_are_not_compared(systems):
    ours, _, good, bad, references = systems
    other = score(bad, references, [cider_d(end=True)])
    with pytest.raises(SettingError, match=r"signatures differ \(end: no, yes\)"):
        compare(ours["cider-d"], other["cider-d"])
    other = score(bad, references, "cider-d", repeats="removed")
    with pytest.raises(SettingError, match=r"repeats: kept, removed"):
        compare(ours["cider-d"], other["cider-d"])
    other = score(good, references | {"0": ["a", "b", "c"]}, "cider-d")
    with pytest.raises(SettingError, match=r"data: [0-9a-f]{8}, [0-9a-f]{8}"):
        compare(ours["cider-d"], other["cider-d"])
    moved = score(dict(reversed(bad.items())), references, "cider-d")
    with pytest.raises(SettingError, match=r"pictures \(40 and 40, or in another order\)"):
        compare(ours["cider-d"], moved["cider-d"])


def test_what_does_not_add_up_has_no_interval():
    candidates, references = system(1, 0.5)
    with pytest.raises(SettingError, match="vocabulary is no sum over pictures"):
        interval(score(candidates, references, "vocabulary")["vocabulary"])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"samples": 0}, "0 samples"),
        ({"samples": 10**7}, "10,000,000 samples"),
        ({"confidence": 1.0}, "confidence is 1.0"),
    ],
)
def test_impossible_settings_are_named(systems, settings, says):
    with pytest.raises(SettingError, match=says):
        interval(systems[0]["rouge-l"], **settings)


def test_a_comparison_says_what_it_found_in_a_line(systems):
    found = compare(systems[0]["rouge-l"], systems[1]["rouge-l"])
    assert str(found).startswith(f"rouge-l: +{found.difference:.4f} [+")
    assert str(found).endswith("p = 0.0010")
