"""A caption to the words that METEOR 1.5 compares, as its option -norm does.

Knows characters and the list of words that keep their dot; nothing of scores. The official tools
normalise text that has been tokenised already, so that both happen to a caption.

The steps act on characters, one after another, each from left to right without looking at what it
has itself written; their order matters. `Normaliser.words` is their sum.
"""

import re
from collections.abc import Mapping

# Characters that stay in words, beside the full stop. Found by giving the official jar every
# character of the basic plane between two letters.
_LETTER = "A-Za-zÀ-ÖØ-öø-žЀ-ԧᴀ-ᵿ\ua640-\ua66e\ua67e-\ua697"
_DIGIT = "0-9"
_KEPT = _LETTER + _DIGIT
_SPACE = " \t\n\v\f\r"

_TRIMMED = "".join(map(chr, range(33)))  # what Java's trim takes away
_PLAIN = re.compile("[a-z0-9 ]*")  # nothing happens to these
_SIGN = re.compile(rf"[^{_KEPT}{_SPACE}.'`,‘’-]")
_DOTS = re.compile(r"\.{2,}")
_COMMAS = [
    (re.compile(before + "," + after), r"\1 , \2")
    for before, after in [
        ("([^0-9])", "([^0-9])"),
        ("([0-9])", "([^0-9])"),
        ("([^0-9])", "([0-9])"),
    ]
]
_SINGLE = str.maketrans("‘’`", "'''")
_DOUBLE = re.compile("[“”]|''")
_HYPHEN = re.compile(f"([{_KEPT}.])-([{_KEPT}])")
_APOSTROPHES = [
    (re.compile(f"([^{_LETTER}])'([^{_LETTER}])"), r"\1 ' \2"),
    (re.compile(f"([^{_KEPT}])'([{_LETTER}])"), r"\1 ' \2"),
    (re.compile(f"([{_LETTER}])'([^{_LETTER}])"), r"\1 ' \2"),
    (re.compile(f"([{_LETTER}])'([{_LETTER}])"), r"\1 '\2"),
    (re.compile("([0-9])'(s)"), r"\1 '\2"),
]
_BETWEEN_WORDS = re.compile("[ \t\n\f\r]+")
_WIDE_SPACE = re.compile("[ \t\n\f\r\xa0\u2000-\u200a\u202f\u205f\u3000]+")
_HAS_LETTER = re.compile(f"[{_LETTER}]")
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz")
_NUMERALS = frozenset("0123456789")


class Normaliser:
    """Takes captions apart; knows the words that keep a final dot.

    `prefixes` are those words without the dot; True marks one that keeps it before a digit only.
    """

    def __init__(self, prefixes: Mapping[str, bool]) -> None:
        self._prefixes = prefixes

    def words(self, text: str) -> tuple[str, ...]:
        """The words of a caption."""
        if _PLAIN.fullmatch(text):
            return tuple(text.split())
        return tuple(word for word in _BETWEEN_WORDS.split(self.text(text)) if word)

    def text(self, text: str) -> str:
        """The normalised caption, its words between single blanks."""
        text = f" {text.strip(_TRIMMED)} "  # so that every character has neighbours
        text = _SIGN.sub(r" \g<0> ", text)
        text = _DOTS.sub(r" \g<0> ", text)
        for pattern, replacement in _COMMAS:
            text = pattern.sub(replacement, text)
        text = _DOUBLE.sub(' " ', text.translate(_SINGLE))
        text = text.replace("–", "-").replace("--", "-")
        text = _HYPHEN.sub(r"\1 \2", text)
        for pattern, replacement in _APOSTROPHES:
            text = pattern.sub(replacement, text)
        text = self._final_dots(text)
        return _WIDE_SPACE.sub(" ", text).strip(_TRIMMED).lower()

    def _final_dots(self, text: str) -> str:
        """Take a word's final dot off, unless the dot belongs to it."""
        words = [word for word in _BETWEEN_WORDS.split(text) if word]
        for number, (word, after) in enumerate(zip(words, [*words, ""][1:], strict=True)):
            stem = word[:-1]
            if not stem or word[-1] != "." or not stem.strip("."):
                continue  # no dot, a dot alone, or a run of dots
            if "." in stem and _HAS_LETTER.search(stem):
                words[number] = word.replace(".", "")
            elif not (after[:1] in _SMALL or self._keeps_dot(stem, after)):
                words[number] = f"{stem} ."
        return " ".join(words)

    def _keeps_dot(self, stem: str, after: str) -> bool:
        before_digits_only = self._prefixes.get(stem)
        if before_digits_only is None:
            return False
        return not before_digits_only or after[:1] in _NUMERALS
