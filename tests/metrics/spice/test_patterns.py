"""Tuples from trees written by hand: one row for each rule.

The trees follow the public description of Universal Dependencies v1, the tuples section 6 of the
specification and, where it leaves a choice, tests/golden/spice_lite_guide.md.
"""

import pytest

from meshcap.metrics.spice.patterns import tuples_of
from spice_trees import tree_of


def said(tuples):
    """Tuples as lines, without the objects' own."""
    return {", ".join(parts) for parts in tuples if len(parts) > 1}


def objects(tuples):
    return {parts[0] for parts in tuples if len(parts) == 1}


# what it shows | words | edges | tuples of more than one part
BOTH_READINGS = """
subject, verb, object | a/DT man/NN rides/ride/VBZ horses/horse/NNS | det(man, a) nsubj(rides, man) dobj(rides, horses) | man, ride, horse
two objects | a/DT man/NN gives/give/VBZ dogs/dog/NNS treats/treat/NNS | nsubj(gives, man) iobj(gives, dogs) dobj(gives, treats) | man, give, dog; man, give, treat
object and phrase | men/man/NNS ride/VBP horses/horse/NNS on/IN beaches/beach/NNS | nsubj(ride, men) dobj(ride, horses) nmod(ride, beaches) case(beaches, on) | man, ride, horse; man, ride on, beach
a participle behind its noun | a/DT man/NN riding/ride/VBG horses/horse/NNS | acl(man, riding) dobj(riding, horses) | man, ride, horse
a participle with a phrase | a/DT dog/NN sitting/sit/VBG on/IN grass/NN | acl(dog, sitting) nmod(sitting, grass) case(grass, on) | dog, sit on, grass
a participle alone | a/DT man/NN smiling/smile/VBG | acl(man, smiling) | man, smile
a verb alone | a/DT man/NN is/be/VBZ smiling/smile/VBG | nsubj(smiling, man) aux(smiling, is) | man, smile
an infinitive behind its noun | balls/ball/NNS to/TO hit/VB with/IN bats/bat/NNS | acl(balls, hit) mark(hit, to) nmod(hit, bats) case(bats, with) | ball, hit with, bat
a noun's phrase | a/DT cat/NN on/IN a/DT mat/NN | nmod(cat, mat) case(mat, on) | cat, on, mat
there is | there/EX is/be/VBZ a/DT cat/NN on/IN a/DT mat/NN | expl(is, there) nsubj(is, cat) nmod(is, mat) case(mat, on) | cat, on, mat
there is, and nothing more | there/EX is/be/VBZ a/DT cat/NN | expl(is, there) nsubj(is, cat) |
be with a phrase, v1 | the/DT cat/NN is/be/VBZ on/IN the/DT mat/NN | nsubj(mat, cat) cop(mat, is) case(mat, on) | cat, on, mat
be with a preposition of three words | cats/cat/NNS are/be/VBP on/IN top/NN of/IN cars/car/NNS | nsubj(top, cats) cop(top, are) case(top, on) nmod(top, cars) case(cars, of) | cat, on top of, car
be with an adjective | the/DT dog/NN is/be/VBZ tired/JJ | nsubj(tired, dog) cop(tired, is) | dog, tired
be with a noun | the/DT animal/NN is/be/VBZ a/DT dog/NN | nsubj(dog, animal) cop(dog, is) det(dog, a) | animal, dog
an adjective before its noun | a/DT brown/JJ dog/NN | amod(dog, brown) | dog, brown
two adjectives joined | black/JJ and/CC white/JJ dogs/dog/NNS | amod(dogs, black) cc(black, and) conj(black, white) | dog, black; dog, white
a participle before its noun | a/DT parked/park/VBN car/NN | amod(car, parked) | car, park
a number before a plural | two/CD dogs/dog/NNS | nummod(dogs, two) | dog, two
a number before a singular | one/CD dog/NN | nummod(dog, one) |
a compound of three | a/DT tennis/NN ball/NN machine/NN | compound(machine, tennis) compound(machine, ball) | machine, tennis; machine, ball
a name, its first word as head | new/NNP york/NNP streets/street/NNS | name(new, york) compound(streets, new) | street, york; york, new
an owner | a/DT man/NN 's/POS hat/NN | nmod:poss(hat, man) case(man, 's) | man, have, hat
an owner without its subtype | a/DT man/NN 's/POS hat/NN | nmod(hat, man) case(man, 's) | man, have, hat
have | a/DT man/NN has/have/VBZ hats/hat/NNS | nsubj(has, man) dobj(has, hats) | man, have, hat
passive with agent | the/DT dog/NN is/be/VBZ held/hold/VBN by/IN a/DT man/NN | nsubjpass(held, dog) auxpass(held, is) nmod(held, man) case(man, by) | man, hold, dog
passive with agent and phrase | dogs/dog/NNS are/be/VBP held/hold/VBN by/IN men/man/NNS in/IN arms/arm/NNS | nsubjpass(held, dogs) auxpass(held, are) nmod(held, men) case(men, by) nmod(held, arms) case(arms, in) | man, hold, dog; dog, hold in, arm
passive with another phrase | a/DT table/NN is/be/VBZ covered/cover/VBN with/IN food/NN | nsubjpass(covered, table) auxpass(covered, is) nmod(covered, food) case(food, with) | table, cover with, food
passive alone | a/DT car/NN is/be/VBZ parked/park/VBN | nsubjpass(parked, car) auxpass(parked, is) | car, park
agent of a participle | a/DT horse/NN ridden/ride/VBN by/IN a/DT man/NN | acl(horse, ridden) nmod(ridden, man) case(man, by) | man, ride, horse
by as a place | a/DT car/NN parked/park/VBN by/IN a/DT curb/NN | acl(car, parked) nmod(parked, curb) case(curb, by) | car, park by, curb
who as subject | a/DT man/NN who/WP rides/ride/VBZ horses/horse/NNS | acl:relcl(man, rides) nsubj(rides, who) dobj(rides, horses) | man, ride, horse
that as object | a/DT horse/NN that/WDT a/DT man/NN rides/ride/VBZ | acl:relcl(horse, rides) dobj(rides, that) nsubj(rides, man) | man, ride, horse
which within a phrase | a/DT bench/NN on/IN which/WDT men/man/NNS sit/VBP | acl:relcl(bench, sit) nmod(sit, which) case(which, on) nsubj(sit, men) | man, sit on, bench
whose | a/DT dog/NN whose/WP$ owner/NN smiles/smile/VBZ | acl:relcl(dog, smiles) nsubj(smiles, owner) nmod:poss(owner, whose) | dog, have, owner; owner, smile
that is, with an adjective | a/DT dog/NN that/WDT is/be/VBZ tired/JJ | acl:relcl(dog, tired) nsubj(tired, that) cop(tired, is) | dog, tired
a chain of verbs | a/DT man/NN tries/try/VBZ to/TO catch/VB balls/ball/NNS | nsubj(tries, man) xcomp(tries, catch) mark(catch, to) dobj(catch, balls) | man, try; man, catch, ball
the object does it | men/man/NNS help/VBP boys/boy/NNS ride/VB bikes/bike/NNS | nsubj(help, men) dobj(help, boys) xcomp(help, ride) dobj(ride, bikes) | man, help, boy; boy, ride, bike
two verbs of one subject | a/DT man/NN sits/sit/VBZ and/CC eats/eat/VBZ cake/NN | nsubj(sits, man) conj(sits, eats) cc(sits, and) dobj(eats, cake) | man, sit; man, eat, cake
two participles | a/DT man/NN sitting/sit/VBG and/CC smiling/smile/VBG | acl(man, sitting) conj(sitting, smiling) cc(sitting, and) | man, sit; man, smile
passive, then active | the/DT cat/NN is/be/VBZ washed/wash/VBN and/CC sleeps/sleep/VBZ | nsubjpass(washed, cat) auxpass(washed, is) conj(washed, sleeps) cc(washed, and) | cat, wash; cat, sleep
two subjects | a/DT man/NN and/CC a/DT dog/NN run/VBP | nsubj(run, man) conj(man, dog) cc(man, and) | man, run; dog, run
two nouns of a phrase | plates/plate/NNS with/IN meat/NN and/CC potatoes/potato/NNS | nmod(plates, meat) case(meat, with) conj(meat, potatoes) cc(meat, and) | plate, with, meat; plate, with, potato
two phrases with their own prepositions | cats/cat/NNS on/IN tables/table/NNS and/CC under/IN chairs/chair/NNS | nmod(cats, tables) case(tables, on) conj(tables, chairs) case(chairs, under) cc(tables, and) | cat, on, table; cat, under, chair
two prepositions of a noun | people/NNS in/IN and/CC around/IN water/NN | nmod(people, water) case(water, in) cc(in, and) conj(in, around) | people, in, water; people, around, water
from behind | cats/cat/NNS looking/look/VBG from/IN behind/IN trees/tree/NNS | acl(cats, looking) nmod(looking, trees) case(trees, from) case(trees, behind) | cat, look from behind, tree
a particle | a/DT man/NN holding/hold/VBG up/RP fish/NN | acl(man, holding) compound:prt(holding, up) dobj(holding, fish) | man, hold up, fish
a particle far from its verb | men/man/NNS hold/VBP signs/sign/NNS up/RP | nsubj(hold, men) dobj(hold, signs) compound:prt(hold, up) | man, hold up, sign
a time is no place | men/man/NNS smile/VBP today/NN | nsubj(smile, men) nmod:tmod(smile, today) | man, smile
an object that is no noun | signs/sign/NNS say/VBP you/PRP | nsubj(say, signs) dobj(say, you) | sign, say
his own | a/DT man/NN rides/ride/VBZ his/PRP$ horse/NN | nsubj(rides, man) dobj(rides, horse) nmod:poss(horse, his) | man, ride, horse; man, have, horse
a pronoun in a phrase | a/DT skateboard/NN with/IN a/DT man/NN on/IN it/PRP | nmod(skateboard, man) case(man, with) nmod(man, it) case(it, on) | skateboard, with, man; man, on, skateboard
a pronoun of the other gender | a/DT woman/NN with/IN a/DT man/NN and/CC her/PRP$ dog/NN | nmod(woman, man) case(man, with) conj(man, dog) cc(man, and) nmod:poss(dog, her) | woman, with, man; woman, with, dog; woman, have, dog
many owners | two/CD people/NNS ride/VBP their/PRP$ bikes/bike/NNS | nummod(people, two) nsubj(ride, people) dobj(ride, bikes) nmod:poss(bikes, their) | people, two; people, ride, bike; people, have, bike
him is not the one who acts | a/DT man/NN with/IN a/DT boy/NN watching/watch/VBG him/PRP | nmod(man, boy) case(boy, with) acl(boy, watching) dobj(watching, him) | man, with, boy; boy, watch, man
behind itself | a/DT dog/NN runs/run/VBZ with/IN sticks/stick/NNS behind/IN it/PRP | nsubj(runs, dog) nmod(runs, sticks) case(sticks, with) nmod(runs, it) case(it, behind) | dog, run with, stick; dog, run behind, dog
what is said of a pronoun | a/DT dog/NN with/IN a/DT man/NN near/IN it/PRP holding/hold/VBG sticks/stick/NNS | nmod(dog, man) case(man, with) nmod(man, it) case(it, near) acl(it, holding) dobj(holding, sticks) | dog, with, man; man, near, dog; dog, hold, stick
the first word has nobody before it | he/PRP rides/ride/VBZ horses/horse/NNS | nsubj(rides, he) dobj(rides, horses) |
it that is no thing | streets/street/NNS where/WRB it/PRP rains/rain/VBZ | acl:relcl(streets, rains) expl(rains, it) advmod(rains, where) |
a bunch of | a/DT bunch/NN of/IN bananas/banana/NNS on/IN tables/table/NNS | det(bunch, a) nmod(bunch, bananas) case(bananas, of) nmod(bunch, tables) case(tables, on) | banana, on, table
lots of, within a phrase | plates/plate/NNS with/IN lots/lot/NNS of/IN food/NN | nmod(plates, lots) case(lots, with) nmod(lots, food) case(food, of) | plate, with, food
two of the | two/CD of/IN the/DT dogs/dog/NNS run/VBP | nsubj(run, two) nmod(two, dogs) case(dogs, of) | dog, two; dog, run
two pairs of | two/CD pairs/pair/NNS of/IN skis/ski/NNS | nummod(pairs, two) nmod(pairs, skis) case(skis, of) | ski, two
different kinds of | different/JJ kinds/kind/NNS of/IN food/NN | amod(kinds, different) nmod(kinds, food) case(food, of) | food, different
a large number of | a/DT large/JJ number/NN of/IN cars/car/NNS | det(number, a) amod(number, large) nmod(number, cars) case(cars, of) |
a bunch of two things | a/DT man/NN with/IN a/DT bunch/NN of/IN apples/apple/NNS and/CC pears/pear/NNS | nmod(man, bunch) case(bunch, with) det(bunch, a) nmod(bunch, apples) case(apples, of) conj(apples, pears) cc(apples, and) | man, with, apple; man, with, pear
a group of is an object | a/DT group/NN of/IN people/NNS | det(group, a) nmod(group, people) case(people, of) | group, of, people
the number of | the/DT number/NN of/IN the/DT bus/NN | det(number, the) nmod(number, bus) case(bus, of) | number, of, bus
"""  # noqa: E501

