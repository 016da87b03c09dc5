"""Basic dependencies made into those that SPICE reads: CoreNLP's *CollapsedCCProcessed* ones.

Knows the public description of Universal Dependencies v1 and of the Stanford dependencies'
collapsed forms: a preposition enters the name of the relation, prepositions of several words are
one, conjuncts share governors and subjects, relative pronouns give way to what they stand for, and
the subject of a complement without one is added. Nothing of SPICE.
"""

from meshcap.metrics.spice.dependencies import Dependencies, Link
from meshcap.metrics.spice.tree import Tree

# The compound prepositions that the manual of the Stanford dependencies lists, and those of
# captions beside ("in between", "up to"). Its "followed by", "based on" and "compared to/with" are
# left out: they are participles.
_PREPOSITIONS = """
across from; ahead of; along with; alongside of; apart from; as for; as of; as per; as to;
aside from; away from; because of; close by; close to; contrary to; due to; except for; far from;
in between; inside of; instead of; irrespective of; near to; next to; off of; out of; outside of;
owing to; prior to; regardless of; such as; thanks to; together with; up to; atop of; rather than;
as well as; by means of; in addition to; in case of; in front of; in lieu of; in place of;
in spite of; on account of; on behalf of; on top of; with regard to; with respect to
"""


def _by_first_word(written: str) -> dict[str, list[tuple[str, ...]]]:
    table: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted((tuple(words.split()) for words in written.split(";")), key=len)[::-1]:
        table.setdefault(phrase[0], []).append(phrase)
    return table


_BY_FIRST_WORD = _by_first_word(_PREPOSITIONS)

_RELATIVES = frozenset(("who", "whom", "whose", "which", "that"))
_RELATIVE_TAGS = frozenset(("WDT", "WP", "WP$", "IN", "DT"))
_ROLES = frozenset(("nsubj", "nsubjpass", "dobj", "iobj", "nmod"))

# "a car parked by the curb": what stands behind such a participle's "by" is a place.
_PLACED = frozenset(
    "park sit seat stand lie lay perch place position locate dock moor gather hang".split()
)

_NOT_SHARED = frozenset(
    "conj cc mwe case mark det punct cop aux auxpass expl ref name neg discourse dep".split()
)
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")


def collapse(tree: Tree) -> Dependencies:
    """The dependencies of a tree, collapsed unless they are so already."""
    found = Dependencies(tree)
    if not tree.collapsed:
        _names_are_compounds(found)
        _join_prepositions(found)
        _name_by_prepositions(found)
        _share_between_conjuncts(found)
        _replace_relative_pronouns(found)
        _add_subjects_of_complements(found)
    return found


def _names_are_compounds(found: Dependencies) -> None:
    """Let the last word of a name head it, as in CoreNLP: "new york" is a york."""
    for first in range(len(found.words)):
        parts = found.dependents(first, "name")
        if not parts:
            continue
        last = parts[-1]
        for link in found.below[first][:]:
            found.cut(first, link)
            if link.base == "name":
                found.add(last, link.word, "compound")
            else:
                found.add(last, link.word, link.base, link.kind)
        for link in found.cut_above(first):
            found.add(link.word, last, link.base, link.kind)
        found.add(last, first, "compound")


def _join_prepositions(found: Dependencies) -> None:
    """Make "on top of" one preposition of the noun behind it, however a parser attached it."""
    forms = [word.form for word in found.words]
    taken = 0
    for first, form in enumerate(forms):
        for phrase in _BY_FIRST_WORD.get(form, ()):
            end = first + len(phrase)
            if first >= taken and tuple(forms[first:end]) == phrase:
                members = range(first, end)
                noun = _noun_behind(found, members)
                if noun is not None:
                    _join(found, members, noun)
                    taken = end
                    break


def _noun_behind(found: Dependencies, members: range) -> int | None:
    """The word that a phrase's last word, or another of it, is the preposition of."""
    for member in reversed(members):
        for link in found.above[member]:
            if link.base in ("case", "mark") and link.word >= members.stop:
                return link.word
    return None


def _join(found: Dependencies, members: range, noun: int) -> None:
    inside = {*members, noun}
    base = "case"
    heads: list[Link] = []
    for member in members:
        for link in found.cut_above(member):
            if link.word not in inside:
                heads.append(link)
            elif link.word == noun and link.base == "mark":
                base = "mark"
    own = [link for link in found.above[noun] if link.word not in inside]
    for member in members:
        for link in found.below[member][:]:
            found.cut(member, link)
            # What hung on the phrase, such as the subject in "the cat is on top of the car".
            if link.word not in inside:
                found.add(noun, link.word, link.base, link.kind)
    if not own:
        for link in heads:
            kept = link.base in ("conj", "acl", "advcl")
            found.add(link.word, noun, link.base if kept else "nmod", link.kind if kept else "")
    found.add(noun, members.start, base)
    for member in members[1:]:
        found.add(members.start, member, "mwe")


