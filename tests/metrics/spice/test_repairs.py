"""Pronouns, quantifiers and prepositions in trees that are less tidy than a textbook's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.metrics.spice.patterns import tuples_of
from meshcap.metrics.spice.tree import ROOT, Edge, Tree, Word
from spice_trees import tree_of


def owners(tree):
    """Who has the hat: the noun that a possessive pronoun was taken for."""
    return {found[0] for found in tuples_of(tree) if found[1:] == ("have", "hat")}


# "his" and the like hang on "hat", the last word, which hangs on what the row says.
PRONOUNS = """
his: the man, not the bench nearer by | a/DT man/NN on/IN a/DT bench/NN with/IN his/PRP$ hat/NN | nmod(man, bench) case(bench, on) nmod(bench, hat) case(hat, with) | man
her: the woman, though the man is nearer | a/DT woman/NN with/IN a/DT man/NN and/CC her/PRP$ hat/NN | nmod(woman, man) case(man, with) conj(man, hat) | woman
his: the dog, if there is nobody else | a/DT dog/NN with/IN his/PRP$ hat/NN | nmod(dog, hat) case(hat, with) | dog
her: nobody, if there is only a man | a/DT man/NN with/IN her/PRP$ hat/NN | nmod(man, hat) case(hat, with) |
its: no person | a/DT cat/NN beside/IN a/DT man/NN with/IN its/PRP$ hat/NN | nmod(cat, man) case(man, beside) nmod(man, hat) case(hat, with) | cat
its: a baby, if need be | a/DT baby/NN with/IN its/PRP$ hat/NN | nmod(baby, hat) case(hat, with) | baby
their: what is many | two/CD dogs/dog/NNS on/IN a/DT bed/NN with/IN their/PRP$ hat/NN | nmod(dogs, bed) case(bed, on) nmod(bed, hat) case(hat, with) | dog
their: a group | a/DT team/NN with/IN their/PRP$ hat/NN | nmod(team, hat) case(hat, with) | team
their: one person, if need be | a/DT person/NN with/IN their/PRP$ hat/NN | nmod(person, hat) case(hat, with) | person
his: not the part of a compound | a/DT man/NN statue/NN with/IN his/PRP$ hat/NN | compound(statue, man) nmod(statue, hat) case(hat, with) | statue
his: the subject | the/DT man/NN at/IN the/DT boy/NN 's/POS table/NN wears/wear/VBZ his/PRP$ hat/NN | nsubj(wears, man) nmod(man, table) case(table, at) nmod:poss(table, boy) case(boy, 's) dobj(wears, hat) | man
its: the nearer of two above it | a/DT picture/NN of/IN a/DT cat/NN and/CC its/PRP$ hat/NN | nmod(picture, cat) case(cat, of) conj(cat, hat) | cat
its: the subject before a place | in/IN a/DT field/NN a/DT dog/NN wears/wear/VBZ its/PRP$ hat/NN | nmod(wears, field) case(field, in) nsubj(wears, dog) dobj(wears, hat) | dog
their: each of a pair | two/CD boys/boy/NNS and/CC a/DT man/NN wear/VBP their/PRP$ hat/NN | nsubj(wear, boys) conj(boys, man) dobj(wear, hat) | boy; man
it: not before the pronoun | with/IN his/PRP$ hat/NN a/DT man/NN smiles/smile/VBZ | nsubj(smiles, man) nmod(smiles, hat) case(hat, with) |
"""  # noqa: E501


def rows(table):
    found = []
    for line in table.strip().splitlines():
        name, words, edges, expected = (cell.strip() for cell in line.split("|"))
        pronoun = next(word.split("/")[0] for word in words.split() if word.endswith("PRP$"))
        tree = tree_of(words, f"{edges} nmod:poss(hat, {pronoun})")
        found.append(
            pytest.param(tree, {noun.strip() for noun in expected.split(";")} - {""}, id=name)
        )
    return found


@pytest.mark.parametrize(("tree", "expected"), rows(PRONOUNS))
def test_a_pronoun_stands_for_the_first_noun_on_the_way_up_that_agrees(tree, expected):
    assert owners(tree) == expected


QUANTIFIERS = [
    ("a/DT couple/NN", True),
    ("a/DT lot/NN", True),
    ("a/DT pair/NN", True),
    ("a/DT variety/NN", True),
    ("an/DT assortment/NN", True),
    ("a/DT handful/NN", True),
    ("a/DT series/NN", True),
    ("dozens/dozen/NNS", True),
    ("some/DT", True),
    ("all/DT", True),
    ("several/JJ", True),
    ("types/type/NNS", True),
    ("this/DT type/NN", True),
    ("three/CD", True),
    ("12/CD", True),
    ("a/DT group/NN", False),
    ("a/DT row/NN", False),
    ("a/DT herd/NN", False),
    ("a/DT bowl/NN", False),
    ("a/DT piece/NN", False),
    ("this/DT couple/NN", False),
]


@pytest.mark.parametrize(("phrase", "vanishes"), QUANTIFIERS)
def test_what_counts_gives_its_place_to_what_is_counted(phrase, vanishes):
    *_, word = (cell.split("/")[0] for cell in phrase.split())
    determiner = f"det({word}, {phrase.split('/')[0]})" if " " in phrase else ""
    tree = tree_of(
        f"{phrase} of/IN cups/cup/NNS on/IN tables/table/NNS",
        f"{determiner} nmod({word}, cups) case(cups, of) nmod({word}, tables) case(tables, on)",
    )
    lemma = next(found.lemma for found in tree.words if found.form == word)
    tuples = tuples_of(tree)
    assert (("cup", "on", "table") in tuples) == vanishes
    assert ((lemma,) in tuples) == (not vanishes)
    assert ((lemma, "of", "cup") in tuples) == (not vanishes)


@pytest.mark.parametrize(
    "edges",
    [
        # by the words' own heads, as CoreNLP and most parsers have it
        "nsubj(front, cats) cop(front, are) case(front, in) nmod(front, cars) case(cars, of)",
        # by v1's multi-word expressions
        "nsubj(cars, cats) cop(cars, are) case(cars, in) mwe(in, front) mwe(in, of)",
        # each word a preposition of its own
        "nsubj(cars, cats) cop(cars, are) case(cars, in) case(cars, front) case(cars, of)",
    ],
)
def test_a_preposition_of_three_words_may_be_a_predicate(edges):
    tree = tree_of("cats/cat/NNS are/be/VBP in/IN front/NN of/IN cars/car/NNS", edges)
    expected = [("cat",), ("car",), ("cat", "in front of", "car")]
    assert tuples_of(tree) == tuples_of(tree, official=True) == expected


def test_words_that_only_look_like_a_preposition_stay_apart():
    # no noun behind it: "a cat sits in front"
    tree = tree_of(
        "cats/cat/NNS sit/VBP in/IN front/NN of/IN",
        "nsubj(sit, cats) nmod(sit, front) case(front, in) dep(front, of)",
    )
    assert ("cat", "sit in", "front") in tuples_of(tree)


tags = st.sampled_from("NN NNS NNP VBZ VBG VBN JJ RB IN DT CD PRP PRP$ WP WDT POS RP CC TO".split())
forms = st.sampled_from(
    """man dogs lot of in front next to who which that his it them two bunch up and be going 's
    by with""".split()
)
relations = st.sampled_from(
    """nsubj nsubjpass dobj iobj nmod nmod:of nmod:on nmod:poss nmod:agent acl acl:relcl advcl
    xcomp conj cc case mark mwe name compound compound:prt amod nummod det det:qmod cop auxpass
    expl ref dep punct root""".split()
)


@st.composite
def any_tree(draw):
    words = draw(st.lists(st.builds(Word, forms, forms, tags), max_size=9))
    numbers = st.integers(0, len(words) - 1)
    edges = (
        st.lists(st.builds(Edge, st.just(ROOT) | numbers, numbers, relations), max_size=16)
        if words
        else st.just([])
    )
    return Tree(tuple(words), tuple(draw(edges)), draw(st.booleans()))


@given(any_tree(), st.booleans())
def test_any_tree_however_wrong_gives_tuples_once_with_their_objects(tree, official):
    tuples = tuples_of(tree, official=official)
    assert len(tuples) == len(set(tuples))
    for found in tuples:
        assert 1 <= len(found) <= 3
        assert all(found)
        for name in (found[0], *found[2:]):
            assert (name,) in tuples
    assert tuples == tuples_of(tree, official=official)
