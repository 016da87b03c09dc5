"""Where a phrase belongs when the grammar leaves a choice.

Knows open sites and what goes with what (`company`); changes nothing. Each choice is the
site with the largest sum of how well the words fit and how apt its place is.
"""

from collections.abc import Sequence

from meshcap.metrics.spice.lite.company import LIVING, noun_takes, subject_fit, verb_takes
from meshcap.metrics.spice.lite.reading import Site

# How apt places are, in units of log likelihood. The larger a number, the less apt, where it is
# named a cost. Set by hand and by trial on `tests/golden/spice_lite_built_on.json` and captions
# that we read ourselves.
STEP = 1.0  # cost of each open site nearer than this one
STEP_OF = 2.5  # the same for "of"
COSTS = {
    # of a noun that is a verb's object, that is in another phrase of the verb, that stands before
    # the verb, and that is in a chain of phrases without a verb; by kinds of prepositions
    "object": {"of": 1.5, "with": 2.2, "beside": 3.0, "place": 3.0},
    "oblique": {"of": 1.5, "with": 1.5, "beside": 2.2, "place": 1.0},
    "before": {"of": 3.0, "with": 1.5, "beside": 2.0, "place": 1.5},
    "chain": {"of": 0.0, "with": 0.0, "beside": 0.0, "place": -0.7},
    # of a verb that has a phrase already
    "phrased": {"of": 4.0, "with": 0.0, "beside": 0.0, "place": 1.5},
}
CONTENT_COST = 4.0  # "a plate of food on a table": the plate is there
SHOWING_COST = 2.0  # "has three ties on his shoulder": the ties are there
NO_HOST_COST = 2.0
PICTURE_COST = 2.0
PERSONAL_COST = 3.0
LIFE_GAIN = 0.8  # "a man with an umbrella on a street": the man is there
BODY_GAIN = 2.0  # "a dog with a stick in its mouth": the stick is there
RIGHT_BEHIND_GAIN = 5.0
COMPLEMENT_GAIN = 8.0
TIME_GAIN = 3.0
OF_VERB_COST = 6.0
EARLIER_VERB_COST = 1.5
MEANS_GAIN = 4.0  # "eats pizza with a fork": not pizza that has a fork

DOER_STEP = 0.3
DOER_VERB = -1.0  # the subject of a verb, rather than a noun in sight
DOER_VERB_AFTER_PHRASE = 1.5
DOER_FIRST = 0.7
DOER_GROUP = -0.7  # "a group of men riding": the men
DOER_MEMBER = 1.5
DOER_CONTENT = -1.0  # "a plate of food sitting": the plate
DOER_WITH = 3.0  # "with smoke rising"
DOER_WORN = -2.0
DOER_PREDICATE = -1.0
DOER_LIFELESS = -2.5
DOER_NO_HOST = -3.0

_BESIDE = frozenset(("next to", "beside", "near", "in front of", "behind", "by", "close to"))
_SHOWING = frozenset("have show display depict feature contain include see".split())
_NO_HOSTS = frozenset("air midair background foreground front distance day night".split())
_AWAY = frozenset("from out through into over".split())
_BY_MEANS = frozenset(
    """brush carve clean comb cook cut dig draw eat feed fix groom hit mash open paint pick poke
    scoop scrub shave slice spray spread stir strike sweep trim wash water wipe write""".split()
)
_MEANS = frozenset(
    """bat blade broom brush chopstick club comb crayon cutter fork hammer hand hose knife marker
    mop paddle paintbrush pen pencil pole racket racquet rag razor scissor scissors shovel spatula
    sponge spoon stick tong tongs tool toothbrush toothpick towel utensil""".split()
)
_AMOUNTS = frozenset(
    "number lot couple bunch pair variety assortment handful series dozen kind type sort".split()
)
_WORN_BELOW = frozenset(("ski", "skate"))


def kind_of(preposition: str) -> str:
    """The kind of a preposition: "of", "with", "beside" something, or a "place"."""
    if preposition in ("of", "with"):
        return preposition
    return "beside" if preposition in _BESIDE else "place"


