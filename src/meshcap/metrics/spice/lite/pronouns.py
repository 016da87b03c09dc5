"""Which noun a pronoun of a caption stands for.

Knows links of a sentence being read, sorts of nouns, and what nouns do; nothing of phrases. Only
subjects, objects and possessors are settled here. A pronoun behind a preposition keeps its links:
`pronouns`, which mends every tree, finds what it stands for.
"""

from collections.abc import Sequence

from meshcap.metrics.spice.lite.company import LIVING, subject_fit
from meshcap.metrics.spice.lite.nouns import sort_of
from meshcap.metrics.spice.lite.sentence import Sentence

_MALE = frozenset("he him his himself".split())
_FEMALE = frozenset("she her hers herself".split())
_THING = frozenset("it its itself".split())
_PLURAL = frozenset("they them their theirs themselves".split())
_ELLIPTIC = frozenset("one another all some each both others third second first".split())
_TAGS = ("PRP", "DT", "CD", "JJ")
_PRONOUNS = _MALE | _FEMALE | _THING | _PLURAL

_MEN = frozenset(
    """man boy guy gentleman father dad son brother husband king prince grandfather groom male
    businessman policeman fireman fisherman cowboy fellow dude lad waiter""".split()
)
_WOMEN = frozenset(
    """woman girl lady mother mom daughter sister wife queen princess grandmother bride female
    businesswoman policewoman actress waitress gal cowgirl""".split()
)
_YOUNG = frozenset("baby child kid infant toddler".split())
_ROLES = frozenset(("nsubj", "nsubjpass", "dobj", "nmod:poss"))


def settle(sentence: Sentence, nouns: Sequence[int]) -> None:
    """Link what stands with a pronoun to the noun it stands for, where one is found."""
    edges = sentence.edges
    for number, (head, dependent, relation) in enumerate(edges):
        if relation not in _ROLES or not sentence.tags[dependent].startswith(_TAGS):
            continue
        unit = sentence.units[dependent]
        if unit not in _PRONOUNS and not (unit in _ELLIPTIC and relation.startswith("nsubj")):
            continue
        noun = _antecedent(sentence, nouns, head, dependent, relation)
        if noun is not None:
            edges[number] = (head, noun, relation)
            edges.append((head, dependent, "dep"))


def _antecedent(
    sentence: Sentence, nouns: Sequence[int], head: int, pronoun: int, relation: str
) -> int | None:
    best, most = None, -2.0
    before = [noun for noun in nouns if noun < pronoun and noun != head]
    for place, noun in enumerate(before):
        score = _agreement(sentence, noun, sentence.units[pronoun])
        score += 1.5 * (place == 0) - 0.3 * (len(before) - place - 1)
        lemma = sentence.lemmas[noun]
        sort = sort_of(lemma)
        if relation == "nmod:poss":
            if sort_of(sentence.lemmas[head]) in "BC":
                score += 3.0 if sort in LIVING else -1.0
        elif relation.startswith("nsubj"):
            form = "Q" if relation == "nsubjpass" else "U"
            score += max(-3.0, 0.7 * subject_fit(lemma, sort, f"{sentence.lemmas[head]} {form}"))
        if sort in ("M", "I"):
            score -= 3.0
        if score > most:
            best, most = noun, score
    return best


def _agreement(sentence: Sentence, noun: int, pronoun: str) -> float:
    """How well a noun agrees with a pronoun in number, gender and life."""
    lemma = sentence.lemmas[noun]
    sort = sort_of(lemma)
    plural = sentence.tags[noun] == "NNS"
    if pronoun in _PLURAL:
        listed = any(head == noun and relation == "conj" for head, _, relation in sentence.edges)
        if plural or sort == "G" or listed:
            return 2.0
        return 0.5 if sort in LIVING else -2.0
    if pronoun in _ELLIPTIC:
        return 1.0 if sort in LIVING else 0.0
    score = -4.0 if plural else 0.0
    if pronoun in _THING:
        person = sort == "P" and lemma not in _YOUNG
        return score - 3.0 * person + 1.0 * (sort == "A")
    other = _WOMEN if pronoun in _MALE else _MEN
    own = _MEN if pronoun in _MALE else _WOMEN
    return score - 6.0 * (lemma in other) - 5.0 * (sort not in LIVING) + 1.0 * (lemma in own)