OURS = """
a pair's participle behind both | a/DT man/NN and/CC a/DT woman/NN riding/ride/VBG horses/horse/NNS | conj(man, woman) cc(man, and) acl(man, riding) dobj(riding, horses) | man, ride, horse; woman, ride, horse
a pair's relative clause | a/DT man/NN and/CC a/DT woman/NN who/WP smile/VBP | conj(man, woman) cc(man, and) acl:relcl(man, smile) nsubj(smile, who) | man, smile; woman, smile
a pair's object | a/DT man/NN washes/wash/VBZ and/CC dries/dry/VBZ dogs/dog/NNS | nsubj(washes, man) conj(washes, dries) cc(washes, and) dobj(washes, dogs) | man, wash, dog; man, dry, dog
what stands before the second is not shared | a/DT man/NN on/IN a/DT horse/NN and/CC a/DT dog/NN | nmod(man, horse) case(horse, on) conj(man, dog) cc(man, and) | man, on, horse
while | a/DT man/NN smiles/smile/VBZ while/IN holding/hold/VBG dogs/dog/NNS | nsubj(smiles, man) advcl(smiles, holding) mark(holding, while) dobj(holding, dogs) | man, smile; man, hold, dog
while, of a participle | a/DT man/NN sitting/sit/VBG while/IN eating/eat/VBG cake/NN | acl(man, sitting) advcl(sitting, eating) mark(eating, while) dobj(eating, cake) | man, sit; man, eat, cake
a chain from a participle | a/DT man/NN trying/try/VBG to/TO catch/VB balls/ball/NNS | acl(man, trying) xcomp(trying, catch) mark(catch, to) dobj(catch, balls) | man, try; man, catch, ball
seems | a/DT man/NN seems/seem/VBZ tired/JJ | nsubj(seems, man) xcomp(seems, tired) | man, tired
looking | a/DT man/NN looking/look/VBG tired/JJ | acl(man, looking) xcomp(looking, tired) | man, tired
going to | a/DT man/NN is/be/VBZ going/go/VBG to/TO catch/VB balls/ball/NNS | nsubj(going, man) aux(going, is) xcomp(going, catch) mark(catch, to) dobj(catch, balls) | man, catch, ball
about to | a/DT man/NN is/be/VBZ about/JJ to/TO catch/VB balls/ball/NNS | nsubj(about, man) cop(about, is) xcomp(about, catch) mark(catch, to) dobj(catch, balls) | man, catch, ball
full of, behind its noun | a/DT bowl/NN full/JJ of/IN soup/NN | amod(bowl, full) nmod(full, soup) case(soup, of) | bowl, full of, soup
full of, behind be | the/DT bowl/NN is/be/VBZ full/JJ of/IN soup/NN | nsubj(full, bowl) cop(full, is) nmod(full, soup) case(soup, of) | bowl, full of, soup
an adverb says nothing | the/DT dog/NN is/be/VBZ outside/RB | nsubj(outside, dog) cop(outside, is) |
their, of a pair | a/DT man/NN and/CC a/DT woman/NN ride/VBP their/PRP$ bikes/bike/NNS | conj(man, woman) cc(man, and) nsubj(ride, man) dobj(ride, bikes) nmod:poss(bikes, their) | man, ride, bike; woman, ride, bike; man, have, bike; woman, have, bike
a relative clause without its pronoun | a/DT man/NN smiling/smile/VBG at/IN dogs/dog/NNS | acl:relcl(man, smiling) nmod(smiling, dogs) case(dogs, at) | man, smile at, dog
"""  # noqa: E501

