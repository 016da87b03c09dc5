"""`meshcap score`: what it prints and writes, in each form, and what it refuses.

Knows the command and files of captions; what metrics measure is in tests/metrics. Broken and
hostile files are in tests/hostile.
"""

import csv
import gzip
import json
import os
import pickle
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

from meshcap import __version__
from meshcap.cli.main import main
from meshcap.metrics import METRICS, Measured, Metric, register
from meshcap.metrics.base import mean

SOURCE = Path(__file__).resolve().parents[2] / "src"

CANDIDATES = {
    "9": "a cat on a mat",
    "61": "two dogs run",
    "241": "a man with a",
    "312": "a red bus",
}
REFERENCES = {
    "9": ["a cat on the mat", "a cat sits on a mat"],
    "61": ["two dogs run", "dogs"],
    "241": ["a man with a hat", "a man"],
    "312": ["a bus on a street", "the red bus"],
}
OTHERS = CANDIDATES | {"61": "a cat", "312": "a bus on a street"}
FAST = ["--tokens", "none", "--metric", "bleu,rouge-l,cider-d"]
FEW = "document frequencies of cider-d are counted in 4 pictures"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with candidates, references and another system's candidates."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("c.json", CANDIDATES), ("r.json", REFERENCES), ("o.json", OTHERS)):
        Path(name).write_text(json.dumps(value), encoding="utf-8")
    return tmp_path


@pytest.fixture
def rows():
    """The table of metrics, as it was before."""
    before = dict(METRICS._rows)
    yield METRICS
    METRICS._rows.clear()
    METRICS._rows.update(before)


def told(capsys, *arguments, code=0):
    """What the command prints to stdout and stderr."""
    assert main(["score", *map(str, arguments)]) == code
    return capsys.readouterr()


def scored(capsys, *arguments) -> dict:
    """What the command prints as JSON."""
    return json.loads(told(capsys, *arguments, "--json").out)


def values(found: dict) -> dict[str, float]:
    return {name: entry["value"] for name, entry in found["scores"].items()}


def refused(capsys, *arguments) -> str:
    """The one sentence that the command ends with."""
    said = told(capsys, *arguments, code=1)
    assert said.out == ""
    assert said.err.startswith("meshcap: ")
    assert said.err.count("\n") == 1
    return said.err


# ---- scores


def test_the_table_has_a_line_a_score_and_the_signatures_below(folder, capsys):
    said = told(capsys, "c.json", "r.json", "--tokens", "none", "--metric", "bleu-4,rouge-l,length")
    lines = said.out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["metric", "bleu-4", "rouge-l", "length"]
    assert lines[3].split() == ["length", "3.75"]
    assert len({len(line) for line in lines[:4]}) == 1, "columns are aligned"
    data = lines[-1].rpartition("data:")[2].partition("|")[0]
    assert lines[4:] == [
        "",
        "bleu-4 rouge-l length: tok:none|refs:2|repeats:kept|pictures:4|"
        f"data:{data}|meshcap:{__version__}",
    ]
    assert said.err == ""


def test_one_candidate_that_is_its_reference_scores_one(folder, capsys):
    Path("c.txt").write_text("a cat on a mat\n", encoding="utf-8")
    said = told(capsys, "c.txt", "c.txt", "--tokens", "none", "--metric", "bleu-4,rouge-l")
    assert [line.split() for line in said.out.splitlines()[1:3]] == [
        ["bleu-4", "1.0000"],
        ["rouge-l", "1.0000"],
    ]


OFFICIAL = {
    "bleu-1": "0.5665",
    "bleu-2": "0.3984",
    "bleu-3": "0.2873",
    "bleu-4": "0.2179",
    "rouge-l": "0.4509",
    "cider-d": "0.8341",
    "cider": "0.9391",
}
METEOR = {"meteor": "0.2290"}


@pytest.fixture
def official(shared, tmp_path, monkeypatch):
    """The golden captions in COCO's forms: results, and captions."""
    folder = shared / "golden" / "metrics"
    if not folder.is_dir():
        pytest.skip(f"the official scores, '{folder}', are absent")
    monkeypatch.chdir(tmp_path)
    given = json.loads((folder / "references.json").read_text(encoding="utf-8"))
    annotations = [
        {"id": number, "image_id": int(picture), "caption": caption}
        for picture, captions in given.items()
        for number, caption in enumerate(captions)
    ]
    images = [{"id": int(picture), "file_name": f"{picture}.jpg"} for picture in given]
    write("captions.json", {"info": {}, "images": images, "annotations": annotations})
    return folder / "candidates.json"


def write(path, value) -> None:
    Path(path).write_text(json.dumps(value), encoding="utf-8")


def test_the_official_tools_values_are_printed_to_four_digits(official, capsys):
    names, expected = "bleu,rouge-l,cider-d,cider", OFFICIAL
    if find_spec("pycocoevalcap") is not None:
        names, expected = f"{names},meteor", OFFICIAL | METEOR
    said = told(capsys, official, "captions.json", "--metric", names, "--quiet")
    table = said.out.partition("\n\n")[0].splitlines()[1:]
    assert dict(line.split() for line in table) == expected
    assert said.err == ""


def candidate_files() -> dict[str, object]:
    entries = [{"image_id": int(name), "caption": text} for name, text in CANDIDATES.items()]
    printed = [
        {"file": f"photos/{name}.jpg", "caption": text, "captions": [], "model": "m2"}
        for name, text in CANDIDATES.items()
    ]
    return {
        "COCO results": entries,
        "JSON lines": "".join(json.dumps(each) + "\n" for each in entries),
        "meshcap caption --json": "".join(json.dumps(each) + "\n" for each in printed),
        "meshcap caption": "".join(f"{each['file']}\t{each['caption']}\n" for each in printed),
        "an object": CANDIDATES,
        "an object of lists": {name: [text] for name, text in CANDIDATES.items()},
        "a table": "image,caption\n" + "".join(f"{k}.jpg,{v}\n" for k, v in CANDIDATES.items()),
    }


