"""Stems of English words: Porter's second algorithm ("Porter2", Snowball's "English") as of 2010.

Knows letters; nothing of captions. Written from the algorithm's published definition, in the
state that METEOR 1.5 carries: later versions of it, and the packages that follow them, stem
"organized", "evening", "adding", "paste" and some two hundred further words differently, and
would change scores.

In a word, y at the beginning or after a vowel is a consonant; it is written Y meanwhile. R1 is
what follows the first consonant after a vowel, R2 the same within R1; most endings fall only
inside them.
"""

import re

_VOWELS = "aeiouy"
_WHOLE = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
    "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli",
    "singly": "singl",
    **{word: word for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")},
}  # fmt: skip
"""Words that no rule touches."""

_AFTER_PLURALS = frozenset(
    ["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"]
)
_CONSONANT_Y = re.compile(f"(^|[{_VOWELS}])y")
_REGION = re.compile(f"[{_VOWELS}][^{_VOWELS}]")
_R1_AFTER = re.compile("gener|commun|arsen")
_VOWEL = re.compile(f"[{_VOWELS}]")
_SHORT_END = re.compile(f"(?:[^{_VOWELS}][{_VOWELS}][^{_VOWELS}wxY]|^[{_VOWELS}][^{_VOWELS}])$")
_DOUBLE = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_BEFORE_LI = "cdeghkmnrt"

_SECOND = {
    "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent",
    "izer": "ize", "ization": "ize", "ational": "ate", "ation": "ate", "ator": "ate",
    "alism": "al", "aliti": "al", "alli": "al", "fulness": "ful", "ousli": "ous",
    "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble", "bli": "ble",
    "ogi": "og", "fulli": "ful", "lessli": "less", "li": "",
}  # fmt: skip
_THIRD = {
    "tional": "tion", "ational": "ate", "alize": "al", "icate": "ic", "iciti": "ic",
    "ical": "ic", "ful": "", "ness": "", "ative": "",
}  # fmt: skip
_FOURTH = dict.fromkeys(
    ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism"]
    + ["ate", "iti", "ous", "ive", "ize", "ion"],
    "",
)


def _ending(suffixes: dict[str, str]) -> re.Pattern[str]:
    """The longest of some suffixes: the alternatives are tried from the left."""
    return re.compile(f"(?:{'|'.join(sorted(suffixes, key=len, reverse=True))})$")


_SECOND_END, _THIRD_END, _FOURTH_END = map(_ending, (_SECOND, _THIRD, _FOURTH))


def stem(word: str) -> str:
    """The stem of a word in lower case.

    >>> [stem(word) for word in ("benches", "sitting", "happily", "organized", "evening")]
    ['bench', 'sit', 'happili', 'organ', 'even']
    """
    if word in _WHOLE:
        return _WHOLE[word]
    if len(word) < 3:
        return word
    word = _CONSONANT_Y.sub(r"\1Y", word.removeprefix("'"))
    first = _first_region(word)
    found = _REGION.search(word, first)
    second = found.end() if found else len(word)
    word = _plural(_possessive(word))
    if word in _AFTER_PLURALS:
        return word
    word = _past(word, first)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _derived(word, first, second)
    return _last_letter(word, first, second).replace("Y", "y")


def _first_region(word: str) -> int:
    """Where R1 begins."""
    found = _R1_AFTER.match(word) or _REGION.search(word)
    return found.end() if found else len(word)


def _possessive(word: str) -> str:
    """A word without ', 's or 's' at its end."""
    for ending in ("'s'", "'s", "'"):
        if word.endswith(ending):
            return word.removesuffix(ending)
    return word


def _plural(word: str) -> str:
    """A word without the ending of a plural."""
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _VOWEL.search(word[:-2]):
        return word[:-1]
    return word


def _past(word: str, first: int) -> str:
    """A word without the ending of a past tense or of an -ing form."""
    for ending in ("eedly", "eed"):
        if word.endswith(ending):
            start = len(word) - len(ending)
            return word[:start] + "ee" if start >= first else word
    for ending in ("ingly", "edly", "ing", "ed"):
        if word.endswith(ending):
            before = word.removesuffix(ending)
            return _mended(before, first) if _VOWEL.search(before) else word
    return word


def _mended(word: str, first: int) -> str:
    """What an ending was taken from, as its verb's stem is written."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word.endswith(_DOUBLE):
        return word[:-1]
    return word + "e" if len(word) <= first and _SHORT_END.search(word) else word


def _derived(word: str, first: int, second: int) -> str:
    """A word without what made it of another: -ization, -fulness, -ment …"""
    if (found := _SECOND_END.search(word)) and found.start() >= first:
        ending, start = found[0], found.start()
        allowed = {"ogi": "l", "li": _BEFORE_LI}.get(ending)
        if allowed is None or word[start - 1] in allowed:
            word = word[:start] + _SECOND[ending]
    if (found := _THIRD_END.search(word)) and found.start() >= first:
        if found[0] != "ative" or found.start() >= second:
            word = word[: found.start()] + _THIRD[found[0]]
    if (found := _FOURTH_END.search(word)) and found.start() >= second:
        if found[0] != "ion" or word[found.start() - 1] in "st":
            word = word[: found.start()]
    return word


def _last_letter(word: str, first: int, second: int) -> str:
    """A word without a final e, or without the second of two final l."""
    before, start = word[:-1], len(word) - 1
    if word.endswith("e"):
        if start >= second or (start >= first and not _SHORT_END.search(before)):
            return before
    elif word.endswith("ll") and start >= second:
        return before
    return word
