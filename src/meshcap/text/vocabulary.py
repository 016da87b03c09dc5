"""Words and their numbers: which words a model knows, counted by the paper's rule.

Knows words, counts and the vocabulary's file; nothing of models, weights or pictures. How a
caption becomes words is `tokenize.py`'s business, what the special words are for is
`special_words.py`'s.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any

from meshcap.errors import FileError, VocabularyError
from meshcap.files import read_json, write_json
from meshcap.special_words import SPECIAL_WORDS, SpecialWords
from meshcap.text.tokenize import tokenize

UNKNOWN, PADDING, BEGINNING, END = SPECIAL_NAMES = ("<unk>", "<pad>", "<bos>", "<eos>")
"""In the order of their numbers, 0 to 3. No caption is tokenised into one of these."""

AT_LEAST = 5
"""How often a word must occur to be kept (supplement; over training and validation captions)."""

FORMAT = "meshcap vocabulary"
VERSION = 1

Caption = str | Sequence[str]
"""A caption as it was written, or its words."""


class Vocabulary:
    """An immutable, numbered list of words that begins with the four special ones.

    >>> words = Vocabulary.count(["A cat on a mat.", "A dog."], at_least=1)
    >>> words.encode("a cat!")
    [2, 4, 5, 3]
    >>> words.decode([4, 5, 3, 1])
    'a cat'
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        keep_white_space: bool | None = None,
        source: str = "the vocabulary",
    ) -> None:
        """`keep_white_space=None` means: as the words tell. `source` is named in errors."""
        self._words = _checked(words, source)
        white_space = next((word for word in self._words if word.isspace()), None)
        if keep_white_space is False and white_space is not None:
            raise VocabularyError(
                f"{source} holds the white space word {white_space!r}; "
                "expected none, as keep_white_space is false"
            )
        self._keep_white_space = keep_white_space or white_space is not None
        self._numbers = {word: number for number, word in enumerate(self._words)}

    # Making one --------------------------------------------------------------------------------

    @classmethod
    def count(
        cls,
        captions: Iterable[Caption],
        *,
        at_least: int = AT_LEAST,
        keep_white_space: bool = False,
    ) -> "Vocabulary":
        """The words of `captions` that occur at least `at_least` times."""
        if isinstance(captions, str):
            raise VocabularyError("captions to count are one string; expected several captions")
        counts: Counter[str] = Counter()
        for caption in captions:
            counts.update(_words_in(caption, keep_white_space))
        return cls.from_counts(counts, at_least=at_least, keep_white_space=keep_white_space)

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        *,
        at_least: int = AT_LEAST,
        keep_white_space: bool = False,
    ) -> "Vocabulary":
        """Supplement: the words counted `at_least` times; frequent first, ties by code points."""
        kept = [
            word
            for word, count in counts.items()
            if count >= at_least
            and word not in SPECIAL_NAMES
            and (keep_white_space or not word.isspace())
        ]
        kept.sort(key=lambda word: (-counts[word], word))
        return cls([*SPECIAL_NAMES, *kept], keep_white_space=keep_white_space)

    # What it is --------------------------------------------------------------------------------

    @property
    def words(self) -> tuple[str, ...]:
        """All words in the order of their numbers."""
        return self._words

    @property
    def special(self) -> SpecialWords:
        """The numbers of the special words."""
        return SPECIAL_WORDS

    @property
    def keep_white_space(self) -> bool:
        """Whether runs of white space are words here, as in the authors' vocabulary."""
        return self._keep_white_space

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that tell word lists apart."""
        text = "\0".join(self._words)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._numbers

    def __getitem__(self, word: str) -> int:
        return self.number(word)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return (self._words, self._keep_white_space) == (other._words, other._keep_white_space)

    def __hash__(self) -> int:
        return hash((self._words, self._keep_white_space))

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self):,} words, {self.fingerprint}>"

    # Words to numbers --------------------------------------------------------------------------

    def number(self, word: str) -> int:
        """The number of `word`; that of `<unk>` when it is not known."""
        return self._numbers.get(word, self.special.unknown)

    def numbers(self, words: Iterable[str]) -> list[int]:
        """The numbers of words, one for each."""
        unknown = self.special.unknown
        return [self._numbers.get(word, unknown) for word in words]

    def encode(self, caption: Caption) -> list[int]:
        """The numbers of a caption from beginning to end."""
        words = _words_in(caption, self._keep_white_space)
        return [self.special.beginning, *self.numbers(words), self.special.end]

    def padded(self, captions: Iterable[Caption]) -> list[list[int]]:
        """A row of numbers for each caption, all as long as the longest."""
        rows = [self.encode(caption) for caption in captions]
        longest = max(map(len, rows), default=0)
        return [row + [self.special.padding] * (longest - len(row)) for row in rows]

    # Numbers to words --------------------------------------------------------------------------

    def words_of(self, numbers: Iterable[int]) -> list[str]:
        """The words up to the first end. A beginning that stands first is left out."""
        words: list[str] = []
        for place, given in enumerate(numbers):
            number = index(given)
            if number == self.special.end:
                break
            if number == self.special.beginning and place == 0:
                continue
            if not 0 <= number < len(self._words):
                raise VocabularyError(
                    f"word number {number} is not in the vocabulary; "
                    f"expected 0 to {len(self._words) - 1}"
                )
            words.append(self._words[number])
        return words

    def decode(self, numbers: Iterable[int]) -> str:
        """The words up to the first end, joined by blanks."""
        return " ".join(self.words_of(numbers))

    # To a file and back ------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """This vocabulary as a JSON object; `from_json` reads it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "keep_white_space": self._keep_white_space,
            "words": list(self._words),
        }

    @classmethod
    def from_json(cls, value: Any, *, source: str = "the vocabulary") -> "Vocabulary":
        """A vocabulary from `to_json`'s object, or from a plain list of words as the authors'."""
        if isinstance(value, list):
            return cls(value, source=source)
        if not isinstance(value, Mapping) or value.get("format") != FORMAT:
            found = "an object of another kind" if isinstance(value, Mapping) else _kind(value)
            raise VocabularyError(
                f"{source} holds {found}; expected a list of words "
                f"or an object whose 'format' is '{FORMAT}'"
            )
        if value.get("version") != VERSION:
            raise VocabularyError(
                f"{source} has version {value.get('version')!r}; expected {VERSION}"
            )
        keep_white_space = value.get("keep_white_space")
        if not isinstance(keep_white_space, bool):
            raise VocabularyError(
                f"{source}: 'keep_white_space' is {keep_white_space!r}; expected true or false"
            )
        words: Any = value.get("words")
        return cls(words, keep_white_space=keep_white_space, source=source)

    def save(self, path: Path | str) -> None:
        """Write this vocabulary as JSON, a word a line, whole or not at all."""
        try:
            write_json(path, self.to_json())
        except FileError as error:
            raise VocabularyError(str(error)) from error

    @classmethod
    def load(cls, path: Path | str) -> "Vocabulary":
        """Read what `save` wrote, or a plain JSON list of words."""
        try:
            value = read_json(path)
        except FileError as error:
            raise VocabularyError(str(error)) from error
        return cls.from_json(value, source=f"'{path}'")