class _Phrase:
    """A prepositional phrase that looks for its host, and what is open to it."""

    def __init__(self, sites: Sequence[Site], preposition: str, thing: Site) -> None:
        self.sites = sites
        self.preposition = preposition
        self.thing = thing
        self.kind = kind_of(preposition)
        self.verb_at = max((i for i, site in enumerate(sites) if not site.noun), default=-1)
        self.verb = sites[self.verb_at] if self.verb_at >= 0 else None
        # "has a clock on it", "with a bow on it": the pronoun points back
        self.carried = any(site.through == "with" for site in sites) or (
            self.verb is not None and self.verb.lemma == "have"
        )
        # What is worn or is somebody's own says nothing of a thing.
        self.personal = (
            thing.sort == "C" or thing.lemma in _WORN_BELOW
            if preposition == "in"
            else preposition == "with" and thing.determiner in ("his", "her", "their")
        )

    def of_noun(self, place: int) -> float:
        site, name = self.sites[place], self.preposition
        steps = len(self.sites) - 1 - place
        score = noun_takes(site.lemma, name, self.thing.lemma) - self._cost(place)
        living = site.sort in LIVING
        if self.thing.sort == "B":
            score += BODY_GAIN * (site.through == "with")
        elif living and self.kind == "place" and any(map(_lifeless, self.sites[place + 1 :])):
            score += LIFE_GAIN
        if self.personal and not living:
            score -= PERSONAL_COST
        if (site.sort == "I" and steps and name not in _AWAY) or site.lemma in _NO_HOSTS:
            score -= PICTURE_COST
        if site.sort in ("X", "M") and name not in ("of", "between", "with"):
            score -= NO_HOST_COST
        if self.thing.sort == "O" and self.carried:
            score += -3.0 if place == 0 else 5.0 * (not steps)
        return score

    def _cost(self, place: int) -> float:
        cost = self._cost_of_place(place)
        if (
            self.kind in ("place", "beside")
            and place
            and _is_content(*self.sites[place - 1 : place + 1])
        ):
            cost += CONTENT_COST
        return cost

    def _cost_of_place(self, place: int) -> float:
        site = self.sites[place]
        if place < self.verb_at:
            return COSTS["before"][self.kind]
        if self.verb is None:
            return COSTS["chain"][self.kind] if place < len(self.sites) - 1 else 0.0
        if site.through != "object":
            return COSTS["oblique"][self.kind]
        return 0.0 if self.verb.lemma in _SHOWING else COSTS["object"][self.kind]

    def of_verb(self, place: int, right_behind: int) -> float:
        site, name = self.sites[place], self.preposition
        word = site.lemma if site.object is None else f"{site.lemma}+"
        score = verb_takes(word, name, self.thing.lemma)
        if site.object is not None and site.lemma in _SHOWING:
            score -= SHOWING_COST
        if site.phrased:
            score -= COSTS["phrased"][self.kind]
        if place < self.verb_at:
            score -= EARLIER_VERB_COST
        if site.word == right_behind:
            score += COMPLEMENT_GAIN if site.form == "A" else RIGHT_BEHIND_GAIN
        if self.thing.sort == "M":
            score += TIME_GAIN
        if name == "with" and site.lemma in _BY_MEANS and self.thing.lemma in _MEANS:
            score += MEANS_GAIN
        if name == "of" and place < len(self.sites) - 1:
            score -= OF_VERB_COST
        return score


def _is_content(before: Site, site: Site) -> bool:
    """Whether a noun says of what another is full or made, as in "a plate of food"."""
    return (
        site.through == "of"
        and site.sort not in LIVING
        and before.noun
        and before.sort not in ("I", "O")
        and before.lemma not in _AMOUNTS
    )


def _lifeless(site: Site) -> bool:
    """Whether a noun is a thing that somebody holds or wears: it does not go anywhere by itself."""
    return site.noun and site.through in ("with", "in") and site.sort not in LIVING + "L"


