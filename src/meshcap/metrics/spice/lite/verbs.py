"""Verbs of a caption find their subjects, and what they hang on.

Knows a reading, verbs' forms and the choices that the grammar leaves; nothing of nouns' places.
"""

from meshcap.metrics.spice.lite.choices import antecedent, doer, whole_list
from meshcap.metrics.spice.lite.predicates import adjective, hang_fronted, settle_alone
from meshcap.metrics.spice.lite.reading import LINKING, Be, Gap, Reading, Site
from meshcap.metrics.spice.lite.sentence import Phrase

_OBJECT_DOES = frozenset(
    "help watch see make let teach ask tell allow want have get encourage invite show".split()
)
_CONTINUED_BY = {"Z": "ZB", "B": "ZB", "U": "UQ", "Q": "UQ", "I": "I"}

Place = tuple[int, str]
"""A word and the relation by which another will hang on it."""


def read_verb(reading: Reading, phrase: Phrase) -> None:
    """Find the place of a verb group."""
    if phrase.form == "B":
        settle_alone(reading)
        _be(reading, phrase)
    elif phrase.form == "Z":
        settle_alone(reading)
        _finite(reading, phrase)
    elif phrase.form == "I":
        settle_alone(reading)
        _infinitive(reading, phrase)
    elif not _after_linking_verb(reading, phrase):
        settle_alone(reading)
        _participle(reading, phrase)


# ---- finite verbs


def _clause(reading: Reading, verb: str) -> tuple[list[Site], Place | None]:
    """The subjects of the finite verb that comes, and what its clause hangs on."""
    subject, reading.clause_subject = reading.clause_subject, None
    if reading.relative is not None:
        reading.relative = None
        return _relative_clause(reading, subject, verb)
    if subject is not None and reading.mark is not None:
        before = reading.finite or reading.last_verb or reading.subject
        return [subject], (before.word, "advcl") if before else None
    if subject is not None:
        place, reading.clause_hangs_on = reading.clause_hangs_on, None
        return [subject], place
    if reading.finite is None and reading.subject is not None:
        return [reading.subject], None
    return [], None


def _relative_clause(
    reading: Reading, subject: Site | None, verb: str
) -> tuple[list[Site], Place | None]:
    if subject is None:
        found = antecedent(reading.sites, verb)
        if found is None:
            return [], None
        reading.close_to(found)
        return [found], (found.word, "acl:relcl")
    reading.close_to(subject)
    if subject in reading.sites:
        reading.sites.remove(subject)
    nouns = [site for site in reading.sites if site.noun]
    return [subject], (nouns[-1].word, "acl:relcl") if nouns else None


def _finite(reading: Reading, phrase: Phrase) -> None:
    relative, mark = reading.relative, reading.mark
    own = reading.clause_subject is not None or relative is None
    gap = relative is not None and reading.clause_subject is not None and not phrase.passive
    if reading.conjunction is not None and reading.clause_subject is None and relative is None:
        first = _verb_like(reading, phrase)
        if first is not None:
            _join(reading, first, phrase)
            return
        reading.link_conjunction(reading.last())
    name = f"{reading.sentence.lemmas[phrase.head]} {'Q' if phrase.passive else 'U'}"
    subjects, place = _clause(reading, name)
    if not subjects and relative is None and reading.finite is not None:
        _unexpected(reading, phrase)
        return
    verb = reading.open_verb(phrase, subjects)
    reading.link_subjects(verb, own=own)
    reading.hang(verb.word, place)
    _open_clause(reading, verb.word, relative, mark)
    if relative is None and mark is None:
        reading.finite = verb
        hang_fronted(reading, verb)
    if gap and place is not None:
        noun = next(site for site in reversed(reading.sites) if site.word == place[0])
        reading.gap = Gap(noun, verb)
    reading.sites.append(verb)


def _open_clause(reading: Reading, verb: int, relative: int | None, mark: int | None) -> None:
    """Link the word that opened a clause; only a relative one leaves the sites before it open."""
    if mark is not None:
        reading.link(verb, mark, "mark")
        reading.mark = None
    if relative is not None:
        reading.link(verb, relative, "ref")
    else:
        reading.sites = []


