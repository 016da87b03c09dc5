"""SPICE as a metric: from tuples, trees or the official tool; and SPICE-lite, by our own parser.

Knows sources of tuples and how their scores become a metric; nothing of how tuples are found or
compared.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from meshcap.errors import MissingError, SettingError
from meshcap.metrics.base import Corpus, Floats, Measured, Metric, Tick, mean
from meshcap.metrics.spice import official as official_tool
from meshcap.metrics.spice.conllu import read_trees
from meshcap.metrics.spice.graph import SceneGraph, Synsets
from meshcap.metrics.spice.patterns import tuples_of
from meshcap.metrics.spice.scoring import CATEGORIES, Scores, counts_of, scores_of
from meshcap.metrics.spice.tree import Tree
from meshcap.metrics.spice.tuple_files import Judged, TupleFile, read_tuples

Tuple = tuple[str, ...]

_SYNONYMS = "wordnet-3.0"
_THREE_WAYS = (
    "spice needs a source of tuples: a file of tuples (tuples=…, --spice-tuples), dependency trees "
    "in CoNLL-U (trees=…, --spice-trees), or the official tool (official=…, --spice-jars or "
    "MESHCAP_CORENLP, the folder of CoreNLP 3.6.0's jars); spice-lite needs none"
)


def spice(
    tuples: Path | str | None = None,
    trees: Path | str | Sequence[Path | str] | None = None,
    official: Path | str | None = None,
) -> Metric:
    """SPICE of one source: a file of tuples, files of dependency trees, or the official tool.

    `official` is the folder of CoreNLP 3.6.0's jars. Without any source the environment's
    MESHCAP_CORENLP is it, and where that is not set either, measuring raises MissingError.
    """
    given = {"tuples": tuples, "trees": trees, "official": official}
    named = [name for name, value in given.items() if value]
    if len(named) > 1:
        raise SettingError(f"spice takes one source of tuples; found {' and '.join(named)}")
    if tuples:
        return _metric(_from_tuples(tuples))
    if trees:
        return _metric(_from_trees(trees))
    return _metric(_from_official(official))


def spice_lite() -> Metric:
    """SPICE-lite: the same of our own parser's trees. It has not been compared with SPICE."""

    def measure(corpus: Corpus, tick: Tick) -> Mapping[str, Measured]:
        from meshcap.metrics.spice.lite import PARSER, parse

        @cache  # for as long as this corpus is measured
        def read(text: str) -> list[Tuple]:
            return tuples_of(parse(text))

        pairs = (
            (read(candidate), [found for text in references for found in read(text)])
            for candidate, references in zip(corpus.candidates, corpus.references, strict=True)
        )
        scores = scores_of(list(_merged(pairs, tick)))
        return _measured("spice-lite", scores, {"parser": PARSER, "synonyms": _SYNONYMS})

    says = "SPICE's tuples by the built-in parser; not comparable with SPICE"
    return Metric("spice-lite", measure, says, _names("spice-lite"))


def _names(name: str) -> tuple[str, ...]:
    return (name, *(f"{name}.{category}" for category in CATEGORIES[1:]))


def _metric(measure: Callable[[Corpus, Tick], Mapping[str, Measured]]) -> Metric:
    says = "F1 of what is said of a picture: objects, attributes, relations"
    return Metric("spice", measure, says, _names("spice"), usual=False)


def _from_tuples(path: Path | str) -> Callable[[Corpus, Tick], Mapping[str, Measured]]:
    file = read_tuples(path)

    def measure(corpus: Corpus, tick: Tick) -> Mapping[str, Measured]:
        scores = scores_of(list(_counts_of_file(file, corpus, tick)))
        # The official tool's own findings rest on the synonyms that it was run with.
        synonyms = "as-in-file" if file.judged else _SYNONYMS
        return _measured("spice", scores, {"parser": "tuples", "synonyms": synonyms})

    return measure


