"""CoNLL-U files: what is read, and which sentence names a fault."""

import gzip

import pytest

from meshcap.errors import CaptionError, FileError
from meshcap.metrics.base import Corpus
from meshcap.metrics.spice.conllu import read_trees, version_1
from meshcap.metrics.spice.patterns import tuples_of
from meshcap.metrics.spice.tree import ROOT, Edge, Word

# Form, lemma, Penn tag, head, relation, enhanced dependencies.
V2 = """\
a a DT 2 det _
dog dog NN 4 nsubj:pass _
is be VBZ 4 aux:pass _
held hold VBN 0 root _
on on IN 6 case _
laps lap NNS 4 obl _"""
V1 = V2.replace("nsubj:pass", "nsubjpass").replace("aux:pass", "auxpass").replace("obl", "nmod")
COLLAPSED = """\
Dogs dog NNS 2 nsubj 2:nsubj|4:nsubj
run run VBP 0 root 0:root
and and CC 2 cc 2:cc
chase chase VBP 2 conj 2:conj:and
cars car NNS 4 obj 4:obj"""


def sentence(cells, *comments):
    lines = [f"# {comment}" for comment in comments]
    for number, row in enumerate(cells.splitlines(), 1):
        form, lemma, tag, head, relation, deps = row.split()
        lines.append(
            "\t".join([str(number), form, lemma, "_", tag, "_", head, relation, deps, "_"])
        )
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def written(tmp_path):
    def write(text, name="trees.conllu"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def corpus(candidates, references, pictures=None):
    names = pictures or [str(number) for number in range(1, len(candidates) + 1)]
    return Corpus(tuple(names), tuple(candidates), tuple(map(tuple, references)))


@pytest.mark.parametrize("cells", [V1, V2], ids=["v1", "v2"])
def test_both_versions_of_the_relations_give_the_same_tree(written, cells):
    trees = read_trees(written(sentence(cells)))
    tree = trees.of_text["a dog is held on laps"]
    assert tree.words[1] == Word("dog", "dog", "NN")
    assert Edge(3, 1, "nsubjpass") in tree.edges
    assert Edge(3, 5, "nmod") in tree.edges
    assert Edge(ROOT, 3, "root") in tree.edges
    assert not tree.collapsed
    assert ("dog", "hold on", "lap") in tuples_of(tree, official=True)


@pytest.mark.parametrize(
    ("v2", "v1"),
    [
        ("obj", "dobj"),
        ("obl", "nmod"),
        ("obl:on_top_of", "nmod:on_top_of"),
        ("obl:agent", "nmod:agent"),
        ("obl:tmod", "nmod:tmod"),
        ("obl:unmarked", "nmod:npmod"),
        ("nsubj:pass", "nsubjpass"),
        ("nsubj:pass:xsubj", "nsubjpass:xsubj"),
        ("nsubj:xsubj", "nsubj:xsubj"),
        ("csubj:pass", "csubjpass"),
        ("aux:pass", "auxpass"),
        ("fixed", "mwe"),
        ("flat", "name"),
        ("flat:foreign", "name:foreign"),
        ("nmod:poss", "nmod:poss"),
        ("acl:relcl", "acl:relcl"),
        ("compound:prt", "compound:prt"),
        ("conj:and", "conj:and"),
        ("iobj", "iobj"),
        ("dobj", "dobj"),
        ("nsubjpass", "nsubjpass"),
    ],
)
def test_a_relation_has_its_name_of_v1(v2, v1):
    assert version_1(v2) == v1


def test_enhanced_dependencies_are_read_where_there_are_any(written):
    tree = read_trees(written(sentence(COLLAPSED))).of_text["dogs run and chase cars"]
    assert tree.collapsed
    assert Edge(3, 0, "nsubj") in tree.edges
    assert ("dog", "chase", "car") in tuples_of(tree, official=True)


def test_forms_are_in_lower_case_and_empty_nodes_and_joined_words_are_passed_over(written):
    rows = sentence(V2).splitlines()
    rows.insert(3, "3-4\tisheld\t_\t_\t_\t_\t_\t_\t_\t_")
    rows.insert(3, "2.1\tgone\tgo\t_\tVB\t_\t_\t_\t4:conj\t_")
    [tree] = read_trees(written("\n".join(rows).replace("dog\tdog", "DOG\tDog"))).of_text.values()
    assert [word.form for word in tree.words] == "a dog is held on laps".split()
    assert tree.words[1].lemma == "dog"


def test_an_edge_from_a_word_that_was_left_out_gives_way_to_the_basic_one(written):
    cells = COLLAPSED.replace("4:obj", "3.1:obj")
    tree = read_trees(written(sentence(cells))).of_text["dogs run and chase cars"]
    assert Edge(3, 4, "dobj") in tree.edges


def test_windows_ends_of_line_and_a_byte_order_mark_are_no_trouble(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_bytes(b"\xef\xbb\xbf" + sentence(V2).replace("\n", "\r\n").encode())
    assert "a dog is held on laps" in read_trees(path).of_text


# ---- which caption a sentence is


def test_sentences_are_found_by_their_text(written):
    path = written(sentence(V2, "text = a dog is held on laps") + sentence(COLLAPSED))
    captions = corpus(
        ["a dog is held on laps", "dogs run and chase cars"],
        [["dogs run and chase cars"], ["a dog is held on laps", "dogs run and chase cars"]],
    )
    trees = read_trees(path)
    candidates, references = trees.of(captions, 1)
    assert [len(tree.words) for tree in candidates] == [5]
    assert [len(tree.words) for tree in references] == [6, 5]


def test_sentences_are_found_by_picture_and_role_in_two_files(written):
    ours = written(sentence(V2, "picture = 7", "role = candidate"), "ours.conllu")
    theirs = written(
        sentence(V2, "picture = 7", "role = reference")
        + sentence(COLLAPSED, "picture = 7", "role = reference", "sent_id = 2"),
        "theirs.conllu",
    )
    trees = read_trees([ours, theirs])
    candidates, references = trees.of(corpus(["x"], [["y", "z"]], ["7"]), 0)
    assert [len(tree.words) for tree in candidates] == [6]
    assert [len(tree.words) for tree in references] == [6, 5]


def test_an_empty_caption_needs_no_tree(written):
    trees = read_trees(written(sentence(V2)))
    assert trees.of(corpus([""], [["a dog is held on laps", ""]]), 0)[0] == []


def test_a_caption_without_a_tree_is_named(written):
    path = written(sentence(V2))
    with pytest.raises(CaptionError) as error:
        read_trees(path).of(corpus(["a cat"], [["a dog is held on laps"]], ["12"]), 0)
    assert str(error.value) == (
        f"'{path}': no tree is of 'a cat', a candidate of picture 12; expected each caption, "
        "tokenised, as '# text = …', or '# picture' and '# role'"
    )


def test_a_picture_with_too_few_trees_is_named(written):
    path = written(sentence(V2, "picture = 12", "role = candidate"))
    with pytest.raises(CaptionError, match="picture 12 has 0 trees of the role reference; exp"):
        read_trees(path).of(corpus(["a"], [["b"]], ["12"]), 0)


# ---- what is wrong with a file

GOOD = "1\tdog\tdog\t_\tNN\t_\t0\troot\t_\t_"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("\t", " "), "line 1 has 1 columns; expected 10, between tabs"),
        (GOOD[:-2], "line 1 has 9 columns; expected 10, between tabs"),
        ("# text = x\n2" + GOOD[1:], "line 2: column 1 (ID) is '2'; expected '1'"),
        ("x" + GOOD[1:], "line 1: column 1 (ID) is 'x'; expected '1'"),
        (
            GOOD.replace("NN", "_"),
            "line 1: column 5 (XPOS) is '_'; expected a Penn tag such as NN",
        ),
        (
            GOOD.replace("NN", "NOUN"),
            "line 1: column 5 (XPOS) is 'NOUN'; expected a Penn tag such as NN",
        ),
        (
            GOOD.replace("dog\tdog", "dog\t_"),
            "line 1: column 3 (LEMMA) is '_'; expected a dictionary form",
        ),
        (
            GOOD.replace("0\troot", "2\troot"),
            "line 1: column 7 (HEAD) names the head '2'; expected a number from 0 to 1",
        ),
        (
            GOOD.replace("0\troot", "-1\troot"),
            "line 1: column 7 (HEAD) names the head '-1'; expected a number from 0 to 1",
        ),
        (
            GOOD.replace("0\troot", "9" * 5000 + "\troot"),
            "; expected a number from 0 to 1",
        ),
        (
            GOOD.replace("root\t_", "root\troot"),
            "line 1: column 9 (DEPS) holds 'root'; expected a head and a relation, such as "
            "2:nmod:on",
        ),
        (
            GOOD.replace("root\t_", "root\t3:dobj"),
            "line 1: column 9 (DEPS) names the head '3'; expected a number from 0 to 1",
        ),
        (
            "# picture = 3\n" + GOOD,
            "line 1: a sentence with picture 3, role None; expected both comments, the role being "
            "candidate or reference, or neither",
        ),
        (
            "# picture = 3\n# role = test\n" + GOOD,
            "line 1: a sentence with picture 3, role test; expected both comments, the role being "
            "candidate or reference, or neither",
        ),
        (
            f"{GOOD}\n\n# picture = 3\n# role = candidate\n{GOOD}",
            "line 3: a sentence with '# picture', unlike those before; expected all sentences to "
            "name their caption in one way",
        ),
    ],
)
def test_a_fault_is_named_with_its_line(written, text, message):
    path = written(text)
    with pytest.raises(FileError) as error:
        read_trees(path)
    assert str(error.value).startswith(f"'{path}', ")
    assert str(error.value).endswith(message)


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_bytes(b"ab\xff")
    with pytest.raises(FileError, match="byte 2 is not UTF-8; expected CoNLL-U"):
        read_trees(path)


@pytest.mark.parametrize("heads", ["10", "1", "230", "2310"])
def test_heads_that_lead_in_a_circle_are_named(written, heads):
    rows = [
        f"{place}\tdog\tdog\t_\tNN\t_\t{head}\tdep\t_\t_" for place, head in enumerate(heads, 1)
    ]
    is_circle = heads not in {"230"}
    if is_circle:
        with pytest.raises(FileError, match="the heads of 'dog' lead in a circle"):
            read_trees(written("\n".join(rows) + "\n\n"))
    else:
        assert read_trees(written("\n".join(rows) + "\n\n")).of_text


def test_gzipped_trees_are_read(written, tmp_path):
    path = tmp_path / "trees.conllu.gz"
    path.write_bytes(gzip.compress(sentence(V1).encode()))
    assert read_trees(path).of_text == read_trees(written(sentence(V1))).of_text
