"""The words that are not words, and how a search treats them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SpecialWords:
    """Numbers of the special words; what may be spoken; what stands after the end.

    The vocabulary, the network and the searches share this value, so that none of them has to
    know another.
    """

    unknown: int = 0
    padding: int = 1
    beginning: int = 2
    end: int = 3
    never_spoken: tuple[int, ...] = (0, 1, 2)
    """A search gives these no probability. The authors' code allows all: `()`."""
    after_end: int = 1
    """What fills a sentence after its end. The authors' code fills with word 0."""


SPECIAL_WORDS = SpecialWords()
"""As the paper means it: `<unk>`, `<pad>` and `<bos>` are never spoken."""

AUTHORS_SPECIAL_WORDS = SpecialWords(never_spoken=(), after_end=0)
"""As the authors' code does it: anything may be spoken, the rest of a sentence is word 0."""
