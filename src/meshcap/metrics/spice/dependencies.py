"""A caption's dependencies as something that can be looked up from both ends and changed.

Knows words and links; nothing of what they mean for SPICE, nor of files.
"""

from typing import NamedTuple

from meshcap.metrics.spice.tree import ROOT, Tree, Word

_NO_THINGS = frozenset({"compound", "mwe", "case", "mark", "cc", "det", "ref"})
"""By these a noun is part of another's name or no more than grammar."""


class Link(NamedTuple):
    """One end of a dependency: the word at the other end, and "nmod:on" as "nmod" and "on"."""

    word: int
    base: str
    kind: str


class Dependencies:
    """Words by number, and the links below (to dependents) and above (to heads) each of them.

    The link from the root is left out: nothing asks for it. Changing goes through the methods,
    which keep the two ends alike; each link stands once.
    """

    def __init__(self, tree: Tree) -> None:
        self.words: list[Word] = list(tree.words)
        self.below: list[list[Link]] = [[] for _ in self.words]
        self.above: list[list[Link]] = [[] for _ in self.words]
        for head, dependent, relation in sorted(
            (edge.head, edge.dependent, edge.relation) for edge in tree.edges
        ):
            if head != ROOT and relation != "punct":
                base, _, kind = relation.partition(":")
                self.add(head, dependent, base, kind)

    def add(self, head: int, dependent: int, base: str, kind: str = "") -> None:
        """Link two words, unless they are linked so already or are one."""
        link = Link(dependent, base, kind)
        if head != dependent and link not in self.below[head]:
            self.below[head].append(link)
            self.above[dependent].append(Link(head, base, kind))

    def cut(self, head: int, link: Link) -> None:
        """Take away a link of `below[head]`."""
        self.below[head].remove(link)
        self.above[link.word].remove(Link(head, link.base, link.kind))

    def rename(self, head: int, link: Link, base: str, kind: str) -> None:
        """Give a link of `below[head]` another relation."""
        self.cut(head, link)
        self.add(head, link.word, base, kind)

    def cut_above(self, dependent: int) -> list[Link]:
        """Take away all links to a word's heads, and give them."""
        links = self.above[dependent][:]
        for link in links:
            self.cut(link.word, Link(dependent, link.base, link.kind))
        return links

    def dependents(self, head: int, base: str) -> list[int]:
        """The words below a head by a relation, of any kind, from left to right."""
        return sorted({link.word for link in self.below[head] if link.base == base})

    def heads(self, dependent: int, base: str) -> list[int]:
        """The words above a dependent by a relation, of any kind, from left to right."""
        return sorted({link.word for link in self.above[dependent] if link.base == base})

    def has(self, head: int, base: str) -> bool:
        """Whether a word has a dependent by this relation."""
        return any(link.base == base for link in self.below[head])

    def is_noun(self, word: int) -> bool:
        """Whether a word's tag is a noun's."""
        return self.words[word].tag.startswith("NN")

    def is_plural(self, word: int) -> bool:
        """Whether a word's tag is a plural noun's."""
        return self.words[word].tag in ("NNS", "NNPS")

    def is_verb(self, word: int) -> bool:
        """Whether a word's tag is a verb's."""
        return self.words[word].tag.startswith("VB")

    def is_adjective(self, word: int) -> bool:
        """Whether a word's tag is an adjective's."""
        return self.words[word].tag.startswith("JJ")

    def is_thing(self, word: int) -> bool:
        """Whether a word is a noun that stands for something: no part of a compound or phrase."""
        return self.is_noun(word) and not any(link.base in _NO_THINGS for link in self.above[word])