def reference_files() -> dict[str, object]:
    images = [{"id": int(name), "file_name": f"{name}.jpg"} for name in REFERENCES]
    annotations = [
        {"image_id": int(name), "caption": text}
        for name, texts in REFERENCES.items()
        for text in texts
    ]
    karpathy = [
        {
            "cocoid": int(name),
            "imgid": number,
            "filename": f"{name}.jpg",
            "split": "test",
            "sentences": [{"raw": text} for text in texts],
        }
        for number, (name, texts) in enumerate(REFERENCES.items())
    ]
    return {
        "COCO captions": {"images": images, "annotations": annotations},
        "Karpathy": {"images": karpathy, "dataset": "coco"},
        "JSON lines": "".join(
            json.dumps({"image_id": int(name), "file_name": f"{name}.jpg", "captions": texts})
            + "\n"
            for name, texts in REFERENCES.items()
        ),
    }


@pytest.mark.parametrize("theirs", reference_files())
@pytest.mark.parametrize("ours", candidate_files())
def test_every_form_gives_the_same_scores(ours, theirs, folder, capsys):
    expected = scored(capsys, "c.json", "r.json", *FAST)
    for path, value in (("c", candidate_files()[ours]), ("r", reference_files()[theirs])):
        text = value if isinstance(value, str) else json.dumps(value)
        Path(path).write_bytes(gzip.compress(text.encode()))
    found = scored(capsys, "c", "r", *FAST)
    assert found["scores"] == expected["scores"], "values and signatures"


def test_parallel_lines_give_the_same_scores(folder, capsys):
    Path("c.txt").write_text("".join(f"{each}\n" for each in CANDIDATES.values()), encoding="utf-8")
    for number in range(2):
        lines = "".join(f"{each[number]}\n" for each in REFERENCES.values())
        Path(f"r{number}.txt").write_text(lines, encoding="utf-8")
    found = scored(capsys, "c.txt", "r0.txt", "r1.txt", *FAST)
    assert values(found) == values(scored(capsys, "c.json", "r.json", *FAST))
    assert found["references"] == ["r0.txt", "r1.txt"]


def test_files_of_references_are_merged_by_picture(folder, capsys):
    for number in range(2):
        write(f"r{number}.json", {name: texts[number] for name, texts in REFERENCES.items()})
    found = scored(capsys, "c.json", "r0.json", "r1.json", *FAST)
    assert found["scores"] == scored(capsys, "c.json", "r.json", *FAST)["scores"]


def test_candidates_come_from_a_pipe_too(folder):
    asked = subprocess.run(
        [sys.executable, "-m", "meshcap", "score", "-", "r.json", *FAST, "--json", "--quiet"],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        input=json.dumps(CANDIDATES),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (asked.returncode, asked.stderr) == (0, "")
    assert json.loads(asked.stdout)["candidates"] == "-"


def test_json_is_one_object_that_says_everything(folder, capsys):
    found = scored(capsys, "c.json", "r.json", *FAST, "--note", "beam=5", "--intervals")
    assert found["format"] == "meshcap scores"
    assert (found["candidates"], found["references"]) == ("c.json", ["r.json"])
    assert (found["pictures"], found["matched_by"], found["missing"]) == (4, "id", {})
    entry = found["scores"]["cider-d"]
    assert entry["choices"]["idf"] == "corpus"
    assert entry["choices"]["beam"] == "5"
    assert entry["signature"].startswith("cider-d|tok:none|idf:corpus|refs:2|end:no|repeats:kept|")
    low, high = entry["interval"]
    assert low <= entry["value"] <= high
    assert "against" not in found


def test_the_usual_metrics_run_when_none_is_named(folder, capsys):
    found = scored(capsys, "c.json", "r.json")
    assert {"bleu-1", "bleu-4", "rouge-l", "cider-d", "distinct-1", "length"} <= set(
        found["scores"]
    )
    assert "cider" not in found["scores"], "it is measured when it is named"


def test_a_metric_may_be_named_by_one_of_its_scores(folder, capsys):
    said = told(capsys, "c.json", "r.json", "--tokens", "none", "--metric", "bleu-4", "--json")
    assert list(json.loads(said.out)["scores"]) == ["bleu-4"]
    both = scored(capsys, "c.json", "r.json", "--metric", "bleu-4", "--metric", "length, bleu")
    assert list(both["scores"]) == ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "length"]


# ---- choices


def test_repeats_are_removed_on_demand(folder, capsys):
    write("c.json", CANDIDATES | {"61": "two two dogs dogs run"})
    arguments = ["c.json", "r.json", "--tokens", "none", "--metric", "length"]
    kept, removed = (scored(capsys, *arguments, "--repeats", how) for how in ("kept", "removed"))
    assert (values(kept)["length"], values(removed)["length"]) == (4.25, 3.75)
    assert removed["scores"]["length"]["choices"]["repeats"] == "removed"


def test_tokens_are_the_official_ones_unless_they_are_given(folder, capsys):
    write("c.json", CANDIDATES | {"61": "Two dogs, run!"})
    official = scored(capsys, "c.json", "r.json", "--metric", "rouge-l")
    write("plain.json", CANDIDATES)
    plain = scored(capsys, "plain.json", "r.json", "--metric", "rouge-l", "--tokens", "none")
    assert values(official) == values(plain), "without capitals and punctuation"
    given = scored(capsys, "c.json", "r.json", "--metric", "rouge-l", "--tokens", "none")
    assert values(official)["rouge-l"] > values(given)["rouge-l"]
    assert official["scores"]["rouge-l"]["choices"]["tok"] == "ptb"


