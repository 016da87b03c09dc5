"""English words: their WordNet 3.0 synsets, dictionary forms, and what part of speech they can be.

Knows single words and fixed phrases, from `assets/wordnet/lexicon.npz`; nothing of captions, of
sentences or of graphs. The file is read when the first word is asked for.

Arrays of the file; L lemmas in alphabetical order, S senses of all lemmas, N synsets:

- lemmas: text, one lemma a line, blanks in phrases written "_"
- senses (L,): how many of the S belong to each; synsets (3, S): which of the N, in bytes
- numbers (N,): WordNet's synset numbers, each as the difference from the one before. METEOR's
  table uses them without the part of speech; so a few verbs share one with a noun
- weights (4, L): how common as noun, verb, adjective, adverb: 64 + 8 log2(count), 0 for never
- field (L,): the lexicographer's file of the commonest noun sense: 5 animals, 18 persons, …
- irregular: text, lines "form base …" in four blocks: nouns, verbs, adjectives, adverbs
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

NOUN, VERB, ADJECTIVE, ADVERB = range(4)

_ENDINGS: tuple[tuple[tuple[str, str], ...], ...] = (
    # WordNet's rules from an inflected form to a base, in WordNet's order
    (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    (),
)

_TAGS_OF_ENDINGS = (
    # Penn tag, part of speech, its endings
    ("NNS", NOUN, ("s", "men")),
    ("VBZ", VERB, ("s",)),
    ("VBD", VERB, ("ed",)),
    ("VBN", VERB, ("ed",)),
    ("VBG", VERB, ("ing",)),
    ("JJR", ADJECTIVE, ("er",)),
    ("JJS", ADJECTIVE, ("est",)),
)
_BASE_TAGS = (("NN",), ("VB", "VBP"), ("JJ",), ("RB",))
_PART_OF_TAG = {"N": NOUN, "V": VERB, "J": ADJECTIVE, "R": ADVERB}

# Plurals that name one thing, or that WordNet's rules would cut into another word.
_ONLY_PLURAL = frozenset(
    """people pants shorts clothes sunglasses eyeglasses goggles scissors jeans trousers tights
    pajamas pyjamas overalls binoculars leggings khakis sweatpants underpants slacks tongs pliers
    shears clippers tweezers stairs outdoors indoors surroundings headquarters series species
    graffiti cattle police barracks undies knickers panties briefs fatigues scrubs thanks
    woods remains goods belongings leftovers outskirts premises""".split()
)
_TO_BE = frozenset("be am is are was were been being 's 're 'm".split())
_VOWELS = "aeiouy"
_WITHOUT_AUXILIARY = {
    "has": "have",
    "had": "have",
    "having": "have",
    "'ve": "have",
    "does": "do",
    "did": "do",
    "done": "do",
    "doing": "do",
    "ca": "can",
    "wo": "will",
    "'ll": "will",
    "n't": "not",
}


@dataclass(frozen=True)
class _Table:
    """The file's content, as this module asks for it."""

    row: dict[str, int]
    first: list[int]  # of each lemma's senses; one more at the end
    synsets: NDArray[np.int64]  # (S,), WordNet's own numbers
    weights: tuple[bytes, ...]
    fields: bytes
    irregular_text: str

    @cached_property
    def irregular(self) -> tuple[dict[str, list[str]], ...]:
        """For each part of speech, the bases of its irregular forms."""
        return tuple(
            {form: bases for form, *bases in map(str.split, block.split("\n"))}
            for block in self.irregular_text.split("\n\n")
        )

    def weight(self, word: str, part: int) -> float:
        """How common a dictionary form is as one part of speech: a count, 0 for never."""
        row = self.row.get(word)
        eighths = 0 if row is None else self.weights[part][row]
        return float(2 ** ((eighths - 64) / 8)) if eighths else 0.0

    def of(self, word: str) -> set[int]:
        """The synsets of a dictionary form."""
        row = self.row.get(word)
        if row is None:
            return set()
        return set(self.synsets[self.first[row] : self.first[row + 1]].tolist())


@lru_cache(maxsize=1)
def _table() -> _Table:
    asset = files("meshcap") / "assets" / "wordnet" / "lexicon.npz"
    with as_file(asset) as path, np.load(path, allow_pickle=False) as arrays:
        lemmas = arrays["lemmas"].tobytes().decode().split("\n")
        low, middle, high = arrays["synsets"].astype(np.int64)
        numbers = np.cumsum(arrays["numbers"], dtype=np.int64)
        return _Table(
            row=dict(zip(lemmas, range(len(lemmas)), strict=True)),
            first=[0, *np.cumsum(arrays["senses"], dtype=np.int64).tolist()],
            synsets=numbers[low + 256 * middle + 65536 * high],
            weights=tuple(part.tobytes() for part in arrays["weights"]),
            fields=arrays["field"].tobytes(),
            irregular_text=arrays["irregular"].tobytes().decode(),
        )


def _morphy(word: str) -> str:
    """WordNet's regular base of an inflected form, whatever its part of speech; or the form."""
    if word.endswith("ss") or len(word) <= 2:
        return word
    tail = "ful" if word.endswith("ful") else ""
    known = _table().row
    for endings in _ENDINGS:
        for ending, instead in endings:
            if word.endswith(ending):
                base = word[: len(word) - len(ending)] + instead
                if base in known:
                    return base + tail
    return word


