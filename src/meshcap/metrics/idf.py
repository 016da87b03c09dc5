"""Document frequencies: in how many documents an n-gram stands, for CIDEr's weights.

Knows n-grams, counts and the files of other tools that hold them; nothing of CIDEr itself.

The files are pickles of a dictionary with `document_frequency` (n-gram → how many documents) and
`ref_len` (how many documents there were). A pickle is a program; none of it is run here but the
making of dictionaries, tuples, strings and numbers.
"""

import hashlib
import math
import pickle
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from meshcap.errors import CaptionError, FileError, SettingError
from meshcap.files import MIB, read_unpacked, written_whole
from meshcap.metrics.base import Floats
from meshcap.metrics.idf_pickle import loads
from meshcap.metrics.ngrams import LONGEST, Numbers, ngrams

Gram = tuple[str, ...]

MOST_BYTES = 1024 * MIB
END_WORD = "<eos>"
UNKNOWN_WORD = "UNK"
END_NUMBER = "0"


def documents_holding(gram: Numbers, document: Numbers, grams: int) -> Floats:
    """(G,) how many documents hold each n-gram, of entries (E,): an n-gram and where it stands."""
    many = int(document.max(initial=0)) + 1
    pairs = np.unique(gram * many + document)
    return np.bincount(pairs // many, minlength=grams).astype(np.float64)


def rarity_of(frequency: Floats, documents: float) -> Floats:
    """(G,) log of how rare n-grams are that so many of the documents hold; at least one counts."""
    rarity: Floats = np.log(documents) - np.log(np.maximum(frequency, 1.0))
    return rarity


class DocumentFrequencies:
    """How many documents hold an n-gram, and how its words are spelt.

    A file in the `words` style holds words, `UNK` for unknown ones, and ends documents with
    `<eos>`; one in the `idxs` style holds each word's number in a vocabulary as a string, and "0"
    is the end. `spell` brings a caption into the file's style.
    """

    def __init__(
        self,
        counts: Mapping[Gram, float],
        documents: float,
        *,
        end: str | None = None,
        unknown: str | None = None,
        numbers: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> None:
        """`end` closes each caption; words not in `numbers`, or without it not among the
        n-grams, become `unknown`. `name` stands in signatures."""
        if not documents > 0 or not math.isfinite(documents):
            raise SettingError(
                f"document frequencies '{name or 'given'}' are of {documents} documents; "
                "expected at least 1"
            )
        self.counts = counts
        self.documents = documents
        self.end = end
        self.unknown = unknown
        self.numbers = numbers
        self.name = name or f"given@{_hash_of(counts)}"

    def __repr__(self) -> str:
        return (
            f"<DocumentFrequencies '{self.name}': {len(self.counts):,} n-grams, "
            f"{self.documents:g} documents>"
        )

    def spell(self, words: Sequence[str], *, end: bool) -> list[str]:
        """A caption's words in the style of these frequencies, with the end if asked for."""
        if self.numbers is not None:
            unknown = self.unknown or ""
            spelt = [self.numbers.get(word, unknown) for word in words]
        elif self.unknown is not None:
            spelt = [word if (word,) in self.counts else self.unknown for word in words]
        else:
            spelt = list(words)
        return [*spelt, self.end or END_WORD] if end else spelt

    # Making them -------------------------------------------------------------------------------

    @classmethod
    def count(
        cls,
        references: Mapping[Any, Sequence[str]] | Iterable[Sequence[str]],
        *,
        over: Literal["pictures", "captions"] = "pictures",
        end: bool = False,
        name: str | None = None,
    ) -> "DocumentFrequencies":
        """Count in tokenised captions (`ptb.tokenise_all`), one list a picture.

        A document is a picture with all its captions (the paper of CIDEr), or each caption (the
        authors' reward).
        """
        if over not in ("pictures", "captions"):
            raise SettingError(f"idf over '{over}' is not known; expected 'pictures' or 'captions'")
        groups = []
        content = hashlib.sha256(f"{over} {end}".encode())
        for captions in references.values() if isinstance(references, Mapping) else references:
            if isinstance(captions, str):
                raise CaptionError(
                    f"document frequencies are counted in lists of captions, one a picture; found "
                    f"the text {captions[:40]!r} in place of a list"
                )
            content.update(repr(list(captions)).encode("utf-8", "surrogatepass"))
            groups.append([text.split() for text in captions])
        if not groups:
            raise CaptionError("there are no captions to count document frequencies in")
        if over == "captions":
            groups = [[text] for texts in groups for text in texts]
        closing = [END_WORD] if end else []
        found = ngrams(text + closing for texts in groups for text in texts)
        owner = np.repeat(np.arange(len(groups)), [len(texts) for texts in groups])
        counts: dict[Gram, float] = {}
        for order in range(1, LONGEST + 1):
            entries = found.orders[order - 1]
            held = documents_holding(entries.gram, owner[entries.text], entries.grams)
            counts |= zip(found.grams(order), held.tolist(), strict=True)
        return cls(
            counts,
            float(len(groups)),
            end=END_WORD if end else None,
            name=f"{name or over}@{content.hexdigest()[:8]}",
        )

    # To a file and back ------------------------------------------------------------------------

    @classmethod
    def load(
        cls,
        path: Path | str,
        *,
        numbers: Mapping[str, int | str] | None = None,
        unknown: int | str | None = None,
    ) -> "DocumentFrequencies":
        """Read a saved idf file (also gzipped), without running what it says.

        A file of the `idxs` style also needs the `numbers` of words, and that of `unknown` ones.
        The style is seen in the file: whether all its words are numbers, and whether "<eos>" and
        "UNK" are among them.
        """
        data = read_unpacked(path, at_most=MOST_BYTES)
        content = hashlib.sha256(data)
        counts, documents = _checked(loads(data, source=str(path)), path)
        style: dict[str, Any] = {}
        if all(gram[0].isdecimal() for gram in counts if len(gram) == 1):
            if numbers is None:
                raise SettingError(
                    f"'{path}' holds numbers of words, not words; expected the vocabulary that "
                    "numbers them beside it"
                )
            style["end"] = END_NUMBER
            of_unknown = next(
                (
                    given
                    for given in (unknown, numbers.get("UNK"), numbers.get("<unk>"))
                    if given is not None
                ),
                None,
            )
            if of_unknown is None:
                raise SettingError(
                    f"'{path}' holds numbers of words, and the vocabulary has no 'UNK'; expected "
                    "the number of unknown words"
                )
            style["numbers"] = {word: str(number) for word, number in numbers.items()}
            style["unknown"] = str(of_unknown)
            content.update(repr((sorted(style["numbers"].items()), of_unknown)).encode())
        else:
            style["end"] = END_WORD if (END_WORD,) in counts else None
            style["unknown"] = UNKNOWN_WORD if (UNKNOWN_WORD,) in counts else None
        name = f"{Path(path).name.split('.')[0]}@{content.hexdigest()[:8]}"
        return cls(counts, documents, name=name, **style)

    def save(self, path: Path | str) -> None:
        """Write these frequencies in the form that the other tools read, whole or not at all."""
        # Their readers ask for n-grams that are not there, so it must be a defaultdict.
        counts: defaultdict[Gram, float] = defaultdict(float, self.counts)
        value = {"document_frequency": counts, "ref_len": self.documents}
        with written_whole(path) as temporary:
            temporary.write_bytes(pickle.dumps(value, protocol=2))


def _hash_of(counts: Mapping[Gram, float]) -> str:
    """Eight digits that tell frequencies apart, whatever the order of the n-grams."""
    whole = hashlib.sha256()
    for gram in sorted(counts):
        whole.update(repr((gram, counts[gram])).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()[:8]


def _checked(value: Any, path: Path | str) -> tuple[dict[Gram, float], float]:
    """The counts and the number of documents of an unpickled file."""
    expected = "expected a dictionary with 'document_frequency' and 'ref_len'"
    if not isinstance(value, dict) or not {"document_frequency", "ref_len"} <= value.keys():
        found = (
            f"a dictionary with {sorted(map(str, value))[:5]}"
            if isinstance(value, dict)
            else (f"a value of type {type(value).__name__}")
        )
        raise FileError(f"'{path}' holds {found}; {expected}")
    documents = value["ref_len"]
    if not _is_number(documents) or not documents > 0:
        raise FileError(f"'{path}': 'ref_len' is {_shown(documents)}; expected how many documents")
    given = value["document_frequency"]
    if not isinstance(given, dict):
        raise FileError(f"'{path}': 'document_frequency' is no dictionary; {expected}")
    counts: dict[Gram, float] = {}
    for gram, count in given.items():
        if not isinstance(gram, tuple) or not all(isinstance(word, str) for word in gram):
            raise FileError(
                f"'{path}': 'document_frequency' holds {_shown(gram)}; expected tuples of words"
            )
        if not _is_number(count):
            raise FileError(
                f"'{path}': {_shown(gram)} is counted {_shown(count)} times; expected a number"
            )
        if count:  # zeros are what their reader leaves behind when it is asked
            counts[gram] = float(count)
    if not counts:
        raise FileError(f"'{path}' holds no n-grams; {expected}")
    return counts, float(documents)


def _shown(value: Any) -> str:
    """A value in a sentence: what it is, and no more of it than a line."""
    return repr(value)[:60] if isinstance(value, str | tuple | int | float) else "a dictionary"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
