"""How well words go together: a noun with a verb it would be the subject of, phrases with both.

Knows the counts of `table`, smoothed by what nouns of one sort do; nothing of sentences.

All answers are logarithms. Smoothing is the same everywhere: a ratio of what was met to what would
be met by chance, pulled towards the ratio of a coarser kind by so many imagined meetings.
"""

from collections import Counter
from functools import lru_cache
from math import log

from meshcap.metrics.spice.lite.nouns import sort_of
from meshcap.metrics.spice.lite.table import Counts, table

LIVING = "PAG"
"""The sorts of nouns that act."""


def ratio(met: float, by_chance: float, coarser: float, imagined: float) -> float:
    """How many times likelier than by chance something is, given a coarser answer."""
    return (met + imagined * coarser) / (by_chance + imagined)


class Subjects:
    """Who does what: "ride U" (riding) is what people do, "fill Q" (filled) what plates are."""

    def __init__(self, does: dict[str, Counts]) -> None:
        self.pair: Counter[tuple[str, str]] = Counter()
        self.by_sort: Counter[tuple[str, str]] = Counter()
        self.by_life: Counter[tuple[bool, str]] = Counter()
        self.noun: Counter[str] = Counter()
        self.sort: Counter[str] = Counter()
        self.life: Counter[bool] = Counter()
        self.verb: Counter[str] = Counter()
        for verb, nouns in does.items():
            for noun, times in nouns.items():
                sort = sort_of(noun)
                lives = sort in LIVING
                self.pair[noun, verb] += times
                self.by_sort[sort, verb] += times
                self.by_life[lives, verb] += times
                self.noun[noun] += times
                self.sort[sort] += times
                self.life[lives] += times
                self.verb[verb] += times
        self.total = sum(self.verb.values()) or 1

    def fit(self, noun: str, sort: str, verb: str) -> float:
        """Log of how much likelier the verb is with this noun than without knowing it."""
        lives = sort in LIVING
        share = self.verb[verb] / self.total
        # A verb that nobody met is done by the living; a participle describes things.
        unknown = (1.1 if lives else 0.3) if verb.endswith("U") else (0.7 if lives else 1.5)
        of_life = ratio(self.by_life[lives, verb], share * self.life[lives], unknown, 2)
        of_sort = ratio(self.by_sort[sort, verb], share * self.sort[sort], of_life, 3)
        return log(ratio(self.pair[noun, verb], share * self.noun[noun], of_sort, 3))


class Phrases:
    """Which prepositional phrases words of one kind take, as against all kinds."""

    def __init__(self, alone: Counts, phrases: dict[str, Counts], *, verbs: bool = False) -> None:
        self.verbs = verbs
        self.alone = alone
        self.triple = phrases
        self.pair: Counter[tuple[str, str]] = Counter()
        self.thing: Counter[tuple[str, str]] = Counter()
        self.sort: Counter[tuple[str, str]] = Counter()
        self.preposition: Counter[str] = Counter()
        self.host_sort: Counter[tuple[str, str]] = Counter()
        self.host_alone: Counter[str] = Counter()
        self.sorts: Counter[tuple[str, str, str]] = Counter()
        for word, found in phrases.items():
            for phrase, times in found.items():
                preposition, thing = phrase.rsplit(" ", 1)
                self.pair[word, preposition] += times
                self.host_sort[self.sort_of(word), preposition] += times
                self.sorts[self.sort_of(word), preposition, sort_of(thing)] += times
                self.thing[preposition, thing] += times
                self.sort[preposition, sort_of(thing)] += times
                self.preposition[preposition] += times
        for word, times in alone.items():
            self.host_alone[self.sort_of(word)] += times
        self.total = sum(alone.values()) or 1

    def sort_of(self, word: str) -> str:
        """The coarser kind of a word: a noun's sort, a verb with or without object."""
        return word[-1] * (word[-1] == "+") if self.verbs else sort_of(word)


class Attachment:
    """Whether a phrase belongs to a noun or a verb."""

    def __init__(self, nouns: Phrases, verbs: Phrases) -> None:
        self.nouns, self.verbs = nouns, verbs
        self.thing = nouns.thing + verbs.thing
        self.sort = nouns.sort + verbs.sort
        self.preposition = nouns.preposition + verbs.preposition

    def takes(self, phrases: Phrases, word: str, preposition: str, thing: str) -> float:
        """Log of how likely a word takes a preposition, and this noun rather than any other."""
        common = (phrases.preposition[preposition] + 0.5) / (phrases.total + 100)
        sort = phrases.sort_of(word)
        of_sort = ratio(
            phrases.host_sort[sort, preposition], common * phrases.host_alone[sort], 1.0, 3
        )
        alone = phrases.alone.get(word, 0)
        takes = common * ratio(phrases.pair[word, preposition], common * alone, of_sort, 3)
        every = self.preposition[preposition] or 1
        share = phrases.preposition[preposition] / every
        kind = sort_of(thing)
        of_kind = ratio(
            phrases.sort[preposition, kind], share * self.sort[preposition, kind], 1.0, 4
        )
        by_chance = phrases.host_sort[sort, preposition] * self.sort[preposition, kind] / every
        of_kinds = ratio(phrases.sorts[sort, preposition, kind], by_chance, of_kind, 4)
        of_thing = ratio(
            phrases.thing[preposition, thing], share * self.thing[preposition, thing], of_kinds, 3
        )
        by_chance = phrases.pair[word, preposition] * self.thing[preposition, thing] / every
        met = phrases.triple.get(word, {}).get(f"{preposition} {thing}", 0)
        return log(takes) + log(ratio(met, by_chance, of_thing, 2))


@lru_cache(maxsize=1)
def _subjects() -> Subjects:
    return Subjects(table().does)


@lru_cache(maxsize=1)
def _attachment() -> Attachment:
    learned = table()
    return Attachment(
        Phrases(learned.nouns, learned.noun_phrases),
        Phrases(learned.verbs, learned.verb_phrases, verbs=True),
    )


@lru_cache(maxsize=1 << 15)
def subject_fit(noun: str, sort: str, verb: str) -> float:
    """See `Subjects.fit`."""
    return _subjects().fit(noun, sort, verb)


@lru_cache(maxsize=1 << 16)
def noun_takes(noun: str, preposition: str, thing: str) -> float:
    """How likely a noun takes a phrase."""
    found = _attachment()
    return found.takes(found.nouns, noun, preposition, thing)


@lru_cache(maxsize=1 << 16)
def verb_takes(verb: str, preposition: str, thing: str) -> float:
    """How likely a verb takes a phrase; "ride+" is the verb "ride" that has an object."""
    found = _attachment()
    return found.takes(found.verbs, verb, preposition, thing)