OFFICIAL = """
a pair's participle stays with the first | a/DT man/NN and/CC a/DT woman/NN riding/ride/VBG horses/horse/NNS | conj(man, woman) cc(man, and) acl(man, riding) dobj(riding, horses) | man, ride, horse
while | a/DT man/NN smiles/smile/VBZ while/IN holding/hold/VBG dogs/dog/NNS | nsubj(smiles, man) advcl(smiles, holding) mark(holding, while) dobj(holding, dogs) | man, smile
seems | a/DT man/NN seems/seem/VBZ tired/JJ | nsubj(seems, man) xcomp(seems, tired) | man, seem; man, tired
going to | a/DT man/NN is/be/VBZ going/go/VBG to/TO catch/VB balls/ball/NNS | nsubj(going, man) aux(going, is) xcomp(going, catch) mark(catch, to) dobj(catch, balls) | man, go; man, catch, ball
full of | a/DT bowl/NN full/JJ of/IN soup/NN | amod(bowl, full) nmod(full, soup) case(soup, of) | bowl, full
an adverb | the/DT dog/NN is/be/VBZ outside/RB | nsubj(outside, dog) cop(outside, is) | dog, outside
their, of a pair | a/DT man/NN and/CC a/DT woman/NN ride/VBP their/PRP$ bikes/bike/NNS | conj(man, woman) cc(man, and) nsubj(ride, man) dobj(ride, bikes) nmod:poss(bikes, their) | man, ride, bike; woman, ride, bike; man, have, bike
"""  # noqa: E501


