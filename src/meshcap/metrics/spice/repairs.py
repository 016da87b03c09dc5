"""What SPICE mends in a caption's dependencies before it looks for tuples.

Knows quantifiers ("a bunch of"), particles of verbs and shared modifiers, and leaves pronouns to
`pronouns`. Nothing of tuples.
"""

from dataclasses import replace

from meshcap.metrics.spice.dependencies import Dependencies, Link
from meshcap.metrics.spice.pronouns import replace_pronouns

# "a … of": nouns that say how much there is of something, not what holds it ("a bowl of").
_AMOUNTS = frozenset(
    "bunch couple lot number pair variety assortment handful series dozen plethora".split()
)
_KINDS = frozenset("kind type sort".split())
_ALONE = frozenset(
    """lots dozens hundreds thousands tons loads plenty some all several many most both few each
    any none one""".split()
)
_DEFINITE = frozenset("the this that these those".split())
_MOVES_TO_EACH = {"noun": ("acl", "nmod"), "verb": ("dobj", "nmod")}


def repair(found: Dependencies, *, official: bool) -> None:
    """Mend the dependencies in place.

    The official repairs are the quantifiers, the particles and the pronouns. Sharing what stands
    behind a conjunction is ours: CoreNLP's trees leave it with the first conjunct.
    """
    _quantifiers(found)
    _particles(found)
    if not official:
        _share_what_follows(found)
    replace_pronouns(found, official=official)


def _quantifiers(found: Dependencies) -> None:
    """Let what is counted take the place of what counts it: "a bunch of bananas" are bananas."""
    for quantifier in range(len(found.words) - 2):
        if found.words[quantifier + 1].form != "of" or not _counts(found, quantifier):
            continue
        counted = sorted(
            link.word
            for link in found.below[quantifier]
            if link.base == "nmod" and link.kind == "of" and link.word > quantifier
        )
        if counted:
            _take_place(found, quantifier, counted)


def _counts(found: Dependencies, word: int) -> bool:
    form, lemma, tag = found.words[word].form, found.words[word].lemma, found.words[word].tag
    if tag == "CD" or form in _ALONE or (lemma in _KINDS and tag.startswith("NN")):
        return True
    if lemma not in _AMOUNTS or found.has(word, "compound"):
        return False
    owned = any(link.kind == "poss" for link in found.below[word])
    determiners = {found.words[determiner].form for determiner in found.dependents(word, "det")}
    return not owned and not determiners & _DEFINITE


def _take_place(found: Dependencies, quantifier: int, counted: list[int]) -> None:
    first = counted[0]
    of = quantifier + 1
    for noun in counted:
        found.cut(quantifier, Link(noun, "nmod", "of"))
        if Link(of, "case", "") in found.below[noun]:
            found.cut(noun, Link(of, "case", ""))
    kinds = found.words[quantifier].lemma in _KINDS
    for link in found.below[quantifier][:]:
        found.cut(quantifier, link)
        # "different kinds of food" is different food; "a large number of cars" are no large cars.
        if link.base not in ("det", "amod", "cc") or (link.base == "amod" and kinds):
            found.add(first, link.word, link.base, link.kind)
    for link in found.cut_above(quantifier):
        for noun in counted:
            found.add(link.word, noun, link.base, link.kind)
    found.add(first, quantifier, "det", "qmod")


def _particles(found: Dependencies) -> None:
    """Make "holds … up" the verb "hold up"."""
    for verb in range(len(found.words)):
        for link in found.below[verb][:]:
            if link.base == "compound" and link.kind == "prt":
                word = found.words[verb]
                lemma = f"{word.lemma} {found.words[link.word].form}"
                found.words[verb] = replace(word, lemma=lemma)
                found.cut(verb, link)


def _share_what_follows(found: Dependencies) -> None:
    """Say of each conjunct what is hung on the first one but stands behind the last.

    In "a man and a woman riding horses" a tree that means both hangs "riding" on "man".
    """
    for first in range(len(found.words)):
        conjuncts = found.dependents(first, "conj")
        if not conjuncts:
            continue
        name = "verb" if found.is_verb(first) else "noun"
        for link in found.below[first][:]:
            if link.word < conjuncts[-1] or link.base not in _MOVES_TO_EACH[name]:
                continue
            for conjunct in conjuncts:
                if found.is_verb(conjunct) == found.is_verb(first):
                    _share(found, first, conjunct, link)


def _share(found: Dependencies, first: int, conjunct: int, link: Link) -> None:
    found.add(conjunct, link.word, link.base, link.kind)
    if link.kind == "relcl":  # its pronoun has given way to the first conjunct already
        for role in found.below[link.word][:]:
            if role.word == first:
                found.add(link.word, conjunct, role.base, role.kind)