def frequencies(path, words) -> None:
    counts = {tuple(gram.split()): float(count) for gram, count in words.items()}
    Path(path).write_bytes(pickle.dumps({"document_frequency": counts, "ref_len": 100}))


def test_saved_document_frequencies_are_signed(folder, capsys):
    frequencies("df.p", {"a": 90, "cat": 5, "a cat": 4, "dogs": 3, "<eos>": 100, "bus <eos>": 2})
    plain = scored(capsys, "c.json", "r.json", *FAST)
    saved = scored(capsys, "c.json", "r.json", *FAST, "--idf", "df.p")
    ended = scored(capsys, "c.json", "r.json", *FAST, "--idf", "df.p", "--end")
    assert len({values(each)["cider-d"] for each in (plain, saved, ended)}) == 3
    assert values(plain)["bleu-4"] == values(saved)["bleu-4"] == values(ended)["bleu-4"]
    choices = ended["scores"]["cider-d"]["choices"]
    assert choices["idf"].startswith("df@")
    assert choices["end"] == "yes"
    both = scored(capsys, "c.json", "r.json", "--metric", "cider,cider-d", "--idf", "df.p")
    assert {each["choices"]["idf"] for each in both["scores"].values()} == {choices["idf"]}


def test_document_frequencies_of_numbers_need_the_words(folder, capsys):
    words = ["a", "cat", "dogs", "bus", "UNK"]
    counts = {"a": 90, "cat": 5, "a cat": 4, "dogs": 3, "bus": 2, "<eos>": 100, "UNK": 50}
    frequencies("words.p", counts)
    numbered = ("1", "2", "1 2", "3", "4", "0", "5")
    frequencies("idxs.p", dict(zip(numbered, counts.values(), strict=True)))
    arguments = ["c.json", "r.json", "--tokens", "none", "--metric", "cider-d", "--end"]
    expected = values(scored(capsys, *arguments, "--idf", "words.p"))
    assert "--vocabulary" in refused(capsys, *arguments, "--idf", "idxs.p")
    for vocabulary in (
        {str(number): word for number, word in enumerate(words, 1)},
        {word: number for number, word in enumerate(words, 1)},
        {"ix_to_word": {str(number): word for number, word in enumerate(words, 1)}, "images": []},
    ):
        write("v.json", vocabulary)
        found = scored(capsys, *arguments, "--idf", "idxs.p", "--vocabulary", "v.json")
        assert values(found) == pytest.approx(expected, rel=1e-12)
    for wrong, sentence in (
        ([1], "'v.json' holds a list of 1; expected an object of words and their numbers"),
        ({"a": "b"}, "'v.json': 'a' has the number 'b'"),
        ({"1": "a", "2": "a"}, "'v.json': 'a' has the numbers 1 and 2"),
    ):
        write("v.json", wrong)
        said = refused(capsys, *arguments, "--idf", "idxs.p", "--vocabulary", "v.json")
        assert sentence in said


def tuples_file(path, said: dict[str, str]) -> None:
    """SPICE's tuples, as if each word of a caption were an object."""
    write(
        path,
        {
            name: {
                "candidate": [[word] for word in text.split()],
                "references": [[word] for text in REFERENCES[name] for word in text.split()],
            }
            for name, text in said.items()
        },
    )


def test_spice_is_measured_of_tuples_that_are_brought(folder, capsys):
    tuples_file("c.tuples", CANDIDATES)
    arguments = ["--metric", "spice", "--tokens", "none"]
    found = scored(capsys, "c.json", "r.json", *arguments, "--spice-tuples", "c.tuples")
    assert found["scores"]["spice"]["choices"]["parser"] == "tuples"
    assert 0 < found["scores"]["spice"]["value"] <= 1
    assert found["scores"]["spice.color"]["value"] is None, "no caption has one"
    said = told(capsys, "c.json", "r.json", *arguments, "--spice-tuples", "c.tuples", "--latex").out
    assert said.splitlines()[-2].startswith("% & S & ")
    named = ["--metric", "bleu-4,spice.object", "--spice-tuples", "c.tuples"]
    assert list(scored(capsys, "c.json", "r.json", *named)["scores"]) == ["bleu-4", "spice.object"]


def test_tuples_of_one_system_do_not_measure_another(folder, capsys):
    tuples_file("c.tuples", CANDIDATES)
    tuples_file("o.tuples", OTHERS)
    names = ["--metric", "rouge-l,spice", "--tokens", "none"]
    arguments = [*names, "--spice-tuples", "c.tuples", "--json"]
    said = told(capsys, "c.json", "r.json", *arguments, "--against", "o.json")
    assert list(json.loads(said.out)["against"]["scores"]) == ["rouge-l"]
    assert "spice of 'o.json' was not measured, for the tuples or trees are those of" in said.err
    table = told(capsys, "c.json", "r.json", *arguments[:-1], "--against", "o.json").out
    row = next(line for line in table.splitlines() if line.startswith("spice "))
    assert row.split()[2:] == ["–"] * 4
    told(capsys, "o.json", "r.json", *names, "--spice-tuples", "o.tuples", "--per-picture", "o")
    found = scored(capsys, "c.json", "r.json", *arguments[:-1], "--against", "o")["against"]
    assert found["scores"]["spice"]["difference"] != 0
    assert "p_value" in found["scores"]["spice"]