def rows(table):
    found = []
    for line in table.strip().splitlines():
        name, words, edges, expected = (cell.strip() for cell in line.split("|"))
        tuples = {cell.strip() for cell in expected.split(";") if cell.strip()}
        found.append(pytest.param(tree_of(words, edges), tuples, id=name))
    return found


@pytest.mark.parametrize("official", [False, True], ids=["ours", "official"])
@pytest.mark.parametrize(("tree", "expected"), rows(BOTH_READINGS))
def test_a_rule_gives_its_tuples_in_both_readings(tree, expected, official):
    assert said(tuples_of(tree, official=official)) == expected


@pytest.mark.parametrize(("tree", "expected"), rows(OURS))
def test_our_reading_follows_the_guide(tree, expected):
    assert said(tuples_of(tree)) == expected


@pytest.mark.parametrize(("tree", "expected"), rows(OFFICIAL))
def test_the_official_reading_differs_from_ours_where_the_patterns_are_explicit(tree, expected):
    assert said(tuples_of(tree, official=True)) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (tree_of("a/DT dog/NN and/CC two/CD cats/cat/NNS", "conj(dog, cats)"), {"dog", "cat"}),
        (tree_of("a/DT fire/NN hydrant/NN", "compound(hydrant, fire)"), {"hydrant"}),
        (
            tree_of(
                "a/DT bunch/NN of/IN people/NNS in/IN front/NN of/IN him/PRP",
                "nmod(bunch, people) case(people, of) nmod(people, front) case(front, in) "
                "nmod(front, him) case(him, of-2) det(bunch, a)",
            ),
            {"people"},
        ),
        (tree_of("two/CD of/IN them/PRP", "nmod(two, them) case(them, of)"), set()),
        (tree_of(""), set()),
    ],
    ids=["nouns", "compound", "quantifier and preposition", "pronoun and number", "no words"],
)
def test_objects_are_nouns_that_are_no_part_of_another_word(tree, expected):
    assert objects(tuples_of(tree)) == expected