def prepositions(found: Dependencies, word: int, *, clause: bool = False) -> list[str]:
    """What stands before a noun (or clause), such as ["on_top_of"]; two for "in and around"."""
    names = [""]
    for base in ("case", "mark") if clause else ("case",):
        for case in found.dependents(word, base):
            if found.words[case].tag == "POS":
                continue
            choices = [case, *found.dependents(case, "conj")]
            phrases = [_phrase(found, choice) for choice in choices]
            names = [f"{name}_{phrase}".lstrip("_") for name in names for phrase in phrases]
    return names if names != [""] else []


def _phrase(found: Dependencies, first: int) -> str:
    members = [first, *found.dependents(first, "mwe")]
    return "_".join(found.words[member].form for member in members)


def _name_by_prepositions(found: Dependencies) -> None:
    """Name nmod by the preposition, or poss or agent; acl and advcl by what introduces them."""
    for head in range(len(found.words)):
        for link in found.below[head][:]:
            if link.kind or link.base not in ("nmod", "acl", "advcl"):
                continue
            kinds = prepositions(found, link.word, clause=link.base != "nmod")
            if link.base == "nmod" and _is_possessor(found, link.word):
                kinds = ["poss"]
            elif kinds == ["by"] and link.base == "nmod" and _has_agent(found, head):
                kinds = ["agent"]
            if kinds:
                found.cut(head, link)
                for kind in kinds:
                    found.add(head, link.word, link.base, kind)


def _is_possessor(found: Dependencies, word: int) -> bool:
    return any(found.words[case].tag == "POS" for case in found.dependents(word, "case"))


def _has_agent(found: Dependencies, verb: int) -> bool:
    """Whether "by" behind this verb names who does it."""
    word = found.words[verb]
    passive = found.has(verb, "auxpass") or (word.tag == "VBN" and bool(found.heads(verb, "acl")))
    return passive and word.lemma not in _PLACED


def _share_between_conjuncts(found: Dependencies) -> None:
    """Give a conjunct what governs the first one, and a verb the first one's subject."""
    for dependent in range(len(found.words)):
        for link in [link for link in found.above[dependent] if link.base == "conj"]:
            head = link.word
            if not link.kind:
                found.rename(
                    head, Link(dependent, "conj", ""), "conj", _conjunction(found, head, dependent)
                )
            own = prepositions(found, dependent)
            for above in found.above[head][:]:
                if above.base not in _NOT_SHARED:
                    kinds = own if own and above.base == "nmod" else [above.kind]
                    for kind in kinds:
                        found.add(above.word, dependent, above.base, kind)
            _share_subject(found, head, dependent)


def _conjunction(found: Dependencies, head: int, dependent: int) -> str:
    # v2 hangs "and" on the conjunct behind it, v1 on the first one.
    own = [word for word in found.dependents(dependent, "cc") if word < dependent]
    shared = [word for word in found.dependents(head, "cc") if word > head]
    chosen = own or shared
    return found.words[chosen[0]].form if chosen else "and"


def _share_subject(found: Dependencies, head: int, dependent: int) -> None:
    says_something = (
        found.is_verb(dependent)
        or found.is_adjective(dependent)
        or found.has(dependent, "cop")
        or found.has(head, "cop")
    )
    if not says_something or any(found.has(dependent, base) for base in _SUBJECTS):
        return
    for link in found.below[head][:]:
        if link.base in ("nsubj", "nsubjpass"):
            found.add(dependent, link.word, "nsubj", link.kind)


def _replace_relative_pronouns(found: Dependencies) -> None:
    """Put "man" in the place of "who" in "a man who rides"."""
    for pronoun, word in enumerate(found.words):
        if word.form not in _RELATIVES or word.tag not in _RELATIVE_TAGS:
            continue
        roles = [link for link in found.above[pronoun] if link.base in _ROLES]
        antecedents = _described(found, pronoun) if roles else []
        if not antecedents:
            continue
        for link in roles:
            found.cut(link.word, Link(pronoun, link.base, link.kind))
            for antecedent in antecedents:
                found.add(link.word, antecedent, link.base, link.kind)
        for antecedent in antecedents:
            found.add(antecedent, pronoun, "ref")


def _described(found: Dependencies, pronoun: int) -> list[int]:
    """The nouns before a relative pronoun whose clause it stands in."""
    level = {pronoun}
    for _ in range(4):  # "a house the roof of which is red" is as deep as captions go
        antecedents = {
            link.word
            for word in level
            for link in found.above[word]
            if link.base == "acl" and link.kind == "relcl" and link.word < pronoun
        }
        if antecedents:
            return sorted(antecedents)
        level = {link.word for word in level for link in found.above[word]}
    return []


def _add_subjects_of_complements(found: Dependencies) -> None:
    """In "a man tries to jump" the man jumps; in "a man helps a boy jump" the boy does."""
    for verb in range(len(found.words)):
        for complement in found.dependents(verb, "xcomp"):
            if any(found.has(complement, base) for base in _SUBJECTS):
                continue
            subjects = found.dependents(verb, "dobj") or sorted(
                {*found.dependents(verb, "nsubj"), *found.dependents(verb, "nsubjpass")}
            )
            for subject in subjects:
                found.add(complement, subject, "nsubj", "xsubj")