TREES = "1\ta\ta\tDET\tDT\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize("by_picture", [True, False])
def test_trees_of_captions_measure_both_systems_and_trees_of_pictures_one(
    by_picture, folder, capsys
):
    for path in ("c.json", "o.json"):
        write(path, {"9": "a cat"})
    write("r.json", {"9": ["a cat"]})
    roles = ("candidate", "reference") if by_picture else ("",)
    heads = [f"# picture = 9\n# role = {role}\n" if role else "" for role in roles]
    for number, head in enumerate(heads):
        Path(f"t{number}").write_text(head + TREES, encoding="utf-8")
    trees = [each for number in range(len(heads)) for each in ("--spice-trees", f"t{number}")]
    arguments = ["--metric", "spice", *trees, "--against", "o.json"]
    found = scored(capsys, "c.json", "r.json", *arguments)
    assert values(found)["spice"] == 1
    assert ("spice" in found["against"]["scores"]) == (not by_picture)


def test_novel_captions_are_counted_against_those_of_training(folder, capsys):
    karpathy = {
        "images": [
            {"imgid": 0, "split": "train", "sentences": [{"raw": "Two dogs run."}]},
            {"imgid": 1, "split": "restval", "sentences": [{"raw": "a red bus"}]},
            {"imgid": 2, "split": "test", "sentences": [{"raw": "a cat on a mat"}]},
        ]
    }
    write("t.json", karpathy)
    found = scored(capsys, "c.json", "r.json", "--metric", "novel", "--training", "t.json")
    assert values(found) == {"novel": 0.5}, "captions of the test split are no training captions"
    assert found["scores"]["novel"]["choices"]["training"].startswith("2@")
    assert "novel" in scored(capsys, "c.json", "r.json", "--training", "t.json")["scores"]


def test_notes_stand_in_every_signature(folder, capsys):
    said = told(capsys, "c.json", "r.json", *FAST, "--note", "beam=5", "--note", "model=a:b")
    assert said.out.count("|beam:5|model:a:b|") == 2
    write("t.json", CANDIDATES)
    arguments = ["--training", "t.json", "--metric", "novel", "--note", "training=mine"]
    assert "the signature of novel says 'training' already" in refused(
        capsys, "c.json", "r.json", *arguments
    )


def test_references_are_those_of_a_split(folder, capsys):
    images = [
        {"imgid": int(name), "split": split, "sentences": [{"raw": each} for each in texts]}
        for (name, texts), split in zip(
            REFERENCES.items(), ("test", "test", "val", "train"), strict=True
        )
    ]
    write("k.json", {"images": images})
    write("two.json", {name: CANDIDATES[name] for name in ("9", "61")})
    assert "--split test takes the split of the candidates" in refused(
        capsys, "two.json", "k.json", *FAST
    )
    assert scored(capsys, "two.json", "k.json", *FAST, "--split", "test")["pictures"] == 2
    assert scored(capsys, "c.json", "k.json", *FAST, "--split", "test,val,train")["pictures"] == 4
    assert "no split 'tset'; did you mean 'test'?" in refused(
        capsys, "two.json", "k.json", *FAST, "--split", "tset"
    )


def test_a_subset_is_scored_on_demand(folder, capsys):
    write("two.json", {name: CANDIDATES[name] for name in ("9", "61")})
    assert "2 pictures of 'r.json' have no candidate in 'two.json': '241', '312'; --subset" in (
        refused(capsys, "two.json", "r.json", *FAST)
    )
    assert scored(capsys, "two.json", "r.json", *FAST, "--subset")["pictures"] == 2


def test_numbers_in_names_match_on_demand(folder, capsys):
    write("n.json", {f"val2014_{int(name):012}.jpg": text for name, text in CANDIDATES.items()})
    assert "--match-numbers would match them" in refused(capsys, "n.json", "r.json", *FAST)
    said = told(capsys, "n.json", "r.json", *FAST, "--match-numbers", "--json")
    assert said.err.splitlines()[0] == (
        "meshcap: pictures of 'n.json' are matched by id, by the number at the end"
    )
    found = json.loads(said.out)
    assert found["scores"] == scored(capsys, "c.json", "r.json", *FAST)["scores"]


# ---- against another system


def test_two_systems_are_compared_by_a_paired_bootstrap(folder, capsys):
    found = scored(capsys, "c.json", "r.json", *FAST, "--against", "o.json")
    against = found["against"]
    assert (against["candidates"], against["samples"], against["seed"]) == ("o.json", 1000, 0)
    others = values(scored(capsys, "o.json", "r.json", *FAST))
    for name, entry in against["scores"].items():
        assert entry["value"] == others[name]
        assert entry["difference"] == values(found)[name] - others[name]
        low, high = entry["interval"]
        assert low <= entry["difference"] <= high
        assert 0 < entry["p_value"] <= 1
    table = told(capsys, "c.json", "r.json", *FAST, "--against", "o.json").out.splitlines()
    assert table[0].split() == "metric candidates other difference 95 % interval p".split()
    rouge = next(line for line in table if line.startswith("rouge-l"))
    difference = against["scores"]["rouge-l"]["difference"]
    assert f" {difference:+.4f} " in rouge


def test_a_system_does_not_differ_from_itself(folder, capsys):
    found = scored(capsys, "c.json", "r.json", *FAST, "--against", "c.json")
    for entry in found["against"]["scores"].values():
        assert (entry["difference"], entry["interval"], entry["p_value"]) == (0, [0, 0], 1)