def test_collapsed_trees_are_read_as_they_are():
    collapsed = tree_of(
        "a/DT man/NN who/WP sits/sit/VBZ on/IN top/NN of/IN cars/car/NNS and/CC trucks/truck/NNS",
        "acl:relcl(man, sits) nsubj(sits, man) ref(man, who) case(cars, on) mwe(on, top) "
        "mwe(on, of) nmod:on_top_of(sits, cars) nmod:on_top_of(sits, trucks) "
        "conj:and(cars, trucks)",
        collapsed=True,
    )
    for official in (False, True):
        assert said(tuples_of(collapsed, official=official)) == {
            "man, sit on top of, car",
            "man, sit on top of, truck",
        }


def test_tuples_come_once_and_objects_come_first_in_the_order_of_the_words():
    tree = tree_of(
        "a/DT dog/NN and/CC a/DT dog/NN with/IN balls/ball/NNS",
        "nmod(dog-2, balls) case(balls, with) conj(dog, dog-2)",
    )
    assert tuples_of(tree) == [("dog",), ("ball",), ("dog", "with", "ball")]


PREPOSITIONS = [
    # however a parser attaches "next to", it is one preposition
    "advmod(standing, next) nmod(next, dogs) case(dogs, to)",
    "advmod(standing, next) nmod(standing, dogs) case(dogs, to)",
    "nmod(standing, dogs) case(dogs, next) case(dogs, to)",
    "nmod(standing, dogs) case(dogs, next) mwe(next, to)",
    "xcomp(standing, next) nmod(next, dogs) case(dogs, to)",
]


def test_a_preposition_of_two_words_leaves_its_noun_where_the_tree_has_it():
    tree = tree_of(
        "a/DT man/NN standing/stand/VBG next/JJ to/TO dogs/dog/NNS",
        "acl(man, standing) advmod(standing, next) nmod(man, dogs) case(dogs, to)",
    )
    assert said(tuples_of(tree)) == {"man, stand", "man, next to, dog"}


@pytest.mark.parametrize("edges", PREPOSITIONS)
def test_a_preposition_of_two_words_is_one_however_it_is_attached(edges):
    words = "a/DT man/NN standing/stand/VBG next/JJ to/TO dogs/dog/NNS"
    tree = tree_of(words, f"acl(man, standing) {edges}")
    assert said(tuples_of(tree)) == {"man, stand next to, dog"}