def _words_in(caption: Caption, keep_white_space: bool) -> list[str]:
    if isinstance(caption, str):
        return tokenize(caption, keep_white_space=keep_white_space)
    return [word for word in caption if keep_white_space or not word.isspace()]


def _kind(value: Any) -> str:
    return "null" if value is None else f"a value of type {type(value).__name__}"


def _checked(words: Any, source: str) -> tuple[str, ...]:
    """`words` as a tuple, if a vocabulary can be made of them."""
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise VocabularyError(f"{source} holds {_kind(words)}; expected a list of words")
    seen: dict[str, int] = {}
    for number, word in enumerate(words):
        if not isinstance(word, str):
            raise VocabularyError(f"{source}: word {number} is {word!r}; expected a string")
        if not word:
            raise VocabularyError(f"{source}: word {number} is empty; expected a word")
        if word in seen:
            raise VocabularyError(
                f"{source}: words {seen[word]} and {number} are both {word!r}; "
                "expected each word once"
            )
        try:
            word.encode("utf-8")
        except UnicodeEncodeError as error:
            raise VocabularyError(
                f"{source}: word {number} is {word!r}, which holds half a character; "
                "expected text that can be written as UTF-8"
            ) from error
        seen[word] = number
    for number, name in enumerate(SPECIAL_NAMES):
        if seen.get(name) != number:
            place = f"at place {seen[name]}" if name in seen else "nowhere"
            raise VocabularyError(
                f"{source}: '{name}' stands {place}; expected it at place {number}, "
                f"as every vocabulary begins with {' '.join(SPECIAL_NAMES)}"
            )
    return tuple(words)
