"""The built-in parser of `spice-lite`: a caption to its dependency tree.

Knows the way from words to roles, phrases and links; nothing of tuples or scores. What it gives
has never been compared with CoreNLP's parser, which official SPICE uses.
"""

from functools import lru_cache

from meshcap.metrics.spice.lite.clauses import link_phrases
from meshcap.metrics.spice.lite.phrases import phrases_of
from meshcap.metrics.spice.lite.pronouns import settle
from meshcap.metrics.spice.lite.sentence import Sentence
from meshcap.metrics.spice.lite.tagger import tagger, units_of
from meshcap.metrics.spice.lite.words import ONE_WORD
from meshcap.metrics.spice.tree import ROOT, Edge, Tree, Word

PARSER = "lite-1"
"""The parser's version: it changes with every change of a tree."""

_LONGEST = 80
"""Words that are read at once. What is longer is no caption; it is read in pieces."""


@lru_cache(maxsize=1 << 14)
def parse(text: str) -> Tree:
    """The dependency tree of a caption: official tokens in lower case, joined by single blanks.

    Edges are basic ones of Universal Dependencies v1. A verb whose subject is only understood
    ("a man smiles while riding") is linked to it as well, so that a word can have two heads.
    """
    words = [word for word in text.split(" ") if word]
    found: list[Word] = []
    edges: list[Edge] = []
    for start in range(0, len(words), _LONGEST):
        _read(words[start : start + _LONGEST], found, edges)
    return Tree(tuple(found), tuple(edges), collapsed=False)


def _read(words: list[str], found: list[Word], edges: list[Edge]) -> None:
    """Read some words, and add what they are to what was read before."""
    units, firsts = units_of(words)
    sentence = Sentence(units, tagger().roles(units))
    phrases = phrases_of(sentence)
    link_phrases(sentence, phrases)
    settle(sentence, [phrase.head for phrase in phrases if phrase.kind == "N"])

    start = len(found)
    places = [start + first for first in firsts]
    root = next((edge.dependent for edge in edges if edge.head == ROOT), ROOT)
    for head, dependent, relation in sentence.edges:
        if head == ROOT:
            edges.append(Edge(root, places[dependent], "root" if root == ROOT else "parataxis"))
        else:
            edges.append(Edge(places[head], places[dependent], relation))
    for unit, place in enumerate(places):
        end = places[unit + 1] if unit + 1 < len(places) else start + len(words)
        if end == place + 1:
            found.append(Word(words[place - start], sentence.lemmas[unit], sentence.tags[unit]))
            continue
        # The words of "in front of" hang on the first of them, which stands for "close up", too.
        one_word = units[unit] in ONE_WORD
        for other in range(place, end):
            word = words[other - start]
            if one_word and other == place:
                found.append(Word(word, sentence.lemmas[unit], sentence.tags[unit]))
            else:
                found.append(Word(word, word, "IN"))
            if other > place:
                edges.append(Edge(place, other, "mwe"))