def test_the_seed_decides_what_is_drawn(folder, capsys):
    def drawn(*arguments) -> dict:
        against = scored(capsys, "c.json", "r.json", *FAST, "--against", "o.json", *arguments)
        return against["against"]["scores"]

    assert drawn("--seed", "3") == drawn("--seed", "3")
    assert drawn("--seed", "3", "--samples", "20") != drawn("--seed", "4", "--samples", "20")


def test_an_earlier_run_is_as_good_as_its_captions(folder, capsys):
    names = ["--tokens", "none", "--metric", "bleu,rouge-l,cider-d,vocabulary"]
    told(capsys, "o.json", "r.json", *names, "--per-picture", "o.jsonl")
    expected = scored(capsys, "c.json", "r.json", *names, "--against", "o.json")["against"]
    found = scored(capsys, "c.json", "r.json", *names, "--against", "o.jsonl")["against"]
    assert found["scores"] == expected["scores"], "BLEU's too, which is no mean over pictures"
    assert "p_value" not in found["scores"]["vocabulary"]
    # The order of pictures in a file is no matter.
    header, *lines = Path("o.jsonl").read_text(encoding="utf-8").splitlines()
    Path("o.jsonl").write_text("\n".join([header, *lines[::-1]]), encoding="utf-8")
    again = scored(capsys, "c.json", "r.json", *names, "--against", "o.jsonl")["against"]
    assert again["scores"] == expected["scores"]


def test_printed_json_gives_differences_without_intervals(folder, capsys):
    Path("o.run").write_text(told(capsys, "o.json", "r.json", *FAST, "--json").out, "utf-8")
    expected = scored(capsys, "c.json", "r.json", *FAST, "--against", "o.json")["against"]
    found = scored(capsys, "c.json", "r.json", *FAST, "--against", "o.run")["against"]
    for name, entry in found["scores"].items():
        assert entry == {key: expected["scores"][name][key] for key in ("value", "difference")}
    table = told(capsys, "c.json", "r.json", *FAST, "--against", "o.run").out
    assert next(line for line in table.splitlines() if "bleu-4" in line).endswith("–  –")


@pytest.mark.parametrize("written", ["--per-picture", "--json"])
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (["--repeats", "removed"], "repeats: kept, removed"),
        (["--note", "beam=3"], "beam: nothing, 3"),
        (["--idf", "df.p"], "idf: corpus, df@"),
        (["--tokens", "ptb"], "tok: none, ptb"),
        (["--subset"], "pictures: 4, 3; data: "),
    ],
)
def test_scores_that_were_measured_otherwise_are_refused_by_name(
    written, changed, sentence, folder, capsys
):
    frequencies("df.p", {"a": 90})
    if changed == ["--subset"]:
        write("o.json", {name: OTHERS[name] for name in list(OTHERS)[:3]})
    arguments = ["r.json", "--metric", "cider-d", "--tokens", "none"]
    more = ["--per-picture", "o.run"] if written == "--per-picture" else ["--json"]
    said = told(capsys, "o.json", *arguments, *changed, *more)
    if written == "--json":
        Path("o.run").write_text(said.out, encoding="utf-8")
    refusal = refused(capsys, "c.json", *arguments, "--against", "o.run")
    assert "two scores of cider-d cannot be compared, for their signatures differ" in refusal
    assert sentence in refusal


def test_other_systems_of_other_pictures_are_refused(folder, capsys):
    write("o.json", {name: OTHERS[name] for name in list(OTHERS)[:3]})
    assert "have no candidate in 'o.json'" in refused(
        capsys, "c.json", "r.json", *FAST, "--against", "o.json"
    ).replace("has no candidate", "have no candidate")
    assert "signatures differ (pictures: 4, 3" in refused(
        capsys, "c.json", "r.json", *FAST, "--against", "o.json", "--subset"
    )


def test_intervals_are_those_of_the_scores(folder, capsys):
    table = told(capsys, "c.json", "r.json", *FAST, "--intervals").out.splitlines()
    assert table[0].split() == ["metric", "score", "95", "%", "interval"]
    names = ["--tokens", "none", "--metric", "vocabulary,length", "--intervals"]
    vocabulary, length = told(capsys, "c.json", "r.json", *names).out.splitlines()[1:3]
    assert vocabulary.endswith("–"), "a vocabulary is no sum over pictures"
    assert length.split()[1:] == ["3.75", "[3,", "4.50]"]


# ---- each picture


def test_each_picture_s_scores_are_written_as_json_lines(folder, capsys):
    found = scored(capsys, "c.json", "r.json", *FAST, "--per-picture", "p.jsonl")
    header, *lines = map(json.loads, Path("p.jsonl").read_text(encoding="utf-8").splitlines())
    assert header == found
    assert {line["picture"]: line["candidate"] for line in lines} == CANDIDATES
    rouge = [line["scores"]["rouge-l"] for line in lines]
    assert sum(rouge) / 4 == pytest.approx(values(found)["rouge-l"], rel=1e-12)
    assert rouge[1] == pytest.approx(1)
    assert set(lines[0]["scores"]) == set(found["scores"])


@pytest.mark.parametrize(("ending", "separator"), [(".csv", ","), (".TSV", "\t")])
def test_each_picture_s_scores_are_written_as_a_table(ending, separator, folder, capsys):
    write("c.json", CANDIDATES | {"9": 'a "cat",\ta mat'})
    path = f"p{ending}"
    told(capsys, "c.json", "r.json", *FAST, "--per-picture", path, "--against", "o.json")
    with Path(path).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=separator)
    assert header[:6] == [
        "picture",
        "candidate",
        "other candidate",
        "bleu-1",
        "other bleu-1",
        "difference bleu-1",
    ]
    assert [row[0] for row in rows] == list(CANDIDATES)
    assert rows[0][1:3] == ['a "cat",\ta mat', OTHERS["9"]]
    for row in rows:
        assert float(row[5]) == float(row[3]) - float(row[4])