def host(sites: Sequence[Site], preposition: str, thing: Site, right_behind: int) -> Site:
    """The site on which a prepositional phrase hangs; `right_behind` is the word before it."""
    phrase = _Phrase(sites, preposition, thing)
    step = STEP_OF if phrase.kind == "of" else STEP
    best, most = sites[-1], -999.0
    for place in range(len(sites) - 1, -1, -1):
        score = phrase.of_noun(place) if sites[place].noun else phrase.of_verb(place, right_behind)
        score -= step * (len(sites) - 1 - place)
        if score > most:
            best, most = sites[place], score
    return best


def doer(sites: Sequence[Site], verb: str, *, after_phrase: bool) -> Site:
    """The noun that does what a participle says, or the verb whose subject does.

    `verb` is as in `company`: "ride U", "cover Q". `after_phrase` says that a verb, an adverb
    or a particle stands right before it, no noun.
    """
    best, most = sites[-1], -99.0
    acts = verb.endswith("U") and any(site.noun and site.sort in LIVING for site in sites)
    steps = 0
    for place in range(len(sites) - 1, -1, -1):
        site = sites[place]
        fit = 0.0
        score = -DOER_STEP * steps
        if site.noun:
            fit = subject_fit(site.lemma, site.sort, verb)
            score += fit + _standing(sites, place, verb)
            if acts and place and site.sort not in LIVING:
                score += DOER_LIFELESS
        elif site.subjects:
            subject = site.subjects[0]
            score += subject_fit(subject.lemma, subject.sort, verb) + DOER_VERB
            if after_phrase:
                score += DOER_VERB_AFTER_PHRASE
        else:
            continue
        if score > most:
            best, most = site, score
        steps += fit > -1.5
    return best


def _standing(sites: Sequence[Site], place: int, verb: str) -> float:
    """How apt a noun is, by its place, to do what a participle says."""
    site = sites[place]
    nearest = place == len(sites) - 1
    if verb == "include U":
        return 3.0 if nearest else 0.0
    if not place:
        group = site.sort == "G" and not nearest and sites[1].through == "of"
        return DOER_GROUP if group else DOER_FIRST
    before = sites[place - 1]
    if site.through == "with" and nearest:
        return 0.0 if site.sort in ("B", "C") else DOER_WITH
    if site.lemma in _NO_HOSTS:
        return DOER_NO_HOST
    if site.sort == "C" and (site.through == "in" or before.lemma == "wear"):
        return DOER_WORN
    if before.predicate and before.word == site.word:
        return DOER_PREDICATE
    if site.through == "of" and before.noun:
        return DOER_MEMBER if before.sort in ("G", "I") else DOER_CONTENT
    return 0.0


def antecedent(sites: Sequence[Site], verb: str) -> Site | None:
    """The noun of which a relative clause with this verb tells."""
    best, most = None, -99.0
    nouns = [site for site in sites if site.noun]
    for steps, site in enumerate(reversed(nouns)):
        score = -1.2 * steps + (subject_fit(site.lemma, site.sort, verb) if verb else 0.0)
        if score > most:
            best, most = site, score
    return best


def partner(sites: Sequence[Site], noun: Site) -> Site:
    """The noun of which another one is the next in a list."""
    best, most = sites[-1], -99.0
    for steps, site in enumerate(reversed(sites)):
        if not site.noun:
            continue
        score = -0.8 * steps
        if site.sort == noun.sort:
            score += 1.0
        elif (site.sort in LIVING) != (noun.sort in LIVING):
            score -= 1.0
        if bool(site.determiner) == bool(noun.determiner):
            score += 1.2
        if score > most:
            best, most = site, score
    return best


def whole_list(site: Site, preposition: str = "") -> Site:
    """The first noun of a list when what follows is said of the whole list, else the noun."""
    first = site.list_head
    if first is None or preposition in ("of", "with"):
        return site
    return site if (first.sort in LIVING) != (site.sort in LIVING) else first
