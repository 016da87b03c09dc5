"""Nouns and prepositions of a caption find their places: objects, phrases, lists, new clauses.

Knows a reading and the choices that the grammar leaves; nothing of verbs' forms.
"""

from meshcap.metrics.spice.lite.choices import host, partner, whole_list
from meshcap.metrics.spice.lite.company import LIVING
from meshcap.metrics.spice.lite.predicates import settle_alone, settle_noun, settle_phrase
from meshcap.metrics.spice.lite.reading import PARTICLES, Reading, Site
from meshcap.metrics.spice.lite.sentence import Phrase

_TWO_OBJECTS = frozenset("give feed hand show throw offer teach serve toss bring pass".split())
_ADVERBS = PARTICLES | frozenset("along outside inside above below behind nearby".split())
_BEHIND_OBJECT = frozenset(("up", "off", "out", "down", "away"))
_BEGINNERS = frozenset("he she it they one another".split())
_OWN_MODIFIERS = ("amod", "nummod", "nmod:poss")


def place_noun(reading: Reading, site: Site) -> None:
    """Find a noun's place by what waits for one."""
    before = reading.phrase_at(-1)
    last = reading.last()
    if reading.prepositions:
        complement(reading, site)
    elif reading.be is not None and reading.conjunction is None:
        settle_noun(reading, site)
    elif reading.conjunction is not None:
        _conjunct(reading, site)
    elif reading.mark is not None or reading.relative is not None:
        reading.clause_subject = site
        reading.sites.append(site)
    elif last is None or (reading.fronted is not None and reading.subject is None and last.noun):
        _first_noun(reading, site)
    elif last.noun and before is not None and before.kind == "N" and before.joined:
        _join(reading, last, site)
    elif _takes_object(last, site):
        _object(reading, last, site)
    else:
        _loose_noun(reading, last, site)


def _first_noun(reading: Reading, site: Site) -> None:
    if reading.exists is not None:
        reading.link(reading.exists, site.word, "nsubj")
        reading.exists = None
    reading.subject = site
    site.through = "subject"
    reading.sites = [site]


def _takes_object(verb: Site, site: Site) -> bool:
    if verb.noun or verb.predicate or verb.object is not None:
        return False
    if verb.passive and verb.form == "Q":
        return False
    return not (site.sort == "M" and site.determiner in ("all", "this", "every", "one"))


def _object(reading: Reading, verb: Site, site: Site) -> None:
    if verb is reading.finite and not verb.subjects and reading.inverted:
        verb.subjects = [site]  # "on a hill stands a horse"
        reading.link_subjects(verb, own=True)
        reading.sites.append(site)
        return
    reading.link(verb.word, site.word, "dobj")
    if verb.object is None:
        verb.object = site
        site.through = "object"
    if verb.lemma == "wear":
        _worn(reading, site)
    reading.sites.append(site)


def _worn(reading: Reading, site: Site) -> None:
    """The glasses that somebody wears are no glass."""
    if reading.unit(site.word) == "glasses":
        reading.sentence.lemmas[site.word] = site.lemma = "glasses"


def _loose_noun(reading: Reading, last: Site, site: Site) -> None:
    """A noun where none is expected: a list without commas, or another clause."""
    verb = reading.verb()
    if reading.finite is not None and reading.finite_verb_ahead():
        _new_clause(reading, site)
    elif (
        verb is not None
        and verb.lemma in _TWO_OBJECTS
        and verb.object is not None
        and last in (verb, verb.object)
    ):
        _object(reading, verb, site)
    elif not last.noun:
        reading.link(last.word, site.word, "nmod:npmod")
    elif site.sort == "M":
        reading.link((verb or last).word, site.word, "nmod:tmod")
    else:
        _join(reading, partner(reading.sites, site), site)


def _new_clause(reading: Reading, subject: Site) -> None:
    before = reading.finite or reading.subject
    reading.link_conjunction(before)
    if before is not None:
        reading.clause_hangs_on = (before.word, "parataxis")
    reading.clause_subject = subject
    reading.sites = [subject]


def _conjunct(reading: Reading, site: Site) -> None:
    """A noun behind "and": the next of a list, an object, or the subject of another clause."""
    last = reading.last()
    if reading.clause_subject is not None and reading.clause_subject in reading.sites:
        _join(reading, reading.clause_subject, site)  # "as a man and a woman watch"
    elif reading.finite_verb_ahead() and _complete(reading, site):
        _new_clause(reading, site)
    elif any(other.noun for other in reading.sites):
        _join(reading, partner(reading.sites, site), site)
    elif last is not None and not last.passive and last.object is None:
        reading.link_conjunction(last)
        place_noun(reading, site)
    else:
        _new_clause(reading, site)


