"""The state of reading a caption: what is open, what waits, and what is linked already.

Knows sites and how links are made; nothing of when. Open *sites* are what a coming phrase can
still hang on: the nouns and verbs along the right edge of the tree so far.
"""

from dataclasses import dataclass, field

from meshcap.metrics.spice.lite.sentence import Phrase, Sentence
from meshcap.metrics.spice.tree import ROOT

LINKING = frozenset("look seem get become appear feel stay remain turn grow".split())
PARTICLES = frozenset("up down out off over on in away around by past".split())


@dataclass(slots=True, eq=False)
class Site:
    """A noun or verb that is still open to what comes."""

    word: int
    noun: bool
    lemma: str
    sort: str = ""
    """Of a noun: what it names (`nouns`); O a pronoun."""
    determiner: str = ""
    through: str = ""
    """What a noun hangs on its site by: a preposition, "object" or "subject"."""
    list_head: "Site | None" = None
    """Of a later noun of a list: the first one."""
    form: str = ""
    """Of a verb: as its phrase's; A of an adjective behind its noun."""
    passive: bool = False
    subjects: list["Site"] = field(default_factory=list)
    object: "Site | None" = None
    predicate: bool = False
    """Whether it is said of its subject by "be"."""
    phrased: bool = False
    """Whether a verb has a prepositional phrase already."""


@dataclass(slots=True)
class Be:
    """A form of "be" that waits for its predicate."""

    word: int
    subjects: list[Site]
    hangs_on: tuple[int, str] | None
    main: bool


@dataclass(slots=True)
class Gap:
    """A relative clause with a subject of its own: "a dog that the man holds"."""

    noun: Site
    verb: Site

    def fill(self, sentence: Sentence, relation: str) -> None:
        """Say what the noun is in the clause."""
        sentence.link(self.verb.word, self.noun.word, relation)


class Reading:
    """One caption being read."""

    def __init__(self, sentence: Sentence, phrases: list[Phrase]) -> None:
        self.sentence = sentence
        self.phrases = phrases
        self.place = 0
        self.sites: list[Site] = []
        self.hanging = {dependent for _, dependent, _ in sentence.edges}
        """The units that have a head."""
        # Small words that wait for what comes:
        self.prepositions: list[int] = []
        self.conjunction: int | None = None
        self.mark: int | None = None
        self.relative: int | None = None
        self.there: int | None = None
        self.exists: int | None = None
        """The "is" of "there is"."""
        self.shared_adjective = False
        """Whether an adjective was given to the noun behind the conjunction that comes."""
        self.be: Be | None = None
        # The clause being read:
        self.subject: Site | None = None
        self.finite: Site | None = None
        self.last_verb: Site | None = None
        self.fronted: Site | None = None
        """The noun of a phrase before everything else: "on a hill stands …"."""
        self.inverted = False
        """Whether such a phrase, and no subject, stood before the main verb."""
        self.gap: Gap | None = None
        self.clause_subject: Site | None = None
        self.clause_hangs_on: tuple[int, str] | None = None

    # ---- looking

    def phrase_at(self, step: int) -> Phrase | None:
        """The phrase so many steps from the one being read."""
        place = self.place + step
        return self.phrases[place] if 0 <= place < len(self.phrases) else None

    def unit(self, word: int) -> str:
        """A word as written."""
        return self.sentence.units[word]

    def last(self) -> Site | None:
        """The nearest open site."""
        return self.sites[-1] if self.sites else None

    def verb(self) -> Site | None:
        """The nearest open verb."""
        return next((site for site in reversed(self.sites) if not site.noun), None)

    def finite_verb_ahead(self, step: int = 0) -> bool:
        """Whether a finite verb follows the noun so many steps on, with its phrases."""
        return self.verb_ahead(step) in ("Z", "B")

    def verb_ahead(self, step: int = 0, *, lists: bool = False) -> str:
        """The form of the verb that follows a noun, or a list of nouns, and its phrases, or ""."""
        phrases = self.phrases
        place = self.place + step + 1
        while place < len(phrases):
            kind = phrases[place].kind
            if kind == "V":
                return phrases[place].form
            joins = kind == "P" or (lists and kind == "C")
            if joins and place + 1 < len(phrases) and phrases[place + 1].kind in "NO":
                place += 2
            elif kind == "R":
                place += 1
            else:
                return ""
        return ""

    # ---- linking

    def link(self, head: int, dependent: int, relation: str) -> None:
        """Hang a word on another."""
        self.sentence.link(head, dependent, relation)
        self.hanging.add(dependent)

    def hang(self, word: int, on: tuple[int, str] | None) -> None:
        """Hang a word on a place kept for it, if there is one."""
        if on is not None and on[0] != word:
            self.link(on[0], word, on[1])

    def link_conjunction(self, head: Site | None) -> None:
        """Hang a waiting "and" where it belongs; it waits no more."""
        if self.conjunction is not None and head is not None:
            self.link(head.word, self.conjunction, "cc")
        self.conjunction = None

    def link_subjects(self, verb: Site, *, own: bool = False) -> None:
        """Link a verb to its subjects; they hang on it only when it is their own clause's verb."""
        relation = "nsubjpass" if verb.passive else "nsubj"
        for subject in verb.subjects:
            self.sentence.link(verb.word, subject.word, relation)
            if own:
                self.hanging.add(subject.word)

    def close_to(self, site: Site) -> None:
        """Close all sites behind one."""
        if site in self.sites:
            del self.sites[self.sites.index(site) + 1 :]

    def open_verb(self, phrase: Phrase, subjects: list[Site]) -> Site:
        """A site for a verb; the caller puts it among the open ones."""
        site = Site(
            phrase.head,
            False,
            self.sentence.lemmas[phrase.head],
            form=phrase.form,
            passive=phrase.passive,
            subjects=subjects,
        )
        self.last_verb = site
        return site

    def finish(self) -> None:
        """Give every word a head that has none yet: the first one of content becomes the root."""
        sentence = self.sentence
        if self.gap is not None and self.gap.verb.object is None and not self.gap.verb.phrased:
            self.gap.fill(sentence, "dobj")
        if self.fronted is not None and self.subject is not None:
            self.link(self.subject.word, self.fronted.word, "nmod")
        free = [unit for unit in range(len(sentence.units)) if unit not in self.hanging]
        content = [unit for unit in free if sentence.roles[unit] in "NSZVYUQIA"]
        root = next(iter(content or free), 0)
        sentence.link(ROOT, root, "root")
        for unit in free:
            if unit != root:
                sentence.link(root, unit, "dep")
        self._reach_all(root)

    def _reach_all(self, root: int) -> None:
        """Hang on the root what, in a sentence broken off, hangs only on itself."""
        sentence = self.sentence
        below: list[list[int]] = [[] for _ in sentence.units]
        for head, dependent, _ in sentence.edges:
            if head != ROOT:
                below[head].append(dependent)
        reached: set[int] = set()
        waiting = [root]
        for unit in range(len(below) + 1):
            while waiting:
                word = waiting.pop()
                if word not in reached:
                    reached.add(word)
                    waiting += below[word]
            if unit < len(below) and unit not in reached:
                sentence.link(root, unit, "dep")
                waiting = [unit]