def test_both_systems_stand_beside_each_other(folder, capsys):
    told(capsys, "c.json", "r.json", *FAST, "--per-picture", "p", "--against", "o.json")
    _, *lines = map(json.loads, Path("p").read_text(encoding="utf-8").splitlines())
    assert {line["picture"]: line["other_candidate"] for line in lines} == OTHERS
    for line in lines:
        for name, difference in line["differences"].items():
            assert difference == line["scores"][name] - line["other_scores"][name]


def test_a_written_table_is_read_as_captions_again(folder, capsys):
    expected = told(capsys, "c.json", "r.json", *FAST, "--per-picture", "p.csv")
    assert told(capsys, "p.csv", "r.json", *FAST).out == expected.out


def test_half_a_character_is_written_as_its_code(folder, capsys):
    Path("c.json").write_text(json.dumps(CANDIDATES | {"9": "a \ud83d cat"}), encoding="utf-8")
    for path in ("p.csv", "p.jsonl"):
        told(capsys, "c.json", "r.json", *FAST, "--per-picture", path)
        assert "\\ud83d" in Path(path).read_text(encoding="utf-8")


# ---- a row for a paper


def test_a_row_for_a_paper_has_the_papers_order_and_scale(folder, capsys):
    lines = told(capsys, "c.json", "r.json", *FAST, "--latex").out.splitlines()
    found = values(scored(capsys, "c.json", "r.json", *FAST))
    order = ["bleu-1", "bleu-4", "rouge-l", "cider-d", "bleu-2", "bleu-3"]
    assert lines[-2] == r"% & B-1 & B-4 & R & C & bleu-2 & bleu-3 \\"
    numbers = [f"{100 * found[name]:.1f}" for name in order]
    assert lines[-1] == rf"c.json & {' & '.join(numbers)} \\"
    assert all(line.startswith("%") for line in lines[:-1])
    assert any("idf:corpus" in line for line in lines[:-1])


def test_the_papers_columns_are_there_whether_or_not_they_were_measured(folder, capsys, rows):
    def lacking(*_):
        from meshcap.errors import MissingError

        raise MissingError("METEOR needs its data")

    for name in ("meteor", "spice"):
        rows._rows[name] = Metric(name, lacking, "needs what is not there")
    Path("a_b.json").write_text(json.dumps(CANDIDATES), encoding="utf-8")
    said = told(capsys, "a_b.json", "r.json", "--latex", "--against", "o.json", "--quiet")
    *comments, ours, theirs = said.out.splitlines()
    assert comments[-1] == r"% & B-1 & B-4 & M & R & C & S \\"
    assert "% spice: not measured" in comments
    assert ours.startswith(r"a\_b.json & ")
    assert theirs.startswith("o.json & ")
    for row in (ours, theirs):
        cells = row.removesuffix(r" \\").split(" & ")
        assert [cell == "--" for cell in cells] == [False] * 3 + [True] + [False] * 2 + [True]


# ---- metrics of one's own, and metrics that are not there


PLUGIN = """
from meshcap.metrics import Metric, register
from meshcap.metrics.base import mean

def measure(corpus, tick):
    return {"shouts": mean([float("!" in text) for text in corpus.candidates])}

register(Metric("shouts", measure, "candidates that shout", better="lower"))
"""


@pytest.mark.parametrize("name", ["shouting.py", "shouting_module"])
def test_a_plugin_s_metric_is_measured_and_listed(name, folder, capsys, rows):
    Path(name.removesuffix(".py") + ".py").write_text(PLUGIN, encoding="utf-8")
    write("c.json", CANDIDATES | {"9": "a cat !"})
    arguments = ["--tokens", "none", "--metric", "shouts", "--plugin", name]
    assert values(scored(capsys, "c.json", "r.json", *arguments)) == {"shouts": 0.25}
    said = told(capsys, "--list", "--plugin", name).out
    assert "shouts       candidates that shout; lower is better\n" in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1 / 0", "plugin 'p.py' cannot be loaded: ZeroDivisionError: division by zero"),
        ("def (", "plugin 'p.py' cannot be loaded: SyntaxError: "),
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this"),
        (
            PLUGIN.replace('"shouts", m', '"bleu-1", m'),
            "gives a score 'bleu-1', and so does 'bleu'",
        ),
    ],
)
def test_a_broken_plugin_is_one_sentence(text, sentence, folder, capsys, rows):
    Path("p.py").write_text(text, encoding="utf-8")
    assert sentence in refused(capsys, "c.json", "r.json", "--plugin", "p.py")
    assert "No such file" in refused(capsys, "c.json", "r.json", "--plugin", "gone.py")


