"""`score`: what it takes, what it refuses, what it says in the signature; and the table."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from meshcap import __version__
from meshcap.errors import CaptionError, MissingError, SettingError
from meshcap.metrics import METRICS, CaptionWarning, Metric, register, score
from meshcap.metrics.base import Measured, Signature, mean
from meshcap.metrics.cider import cider_d
from meshcap.metrics.diversity import bad_endings, novel
from meshcap.metrics.idf import DocumentFrequencies
from meshcap.metrics.scoring import without_repeats
from meshcap.metrics.table import Metrics

CANDIDATES = {str(n): text for n, text in enumerate(["a cat on a mat", "two dogs", "a bus"])}
REFERENCES = {
    "0": ["a cat on the mat", "a mat with a cat"],
    "1": ["two dogs run", "dogs"],
    "2": ["a red bus", "the bus"],
}
few = pytest.mark.filterwarnings("ignore:the document frequencies:meshcap.metrics.CaptionWarning")


# ---- what is given


def test_the_interface_page_s_example_works():
    found = score({"1": "a cat"}, {"1": ["a cat on a mat"]}, metrics=["rouge-l"])
    assert found["rouge-l"].value == pytest.approx(2.44 * 0.4 / (0.4 + 1.44))
    assert float(found["rouge-l"]) == found["rouge-l"].value
    assert found["rouge-l"].per_picture == {"1": found["rouge-l"].value}


@pytest.mark.parametrize(
    ("candidates", "references"),
    [
        ({0: "a cat"}, {"0": ["a cat", "one"]}),
        ({"0": ["a cat"]}, {0: ("a cat", "one")}),
    ],
)
def test_numbers_and_strings_name_the_same_picture(candidates, references):
    assert score(candidates, references, "bleu-1")["bleu-1"].value == pytest.approx(1, abs=1e-6)


def test_the_order_of_pictures_is_the_candidates():
    found = score({"b": "a dog", "a": "a cat"}, {"a": ["a cat"], "b": ["a bird"]}, "rouge-l")
    assert list(found["rouge-l"].per_picture) == ["b", "a"]
    assert found["rouge-l"].per_picture["a"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("candidates", "references", "says"),
    [
        ({}, {}, "there are no candidates"),
        (["a cat"], {}, "candidates are of type list"),
        ({"1": "a"}, [["a"]], "references are of type list"),
        ({"1": None}, {"1": ["a"]}, "the candidate of picture 1 is a value of type NoneType"),
        ({"1": 7}, {"1": ["a"]}, "the candidate of picture 1 is a value of type int"),
        ({"1": ["a", "b"]}, {"1": ["a"]}, "the candidate of picture 1 is 2 captions"),
        ({"1": "a"}, {"1": []}, "picture 1 has no references"),
        ({"1": "a"}, {"1": ["a", None]}, "reference 2 of picture 1 is of type NoneType"),
        ({"1": "a"}, {"1": 5}, "the references of picture 1 are of type int"),
        ({"1": "a", 1: "b"}, {"1": ["a"]}, "candidates name picture 1 twice"),
        ({"1": "a"}, {"1": ["a"], 1: ["b"]}, "references name picture 1 twice"),
        ({"1": "a", "2": "b"}, {"1": ["a"]}, "picture 2 has a candidate but no references"),
        ({"1": "a"}, {"1": ["a"], "2": ["b"]}, "picture 2 has references but no candidate"),
        (
            {str(n): "a" for n in range(9)},
            {"0": ["a"]},
            "pictures 1, 2, 3 and 5 more have candidates but no references",
        ),
    ],
)
def test_what_does_not_fit_is_named_and_not_guessed(candidates, references, says):
    with pytest.raises(CaptionError, match=re.escape(says)):
        score(candidates, references, "bleu")


def test_a_subset_is_scored_when_asked_for():
    found = score({"1": "a dog"}, REFERENCES | {"1": ["a dog"]}, "rouge-l", subset=True)
    assert found["rouge-l"].value == pytest.approx(1)
    assert "|pictures:1|" in str(found["rouge-l"].signature)


@pytest.mark.parametrize(
    ("candidate", "reference", "says"),
    [
        ("", "a cat", "1 candidate is empty: picture 1"),
        ("a cat", " ", "1 picture has an empty reference: picture 1"),
        ("a <unk> cat", "a cat", "1 candidate still holds a special word ('<unk>' in picture 1)"),
        ("a cat <eos>", "a cat", "still holds a special word ('<eos>' in picture 1)"),
        ("a cat </s>", "a cat", "still holds a special word ('</s>' in picture 1)"),
        ("a cat [SEP]", "a cat", "still holds a special word ('[SEP]' in picture 1)"),
        ("a cat <|endoftext|>", "a cat", "still holds a special word ('<|endoftext|>'"),
    ],
)
def test_what_looks_wrong_is_scored_with_a_warning(candidate, reference, says):
    with pytest.warns(CaptionWarning, match=re.escape(says)):
        score({"1": candidate}, {"1": [reference]}, "rouge-l")


def test_frequencies_from_few_pictures_are_warned_of():
    with pytest.warns(CaptionWarning, match="frequencies of cider-d are counted in 3 pictures"):
        score(CANDIDATES, REFERENCES, "cider-d")


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("a a man man in in the", "a man in the"),
        ("a man a man", "a man a man"),
        ("", ""),
        ("A a cat", "A a cat"),
    ],
)
def test_only_words_that_repeat_the_one_before_are_removed(caption, expected):
    assert without_repeats(caption) == expected


def test_tokens_are_taken_as_they_are_when_asked_for():
    found = score({"1": "A Cat ."}, {"1": ["a cat"]}, "bleu-1", tokeniser="none")
    assert found["bleu-1"].value == pytest.approx(0, abs=1e-6)
    assert "|tok:none|" in str(found["bleu-1"].signature)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"tokeniser": "spacy"}, "tokeniser is 'spacy'; expected 'ptb' or 'none'"),
        ({"repeats": "twice"}, "repeats is 'twice'"),
        ({"metrics": ["blue"]}, "there is no metric 'blue'; did you mean 'bleu'?"),
        ({"metrics": ["CIDEr-E"]}, "there is no metric 'CIDEr-E'; did you mean 'cider-d'?"),
        ({"metrics": ["CIDEr"]}, "what papers call CIDEr is 'cider-d'"),
        ({"metrics": []}, "no metric is named"),
        ({"metrics": [cider_d(), cider_d(end=True)]}, "'cider-d' is asked for twice"),
    ],
)
def test_an_unknown_setting_is_refused(settings, says):
    with pytest.raises(SettingError, match=re.escape(says)):
        score(CANDIDATES, REFERENCES, **settings)


def test_a_wrong_idf_is_refused():
    with pytest.raises(SettingError, match="expected 'corpus' or DocumentFrequencies"):
        cider_d(idf="coco-train")


# ---- what comes back


@few
def test_one_score_of_a_family_may_be_asked_for():
    assert list(score(CANDIDATES, REFERENCES, ["bleu-4", "cider-d"])) == ["bleu-4", "cider-d"]
    assert list(score(CANDIDATES, REFERENCES, "bleu")) == ["bleu-1", "bleu-2", "bleu-3", "bleu-4"]


@few
def test_a_signature_tells_everything_that_changes_a_score():
    frequencies = DocumentFrequencies.count(REFERENCES.values(), end=True, name="mine")
    found = score(
        CANDIDATES,
        REFERENCES,
        [cider_d(idf=frequencies, end=True)],
        repeats="removed",
        choices={"beam": "5"},
    )
    said = str(found["cider-d"].signature)
    assert re.fullmatch(
        r"cider-d\|tok:ptb\|idf:mine@[0-9a-f]{8}\|refs:2\|end:yes\|repeats:removed\|pictures:3"
        rf"\|data:[0-9a-f]{{8}}\|beam:5\|meshcap:{re.escape(__version__)}",
        said,
    )


@few
def test_other_references_have_another_signature_and_another_order_has_not():
    def signed(references):
        return score(CANDIDATES, references, "bleu-1")["bleu-1"].signature

    first = signed(REFERENCES)
    assert signed(dict(reversed(REFERENCES.items()))) == first
    [difference] = first.differences(signed(REFERENCES | {"0": ["a cat", "a mat"]}))
    assert difference.startswith("data: ")
    assert signed(REFERENCES | {"0": ["one"]}).choices != first.choices
    assert "|refs:1-2|" in str(signed(REFERENCES | {"0": ["one"]}))


@pytest.mark.parametrize("name", ["tok", "refs", "meshcap", "ear"])
def test_a_choice_of_ours_cannot_hide_what_the_signature_says(name):
    with pytest.raises(SettingError, match=f"says '{name}' already"):
        score(CANDIDATES, REFERENCES, [shouting()], choices={name: "mine"})


def test_signatures_say_what_differs():
    first = Signature.of("cider-d", {"idf": "corpus", "end": "no"})
    second = Signature.of("cider-d", {"idf": "captions", "end": "no", "beam": "5"})
    assert first.differences(second) == ["idf: corpus, captions", "beam: nothing, 5"]
    assert first.differences(first) == []
    assert str(first) == "cider-d|idf:corpus|end:no"


def test_an_unmeasured_score_is_named_with_what_there_is():
    found = score(CANDIDATES, REFERENCES, "bleu-1")
    with pytest.raises(KeyError, match="no score 'meteor' was measured: found are bleu-1"):
        found["meteor"]


def test_progress_is_told_for_tokens_and_for_each_metric():
    told = []
    score(CANDIDATES, REFERENCES, ["bleu", "rouge-l"], progress=lambda *event: told.append(event))
    assert ("tokens", 9, 9) in told
    assert ("bleu", 3, 3) in told
    assert [event for event in told if event[0] == "rouge-l"][-1] == ("rouge-l", 3, 3)


def test_progress_is_told_of_what_a_metric_makes_ready_first():
    told = []
    ready = replace(shouting(), prepare=lambda watch: watch(3, 7))
    score(CANDIDATES, REFERENCES, ready, progress=lambda *event: told.append(event))
    assert told.index(("data of shouting", 3, 7)) == len(told) - 1


# ---- metrics that are missing, and those of users


def lacking():
    def measure(corpus, tick):
        raise MissingError("its data is not installed; `pip install data` installs it")

    return Metric("lacking", measure, "a metric whose data is absent")


def shouting(name="shouting", scores=()):
    def measure(corpus, tick):
        values = [float(text.isupper()) for text in corpus.candidates]
        return {given: mean(values, choices={"ear": "left"}) for given in scores or (name,)}

    return Metric(name, measure, "a user's metric", scores)


@pytest.fixture
def registered():
    added = []

    def add(metric):
        register(metric)
        added.append(metric.name)

    yield add
    for name in added:
        METRICS.remove(name)


def test_a_user_s_metric_runs_by_name_with_a_signature(registered):
    registered(shouting())
    found = score(CANDIDATES, REFERENCES, ["shouting"])
    assert found["shouting"].value == 0
    assert "|ear:left|" in str(found["shouting"].signature)
    assert "shouting" in score(CANDIDATES, REFERENCES, [shouting()])


@few
def test_the_usual_metrics_run_without_one_that_misses_its_data(registered):
    registered(lacking())
    found = score(CANDIDATES, REFERENCES)
    assert "its data is not installed" in found.missing["lacking"]
    assert {"bleu-4", "rouge-l", "cider-d"} <= found.keys()
    with pytest.raises(KeyError, match="its data is not installed"):
        found["lacking"]


def test_a_named_metric_that_misses_its_data_is_an_error_unless_asked_otherwise():
    with pytest.raises(MissingError, match="its data is not installed"):
        score(CANDIDATES, REFERENCES, ["rouge-l", lacking()])
    found = score(CANDIDATES, REFERENCES, ["rouge-l", lacking()], missing="skip")
    assert list(found) == ["rouge-l"]
    assert list(found.missing) == ["lacking"]


@pytest.mark.parametrize(
    ("gives", "says"),
    [
        ({"mine": 0.5}, "gave a float as mine; expected Measured"),
        ({"other": mean([1.0] * 3)}, "gave other; expected a mapping with mine"),
        ({}, "gave nothing"),
        (0.5, "gave nothing"),
        ({"mine": mean([1.0])}, "gave scores of 1 pictures as mine; expected 3"),
    ],
)
def test_what_a_metric_should_not_give_is_named(gives, says):
    with pytest.raises(SettingError, match=f"metric 'mine' {re.escape(says)}"):
        score(CANDIDATES, REFERENCES, Metric("mine", lambda corpus, tick: gives, "a user's"))


def test_a_metric_may_look_at_captions_as_they_were_written():
    def measure(corpus, tick):
        return {"mine": mean([float(text[:1].isupper()) for text in corpus.written])}

    found = score(
        {"1": "A cat", "2": "a dog"}, {"1": ["x"], "2": ["y"]}, Metric("mine", measure, "")
    )
    assert found["mine"].per_picture == {"1": 1.0, "2": 0.0}


@few
def test_names_of_papers_are_understood():
    assert list(score(CANDIDATES, REFERENCES, ["BLEU_4", "ROUGE_L", "CIDEr-D"])) == [
        "bleu-4",
        "rouge-l",
        "cider-d",
    ]


@pytest.mark.parametrize("name", ["Bad", "a b", "a|b", "a:b", "", "a,b"])
def test_a_metric_s_name_can_stand_in_a_signature(name):
    with pytest.raises(SettingError, match="expected small letters"):
        register(shouting(name))


@pytest.mark.parametrize("metrics", [cider_d, [cider_d], [None], [5]])
def test_what_is_no_metric_is_named(metrics):
    with pytest.raises(SettingError, match="is no metric; expected a name or a value"):
        score(CANDIDATES, REFERENCES, metrics)


def test_two_metrics_of_one_call_do_not_give_one_score():
    with pytest.raises(SettingError, match="two metrics give a score 'bleu-4'"):
        score(CANDIDATES, REFERENCES, ["bleu", shouting("mine", ("bleu-4",))])


def test_scores_by_other_lists_have_other_signatures():
    for make in (novel, bad_endings):
        metrics = [make(["mat"]), make(["run"])]
        one, other = (score(CANDIDATES, REFERENCES, each)[each.name] for each in metrics)
        assert one.signature.differences(other.signature)


class Found:
    """An entry point of an installed package."""

    def __init__(self, name, load):
        self.name, self.load = name, load


def test_installed_packages_bring_metrics_and_a_broken_one_is_named(monkeypatch):
    def broken():
        raise ModuleNotFoundError("No module named 'gone'")

    found = [Found("brought", lambda: shouting("brought")), Found("gone", broken)]
    monkeypatch.setattr("meshcap.metrics.table.entry_points", lambda group: found)
    table = Metrics({"bleu": "meshcap.metrics.bleu:bleu"})
    with pytest.warns(CaptionWarning, match="the metric 'gone' of an installed package cannot be"):
        assert list(table) == ["bleu", "brought"]
    assert table.named("brought").name == "brought"


def test_the_fingerprint_of_the_data_tells_names_and_texts_apart():
    def printed(references):
        candidates = dict.fromkeys(references, "a")
        found = score(candidates, references, "bleu-1")["bleu-1"].signature
        return dict(found.choices)["data"]

    same = printed({"1": ["ab", "c"], "2": ["d"]})
    others = [
        {"1": ["ab", "c"], "3": ["d"]},
        {"1": ["a", "bc"], "2": ["d"]},
        {"1": ["ab"], "2": ["c", "d"]},
        {"1": ["c", "ab"], "2": ["d"]},
    ]
    assert len({same, *map(printed, others)}) == 5
    assert printed({"2": ["d"], "1": ["ab", "c"]}) == same


def test_a_metric_of_ours_is_not_replaced():
    with pytest.raises(SettingError, match="there is a metric 'bleu' already"):
        register(shouting("bleu"))


def test_frequencies_that_do_not_know_the_end_refuse_it():
    with pytest.raises(SettingError, match="do not know the end as a word"):
        cider_d(idf=DocumentFrequencies.count(REFERENCES.values()), end=True)


def test_saved_frequencies_of_few_pictures_are_warned_of():
    with pytest.warns(CaptionWarning, match="frequencies of cider-d are counted in 3 pictures"):
        frequencies = DocumentFrequencies.count(REFERENCES.values())
        score(CANDIDATES, REFERENCES, cider_d(idf=frequencies))


@pytest.mark.parametrize("choices", [{"a|b": "1"}, {"a:b": "1"}, {"a": "1|2"}, {"": "1"}])
def test_a_choice_that_would_break_the_signature_is_refused(choices):
    with pytest.raises(SettingError, match="a signature cannot hold"):
        score(CANDIDATES, REFERENCES, "bleu-1", choices=choices)


def test_two_metrics_do_not_share_a_name():
    with pytest.raises(SettingError, match="gives a score 'bleu-4', and so does 'bleu'"):
        register(shouting("mine", ("bleu-4",)))
    assert "mine" not in METRICS


def test_every_row_of_the_table_makes_a_metric_of_its_name():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.says and metric.says[-1] != "."
        assert METRICS.named(metric.names[-1]).name == name


def test_a_measured_value_alone_has_no_pictures():
    assert Measured(1.0).per_picture is None


def test_the_metrics_load_neither_torch_nor_the_rest_of_the_package():
    question = (
        "import sys, meshcap.metrics as m\n"
        "m.score({1: 'a'}, {1: ['a']}, ['bleu', 'rouge-l', 'cider', 'length'])\n"
        "import meshcap.metrics.reward, meshcap.metrics.spice, meshcap.metrics.meteor\n"
        "mine = {name.split('.')[1] for name in sys.modules if name.startswith('meshcap.')}\n"
        "assert mine <= {'metrics', 'errors', 'files'}, mine\n"
        "assert 'torch' not in sys.modules\n"
    )
    source = Path(__file__).resolve().parents[2] / "src"
    asked = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", question],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