def _counts_of_file(file: TupleFile, corpus: Corpus, tick: Tick) -> Iterator[list[list[int]]]:
    for picture in corpus.pictures:
        row = file.of(picture)
        if isinstance(row, Judged):
            yield counts_of(row.found, row.references)
            tick(1)
        else:
            yield from _merged(iter([(row.candidate, row.references)]), tick)


def _from_trees(
    paths: Path | str | Sequence[Path | str],
) -> Callable[[Corpus, Tick], Mapping[str, Measured]]:
    bank = read_trees(paths)

    def measure(corpus: Corpus, tick: Tick) -> Mapping[str, Measured]:
        known: dict[int, list[Tuple]] = {}  # by identity: `bank` holds each tree throughout

        def read(trees: list[Tree]) -> list[Tuple]:
            for tree in trees:
                if id(tree) not in known:
                    known[id(tree)] = tuples_of(tree, official=True)
            return [found for tree in trees for found in known[id(tree)]]

        pairs = (
            (read(candidate), read(references))
            for candidate, references in (bank.of(corpus, number) for number in range(len(corpus)))
        )
        scores = scores_of(list(_merged(pairs, tick)))
        # Trees that were collapsed by a parser, or here: not the same tuples always.
        kinds = {"collapsed" if tree.collapsed else "basic" for tree in bank.trees}
        choices = {"parser": f"trees-{'-'.join(sorted(kinds))}", "synonyms": _SYNONYMS}
        return _measured("spice", scores, choices)

    return measure


def _from_official(jars: Path | str | None) -> Callable[[Corpus, Tick], Mapping[str, Measured]]:
    def measure(corpus: Corpus, tick: Tick) -> Mapping[str, Measured]:
        # Only now: the table of metrics makes a `spice` to ask it for its names.
        corenlp = official_tool.corenlp_of(os.environ, jars)
        if corenlp is None:
            raise MissingError(_THREE_WAYS)
        scores = official_tool.run(corenlp, corpus)
        tick(len(corpus))
        return _measured("spice", scores, {"parser": "corenlp-3.6.0", "synonyms": _SYNONYMS})

    return measure


def _merged(
    pairs: Iterator[tuple[Sequence[Tuple], Sequence[Tuple]]], tick: Tick
) -> Iterator[list[list[int]]]:
    """Counts of pictures, given each one's tuples of the candidate and of all references."""
    synsets = _wordnet()
    for candidate, references in pairs:
        theirs = SceneGraph(references, synsets)
        yield counts_of(SceneGraph(candidate, synsets).found_in(theirs), theirs.tuples())
        tick(1)


def _wordnet() -> Synsets:
    from meshcap.metrics.spice.lexicon import synsets

    return synsets


def _measured(name: str, scores: Scores, choices: dict[str, str]) -> dict[str, Measured]:
    measured = {}
    for category, score in enumerate(_names(name)):
        f = scores.f[:, category]
        details = {
            "precision": scores.precision[:, category],
            "recall": scores.recall[:, category],
        }
        if category:
            measured[score] = _mean_where_defined(f, choices=choices, details=details)
        else:
            measured[score] = mean(f, choices=choices, details=details)
    return measured


def _mean_where_defined(
    per_picture: Floats, choices: Mapping[str, str], details: Mapping[str, Floats]
) -> Measured:
    """The mean over the pictures that have a value."""
    defined = ~np.isnan(per_picture)
    statistics = np.stack([np.where(defined, per_picture, 0.0), defined.astype(np.float64)], axis=1)
    value = float(_mean_of_defined(statistics.sum(axis=0), len(per_picture)))
    return Measured(value, per_picture, statistics, _mean_of_defined, choices, details)


def _mean_of_defined(sums: Floats, pictures: float) -> Floats:  # noqa: ARG001 - they may lack values
    """The mean, of sums (..., 2) of values and of how many there are; NaN for none."""
    nothing = np.full(sums[..., 0].shape, np.nan)
    return np.divide(sums[..., 0], sums[..., 1], out=nothing, where=sums[..., 1] > 0)
