"""What "be" and verbs like it say of a subject.

Knows the waiting "be" of a reading and how it is settled; nothing of where subjects come from.
"""

from meshcap.metrics.spice.lite.reading import LINKING, Reading, Site


def settle(reading: Reading, word: int, lemma: str, *, noun: bool = False, sort: str = "") -> Site:
    """Make a word what the waiting "be" says of its subject."""
    be = reading.be
    assert be is not None
    reading.be = None
    if word != be.word:
        reading.link(word, be.word, "cop")
    site = Site(word, noun, lemma, sort, form="B", subjects=be.subjects, predicate=True)
    reading.link_subjects(site, own=be.main)
    reading.hang(word, be.hangs_on)
    if be.main:
        reading.finite = site
        hang_fronted(reading, site)
    reading.sites.append(site)
    return site


def settle_alone(reading: Reading) -> None:
    """Give up waiting: "be" has no predicate, or one that is a clause."""
    if reading.be is not None:
        settle(reading, reading.be.word, "be")


def settle_noun(reading: Reading, site: Site) -> None:
    """ "This is a dog"."""
    settle(reading, site.word, site.lemma, noun=True, sort=site.sort).determiner = site.determiner


def settle_phrase(reading: Reading, site: Site) -> None:
    """ "The cat is on the mat": the mat is open to what comes, and so is what is said."""
    settle(reading, site.word, "be")
    reading.sites.append(site)


def hang_fronted(reading: Reading, verb: Site) -> None:
    """Hang a phrase that stood before everything else on the main verb."""
    fronted = reading.fronted
    if fronted is not None and fronted.word not in reading.hanging:
        reading.link(verb.word, fronted.word, "nmod")
        reading.inverted = not verb.subjects
    reading.fronted = None


def adjective(reading: Reading, word: int) -> None:
    """Hang an adjective without a noun of its own."""
    sentence = reading.sentence
    lemma = sentence.lemmas[word]
    if reading.be is not None and reading.conjunction is None:
        settle(reading, word, lemma)
        return
    last = reading.last()
    if last is None:
        return
    if reading.conjunction is not None:
        reading.link_conjunction(last)
        if last.predicate or last.form == "A":
            reading.link(last.word, word, "conj")
            return
    if last.noun:
        first = last.list_head or last
        reading.link(first.word, word, "amod")
        reading.sites.append(Site(word, False, lemma, form="A", subjects=[last]))
    elif last.lemma in LINKING:
        reading.link(last.word, word, "xcomp")
        reading.sites.append(Site(word, False, lemma, form="A", subjects=last.subjects))
    else:
        reading.link(last.word, word, "advmod")
        sentence.tags[word] = "RB"
