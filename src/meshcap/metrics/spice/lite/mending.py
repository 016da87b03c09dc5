"""Roles that neighbours alone mislead, mended.

Knows roles (see `words`) of a whole caption and which words stand together as compounds;
nothing of chances, phrases or trees.
"""

import re
from collections.abc import Mapping

_AFTER_VERB = frozenset("up down around out off outside inside together".split())
_AFTER_PARTICIPLE = _AFTER_VERB | {"in", "over"}
_FLOATING = frozenset(("each", "all", "both"))
_TAKES_OF = frozenset("consisting thinking dreaming speaking talking".split())
_VERBS = tuple("UZVYQI")
_BEFORE_NOUN = tuple("ANSGEC")
_ENOUGH = 3  # meetings

_PERHAPS_COMPOUND = re.compile("(?<=[CDPA])U(?=[NS])")
_PERHAPS_PLURAL = re.compile("(?<=[PCAUZV#]N)Z")
_NOT_SAID_YET = re.compile("(?<=[NS])Y(?=[^CMWZBVY]*[BZ])|(?<=[ZVUIB])Y")
_AFTER_BE = re.compile("(?<=[bB])I|(?<=b)[VY]")
_RUN_DOWN = re.compile("(?<=D)[YQ](?=P[AEG]*[NS])")
_COVERED = re.compile("(?<=[NA])Q(?=[AEG]*[NS])")


def mended(units: list[str], roles: str, compounds: Mapping[str, int]) -> str:
    """The roles of a caption's units, better."""
    if "G" in roles:
        roles = _no_adjectives(units, roles, compounds)
    if "U" in roles:
        roles = _no_verbs(units, roles, compounds)
    if "Z" in roles:  # "with pizza slices"
        for found in _PERHAPS_PLURAL.finditer(roles):
            if _pair(units, found.start() - 1) in compounds:
                roles = _with(roles, found.start(), "S")
    if "I" in roles or "b" in roles:  # "is put", "to be hit"
        roles = _AFTER_BE.sub("Q", roles)
    # "a run down house"
    for found in _RUN_DOWN.finditer(roles):
        if units[found.end()] in _AFTER_PARTICIPLE:
            roles = _with(roles, found.start(), "E")
    if "Y" in roles:  # "a car numbered 7 is racing", "looks tired"
        roles = _NOT_SAID_YET.sub("Q", roles)
    if "Q" in roles:  # "a snow covered hill"
        roles = _COVERED.sub("E", roles)
    return roles


def _with(roles: str, place: int, role: str) -> str:
    return roles[:place] + role + roles[place + 1 :]


def _pair(units: list[str], place: int) -> str:
    return " ".join(units[place : place + 2])


def _no_adjectives(units: list[str], roles: str, compounds: Mapping[str, int]) -> str:
    """Words in -ing that only look as if they stood before a noun."""
    place = roles.find("G")
    while place >= 0:
        before, behind = roles[:place], roles[place + 1 : place + 2]
        if behind not in _BEFORE_NOUN:  # "with wooden shelving"
            roles = _with(roles, place, "N")
        elif _pair(units, place) not in compounds:
            lying_watching = units[place - 1] in _AFTER_VERB and before[-2:-1] in _VERBS
            reading_and_drinking = before.endswith(("NC", "SC")) and "U" in before
            couple_each_wearing = units[place - 1] in _FLOATING and before[-2:-1] in ("N", "S")
            if lying_watching or reading_and_drinking or couple_each_wearing:
                roles = _with(roles, place, "U")
        place = roles.find("G", place + 1)
    return roles


def _no_verbs(units: list[str], roles: str, compounds: Mapping[str, int]) -> str:
    """Words in -ing that only look like verbs: "a walking stick", "a serving of fries"."""
    for found in _PERHAPS_COMPOUND.finditer(roles):
        if compounds.get(_pair(units, found.start()), 0) >= _ENOUGH:
            roles = _with(roles, found.start(), "G")
    place = roles.find("U")
    while place >= 0:
        if units[place + 1 : place + 2] == ["of"] and units[place] not in _TAKES_OF:
            roles = _with(roles, place, "N")
        place = roles.find("U", place + 1)
    return roles
