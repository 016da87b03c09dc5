"""The role of each word of a caption, from the word and its neighbours.

Knows roles (see `words`), each word's chances for them, and which role follows which, as a
hidden Markov model; nothing of phrases or
trees. The best sequence is found by Viterbi's way, then mended.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from math import log

from meshcap.metrics.spice.lexicon import parts_of_speech
from meshcap.metrics.spice.lite.mending import mended
from meshcap.metrics.spice.lite.table import Table, table
from meshcap.metrics.spice.lite.words import ALLOWED, CLOSED, PHRASES

Chances = dict[str, float]

_NUMBER = re.compile(r"[\d.,/:$%#°-]*\d[\d.,/:$%#°-]*(?:st|nd|rd|th)?")
_ADJECTIVES = ("ous", "ful", "less", "ish", "able", "ible", "like")
_FALSE_PLURALS = ("ss", "us", "is")
_BY_ENDING: tuple[tuple[tuple[str, ...], Chances], ...] = (
    (("ing",), {"U": 0.6, "G": 0.15, "N": 0.25}),
    (("ed",), {"Q": 0.45, "E": 0.45, "Y": 0.1, "A": 0.05}),
    (("ly",), {"R": 0.8, "A": 0.2}),
    (_ADJECTIVES, {"A": 0.95, "N": 0.05}),
    (_FALSE_PLURALS, {"N": 0.9, "A": 0.1}),
    (("s",), {"S": 0.8, "Z": 0.12, "N": 0.1}),
    (("",), {"N": 0.8, "A": 0.12, "S": 0.03, "F": 0.02, "R": 0.01, "V": 0.01}),
)
_ROLES_OF_TAGS: dict[str, tuple[tuple[str, float], ...]] = {
    "NN": (("N", 1.0),),
    "NNS": (("S", 1.0),),
    "JJ": (("A", 1.0),),
    "JJR": (("A", 1.0),),
    "JJS": (("A", 1.0),),
    "RB": (("R", 1.0),),
    "VB": (("I", 1.0),),
    "VBP": (("V", 1.0),),
    "VBZ": (("Z", 1.0),),
    "VBD": (("Y", 1.0),),
    "VBN": (("Q", 1.0), ("E", 0.7)),
    "VBG": (("U", 1.0), ("G", 0.3)),
}
_ALONE = frozenset(("another", "each", "one", "this", "that"))
_REMEMBERED = 1 << 16  # units
_LONGEST_NUMBER = 30
_IN_HYPHENATED = {"Q": "E", "Y": "E", "U": "G", "#": "N"}
_PLURAL_TOO = frozenset("sheep deer fish cattle aircraft police bison wildlife".split())


def chances(word: str) -> Chances:
    """The roles that a word can have, from lists and WordNet alone, and how likely each is."""
    found = _listed_or_found(word)
    if word in ALLOWED:
        return {role: found.get(role, 0.3) for role in ALLOWED[word]}
    return found


def _listed_or_found(word: str) -> Chances:
    if " " in word:
        return dict.fromkeys(dict(PHRASES[word.split()[0]])[tuple(word.split())], 1.0)
    if word in CLOSED:
        return {role: 1.0 if place == 0 else 0.3 for place, role in enumerate(CLOSED[word])}
    tags = {} if _is_number(word) else parts_of_speech(word)
    if not tags:
        return _by_shape(word)
    rare = 0.01 * max(tags.values())
    found: Chances = {}
    for tag, common in tags.items():
        if common >= rare:
            for role, share in _ROLES_OF_TAGS[tag]:
                found[role] = found.get(role, 0.3) + common * share
    if "Q" in found and "Y" in found:  # captions tell what is, not what was
        found["Y"] = 0.02 * found["Q"]
    if "Q" in found and "A" in found:  # a participle that is listed as adjective, too
        found["E"] += found.pop("A")
    if "N" in found and "S" in found and word.endswith("s") and found["S"] > found["N"]:
        del found["N"]
    if word in _PLURAL_TOO:
        found["S"] = found["N"]
    return found


def _is_number(word: str) -> bool:
    return len(word) <= _LONGEST_NUMBER and _NUMBER.fullmatch(word) is not None


def _by_shape(word: str) -> Chances:
    """The chances of a word that no dictionary has."""
    if _is_number(word):
        return {"#": 1.0}
    last = word.rsplit("-", 1)[1] if "-" in word else ""
    if last and last != word:
        return _of_hyphenated(chances(last))
    return next(
        found for endings, found in _BY_ENDING if word.endswith(endings) or endings == ("",)
    )


def _of_hyphenated(last: Chances) -> Chances:
    """ "snow-covered", "t-shirt", "double-decker": by the last part, and rather an adjective."""
    found: Chances = {"A": 0.4}
    total = sum(last.values())
    for role, chance in last.items():
        becomes = _IN_HYPHENATED.get(role, role)
        found[becomes] = found.get(becomes, 0.0) + chance / total
    return {role: chance for role, chance in found.items() if role in "NSAEG"}


class Tagger:
    """The model with its numbers as logarithms."""

    def __init__(self, learned: Table) -> None:
        self.start = _logarithms(learned.start)
        self.after = {before: _logarithms(row) for before, row in learned.after.items()}
        self.words = learned.roles
        self.shares = learned.shares
        self.compounds = learned.compounds
        self._known: dict[str, list[tuple[str, float]]] = {}

    def candidates(self, unit: str) -> list[tuple[str, float]]:
        """A unit's possible roles, each with the logarithm of how well it explains the unit."""
        found = self._known.get(unit)
        if found is None:
            roles = self.words.get(unit) or chances(unit)
            total = sum(roles.values())
            found = [
                (role, log(chance / total / self.shares[role]))
                for role, chance in roles.items()
                if chance > 0.002 * total
            ]
            if len(self._known) < _REMEMBERED:
                self._known[unit] = found
        return found

    def roles(self, units: list[str]) -> str:
        """The role of each unit, one character each."""
        found = self._likeliest(units)
        found = mended(units, found, self.compounds)
        found = self._changed(units, found, "DS", "Z", lambda place: units[place] in _ALONE)
        return self._changed(
            units, found, "NV", "A", lambda place: not found[:place].endswith(("C", "CD"))
        )

    def _likeliest(self, units: list[str]) -> str:
        """The best sequence by the model alone."""
        after = self.after
        # Ways to the unit before: its role, the way's logarithm, its roles.
        ways = [(role, self.start[role] + fit, role) for role, fit in self.candidates(units[0])]
        for unit in units[1:]:
            longer = []
            for role, fit in self.candidates(unit):
                if len(ways) == 1:
                    before, so_far, trace = ways[0]
                    longer.append((role, so_far + after[before][role] + fit, trace + role))
                else:
                    so_far, trace = max(
                        [(so_far + after[before][role], trace) for before, so_far, trace in ways]
                    )
                    longer.append((role, so_far + fit, trace + role))
            ways = longer
        return max((so_far + after[role]["$"], trace) for role, so_far, trace in ways)[1]

    def _changed(
        self, units: list[str], roles: str, pair: str, role: str, when: Callable[[int], bool]
    ) -> str:
        """Two roles that disagree in number: the second unit has another role, if it can.

        In "another stands" the verb is no noun, for there is one; in "with its mouth open" the
        adjective is no verb.
        """
        place = roles.find(pair)
        while place >= 0:
            possible = any(found == role for found, _ in self.candidates(units[place + 1]))
            if possible and when(place):
                roles = roles[: place + 1] + role + roles[place + 2 :]
            place = roles.find(pair, place + 1)
        return roles


def _logarithms(chances_of: Chances) -> Chances:
    return {role: log(chance) for role, chance in chances_of.items()}


@lru_cache(maxsize=1)
def tagger() -> Tagger:
    """The one tagger, made when it is first asked for."""
    return Tagger(table())


def units_of(words: list[str]) -> tuple[list[str], list[int]]:
    """A caption's words with fixed phrases joined by blanks, and the place of each unit's first."""
    units: list[str] = []
    firsts: list[int] = []
    place = 0
    while place < len(words):
        word = words[place]
        length = 1
        for phrase, _ in PHRASES.get(word, ()):
            if tuple(words[place : place + len(phrase)]) == phrase:
                length = len(phrase)
                break
        units.append(" ".join(words[place : place + length]) if length > 1 else word)
        firsts.append(place)
        place += length
    return units, firsts