def _unexpected(reading: Reading, phrase: Phrase) -> None:
    """A second finite verb without conjunction."""
    last = reading.last()
    verb = reading.open_verb(phrase, [])
    if last is not None and last.noun and last.through == "object":
        verb.subjects = [last]
        reading.link_subjects(verb)
        reading.link(last.word, verb.word, "acl")
    elif reading.finite is not None:
        verb.subjects = reading.finite.subjects
        reading.link(reading.finite.word, verb.word, "conj")
    reading.sites.append(verb)


def _verb_like(reading: Reading, phrase: Phrase) -> Site | None:
    """The verb that another one in the same form goes on from."""
    roles = reading.sentence.roles
    for site in reversed(reading.sites):
        if site.noun:
            continue
        if site.form in _CONTINUED_BY[phrase.form] or (site.predicate and phrase.form != "I"):
            return site
        if phrase.form in ("U", "Q") and roles[site.word] in "UQ":
            return site
    return reading.finite if phrase.form in ("Z", "B") else None


def _join(reading: Reading, first: Site, phrase: Phrase) -> None:
    """Let a verb go on from another: "sits and reads"."""
    verb = reading.open_verb(phrase, first.subjects)
    reading.link(first.word, verb.word, "conj")
    reading.link_conjunction(first)
    reading.link_subjects(verb)
    if first in reading.sites:
        reading.close_to(first)
        reading.sites.pop()
    else:
        reading.sites = []
    reading.sites.append(verb)


# ---- "be"


def _be(reading: Reading, phrase: Phrase) -> None:
    if reading.there is not None:
        reading.link(phrase.head, reading.there, "expl")
        reading.there = None
        reading.exists = phrase.head
        reading.link_conjunction(None)
        reading.sites = []
        return
    relative, mark = reading.relative, reading.mark
    own = reading.clause_subject is not None or relative is None
    joined = None
    place: Place | None
    if reading.conjunction is not None and reading.clause_subject is None and relative is None:
        joined = _verb_like(reading, phrase)
    if joined is not None:
        subjects, place = joined.subjects, (joined.word, "conj")
        reading.link_conjunction(joined)
        own = False
    else:
        subjects, place = _subjects_of_be(reading)
    reading.link_conjunction(reading.last())
    _open_clause(reading, phrase.head, relative, mark)
    reading.be = Be(phrase.head, subjects, place, main=own and mark is None and relative is None)


def _subjects_of_be(reading: Reading) -> tuple[list[Site], Place | None]:
    ahead = reading.phrase_at(1)
    name = ""
    if ahead is not None and ahead.kind == "V":
        name = f"{reading.sentence.lemmas[ahead.head]} {ahead.form}"
    relative = reading.relative
    subjects, place = _clause(reading, name)
    if subjects or relative is not None or reading.finite is None:
        return subjects, place
    last = reading.last()
    object_said = last is not None and last.noun and last.through == "object"
    subjects = [last] if last is not None and object_said else reading.finite.subjects
    return subjects, (reading.finite.word, "conj")


# ---- participles


def _after_linking_verb(reading: Reading, phrase: Phrase) -> bool:
    """Take the participle of "looks tired" for an adjective, and "gets splashed" for a passive."""
    last = reading.last()
    if phrase.form != "Q" or last is None or last.noun or last.lemma not in LINKING:
        return False
    if last.lemma == "get":
        settle_alone(reading)
        _get_passive(reading, last, phrase.head)
        return True
    if reading.conjunction is None and not reading.prepositions:
        reading.sentence.retag(phrase.head, "E")
        reading.sentence.tags[phrase.head] = "JJ"
        reading.sentence.lemmas[phrase.head] = reading.unit(phrase.head)
        adjective(reading, phrase.head)
        return True
    return False


def _get_passive(reading: Reading, get: Site, participle: int) -> None:
    """Put a participle into the place of the "get" before it."""
    sentence = reading.sentence
    moved = []
    for head, word, relation in sentence.edges:
        if head == get.word and relation == "nsubj":
            relation = "nsubjpass"
        head, word = (participle if end == get.word else end for end in (head, word))
        moved.append((head, word, relation))
    sentence.edges = moved
    if get.word in reading.hanging:
        reading.hanging.add(participle)
    reading.link(participle, get.word, "auxpass")
    get.word, get.lemma, get.passive = participle, sentence.lemmas[participle], True


