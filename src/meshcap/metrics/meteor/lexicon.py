"""What METEOR knows of words: stems, synonyms, function words, which ones keep a final dot.

Knows arrays of words and numbers; nothing of files, captions' scores or alignments. Words are in
lower case.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from meshcap.metrics.meteor.normalise import Normaliser
from meshcap.metrics.meteor.paraphrases import Paraphrases
from meshcap.metrics.meteor.sources import WordLists
from meshcap.metrics.meteor.stems import stem

_REMEMBERED = 200_000
_BEFORE_DIGITS = "before-digits"

# WordNet's rules, tried in this order: of nouns, of verbs, of adjectives.
_RULES = (
    *[("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh")],
    *[("men", "man"), ("ies", "y")],
    *[("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", "")],
    *[("ing", "e"), ("ing", "")],
    *[("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
)


class Facts(NamedTuple):
    """What matching asks of a word."""

    stem: str
    synsets: frozenset[int]
    function: bool


class _Facts(dict[str, Facts]):
    """Facts of words, found when they are asked for."""

    def __init__(self, synsets: "Synsets", function_words: frozenset[str]) -> None:
        super().__init__()
        self._synsets = synsets
        self._function_words = function_words

    def __missing__(self, word: str) -> Facts:
        found = self[word] = Facts(stem(word), self._synsets.of(word), word in self._function_words)
        return found


class Synsets:
    """WordNet's synsets of words, by number, and the base forms that lead to them."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        words = _lines(arrays["words"])
        self._numbers = dict(zip(words, range(len(words)), strict=True))
        self._ends = arrays["synset_ends"]  # (words,)
        self._synsets = arrays["synsets"]
        self._exceptions = {
            form: bases
            for form, *bases in (line.split(" ") for line in _lines(arrays["exceptions"]))
        }

    def of(self, word: str) -> frozenset[int]:
        """The synsets of a word and of its base forms."""
        if (bases := self._exceptions.get(word)) is None:
            bases = self._regular(word)
        return self._own(word).union(*map(self._own, bases))

    def _own(self, word: str) -> frozenset[int]:
        number = self._numbers.get(word)
        if number is None:
            return frozenset()
        begin = int(self._ends[number - 1]) if number else 0
        return frozenset(self._synsets[begin : int(self._ends[number])].tolist())

    def _regular(self, word: str) -> list[str]:
        """The first base form that a rule makes and that WordNet has.

        No rule takes "ful" off. WordNet's own program does so first; the official one does not.
        """
        if len(word) > 2 and not word.endswith("ss"):
            for ending, instead in _RULES:
                base = word.removesuffix(ending) + instead
                if word.endswith(ending) and base in self._numbers:
                    return [base]
        return []


class Lexicon:
    """All that METEOR knows before it sees a caption."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], content: str) -> None:
        self.content = content
        """A fingerprint of what the arrays were made of."""
        prefixes = (line.split(" ") for line in _lines(arrays["prefixes"]))
        self.normaliser = Normaliser({word: bool(mark) for word, *mark in prefixes})
        self.paraphrases = Paraphrases(arrays)
        self._function_words = frozenset(_lines(arrays["function_words"]))
        self._synsets = Synsets(arrays)
        self._facts = _Facts(self._synsets, self._function_words)

    def facts(self) -> Mapping[str, Facts]:
        """Facts by word, whatever word is asked for; they are remembered from call to call."""
        if len(self._facts) > _REMEMBERED:
            self._facts = _Facts(self._synsets, self._function_words)
        return self._facts


# Word lists as arrays --------------------------------------------------------------------------


def list_arrays(lists: WordLists) -> dict[str, NDArray[Any]]:
    """The arrays of the jar's word lists: texts as bytes, a line each, and synsets as numbers."""
    synsets = list(lists.synsets.values())
    return {
        "words": _bytes(lists.synsets),
        "synset_ends": np.cumsum([len(each) for each in synsets], dtype=np.uint32),
        "synsets": np.array([synset for each in synsets for synset in each], np.uint32),
        "exceptions": _bytes(" ".join([form, *each]) for form, each in lists.exceptions.items()),
        "function_words": _bytes(sorted(lists.function_words)),
        "prefixes": _bytes(
            f"{word} {_BEFORE_DIGITS}" if before_digits else word
            for word, before_digits in lists.prefixes.items()
        ),
    }


def _bytes(lines: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def _lines(data: NDArray[np.uint8]) -> list[str]:
    return data.tobytes().decode().split("\n") if len(data) else []
