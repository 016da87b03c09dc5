"""From a model's word numbers to the tokens that the official tools would see in its captions.

Knows a vocabulary's words and the official tokeniser; nothing of references or scores.

A training word is not always one official token: "cannot" is two, and a quotation mark none. So
each word's tokens are found once, and a sentence's are its words' joined. That equals tokenising
its text but for the few things that the tokeniser sees across a blank ("3 1/2" is one token, and a
tag in angle brackets may hold blanks); sentences in which such words meet are tokenised as text.

Legend: N sentences, T words of a sentence, V words of the vocabulary, M tokens of the longest word.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from meshcap.errors import SettingError, VocabularyError
from meshcap.metrics.ptb import tokenise
from meshcap.metrics.reward.grams import MOST_TOKENS, Numbers

_REMEMBERED = 2**14


class Special(NamedTuple):
    """The numbers of the words that are none. The rest is a vocabulary's own."""

    unknown: int = 0
    padding: int = 1
    beginning: int = 2
    end: int = 3


class OfficialWords:
    """The official tokens of each word of a vocabulary, as numbers from 1."""

    def __init__(self, words: Sequence[str], special: Special | None = None) -> None:
        self.words = tuple(words)
        self.special = special or Special()
        if not all(0 <= number < len(self.words) for number in self.special):
            raise VocabularyError(
                f"special words have the numbers {tuple(self.special)}; "
                f"expected numbers below {len(self.words)}, the vocabulary's size"
            )
        marked = [self.words[number] for number in self.special]
        if special is None and not all(word[:1] == "<" and word[-1:] == ">" for word in marked):
            raise VocabularyError(
                f"the words numbered {', '.join(map(str, self.special))} are "
                f"{', '.join(map(repr, marked))}; expected special words such as '<eos>' there "
                "(special=Special(…) says where they are)"
            )
        if len(set(self.words)) != len(self.words):
            raise VocabularyError("the vocabulary has a word twice; expected each word once")
        self._numbers: dict[str, int] = {}
        self._numbering = Lock()
        apart = [self._tokens(word) for word in self.words]
        longest = max(map(len, apart), default=1)
        self._of_word = np.zeros((len(apart), max(longest, 1)), np.int64)  # (V, M), 0 is nothing
        for row, tokens in zip(self._of_word, apart, strict=True):
            row[: len(tokens)] = tokens
        self._single = bool((self._of_word[:, 0] > 0).all()) and longest == 1
        # A word is wary when the tokeniser may join it with, or read it by, a neighbour.
        self._wary = np.array([not is_plain(word) for word in self.words], bool)
        self._texts: dict[bytes, Numbers] = {}

    def __len__(self) -> int:
        """How many distinct tokens there are by now."""
        return len(self._numbers)

    def number(self, token: str) -> int:
        """A token's number; a new one gets the next."""
        with self._numbering:
            number = self._numbers.setdefault(token, len(self._numbers) + 1)
        if number > MOST_TOKENS:
            raise SettingError(
                f"vocabulary and references hold more than {MOST_TOKENS:,} distinct tokens; "
                "expected fewer, as rewards number them with 16 bits"
            )
        return number

    def known(self, token: str) -> int:
        """A token's number, or 0 when no number was given to it."""
        return self._numbers.get(token, 0)

    def _tokens(self, text: str) -> list[int]:
        return [self.number(token) for token in tokenise(text).split()]

    def texts(self, sentences: NDArray[np.integer]) -> list[str]:
        """What sentences (N, T) say: their words up to the first end, joined by blanks."""
        words, lengths = self._cut(np.asarray(sentences, np.int64))
        return [self._text(row[:length]) for row, length in zip(words, lengths, strict=True)]

    def _text(self, words: Numbers) -> str:
        return " ".join(self.words[word] for word in words.tolist())

    def tokens(self, sentences: NDArray[np.integer]) -> tuple[Numbers, Numbers]:
        """The tokens of sentences (N, T) up to their first end, (N, T'), and how many, (N,)."""
        words, lengths = self._cut(np.asarray(sentences, np.int64))
        inside = np.arange(words.shape[1]) < lengths[:, None]
        if self._single:
            tokens = np.where(inside, self._of_word[words, 0], 0)
        else:
            tokens, lengths = self._joined(words, inside)
        wary = self._wary[words] & inside
        for row in np.flatnonzero(wary.sum(axis=1) > 1).tolist():
            said = words[row][inside[row]]
            tokens, lengths[row] = _put(tokens, row, self._tokenised(said))
        return tokens, lengths

    def _cut(self, sentences: Numbers) -> tuple[Numbers, Numbers]:
        """Sentences without a beginning that stands first, and the lengths up to their ends."""
        if sentences.size and (sentences.min() < 0 or sentences.max() >= len(self.words)):
            raise VocabularyError(
                f"sentences hold word numbers from {sentences.min()} to {sentences.max()}; "
                f"expected 0 to {len(self.words) - 1}"
            )
        if sentences.shape[1] and (sentences[:, 0] == self.special.beginning).any():
            begins = sentences[:, 0] == self.special.beginning
            moved = np.roll(sentences, -1, axis=1)
            moved[:, -1] = self.special.end
            sentences = np.where(begins[:, None], moved, sentences)
        ends = sentences == self.special.end
        lengths = np.where(ends.any(axis=1), ends.argmax(axis=1), sentences.shape[1])
        return sentences, lengths

    def _joined(self, words: Numbers, inside: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
        """The tokens of all words of each row, side by side."""
        spread = self._of_word[words] * inside[:, :, None]  # (N, T, M)
        spread = spread.reshape(len(words), -1)
        real = spread > 0
        lengths = real.sum(axis=1)
        tokens = np.zeros((len(words), max(int(lengths.max(initial=0)), 1)), np.int64)
        rows, columns = np.nonzero(real)
        tokens[rows, (np.cumsum(real, axis=1) - 1)[rows, columns]] = spread[rows, columns]
        return tokens, lengths

    def _tokenised(self, words: Numbers) -> Numbers:
        key = words.tobytes()
        found = self._texts.get(key)
        if found is None:
            found = np.array(self._tokens(self._text(words)), np.int64)
            if len(self._texts) >= _REMEMBERED:
                self._texts.clear()
            self._texts[key] = found
        return found

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_numbering": None}  # a lock cannot be copied or sent

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state | {"_numbering": Lock()}


def _put(tokens: Numbers, row: int, given: Numbers) -> tuple[Numbers, int]:
    """`tokens` with another row in place of one, wider if need be."""
    if len(given) > tokens.shape[1]:
        tokens = np.pad(tokens, ((0, 0), (0, len(given) - tokens.shape[1])))
    tokens[row] = 0
    tokens[row, : len(given)] = given
    return tokens, len(given)


def is_plain(token: str) -> bool:
    """Whether a word is letters alone, or such parts between hyphens: no neighbour changes it."""
    return all(part.isalpha() and part.isascii() for part in token.split("-"))