def _participle(reading: Reading, phrase: Phrase) -> None:
    name = f"{reading.sentence.lemmas[phrase.head]} {phrase.form}"
    if reading.prepositions:
        _gerund(reading, phrase)
    elif reading.mark is not None:
        _marked(reading, phrase, name)
    elif reading.conjunction is not None and (first := _verb_like(reading, phrase)) is not None:
        _join(reading, first, phrase)
    else:
        reading.link_conjunction(reading.last())
        verb = _describe(reading, phrase, name) if reading.sites else None
        reading.sites.append(verb or reading.open_verb(phrase, []))


def _describe(reading: Reading, phrase: Phrase, name: str) -> Site:
    """Hang a participle on the noun it describes, or on the verb whose subject it describes."""
    before = reading.phrase_at(-1)
    after_phrase = before is not None and before.kind in "VRP"
    host = doer(reading.sites, name, after_phrase=after_phrase)
    reading.close_to(host)
    if host.noun:
        noun = whole_list(host)
        verb = reading.open_verb(phrase, [noun])
        reading.link(noun.word, verb.word, "acl")
        return verb
    verb = reading.open_verb(phrase, host.subjects)
    reading.link(host.word, verb.word, "advcl")
    reading.link_subjects(verb)
    return verb


def _gerund(reading: Reading, phrase: Phrase) -> None:
    """ "After catching a ball"."""
    marks, reading.prepositions = reading.prepositions, []
    host = reading.verb() or (reading.sites[0] if reading.sites else None)
    verb = _understood(reading, phrase, host)
    for mark in marks:
        reading.link(verb.word, mark, "mark")
    reading.sites.append(verb)


def _understood(reading: Reading, phrase: Phrase, host: Site | None) -> Site:
    """A clause of which the subject is left out: that of the verb, or the noun, it hangs on."""
    subjects = ([host] if host.noun else host.subjects) if host is not None else []
    verb = reading.open_verb(phrase, subjects)
    if host is not None:
        reading.link(host.word, verb.word, "advcl")
        reading.link_subjects(verb)
    return verb


def _marked(reading: Reading, phrase: Phrase, name: str) -> None:
    """ "While riding a bike", "as people walking by"."""
    mark, reading.mark = reading.mark, None
    subject, reading.clause_subject = reading.clause_subject, None
    reading.link_conjunction(reading.last())
    if subject is not None:
        before = reading.finite or reading.last_verb or reading.subject
        verb = reading.open_verb(phrase, [subject])
        reading.link_subjects(verb, own=True)
        reading.hang(verb.word, (before.word, "advcl") if before else None)
        reading.sites = [verb]
    else:
        host = next((site for site in reading.sites if not site.noun and site.subjects), None)
        if host is None and reading.sites:
            host = doer(reading.sites, name, after_phrase=False)
        verb = _understood(reading, phrase, host)
        reading.sites.append(verb)
    if mark is not None:
        reading.link(verb.word, mark, "mark")


# ---- infinitives


def _infinitive(reading: Reading, phrase: Phrase) -> None:
    if reading.conjunction is not None:
        first = _verb_like(reading, phrase)
        if first is not None:
            _join(reading, first, phrase)
            return
        reading.link_conjunction(reading.last())
    last, governor = reading.last(), reading.verb()
    if governor is not None:
        verb = reading.open_verb(phrase, _subjects_of_infinitive(governor, last))
        reading.link(governor.word, verb.word, "xcomp")
        if governor.lemma in ("seem", "appear"):
            _forget_subject(reading, governor)
    else:
        verb = reading.open_verb(phrase, [last] if last is not None else [])
        if last is not None:
            reading.link(last.word, verb.word, "acl")
    reading.link_subjects(verb)
    reading.sites.append(verb)


def _subjects_of_infinitive(governor: Site, last: Site | None) -> list[Site]:
    if governor.object is not None and governor.lemma in _OBJECT_DOES:
        return [governor.object]
    if last is not None and last.noun and last.through == "for":  # "waits for the bus to come"
        return [last]
    return governor.subjects


def _forget_subject(reading: Reading, verb: Site) -> None:
    """ "Seems to run" says no more than "runs"."""
    said = [(verb.word, subject.word, "nsubj") for subject in verb.subjects]
    reading.sentence.edges = [edge for edge in reading.sentence.edges if edge not in said]
