"""How a caption's phrases belong together: each finds its place, from left to right, once.

Knows which rule a kind of phrase asks for, and the small words; the rules for nouns, verbs and
predicates are in `objects`, `verbs` and `predicates`.
"""

from collections.abc import Callable

from meshcap.metrics.spice.lite.objects import (
    complement,
    drop_prepositions,
    place_noun,
    read_preposition,
)
from meshcap.metrics.spice.lite.predicates import adjective, settle, settle_alone
from meshcap.metrics.spice.lite.reading import Reading, Site
from meshcap.metrics.spice.lite.sentence import Phrase, Sentence
from meshcap.metrics.spice.lite.verbs import read_verb


def link_phrases(sentence: Sentence, phrases: list[Phrase]) -> None:
    """Link the phrases of a sentence; every unit has a head afterwards."""
    reading = Reading(sentence, phrases)
    for place, phrase in enumerate(phrases):
        reading.place = place
        _RULES[phrase.kind](reading, phrase)
    reading.place = len(phrases)
    drop_prepositions(reading)
    reading.finish()


def _noun(reading: Reading, phrase: Phrase) -> None:
    lemma = reading.sentence.lemmas[phrase.head]
    place_noun(reading, Site(phrase.head, True, lemma, phrase.sort or "?", phrase.determiner))


def _pronoun(reading: Reading, phrase: Phrase) -> None:
    conjunction, noun = reading.phrase_at(1), reading.phrase_at(2)
    if _floats(reading, phrase):
        reading.link(reading.sites[-1].word, phrase.head, "det")
    elif (
        reading.sentence.roles[phrase.head] == "A"
        and conjunction is not None
        and conjunction.kind == "C"
        and noun is not None
        and noun.kind == "N"
    ):  # "a green and a brown suitcase"
        reading.link(noun.head, phrase.head, "amod")
        reading.shared_adjective = True
    else:
        place_noun(reading, Site(phrase.head, True, reading.sentence.lemmas[phrase.head], "O"))


def _floats(reading: Reading, phrase: Phrase) -> bool:
    """The "each" of "a couple each wearing a hat", which is no noun of its own."""
    following, last = reading.phrase_at(1), reading.last()
    waits = reading.prepositions or reading.conjunction is not None or reading.mark is not None
    return (
        reading.unit(phrase.head) in ("each", "all", "both")
        and following is not None
        and following.kind == "V"
        and last is not None
        and last.noun
        and not waits
    )


def _adjective(reading: Reading, phrase: Phrase) -> None:
    if reading.prepositions:  # "dressed in black"
        lemma = reading.sentence.lemmas[phrase.head]
        complement(reading, Site(phrase.head, True, lemma, "X"))
    else:
        adjective(reading, phrase.head)


def _preposition(reading: Reading, phrase: Phrase) -> None:
    if reading.unit(phrase.head) == "as":
        _mark(reading, phrase)
    else:
        read_preposition(reading, phrase)


def _mark(reading: Reading, phrase: Phrase) -> None:
    following = reading.phrase_at(1)
    kind = following.kind if following is not None else ""
    if kind in ("N", "O") and reading.verb_ahead(1, lists=True) not in ("Z", "B", "U"):
        read_preposition(reading, phrase)  # "dressed as a clown"
        return
    settle_alone(reading)
    reading.link_conjunction(reading.last())
    if kind in ("", "P", "R", "A", "C"):
        last = reading.last()
        if last is not None:
            reading.link(last.word, phrase.head, "dep")
        return
    reading.mark = phrase.head


def _conjunction(reading: Reading, phrase: Phrase) -> None:
    noun = reading.phrase_at(1)
    if reading.shared_adjective and noun is not None:
        reading.shared_adjective = False
        reading.link(noun.head, phrase.head, "cc")
        return
    settle_alone(reading)
    reading.link_conjunction(reading.last())
    reading.conjunction = phrase.head


def _relative(reading: Reading, phrase: Phrase) -> None:
    if reading.sites:
        reading.relative = phrase.head


def _there(reading: Reading, phrase: Phrase) -> None:
    following = reading.phrase_at(1)
    if following is not None and following.kind == "V":
        reading.there = phrase.head


def _adverb(reading: Reading, phrase: Phrase) -> None:
    following = reading.phrase_at(1)
    if reading.be is not None and (following is None or following.kind in "CMW"):
        settle(reading, phrase.head, reading.sentence.lemmas[phrase.head])
        return
    if reading.be is not None:
        reading.link(reading.be.word, phrase.head, "advmod")
        return
    site = reading.verb() or reading.last()
    if site is not None:
        reading.link(site.word, phrase.head, "advmod")


_RULES: dict[str, Callable[[Reading, Phrase], None]] = {
    "N": _noun,
    "O": _pronoun,
    "A": _adjective,
    "V": read_verb,
    "P": _preposition,
    "C": _conjunction,
    "W": _relative,
    "M": _mark,
    "R": _adverb,
    "H": _there,
}
