"""CIDEr-D and CIDEr: consensus with the references, n-grams weighted by how rare they are.

Knows tokenised captions and document frequencies; nothing of files or of word numbers (for those
see `meshcap.metrics.reward`).

1. What the official tools print as "CIDEr" is CIDEr-D: clipped counts and a penalty for other
   lengths, times 10. Plain CIDEr has neither.
2. Words are not stemmed (the paper of CIDEr stems; no tool does).
3. The lengths compared are numbers of bigrams.
4. Weights are negative where an n-gram stands in more documents than there are, as foreign
   frequencies can have it; they stay so.

Legend: P pictures, R references of all pictures, E entries.
"""

from typing import Literal, NamedTuple

import numpy as np

from meshcap.errors import SettingError
from meshcap.metrics.base import Corpus, Floats, Measured, Metric, Tick, mean, no_tick
from meshcap.metrics.idf import END_WORD, DocumentFrequencies, documents_holding, rarity_of
from meshcap.metrics.ngrams import LONGEST, Ngrams, Numbers, Order, matches, ngrams

SIGMA = 6.0
SCALE = 10.0

Idf = Literal["corpus"] | DocumentFrequencies


def cider_d(*, idf: Idf = "corpus", end: bool = False) -> Metric:
    """CIDEr-D. `idf`: counted in the evaluated references, or saved; `end`: the end is a word."""
    return _metric("cider-d", idf, end, "consensus with the references, as reported in papers")


def cider(*, idf: Idf = "corpus", end: bool = False) -> Metric:
    """CIDEr without clipping and length penalty, as its paper has it."""
    return _metric("cider", idf, end, "the same without clipping and length penalty")


def _metric(name: Literal["cider-d", "cider"], idf: Idf, end: bool, says: str) -> Metric:
    if idf != "corpus" and not isinstance(idf, DocumentFrequencies):
        raise SettingError(
            f"idf is {idf!r}; expected 'corpus' or DocumentFrequencies (DocumentFrequencies.load "
            "reads a file)"
        )
    if end and isinstance(idf, DocumentFrequencies) and idf.end is None:
        raise SettingError(
            f"document frequencies '{idf.name}' do not know the end as a word, so that it would "
            "count as the rarest of all; expected ones counted with end=True, or end=False"
        )
    choices = {
        "idf": idf if isinstance(idf, str) else idf.name,
        "end": "yes" if end else "no",
    }

    def measure(corpus: Corpus, tick: Tick = no_tick) -> dict[str, Measured]:
        values = _cider(corpus, idf, end, plain=name == "cider")
        tick(len(corpus))
        documents = idf.documents if isinstance(idf, DocumentFrequencies) else len(corpus)
        return {name: mean(values, choices=choices, details={"documents": documents})}

    return Metric(name, measure, says, usual=name == "cider-d")


class _Side(NamedTuple):
    """The weighted entries of one side (candidates or references) for one order."""

    text: Numbers  # (E,) from 0
    gram: Numbers  # (E,)
    weight: Floats  # (E,)
    norms: Floats  # (texts,)


def _cider(corpus: Corpus, idf: Idf, end: bool, *, plain: bool) -> Floats:
    """(P,) each picture's score."""
    pictures = len(corpus)
    texts = [text.split() for text in corpus.candidates]
    texts += [text.split() for references in corpus.references for text in references]
    if isinstance(idf, DocumentFrequencies):
        texts = [idf.spell(text, end=end) for text in texts]
    elif end:
        texts = [[*text, END_WORD] for text in texts]
    found = ngrams(texts)
    many = np.array([len(references) for references in corpus.references], np.int64)
    owners = np.repeat(np.arange(pictures), many)  # (R,) each reference's picture
    similar = np.zeros(len(owners))
    for order in range(1, LONGEST + 1):
        entries = found.orders[order - 1]
        rarity = _rarity(found, order, idf, pictures, owners)
        ours = _side(entries, rarity, 0, pictures)
        theirs = _side(entries, rarity, pictures, pictures + len(owners))
        similar += _similarity(ours, theirs, owners, entries.grams, plain=plain)
    if not plain:
        bigrams = np.maximum(found.lengths - 1, 0)
        away = bigrams[owners] - bigrams[pictures:]
        similar *= np.exp(-(away.astype(np.float64) ** 2) / (2 * SIGMA**2))
    return SCALE * np.bincount(owners, similar / LONGEST, pictures) / np.maximum(many, 1)


def _rarity(found: Ngrams, order: int, idf: Idf, pictures: int, owners: Numbers) -> Floats:
    """(G,) log of how rare each n-gram is: log N - log max(1, df)."""
    entries = found.orders[order - 1]
    if isinstance(idf, DocumentFrequencies):
        frequency = np.array([idf.counts.get(gram, 0.0) for gram in found.grams(order)], np.float64)
        documents = idf.documents
    else:
        of_references = entries.text >= pictures
        owner = owners[entries.text[of_references] - pictures]
        frequency = documents_holding(entries.gram[of_references], owner, entries.grams)
        documents = float(pictures)
    return rarity_of(frequency, documents)


def _side(entries: Order, rarity: Floats, first: int, last: int) -> _Side:
    """The entries of texts `first` to `last`; entries are sorted by text."""
    start, stop = np.searchsorted(entries.text, [first, last])
    text = entries.text[start:stop] - first
    gram = entries.gram[start:stop]
    weight = entries.counts[start:stop] * rarity[gram]
    return _Side(text, gram, weight, np.sqrt(np.bincount(text, weight**2, last - first)))


def _similarity(ours: _Side, theirs: _Side, owners: Numbers, grams: int, *, plain: bool) -> Floats:
    """(R,) of each reference its cosine with the candidate of its picture."""
    if not len(owners):
        return np.zeros(0)
    keys = owners[theirs.text] * grams + theirs.gram
    order = np.argsort(keys, kind="stable")
    which, at = matches(ours.text * grams + ours.gram, keys[order])
    at = order[at]
    here, there = ours.weight[which], theirs.weight[at]
    product = (here if plain else np.minimum(here, there)) * there
    sums = np.bincount(theirs.text[at], product, len(owners))
    norms = ours.norms[owners] * theirs.norms
    return np.divide(sums, norms, out=np.zeros(len(owners)), where=norms != 0)
