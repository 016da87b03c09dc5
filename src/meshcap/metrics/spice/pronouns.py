"""Which noun a personal pronoun stands for.

Knows how Hobbs searches: from the pronoun upwards, at each step from left to right, for the first
noun that agrees with it in number and gender. Nothing of tuples. "Who" and "which" are not its
business: relative clauses say themselves what those stand for.
"""

from collections.abc import Iterator
from typing import NamedTuple

from meshcap.metrics.spice.dependencies import Dependencies


class _Traits(NamedTuple):
    plural: bool
    gender: str
    """"male", "female", "thing" or "any"."""


_PRONOUNS = {
    form: _Traits(plural, gender)
    for forms, plural, gender in (
        ("he him his himself", False, "male"),
        ("she her hers herself", False, "female"),
        ("it its itself", False, "thing"),
        ("they them their theirs themselves themself", True, "any"),
    )
    for form in forms.split()
}
_BOUND = frozenset("himself herself itself themselves themself".split())
_MALE = frozenset(
    """man boy guy gentleman father dad son brother husband king prince grandfather uncle groom
    male businessman policeman fireman fisherman cowboy catcher pitcher batter umpire fellow dude
    lad waiter""".split()
)
_FEMALE = frozenset(
    """woman girl lady mother mom daughter sister wife queen princess grandmother aunt bride
    female businesswoman policewoman actress waitress gal""".split()
)
_PERSON, _GROUP = 18, 14  # WordNet's lexicographer files, of a noun's commonest sense
_YOUNG = frozenset("baby child kid infant toddler".split())  # which may be "it"


def replace_pronouns(found: Dependencies, *, official: bool) -> None:
    """Put nouns in the places of pronouns; the first word of a caption has none before it.

    A plural pronoun that stands for the first of several conjuncts stands for all of them, except
    in the official reading, which knows one noun.
    """
    for pronoun in range(1, len(found.words)):
        traits = _PRONOUNS.get(found.words[pronoun].form)
        if traits is None or not found.words[pronoun].tag.startswith("PRP"):
            continue
        if any(link.base == "expl" for link in found.above[pronoun]):
            continue
        antecedent = _antecedent(found, pronoun, traits)
        if antecedent is None:
            continue
        nouns = [antecedent]
        if traits.plural and not official:
            others = found.dependents(antecedent, "conj")
            nouns += [other for other in others if other < pronoun and found.is_thing(other)]
        _put(found, pronoun, nouns)


def _put(found: Dependencies, pronoun: int, nouns: list[int]) -> None:
    for link in found.cut_above(pronoun):
        for noun in nouns:
            found.add(link.word, noun, link.base, link.kind)
    for link in found.below[pronoun][:]:
        if link.base in ("acl", "nmod", "nsubj", "nsubjpass"):
            found.cut(pronoun, link)
            for noun in nouns:
                found.add(noun, link.word, link.base, link.kind)


def _antecedent(found: Dependencies, pronoun: int, traits: _Traits) -> int | None:
    here = _beside(found, pronoun)
    nouns = list(dict.fromkeys(_upwards(found, pronoun)))
    apart = [noun for noun in nouns if noun not in here]
    # A place may name the subject again: "a dog runs with a stick behind it".
    again = [noun for noun in nouns if here.get(noun)]
    for strictly in (True, False):
        for noun in apart + again:
            if _agrees(found, noun, traits, strictly=strictly):
                return noun
    return None


def _beside(found: Dependencies, pronoun: int) -> dict[int, bool]:
    """The nouns of the pronoun's own clause, and whether it may stand for them all the same.

    "Him" is nobody of its clause, save in a phrase of place; "his" and "himself" may be.
    """
    word = found.words[pronoun]
    found_here: dict[int, bool] = {}
    if word.tag == "PRP$" or word.form in _BOUND:
        return found_here
    for link in found.above[pronoun]:
        place = link.base == "nmod"
        if link.kind == "poss":  # "her" tagged as an object
            continue
        if found.is_noun(link.word):
            found_here[link.word] = False
            continue
        for other in found.below[link.word]:
            if other.base in ("nsubj", "nsubjpass", "dobj", "iobj", "nmod"):
                found_here[other.word] = place and other.base.startswith("nsubj")
        for clause in found.above[link.word]:
            if clause.base == "acl":
                found_here[clause.word] = place
    return found_here


def _upwards(found: Dependencies, pronoun: int) -> Iterator[int]:
    """Nouns before the pronoun: those met on the way up, from left to right, then all others."""
    seen = {pronoun}
    level = [pronoun]
    while level:
        heads = {link.word for word in level for link in found.above[word]} - seen
        seen |= heads
        level = sorted(heads, key=lambda head: (head > pronoun, -head))
        for head in level:
            if head < pronoun and found.is_thing(head):
                yield head
            below = sorted(
                (not link.base.startswith("nsubj"), link.word) for link in found.below[head]
            )
            for _, word in below:
                if word < pronoun and word not in seen and found.is_thing(word):
                    yield word
    for word in range(pronoun):
        if found.is_thing(word):
            yield word


def _agrees(found: Dependencies, noun: int, traits: _Traits, *, strictly: bool) -> bool:
    from meshcap.metrics.spice.lexicon import field

    lemma = found.words[noun].lemma
    if traits.plural:
        many = found.is_plural(noun) or any(
            link.base == "conj" and link.word > noun for link in found.below[noun]
        )
        return many or not strictly or field(lemma) == _GROUP
    if found.is_plural(noun):
        return False
    person = lemma in _MALE or lemma in _FEMALE or field(lemma) == _PERSON
    if traits.gender == "thing":
        return not person or (not strictly and lemma in _YOUNG)
    wrong = _FEMALE if traits.gender == "male" else _MALE
    return lemma not in wrong and (person or not strictly)