def _complete(reading: Reading, site: Site) -> bool:
    """Whether what was read can stand alone, so that a noun with a verb begins a clause."""
    if reading.finite is not None or reading.unit(site.word) in _BEGINNERS:
        return True
    return any(not other.noun for other in reading.sites)


def _join(reading: Reading, first: Site, site: Site) -> None:
    """Make a noun the next one of a list."""
    reading.link(first.word, site.word, "conj")
    reading.link_conjunction(first)
    reading.close_to(first)
    site.through = first.through
    site.list_head = first.list_head or first
    if first.determiner and not site.determiner and first.sort == site.sort:
        _share_adjectives(reading, first, site)
    reading.sites.append(site)


def _share_adjectives(reading: Reading, first: Site, site: Site) -> None:
    """ "A red jacket and hat": the hat is red, too."""
    edges = reading.sentence.edges
    if any(head == site.word and relation in _OWN_MODIFIERS for head, _, relation in edges):
        return
    for head, dependent, relation in edges[:]:
        if head == first.word and relation == "amod" and dependent < head:
            reading.sentence.link(site.word, dependent, relation)


# ---- prepositions


def read_preposition(reading: Reading, phrase: Phrase) -> None:
    """Let a preposition wait for its noun, or make it a particle when none comes."""
    following = reading.phrase_at(1)
    if following is None:
        settle_alone(reading)
    elif following.kind == "P" and _particle_before_preposition(reading, phrase):
        particle(reading, phrase.head)
        return
    reading.prepositions.append(phrase.head)
    alone = following is None or following.kind in "CWMHR"
    if following is not None and following.kind == "V":
        participle = following.form in ("U", "Q")
        alone = not participle or reading.unit(phrase.head) in _ADVERBS
    if alone:
        drop_prepositions(reading)


def _particle_before_preposition(reading: Reading, phrase: Phrase) -> bool:
    """The "up" of "looks up at", the "off" of "shakes water off next to"."""
    last, before, verb = reading.last(), reading.phrase_at(-1), reading.verb()
    unit = reading.unit(phrase.head)
    if last is None or before is None or verb is None or verb.predicate:
        return False
    if reading.prepositions or reading.be is not None:
        return False
    if last is verb:
        return before.kind == "V" and unit in PARTICLES
    return last is verb.object and before.kind == "N" and unit in _BEHIND_OBJECT


def drop_prepositions(reading: Reading) -> None:
    """No noun comes for the waiting prepositions."""
    settle_alone(reading)
    for preposition in reading.prepositions:
        particle(reading, preposition)
    reading.prepositions = []


def particle(reading: Reading, preposition: int) -> None:
    """A preposition without a noun belongs to the verb before it."""
    verb, last = reading.verb(), reading.last()
    if last is None:
        return
    if last is verb and reading.gap is not None and verb is reading.gap.verb:
        # "a bench that people sit on"
        reading.link(verb.word, preposition, "advmod")
        reading.gap.fill(reading.sentence, f"nmod:{reading.unit(preposition)}")
        reading.gap = None
        return
    near = verb is not None and last in (verb, verb.object)
    if verb is not None and near and not verb.predicate and reading.unit(preposition) in PARTICLES:
        reading.link(verb.word, preposition, "compound:prt")
        reading.sentence.tags[preposition] = "RP"
    else:
        reading.link(last.word, preposition, "advmod")
        reading.sentence.tags[preposition] = "RB"


def complement(reading: Reading, site: Site) -> None:
    """Hang the noun behind a preposition on the best site."""
    prepositions, reading.prepositions = reading.prepositions, []
    for preposition in prepositions:
        reading.link(site.word, preposition, "case")
    name = reading.unit(prepositions[-1])
    site.through = name
    if reading.be is not None and reading.conjunction is None:
        settle_phrase(reading, site)
        return
    reading.link_conjunction(reading.last())
    if not reading.sites:
        reading.sites.append(site)
        reading.fronted = site
        return
    before = reading.phrase_at(-2)
    found = host(reading.sites, name, site, before.head if before is not None else -1)
    found.phrased = found.phrased or not found.noun
    reading.close_to(found)
    first = whole_list(found, name) if found.noun else found
    if name == "with" and found.sort in LIVING:
        _worn(reading, site)
    reading.link(first.word, site.word, "nmod")
    reading.sites.append(site)
