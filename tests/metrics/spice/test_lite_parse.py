"""The built-in parser: what its trees say, and that every text has one.

The sentences are our own. Agreement with tuples written by hand is measured in test_lite_gold.py.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.metrics.spice.lite import parse
from meshcap.metrics.spice.lite.words import CLOSED, PHRASES
from meshcap.metrics.spice.patterns import tuples_of
from meshcap.metrics.spice.tree import ROOT


def said(caption):
    """A caption's attributes and relations as lines; and objects that stand in no other tuple."""
    found = tuples_of(parse(caption))
    used = {part for each in found if len(each) > 1 for part in (each[0], *each[2:])}
    return {", ".join(each) for each in found if len(each) > 1 or each[0] not in used}


SENTENCES = [
    # noun phrases
    ("two small dogs", "dog, two | dog, small"),
    ("one small dog", "dog, small"),
    ("a black and white cow", "cow, black | cow, white"),
    ("a very old wooden bridge", "bridge, old | bridge, wooden"),
    ("a green and a brown suitcase", "suitcase, green | suitcase, brown"),
    ("a red jacket and hat", "jacket, red | hat, red"),
    ("a red jacket and a hat", "jacket, red | hat"),
    ("a fire hydrant", "hydrant, fire"),
    ("a snow covered hill", "hill, snow | hill, covered"),
    ("a parking lot near a living room", "lot, parking | room, living | lot, near, room"),
    ("a man 's hat", "man, have, hat"),
    ("a mans hat", "man, have, hat"),
    ("a cows head", "cow, have, head"),
    ("a close up of a cat", "closeup, of, cat"),
    ("a laptop a lamp and a mug on a desk", "laptop, on, desk | lamp, on, desk | mug, on, desk"),
    ("an apple books and a pen", "apple | book | pen"),
    ("a sink toilet and mirror", "sink | toilet | mirror"),
    # prepositional phrases
    ("a cat on a mat", "cat, on, mat"),
    ("a plate of food on a table", "plate, of, food | plate, on, table"),
    ("a dog in front of a big house", "house, big | dog, in front of, house"),
    ("a boy next to a bus", "boy, next to, bus"),
    ("a bowl full of soup", "bowl, full of, soup"),
    ("a bunch of bananas on a shelf", "banana, on, shelf"),
    ("a group of people near a bus", "group, of, people | people, near, bus"),
    # verbs and what stands with them
    ("a man rides a horse on the beach", "man, ride, horse | man, ride on, beach"),
    ("a man holding a plate of food", "man, hold, plate | plate, of, food"),
    ("a man is holding up a sign", "man, hold up, sign"),
    ("a man holding a sign up", "man, hold up, sign"),
    ("a smiling man standing", "man, smiling | man, stand"),
    ("a woman eating cake with a fork", "woman, eat, cake | woman, eat with, fork"),
    ("the boy throws the dog a ball", "boy, throw, dog | boy, throw, ball"),
    ("a bus parked by the curb", "bus, park by, curb"),
    ("a ball is caught by a dog", "dog, catch, ball"),
    ("a table covered with cups", "table, cover with, cup"),
    ("the boy gets splashed by a wave", "wave, splash, boy"),
    ("a dog is about to catch a ball", "dog, catch, ball"),
    ("a dog trying to catch a ball", "dog, try | dog, catch, ball"),
    ("a man teaching a boy to swim", "man, teach, boy | boy, swim"),
    ("a man skate boarding on a ramp", "man, skateboard on, ramp"),
    (
        "a dog shakes water off next to a lake",
        "dog, shake off, water | dog, shake off next to, lake",
    ),
    ("on a hill stands a horse", "horse, stand on, hill"),
    ("in the park a man rides a bike", "man, ride, bike | man, ride in, park"),
    # who does it
    ("a man on a beach flying a kite", "man, on, beach | man, fly, kite"),
    ("a group of people riding horses", "group, of, people | people, ride, horse"),
    ("a woman sits in a cafe looking out", "woman, sit in, cafe | woman, look out"),
    ("a table with a cat sitting on it", "table, with, cat | cat, sit on, table"),
    ("a man and a woman riding horses", "man, ride, horse | woman, ride, horse"),
    ("a man sitting and reading a book", "man, sit | man, read, book"),
    ("a man smiles while holding a dog", "man, smile | man, hold, dog"),
    ("a man rides a horse and a dog runs", "man, ride, horse | dog, run"),
    ("a boy jumps as people watch", "boy, jump | people, watch"),
    ("a boy jumps as a man and a woman watch", "boy, jump | man, watch | woman, watch"),
    ("a dog that is running", "dog, run"),
    ("a ball that a dog is chasing", "dog, chase, ball"),
    ("a bench that people are sitting on", "people, sit on, bench"),
    ("a boy sits while another stands", "boy, sit | boy, stand"),
    # "be"
    ("the cat is on the mat", "cat, on, mat"),
    ("the house is big and old", "house, big | house, old"),
    ("this animal is a dog", "animal, dog | dog"),
    ("there is a dog on the couch", "dog, on, couch"),
    ("a man who looks tired", "man, tired"),
    ("a zebra is in the grass eating", "zebra, in, grass | zebra, eat"),
    # pronouns
    ("a dog with a stick in its mouth", "dog, with, stick | stick, in, mouth | dog, have, mouth"),
    ("a woman with her dog", "woman, with, dog | woman, have, dog"),
    ("a cat on a chair licking its paw", "cat, on, chair | cat, lick, paw | cat, have, paw"),
    ("two men fall as they fight", "man, two | man, fall | man, fight"),
]


