"""A caption's units grouped into noun phrases, verb groups and the small words between them.

Knows roles and what may stand in one phrase, and links the words inside each; nothing of how
phrases belong together.
"""

from meshcap.metrics.spice.lite.company import LIVING
from meshcap.metrics.spice.lite.nouns import sort_of
from meshcap.metrics.spice.lite.sentence import Phrase, Sentence
from meshcap.metrics.spice.lite.table import table

_OWNERS_MISSPELT = frozenset("mans womans persons childs childrens peoples babys ladys".split())
_PARTICLES = frozenset("up down out off in over".split())
_ONE = frozenset(("a", "an", "one"))
_BEFORE_NOUN = "A#GE"
_NOUNS = "NS"
_KIND_ALONE = {"E": "A", "G": "A", "#": "A", "F": "N", "D": "O", "K": "R"}
_RELATION_OF_TAG = {
    "DT": "det",
    "PRP$": "nmod:poss",
    "WP$": "nmod:poss",
    "CD": "nummod",
    "NN": "compound",
    "NNS": "compound",
}


def phrases_of(sentence: Sentence) -> list[Phrase]:
    """The phrases of a sentence from left to right; links inside them are added to it."""
    return _Chunker(sentence).phrases()


class _Chunker:
    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.roles = sentence.roles
        self.end = len(sentence.roles)
        self.found: list[Phrase] = []

    def phrases(self) -> list[Phrase]:
        place = 0
        while place < self.end:
            role = self.roles[place]
            end = 0
            if role in "BbXZVYIUQT":
                end = self._verb_group(place)
            elif role in "D#AGENSR":
                end = self._noun_phrase(place)
            elif role == "O" and self.roles[place + 1 : place + 2] == "K":
                end = self._own_pronoun(place)
            if not end:
                self.found.append(Phrase(_KIND_ALONE.get(role, role), place, place, place))
                end = place + 1
            place = end
        return self.found

    # ---- noun phrases

    def _noun_phrase(self, first: int) -> int:
        """Read a noun phrase, or adjectives, that begins here; give where it ends, or 0."""
        roles, end = self.roles, self.end
        place = first
        determiner = ""
        while place < end and roles[place] == "D":
            determiner = self.sentence.units[place]
            place += 1
        place = self._modifiers_end(place)
        nouns = place
        while nouns < end and roles[nouns] in _NOUNS:
            nouns += 1
        if nouns == place:
            return self._without_noun(first, place, determiner)
        return self._with_noun(first, place, nouns, determiner)

    def _modifiers_end(self, place: int) -> int:
        """Where the adjectives, numbers and participles before a noun end."""
        while place < self.end and self._modifies(place):
            place += 1
        return place

    def _modifies(self, place: int) -> bool:
        """Whether a unit, behind others of a noun phrase, stands before its nouns."""
        role, behind = self.roles[place], self.roles[place + 1 : place + 2]
        if role == "N":  # what a participle is done by: "snow covered hills"
            return behind == "E" and self._noun_follows(place + 1)
        if role == "R":
            return behind in ("A", "E", "#", "R")
        if role == "C":
            between = self.roles[place - 1] in "AGE" and behind in ("A", "G", "E")
            return between and self._noun_follows(place + 1)
        if role == "P":  # "a run down house"
            behind_determiner = self.roles[place - 2 : place] in ("DE", "AE", "RE")
            particle = self.sentence.units[place] in _PARTICLES
            return behind_determiner and particle and self._noun_follows(place + 1)
        return role in _BEFORE_NOUN

    def _noun_follows(self, place: int) -> bool:
        while place < self.end and self.roles[place] in "AGEC":
            place += 1
        return place < self.end and self.roles[place] in _NOUNS

    def _without_noun(self, first: int, end: int, determiner: str) -> int:
        """Adjectives or a number without a noun: "is red", "two of them", "the third"."""
        while end > first and self.roles[end - 1] == "R":
            end -= 1
        if end == first or self.roles[first] == "R":
            return 0
        head = end - 1
        if self.roles[head] == "D":
            return 0
        kind = "O" if determiner or self.roles[head] == "#" else "A"
        for place in range(first, head):
            self._modify(head, place)
        self.found.append(Phrase(kind, head, first, head, determiner=determiner))
        return end

    def _with_noun(self, first: int, start: int, end: int, determiner: str) -> int:
        sentence = self.sentence
        head = self._head_of_nouns(start, end, determiner in _ONE)
        for place in range(first, head):
            self._modify(head, place)
        kind = sort_of(sentence.lemmas[head])
        if head > first and sentence.units[head - 1] == "hot" and sentence.lemmas[head] == "dog":
            kind = "F"
        phrase = Phrase("N", head, first, head, determiner=determiner, sort=kind)
        phrase.joined = head + 1 < end
        self.found.append(phrase)
        after = head + 1
        if after < self.end and self.roles[after] == "K":
            return self._owner(phrase, after)
        return after

    def _head_of_nouns(self, start: int, end: int, one: bool) -> int:
        """The last noun of a compound; a list without its commas is several noun phrases.

        `one` says that the determiner needs a singular: "an apple books" are two things.
        """
        units, roles = self.sentence.units, self.roles
        beside = table().compounds
        listed = end < self.end and roles[end] == "C"
        for place in range(start, end - 1):
            if one and roles[place : place + 2] == "NS" and units[place] != "couple":
                return place
            together = f"{units[place]} {units[place + 1]}" in beside
            if together or self._owns(place):
                continue
            if roles[place] == "S" or (listed and self._alike(place)):
                return place
        return end - 1

    def _owns(self, place: int) -> bool:
        """Whether an apostrophe is missing, as in "a mans hat", "a cows head"."""
        if self.sentence.units[place] in _OWNERS_MISSPELT:
            return True
        if self.roles[place : place + 2] not in ("SN", "SS"):
            return False
        owner, owned = (sort_of(self.sentence.lemmas[noun]) for noun in (place, place + 1))
        return owner in LIVING and owned == "B"

    def _alike(self, place: int) -> bool:
        """Whether two neighbouring nouns name things of one kind, as those of a list do."""
        one, other = (sort_of(self.sentence.lemmas[noun]) for noun in (place, place + 1))
        return one == other or (one in "LT" and other in "LT")

    def _owner(self, owner: Phrase, mark: int) -> int:
        """ "a man's hat": the owner is part of the phrase behind it."""
        end = self._noun_phrase(mark + 1) if mark + 1 < self.end else 0
        self.sentence.link(owner.head, mark, "case")
        if not end:
            return mark + 1
        owned = self.found.pop()
        self.found.pop()
        self.sentence.link(owned.head, owner.head, "nmod:poss")
        owned.first = owner.first
        owned.determiner = owner.determiner or "'s"
        self.found.append(owned)
        return end

    def _own_pronoun(self, pronoun: int) -> int:
        """ "it's way", for "its way"."""
        self.sentence.tags[pronoun] = "PRP$"
        end = self._noun_phrase(pronoun + 2) if pronoun + 2 < self.end else 0
        if not end:
            self.found.append(Phrase("O", pronoun, pronoun, pronoun + 1))
            self.sentence.link(pronoun, pronoun + 1, "case")
            return pronoun + 2
        owned = self.found[-1]
        owned.first, owned.determiner = pronoun, "its"
        self.sentence.link(owned.head, pronoun, "nmod:poss")
        self.sentence.link(pronoun, pronoun + 1, "case")
        return end

    def _modify(self, head: int, place: int) -> None:
        """Link a word before a head to it."""
        sentence = self.sentence
        role = self.roles[place]
        if role == "S" and self._owns(place):
            sentence.link(head, place, "nmod:poss")
        elif role == "P":
            sentence.link(place - 1, place, "compound:prt")
        elif role == "R":
            sentence.link(place + 1, place, "advmod")
        elif role == "C":
            sentence.link(place - 1, place, "cc")
        else:
            sentence.link(head, place, _RELATION_OF_TAG.get(sentence.tags[place], "amod"))

    # ---- verb groups

    def _verb_group(self, first: int) -> int:
        """Read auxiliaries and a verb; give where they end."""
        roles, end = self.roles, self.end
        place = first
        helpers: list[int] = []
        main = -1
        while place < end:
            role = roles[place]
            if role in "ZVYUQI":
                if helpers and not self._goes_on(helpers, role):
                    break
                main = place
                break
            if role in "BbXT":
                helpers.append(place)
                place += 1
            elif role == "R" and self._verb_behind(place, helpers):
                place += 1
            else:
                break
        if main < 0:
            return self._without_verb(first, helpers)
        return self._with_verb(first, helpers, main)

    def _goes_on(self, helpers: list[int], role: str) -> bool:
        """Whether a verb of this role continues its auxiliaries."""
        last = self.roles[helpers[-1]]
        if last == "T":
            return role in "IVQ"
        if last == "X":
            return role in "IQVYU"
        return role in "UQY"

    def _verb_behind(self, place: int, helpers: list[int]) -> bool:
        while place < self.end and self.roles[place] == "R":
            place += 1
        if place >= self.end or not helpers:
            return False
        role = self.roles[place]
        return role in "bB" or (role in "UQIVY" and self._goes_on(helpers, role))

    def _without_verb(self, first: int, helpers: list[int]) -> int:
        """Auxiliaries alone: "is", or "has" and "does" as verbs of their own; or "to"."""
        sentence = self.sentence
        last = helpers[-1]
        role = self.roles[last]
        if role == "T":
            for place in helpers[:-1]:
                form = "B" if self.roles[place] == "B" else "Z"
                self.found.append(Phrase("V", place, place, place, form=form))
            sentence.retag(last, "P")
            self.found.append(Phrase("P", last, last, last))
            return last + 1
        form = {"being": "U", "having": "U", "been": "Q"}.get(sentence.units[last], "")
        if role == "X":
            form = form or "Z"
            if sentence.lemmas[last] in ("have", "do"):
                sentence.retag(last, form)
        elif self.roles[first] == "T":
            form = "I"
        for place in range(first, last):
            sentence.link(last, place, self._helper_relation(place))
        self.found.append(Phrase("V", last, first, last, form=form or "B"))
        return last + 1

    def _helper_relation(self, place: int) -> str:
        role = self.roles[place]
        if role == "R":
            return "neg" if self.sentence.lemmas[place] == "not" else "advmod"
        return "mark" if role == "T" else "aux"

    def _with_verb(self, first: int, helpers: list[int], main: int) -> int:
        sentence = self.sentence
        role = self.roles[main]
        passive = bool(helpers) and role in "QY" and self.roles[helpers[-1]] in "Bb"
        if role == "Y" and helpers:
            sentence.retag(main, "Q")
        if role == "V" and helpers:
            sentence.retag(main, "I")
        for place in range(first, main):
            relation = self._helper_relation(place)
            if passive and helpers and place == helpers[-1]:
                relation = "auxpass"
            sentence.link(main, place, relation)
        if not helpers:
            form = role if role in "UQ" else "Z"
        elif self.roles[helpers[0]] == "T":
            form = "I"
        elif self.roles[helpers[0]] == "b" or sentence.units[helpers[0]] == "having":
            form = "Q"
        else:
            form = "Z"
        passive = passive or (role == "Q" and not helpers)
        self.found.append(Phrase("V", main, first, main, form=form, passive=passive))
        return main + 1
