"""A caption while it is read: its units with roles, tags and dictionary forms, and its links.

Knows the Penn tag that a role stands for; nothing of which words belong together.
"""

from dataclasses import dataclass, field

from meshcap.metrics.spice.lexicon import ADJECTIVE, NOUN, lemma, weight
from meshcap.metrics.spice.lite.words import ONE_WORD

_TAG_OF_ROLE = {
    "#": "CD",
    "N": "NN",
    "S": "NNS",
    "O": "PRP",
    "K": "POS",
    "Z": "VBZ",
    "V": "VBP",
    "Y": "VBD",
    "I": "VB",
    "U": "VBG",
    "Q": "VBN",
    "T": "TO",
    "P": "IN",
    "R": "RB",
    "C": "CC",
    "M": "IN",
    "H": "EX",
    "F": "FW",
}
_OWNERS = frozenset("its my your our their his her whose".split())
_TAG_OF_BE = {
    "is": "VBZ",
    "'s": "VBZ",
    "are": "VBP",
    "am": "VBP",
    "'re": "VBP",
    "'m": "VBP",
    "was": "VBD",
    "were": "VBD",
    "being": "VBG",
    "been": "VBN",
    "be": "VB",
}
_TAG_OF_AUXILIARY = {"has": "VBZ", "does": "VBZ", "had": "VBD", "did": "VBD", "having": "VBG"}
_TAG_OF_RELATIVE = {"who": "WP", "whom": "WP", "what": "WP", "whose": "WP$", "where": "WRB"}
_HAVE = frozenset("has have had having 've".split())
_DO = frozenset("do does did".split())

Edge = tuple[int, int, str]


@dataclass
class Sentence:
    """A caption's units with their roles, and the links found so far, by units' numbers."""

    units: list[str]
    roles: str
    tags: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def __post_init__(self) -> None:
        for unit, role in zip(self.units, self.roles, strict=True):
            tag = tag_of(unit, role)
            self.tags.append(tag)
            self.lemmas.append(ONE_WORD.get(unit) or lemma(unit, tag))

    def retag(self, unit: int, role: str) -> None:
        """Give a unit another role than the tagger did."""
        self.roles = self.roles[:unit] + role + self.roles[unit + 1 :]
        self.tags[unit] = tag_of(self.units[unit], role)
        self.lemmas[unit] = lemma(self.units[unit], self.tags[unit])

    def link(self, head: int, dependent: int, relation: str) -> None:
        """Add a link."""
        self.edges.append((head, dependent, relation))


@dataclass(slots=True)
class Phrase:
    """A stretch of units that stands for one of them, its head."""

    kind: str
    """N noun phrase, O pronoun, A adjectives without a noun, V verb group, P preposition,
    C conjunction, W relative word, M opener of a clause, R adverb, H "there"."""
    head: int
    first: int
    last: int
    form: str = ""
    """Of a verb group: Z finite, U in -ing, Q participle, I infinitive, B nothing but "be"."""
    passive: bool = False
    determiner: str = ""
    sort: str = ""
    """Of a noun phrase: what sort of thing the head is."""
    joined: bool = False
    """Whether the next noun phrase is the rest of the same list."""


def tag_of(unit: str, role: str) -> str:
    """The Penn tag of a unit in a role."""
    found = _TAG_OF_ROLE.get(role)
    if role in "Bb":
        found = _TAG_OF_BE.get(unit, "VBP")
    elif role == "X":
        found = _TAG_OF_AUXILIARY.get(unit, "VBP" if unit in _HAVE or unit in _DO else "MD")
    elif role == "D":
        found = "PRP$" if unit in _OWNERS else "DT"
    elif role == "W":
        found = _TAG_OF_RELATIVE.get(unit, "WDT")
    elif role in "GE":
        found = _participle_before_noun(unit, role)
    elif role == "A":
        found = _degree(unit)
    return found or "FW"


def _participle_before_noun(unit: str, role: str) -> str:
    """Whether WordNet knows a participle as a noun ("parking lot") or an adjective ("tired")."""
    if role == "G" and weight(unit, NOUN) > 0.5:
        return "NN"
    if "-" in unit or weight(unit, ADJECTIVE):
        return "JJ"
    return "VBG" if role == "G" else "VBN"


def _degree(unit: str) -> str:
    for ending, tag in (("er", "JJR"), ("est", "JJS")):
        if unit.endswith(ending) and lemma(unit, tag) != unit:
            return "JJ" if weight(unit, ADJECTIVE) else tag
    return "JJ"
