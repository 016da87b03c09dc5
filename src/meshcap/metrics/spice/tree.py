"""A caption's dependency tree, as parsers and CoNLL-U files give it.

Knows words, tags and edges; nothing of what is made of them.
"""

from dataclasses import dataclass

ROOT = -1


@dataclass(frozen=True)
class Word:
    """A word of a caption: as written (in lower case), its dictionary form, its Penn tag."""

    form: str
    lemma: str
    tag: str


@dataclass(frozen=True)
class Edge:
    """One dependency: numbers of words from 0; the head of the root is `ROOT`."""

    head: int
    dependent: int
    relation: str
    """Universal Dependencies v1, such as "nsubj" or, collapsed, "nmod:on_top_of"."""


@dataclass(frozen=True)
class Tree:
    """A caption's words and edges.

    `collapsed` says whether the edges are CoreNLP's *CollapsedCCProcessed* ones (prepositions in
    the names of relations, conjunctions spread), which SPICE reads, or basic ones.
    """

    words: tuple[Word, ...]
    edges: tuple[Edge, ...]
    collapsed: bool