@lru_cache(maxsize=1 << 16)
def synsets(words: str) -> frozenset[int]:
    """The WordNet 3.0 synsets of a word or phrase and of what it is a form of, as METEOR has them.

    A phrase's words are joined by blanks or by "_". Numbers are WordNet's own, without the part
    of speech.
    """
    table = _table()
    word = words.replace(" ", "_")
    found = table.of(word)
    bases = [base for forms in table.irregular for base in forms.get(word, ())]
    for base in bases or [_morphy(word)]:
        found |= table.of(base)
    return frozenset(found)


def field(noun: str) -> int:
    """The lexicographer's file of a noun's commonest sense (5 animals, 18 persons, …), or 0."""
    row = _table().row.get(noun)
    return 0 if row is None else _table().fields[row]


def weight(word: str, part: int) -> float:
    """How common a dictionary form is as NOUN, VERB, ADJECTIVE or ADVERB: a count, 0 for never."""
    return _table().weight(word, part)


def _regular_bases(form: str, part: int) -> list[str]:
    """The dictionary forms of a part of speech that a regular form may belong to, best first."""
    table = _table()
    bases = []
    for ending, instead in _ENDINGS[part]:
        if form.endswith(ending) and len(form) > len(ending) + 1 and not form.endswith("ss"):
            base = form[: len(form) - len(ending)] + instead
            if table.weight(base, part):
                bases.append(base)
            elif part in (VERB, ADJECTIVE):
                single = _undoubled(base)
                if single != base and table.weight(single, part):
                    bases.append(single)
                elif part == ADJECTIVE and base.endswith("i"):
                    if table.weight(base[:-1] + "y", part):
                        bases.append(base[:-1] + "y")
    return sorted(bases, key=lambda base: -table.weight(base, part))  # stable: rules' order


def _undoubled(base: str) -> str:
    """ "runn" as "run"."""
    doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in _VOWELS
    return base[:-1] if doubled else base


def _bases(form: str, part: int) -> list[str]:
    irregular = _table().irregular[part].get(form)
    return irregular if irregular else _regular_bases(form, part)


def _guessed_noun(form: str) -> str:
    """The singular of a plural that no dictionary has."""
    if form.endswith("ies") and len(form) > 4:
        return form[:-3] + "y"
    if form.endswith(("ses", "xes", "zes", "ches", "shes")) and len(form) > 4:
        return form[:-2]
    if form.endswith("men") and len(form) > 4:
        return form[:-3] + "man"
    if form.endswith("s") and not form.endswith(("ss", "us", "is")) and len(form) > 3:
        return form[:-1]
    return form


def _guessed_verb(form: str) -> str:
    """The infinitive of a verb that no dictionary has."""
    for ending in ("ing", "ed", "es", "s"):
        stem = form.removesuffix(ending)
        if stem == form or len(stem) < 3 or not any(letter in _VOWELS for letter in stem):
            continue
        if ending == "s":
            return stem if not form.endswith("ss") else form
        if ending == "es":
            return stem if stem.endswith(("s", "x", "z", "ch", "sh")) else form[:-1]
        if ending == "ed" and stem.endswith("i"):
            return stem[:-1] + "y"
        if _undoubled(stem) != stem and stem[-1] not in "lsz":
            return stem[:-1]
        # A short vowel between single consonants, or an ending that no English verb has.
        silent = stem[-1] in "cuvz" or (stem[-1] in "dgkts" and stem[-2] in "aiou")
        return stem + "e" if silent and stem[-2:] not in ("oo", "ou") else stem
    return form


@lru_cache(maxsize=1 << 16)
def lemma(form: str, tag: str) -> str:
    """The dictionary form of a word in lower case, by its Penn tag; unknown ones by ending."""
    part = _PART_OF_TAG.get(tag[:1])
    if part is None or tag in ("NN", "NNP", "JJ", "RB", "RP"):
        return "not" if form == "n't" else form
    if part == VERB:
        if form in _TO_BE:
            return "be"
        if form in _WITHOUT_AUXILIARY:
            return _WITHOUT_AUXILIARY[form]
        if tag in ("VB", "VBP"):
            return form
    if part == NOUN and form in _ONLY_PLURAL:
        return form
    bases = _bases(form, part)
    if bases:
        return bases[0]
    if _table().weight(form, part):
        return form
    if part == NOUN:
        return _guessed_noun(form)
    return _guessed_verb(form) if part == VERB else form


@lru_cache(maxsize=1 << 14)
def parts_of_speech(form: str) -> Mapping[str, float]:
    """The Penn tags that WordNet allows for a word in lower case, with how common each is.

    Closed classes (the, of, and) are not in WordNet. An unknown word has no tags here.
    """
    table = _table()
    tags: dict[str, float] = {}
    for part, base_tags in enumerate(_BASE_TAGS):
        for tag in base_tags:
            if common := table.weight(form, part):
                tags[tag] = common / len(base_tags)
    for tag, part, endings in _TAGS_OF_ENDINGS:
        irregular = table.irregular[part].get(form, ())
        bases = irregular if _fits(form, tag, bool(irregular), endings) else ()
        if not bases and form.endswith(endings):
            bases = _regular_bases(form, part)
        common = max((table.weight(base, part) for base in bases if base != form), default=0.0)
        if common:
            tags[tag] = max(tags.get(tag, 0.0), common / 2)
    return tags


def _fits(form: str, tag: str, irregular: bool, endings: tuple[str, ...]) -> bool:
    """Whether an irregular form can have a tag: "gone" is no VBG, "running" no VBD."""
    if not irregular:
        return False
    if tag in ("VBD", "VBN"):
        return not form.endswith("ing") and not form.endswith("s")
    return tag == "NNS" or form.endswith(endings)