def test_the_list_says_what_each_metric_is_and_needs_no_files(capsys):
    lines = told(capsys, "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(METRICS)
    bleu = next(line for line in lines if line.startswith("bleu "))
    assert bleu.endswith("(bleu-1, bleu-2, bleu-3, bleu-4)")
    assert next(line for line in lines if line.startswith("cider ")).endswith("; only when named")


def test_an_unknown_metric_is_answered_by_the_nearest(folder, capsys):
    said = refused(capsys, "c.json", "r.json", "--metric", "cidre-d")
    assert said == "meshcap: there is no metric 'cidre-d'; did you mean 'cider-d'?\n"


def test_what_a_metric_lacks_stops_only_those_who_named_it(folder, capsys, rows):
    from meshcap.errors import MissingError

    def lacking(*_):
        raise MissingError("mine needs its data; pip install it")

    register(Metric("mine", lacking, "needs what is not there"))
    assert refused(capsys, "c.json", "r.json", "--metric", "mine") == (
        "meshcap: mine needs its data; pip install it\n"
    )
    said = told(capsys, "c.json", "r.json", "--json")
    assert "meshcap: mine was not measured: mine needs its data; pip install it\n" in said.err
    assert json.loads(said.out)["missing"]["mine"] == "mine needs its data; pip install it"


def test_a_score_that_is_defined_for_no_picture_is_no_number(folder, capsys, rows):
    nan = float("nan")
    register(Metric("odd", lambda corpus, tick: {"odd": mean([nan] * len(corpus))}, "odd"))
    register(Metric("odder", lambda corpus, tick: {"odder": Measured(nan)}, "odder"))
    arguments = ["c.json", "r.json", "--tokens", "none", "--metric", "odd,odder"]
    assert values(scored(capsys, *arguments)) == {"odd": None, "odder": None}
    table = told(capsys, *arguments, "--intervals", "--per-picture", "p").out.splitlines()
    assert table[1].split() == ["odd", "–", "[–,", "–]"]
    said = told(capsys, *arguments, "--latex").out
    assert said.endswith("c.json & -- & -- \\\\\n")


# ---- warnings


def test_what_looks_wrong_is_a_sentence_a_warning(folder, capsys):
    write("c.json", CANDIDATES | {"9": "", "61": "two dogs <eos>"})
    said = told(capsys, "c.json", "r.json", *FAST)
    sentences = said.err.splitlines()
    assert len(sentences) == 3
    assert all(sentence.startswith("meshcap: ") for sentence in sentences)
    assert "1 candidate is empty: picture 9" in sentences[0]
    assert "'<eos>' in picture 61" in sentences[1]
    assert FEW in sentences[2]
    assert told(capsys, "c.json", "r.json", *FAST, "--quiet") == (said.out, "")


def test_two_systems_are_warned_of_once(folder, capsys):
    said = told(capsys, "c.json", "r.json", *FAST, "--against", "o.json")
    assert said.err.count(FEW) == 1


def test_an_error_stands_alone(folder, capsys):
    write("o.json", {"9": "a cat"})
    write("c.json", CANDIDATES | {"9": ""})
    refused(capsys, "c.json", "r.json", *FAST, "--against", "o.json")


# ---- wrong usage, bad input, interruption


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the following arguments are required: CANDIDATES, REFERENCES"),
        (["c.json"], "the following arguments are required: REFERENCES"),
        (["c.json", "r.json", "--json", "--latex"], "not allowed with argument --json"),
        (["c.json", "r.json", "--tokens", "bpe"], "invalid choice: 'bpe'"),
        (["c.json", "r.json", "--repeats", "some"], "invalid choice: 'some'"),
        (["c.json", "r.json", "--samples", "0"], "'0' is no whole number of at least 1"),
        (["c.json", "r.json", "--samples", "many"], "'many' is no whole number of at least 1"),
        (["c.json", "r.json", "--seed", "-1"], "'-1' is no whole number of at least 0"),
        (["c.json", "r.json", "--note", "beam"], "'beam' is no note; expected NAME=VALUE"),
        (["c.json", "r.json", "--note", "=5"], "'=5' is no note"),
        (["c.json", "r.json", "--note", "a=b|c"], "'a=b|c' is no note"),
        (["c.json", "r.json", "--note", "a:b=c"], "'a:b=c' is no note"),
        (["c.json", "r.json", "--note", "tok=mine"], "signatures say 'tok' already"),
        (["c.json", "r.json", "--metric", "bleu,"], "expected a name before and after each comma"),
        (["c.json", "r.json", "--metric", "novel"], "--metric novel needs --training FILE"),
        (["c.json", "r.json", "--metric", "bleu", "--idf", "f"], "--idf and --end are for"),
        (["c.json", "r.json", "--metric", "bleu", "--end"], "--idf and --end are for"),
        (["c.json", "r.json", "--vocabulary", "v"], "--vocabulary goes with --idf"),
        (["c.json", "r.json", "--metric", "bleu", "--spice-jars", "j"], "are for the metric spice"),
        (["c.json", "r.json", "--spice-trees", "t", "--spice-tuples", "t"], "not allowed with"),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments, sentence, folder, capsys):
    said = told(capsys, *arguments, code=2)
    assert said.out == ""
    assert said.err.startswith("usage: meshcap score")
    assert sentence in said.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gone.json", "r.json"], "'gone.json' does not exist"),
        (["c.json", "gone.json"], "'gone.json' does not exist"),
        (["c.json", "r.json", "gone.json"], "'gone.json' does not exist"),
        (["c.json", "r.json", "--against", "gone.json"], "'gone.json' does not exist"),
        (["c.json", "r.json", "--idf", "gone.p"], "'gone.p' does not exist"),
        (["c.json", "r.json", "--idf", "c.json"], "'c.json' cannot be read as document"),
        (["c.json", "r.json", "--training", "gone"], "'gone' does not exist"),
        (["c.json", "."], "'.' is a folder; expected a file"),
        (["r.json", "r.json"], "'r.json': picture '9' has 2 captions; expected one candidate"),
        (["c.json", "r.json", "--split", "test"], "'r.json' says no splits"),
        (["c.json", "r.json", "--per-picture", "gone/p"], "the folder 'gone' is missing"),
        (["c.json", "r.json", "--per-picture", "."], "'.' is a folder"),
        (["c.json", "r.json", "--per-picture", "./r.json"], "'./r.json' is named twice"),
        (["c.json", "r.json", "--per-picture", "o.json", "--against", "o.json"], "named twice"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(arguments, sentence, folder, capsys):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sentence in refused(capsys, *arguments)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def interrupting(corpus, tick):
    raise KeyboardInterrupt


def test_an_interruption_is_exit_code_130_and_leaves_no_half_file(
    folder, capsys, rows, monkeypatch
):
    Path("p").write_text("old", encoding="utf-8")
    before = sorted(path.name for path in folder.iterdir())
    register(Metric("endless", interrupting, "never ends"))
    arguments = ["c.json", "r.json", "--metric", "endless", "--per-picture", "p"]
    assert told(capsys, *arguments, code=130) == ("", "meshcap: interrupted\n")

    def half(result, rival):
        yield {"format": "meshcap scores"}
        raise KeyboardInterrupt

    monkeypatch.setattr("meshcap.cli.saved_scores._json_lines", half)
    arguments[3] = "length"
    assert told(capsys, *arguments, code=130) == ("", "meshcap: interrupted\n")
    assert Path("p").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in folder.iterdir()) == before


