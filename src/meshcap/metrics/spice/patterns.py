"""The tuples of a caption: objects, their attributes and the relations between them.

Knows SPICE's patterns over collapsed dependencies. Two readings share them: the official one, for
trees like CoreNLP's, and ours for the built-in parser, which differs where the official patterns
miss what a caption's author plainly meant. Each difference stands beside a question for
`official`. Nothing of nodes, synonyms or scores.

A tuple is (object,), (object, attribute) or (subject, relation, object), in dictionary forms.
"""

from meshcap.metrics.spice.collapse import collapse
from meshcap.metrics.spice.dependencies import Dependencies
from meshcap.metrics.spice.repairs import repair
from meshcap.metrics.spice.tree import Tree

Tuple = tuple[str, ...]

_NO_PREPOSITIONS = frozenset(("", "poss", "agent", "tmod", "npmod"))
# "seems tired": the adjective says it all.
_LINKING = frozenset("look seem get become appear feel stay remain turn grow keep".split())
_COMPLETED = frozenset(("of", "with"))
"""Prepositions whose noun an adjective needs: "full of soup", "filled with soup"."""


def tuples_of(tree: Tree, *, official: bool = False) -> list[Tuple]:
    """A caption's tuples, each once: objects in the order of the words, then the others."""
    found = collapse(tree)
    repair(found, official=official)
    return _Reading(found, official).tuples()


class _Reading:
    """One caption being read."""

    def __init__(self, found: Dependencies, official: bool) -> None:
        self.found = found
        self.official = official
        self.things = [found.is_thing(word) for word in range(len(found.words))]
        self.lemmas = [word.lemma for word in found.words]
        self.others: dict[Tuple, None] = {}

    def tuples(self) -> list[Tuple]:
        """All tuples."""
        for word in range(len(self.lemmas)):
            if self.found.is_noun(word):
                self._noun(word)
            subjects = self._subjects(word, ())
            if subjects:
                self._predicate(word, subjects)
        found: dict[Tuple, None] = {}
        for lemma, thing in zip(self.lemmas, self.things, strict=True):
            if thing:
                found[(lemma,)] = None
        for other in self.others:
            for name in (other[0], *other[2:]):
                found[(name,)] = None
        return list({**found, **self.others})

    def _attribute(self, noun: int, attribute: int) -> None:
        self.others[self.lemmas[noun], self.lemmas[attribute]] = None

    def _relation(self, subject: int, relation: str, noun: int) -> None:
        relation = relation.removeprefix("be ")
        self.others[self.lemmas[subject], relation, self.lemmas[noun]] = None

    def _noun(self, noun: int) -> None:
        """What stands with a noun: adjectives, numbers, compounds, phrases and owners."""
        found = self.found
        for link in found.below[noun]:
            other, base, kind = link
            if base == "amod":
                if not self._completed(other):
                    self._attribute(noun, other)
            elif base == "nummod" or kind == "qmod":
                if found.words[other].tag == "CD" and found.is_plural(noun):
                    self._attribute(noun, other)
            elif base == "compound":
                if found.is_noun(other):
                    self._attribute(noun, other)
            elif base == "nmod" and self.things[other]:
                if kind == "poss":
                    self._relation(other, "have", noun)
                elif kind not in _NO_PREPOSITIONS:
                    self._relation(noun, kind.replace("_", " "), other)

    def _subjects(self, predicate: int, seen: tuple[int, ...]) -> list[int]:
        """The nouns that a predicate is said of."""
        found = self.found
        own = [link.word for link in found.below[predicate] if link.base.startswith("nsubj")]
        if own or found.has(predicate, "expl"):
            return [noun for noun in own if self.things[noun]]
        described = [
            link.word
            for link in found.above[predicate]
            if link.base == "acl" and (link.kind != "relcl" or not self.official)
        ]
        if described or self.official or predicate in seen:
            return [noun for noun in described if self.things[noun]]
        return self._understood(predicate, (*seen, predicate))

    def _understood(self, predicate: int, seen: tuple[int, ...]) -> list[int]:
        """Ours: whom a clause without subject is about: "a man smiles while holding a dog"."""
        found = self.found
        if found.is_adjective(predicate) and self._completed(predicate):
            nouns = found.heads(predicate, "amod")
            if nouns:
                return [noun for noun in nouns if self.things[noun]]
        for link in found.above[predicate]:
            if link.base == "xcomp":
                return self._subjects(link.word, seen)
            if link.base == "advcl":
                subjects = self._subjects(link.word, seen)
                return subjects or ([link.word] if self.things[link.word] else [])
        return []

    def _predicate(self, predicate: int, subjects: list[int]) -> None:
        """What is said of subjects: relations to a predicate's nouns, or else the predicate."""
        found = self.found
        copula = found.has(predicate, "cop")
        lemma = self.lemmas[predicate]
        completed = self._completed(predicate)
        verbal = not copula and not found.is_adjective(predicate)
        if completed or (verbal and found.is_verb(predicate)):
            for subject in subjects:
                self._relations(predicate, subject)
        if completed or (verbal and self._has_complement(predicate)):
            return
        cases = [
            case for case in found.dependents(predicate, "case") if found.words[case].tag != "POS"
        ]
        if cases:
            if self.things[predicate]:
                for subject in subjects:
                    self._relation(subject, self._phrase(cases), predicate)
        elif lemma != "be" and not self._says_nothing(predicate):
            for subject in subjects:
                self._attribute(subject, predicate)

    def _relations(self, predicate: int, subject: int) -> None:
        for other, base, kind in self.found.below[predicate]:
            if not self.things[other]:
                continue
            if base in ("dobj", "iobj"):
                self._relation(subject, self.lemmas[predicate], other)
            elif base == "nmod" and kind == "agent":
                self._relation(other, self.lemmas[predicate], subject)
            elif base == "nmod" and kind not in _NO_PREPOSITIONS:
                name = f"{self.lemmas[predicate]} {kind.replace('_', ' ')}"
                self._relation(subject, name, other)

    def _has_complement(self, predicate: int) -> bool:
        """Whether a noun is the predicate's object, agent or in a phrase of it.

        A bare time ("today") is none, and neither is a pronoun that stands for nothing known.
        """
        return any(
            self.things[link.word]
            and (
                link.base in ("dobj", "iobj")
                or (link.base == "nmod" and link.kind not in _NO_PREPOSITIONS - {"agent"})
            )
            for link in self.found.below[predicate]
        )

    def _completed(self, adjective: int) -> bool:
        """Ours: whether an adjective forms a relation with a noun behind it, as in "full of"."""
        return (
            not self.official
            and self.found.is_adjective(adjective)
            and any(
                link.base == "nmod" and link.kind in _COMPLETED and self.things[link.word]
                for link in self.found.below[adjective]
            )
        )

    def _says_nothing(self, predicate: int) -> bool:
        """Ours: verbs that lead to another word ("seems tired", "is going to"), and adverbs."""
        if self.official:
            return False
        found = self.found
        word = found.words[predicate]
        if word.tag.startswith(("RB", "IN", "EX", "WRB")):
            return True
        complements = found.dependents(predicate, "xcomp")
        if word.lemma in _LINKING:
            return any(found.is_adjective(complement) for complement in complements)
        if word.form == "about":
            return True
        return word.form == "going" and any(found.has(verb, "mark") for verb in complements)

    def _phrase(self, cases: list[int]) -> str:
        found = self.found
        words = [word for case in cases for word in (case, *found.dependents(case, "mwe"))]
        return " ".join(found.words[word].form for word in words)