@pytest.mark.parametrize(("caption", "expected"), SENTENCES)
def test_a_sentence_says(caption, expected):
    assert said(caption) == set(expected.split(" | "))


def test_no_relation_rests_on_the_words_at_hand_alone():
    # The same grammar, other words: what goes with what decides.
    assert "man, eat with, fork" in said("a man eating pizza with a fork")
    assert "pizza, with, cheese" in said("a man eating pizza with cheese")
    assert "man, ride, wave" in said("a man on a surfboard riding a wave")
    assert "bus, drive down, street" in said("a street with a bus driving down the street")


def test_misspelt_and_unknown_words_keep_their_place():
    assert said("two girrafes eating leafs") == {"girrafe, two", "girrafe, eat, leaf"}
    assert said("a blorfing zug snorfled the wizzles") >= {"zug, blorf"}


def test_words_tags_and_dictionary_forms():
    tree = parse("two dogs chasing the biggest ball in front of us")
    assert [(word.form, word.lemma, word.tag) for word in tree.words[:6]] == [
        ("two", "two", "CD"),
        ("dogs", "dog", "NNS"),
        ("chasing", "chase", "VBG"),
        ("the", "the", "DT"),
        ("biggest", "big", "JJS"),
        ("ball", "ball", "NN"),
    ]
    assert not tree.collapsed


def test_glasses_that_are_worn_are_no_glass():
    lemmas = {word.form: word.lemma for word in parse("a man wearing glasses").words}
    assert lemmas["glasses"] == "glasses"
    lemmas = {word.form: word.lemma for word in parse("a table with glasses").words}
    assert lemmas["glasses"] == "glass"


# ---- any text


def assert_tree(text):
    """A text's tree has its words, one root, and a way from the root to every word."""
    tree = parse(text)
    assert [word.form for word in tree.words] == [word for word in text.split(" ") if word]
    below = {}
    for edge in tree.edges:
        assert 0 <= edge.dependent < len(tree.words)
        assert ROOT <= edge.head < len(tree.words)
        below.setdefault(edge.head, []).append(edge.dependent)
    if tree.words:
        assert len(below[ROOT]) == 1
    reached, waiting = set(), [ROOT]
    while waiting:
        for word in below.get(waiting.pop(), ()):
            if word not in reached:
                reached.add(word)
                waiting.append(word)
    assert reached == set(range(len(tree.words)))
    tuples_of(tree)


WORDS = sorted(
    {word for caption, _ in SENTENCES for word in caption.split()}
    | set(CLOSED)
    | {word for phrases in PHRASES.values() for phrase, _ in phrases for word in phrase}
    | {"-lrb-", "3\u00a01/2", "'", "n't", "snow-covered", "-", "x" * 50, "日本", "ß", "12:30"}
)


@given(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join))
def test_every_row_of_words_has_a_tree(text):
    assert_tree(text)


@given(st.text(max_size=60))
def test_every_text_has_a_tree(text):
    assert_tree(text)


def test_long_texts_have_a_tree_and_take_no_time():
    words = random.Random(1).choices(WORDS, k=5_000)
    assert_tree(" ".join(words))
    assert_tree("a " * 3_000)
    assert_tree("1" * 100_000 + "x")


def test_the_same_text_has_the_same_tree():
    text = "a man in a hat and a woman with a dog walking down a street near a park"
    tree = parse(text)
    parse.cache_clear()
    assert parse(text) == tree