def test_an_interruption_from_outside_leaves_no_half_file(folder, run_python):
    code = (
        "import os, signal, sys, meshcap.cli.saved_scores as saved, meshcap.cli.main as door\n"
        "def half(result, rival):\n"
        "    yield {}\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    yield {}\n"
        "saved._json_lines = half\n"
        "arguments = ['c.json', 'r.json', '--metric', 'length', '--tokens', 'none']\n"
        "sys.exit(door.main(['score', *arguments, '--per-picture', 'p']))"
    )
    asked = run_python(code)
    assert (asked.returncode, asked.stdout, asked.stderr) == (130, "", "meshcap: interrupted\n")
    assert sorted(path.name for path in folder.iterdir()) == ["c.json", "o.json", "r.json"]


def test_scoring_imports_no_torch(folder, run_python):
    code = (
        "import sys\n"
        "class Refuses:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'torch':\n"
        "            raise ImportError('torch is blocked')\n"
        "sys.meta_path.insert(0, Refuses())\n"
        "from meshcap.cli.main import main\n"
        "code = main(['score', 'c.json', 'r.json', '--quiet', '--against', 'o.json'])\n"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    asked = run_python(code)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "cider-d" in asked.stdout


def test_help_has_an_example_and_loads_neither_torch_nor_numpy(capsys):
    said = told(capsys, "--help").out
    assert "example:\n  meshcap score " in said
    assert "--quiet" in said
    code = (
        "import sys; from meshcap.cli.main import main; main(['score', '--help']);"
        "sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    asked = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=False
    )
    assert asked.returncode == 0


# ---- what would otherwise go unsaid


def test_a_warning_about_the_other_system_names_its_file(folder, capsys):
    write("o.json", CANDIDATES | {"9": ""})
    said = told(capsys, "c.json", "r.json", *FAST, "--against", "o.json")
    [about] = [line for line in said.err.splitlines() if "empty" in line]
    assert about == "meshcap: 'o.json': 1 candidate is empty: picture 9"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--per-picture", "scores.csv.gz"),
        ("--per-picture", "-"),
        ("--intervals", "--latex"),
        ("--intervals", "--against", "c.json"),
        ("--note", "beam=3", "--note", "beam=5"),
    ],
)
def test_options_that_would_be_ignored_are_wrong_usage(folder, capsys, arguments):
    said = told(capsys, "c.json", "r.json", *FAST, *arguments, code=2)
    assert said.out == ""
    assert "meshcap score: error: " in said.err


def test_captions_of_training_add_novel_to_metrics_that_are_named(folder, capsys):
    write("t.json", CANDIDATES)
    found = scored(capsys, "c.json", "r.json", *FAST, "--training", "t.json")
    assert found["scores"]["novel"]["value"] == 0


def test_names_of_papers_name_metrics(folder, capsys):
    arguments = ["--tokens", "none", "--metric", "BLEU_4,ROUGE_L"]
    assert list(values(scored(capsys, "c.json", "r.json", *arguments))) == ["bleu-4", "rouge-l"]
    assert "'cider-d'" in refused(capsys, "c.json", "r.json", "--metric", "CIDEr")


def test_a_cache_that_cannot_be_written_is_one_sentence(folder, capsys, monkeypatch):
    from meshcap.metrics import METRICS, Metric
    from meshcap.metrics.base import mean
    from meshcap.metrics.cache import CacheWarning

    def measure(corpus, tick):
        warnings.warn("nothing can be kept", CacheWarning, stacklevel=1)
        return {"kept": mean([0.0] * len(corpus))}

    METRICS.add(Metric("kept", measure, "a metric with a cache"))
    try:
        said = told(capsys, "c.json", "r.json", "--tokens", "none", "--metric", "kept")
        assert said.err == "meshcap: nothing can be kept\n"
        assert told(capsys, "c.json", "r.json", "--metric", "kept", "--quiet").err == ""
    finally:
        METRICS.remove("kept")


def test_a_closed_standard_output_is_no_crash(folder, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["score", "c.json", "r.json", *FAST]) == 0


def test_ids_and_files_of_their_names_are_the_same_pictures(folder, capsys):
    Path("files.jsonl").write_text(
        "".join(
            json.dumps({"file": f"photos/{picture}.jpg", "caption": caption}) + "\n"
            for picture, caption in CANDIDATES.items()
        ),
        encoding="utf-8",
    )
    by_id = values(scored(capsys, "c.json", "r.json", *FAST))
    said = told(capsys, "files.jsonl", "r.json", *FAST, "--json")
    assert values(json.loads(said.out)) == by_id
    assert "without folders and endings" in said.err
