"""All matches between a candidate and its references, in the official program's order.

Knows words, phrases and what relates them; nothing of which matches are chosen in the end.

At each position of a reference the matches that start there are listed: equal words, words of one
stem, words that share a synset, each by position in the candidate; then paraphrases whose left
side stands here, the shortest first; then paraphrases whose left side stands in the candidate, by
position there. What two ways lead to is listed twice. Which of them is chosen may depend on this
order, and on the doubles.

Work that depends on words is done once for each word, not at each of its places: on the words of
many captions together (`Kin`), and on those of one picture's references (`Picture`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from meshcap.metrics.meteor.alignment import Match
from meshcap.metrics.meteor.lexicon import Facts
from meshcap.metrics.meteor.paraphrases import Rows

EXACT, STEM, SYNONYM, PARAPHRASE = STAGES = range(4)

_Pair = tuple[int, int, int, Match]


class Caption(NamedTuple):
    """What a caption is to matching."""

    words: tuple[str, ...]
    function: int
    """Its function words, as bits."""
    phrases: Sequence[tuple[int, int, int]]
    """(start, words, phrase) of its phrases that are in an entry of the table of paraphrases."""


def function_bits(words: Sequence[str], facts: Mapping[str, Facts]) -> int:
    """The function words of a caption, as bits."""
    return sum(1 << place for place, word in enumerate(words) if facts[word].function)


class Matches(NamedTuple):
    """The matches of a candidate and a reference."""

    lists: list[list[Match]]
    """By where they start in the reference."""
    fixed: list[bool]
    """Where one match starts whose words no other match covers."""
    ours: tuple[int, ...]
    """Of each stage, the candidate's words that its matches cover, as bits."""
    theirs: tuple[int, ...]
    """Of each stage, the reference's."""


class Kin(dict[str, set[str]]):
    """By word: the other words among some captions that share its stem or one of its synsets."""

    def __init__(self, words: Iterable[str], facts: Mapping[str, Facts]) -> None:
        super().__init__()
        self.facts = facts
        self._by_stem: dict[str, list[str]] = {}
        self._by_synset: dict[int, list[str]] = {}
        for word in words:
            stem, synsets, _ = facts[word]
            self._by_stem.setdefault(stem, []).append(word)
            for synset in synsets:
                self._by_synset.setdefault(synset, []).append(word)

    def __missing__(self, word: str) -> set[str]:
        stem, synsets, _ = self.facts[word]
        found = set(self._by_stem[stem])
        found.update(*map(self._by_synset.__getitem__, synsets))
        found.discard(word)
        self[word] = found
        return found


class _Attraction(dict[str, list[Match]]):
    """By a reference's word: the matches with the candidate's words, found when asked for."""

    def __init__(self, words: Sequence[str], kin: Kin) -> None:
        super().__init__()
        self._kin = kin
        self._equal: dict[str, list[Match]] = {}
        for place, word in enumerate(words):
            match = (1 << place, 1, place, place + 1, 2, EXACT)
            if word in self._equal:
                self._equal[word].append(match)
            else:
                self._equal[word] = [match]

    def __missing__(self, word: str) -> list[Match]:
        found = self._equal.get(word, [])
        if not self._kin[word].isdisjoint(self._equal):
            found = found + self._related(word)
        self[word] = found
        return found

    def _related(self, word: str) -> list[Match]:
        facts = self._kin.facts
        stem, synsets, _ = facts[word]
        others = self._kin[word].intersection(self._equal)
        stems = [other for other in others if facts[other].stem == stem]
        synonyms = [other for other in others if not synsets.isdisjoint(facts[other].synsets)]
        return [
            (mask, length, begin, end, 0, stage)
            for stage, related in ((STEM, stems), (SYNONYM, synonyms))
            for mask, length, begin, end, _, _ in sorted(
                match for other in related for match in self._equal[other]
            )
        ]


class Picture:
    """A candidate, ready to be matched with its references."""

    def __init__(
        self, candidate: Caption, references: Sequence[Caption], kin: Kin, rows: Rows
    ) -> None:
        self._attraction = _Attraction(candidate.words, kin)
        self._ahead: dict[int, list[Match]] = {}
        self._back: dict[int, list[_Pair]] = {}
        if candidate.phrases:
            theirs = {
                phrase: count for reference in references for _, count, phrase in reference.phrases
            }
            self._look_ahead(candidate.phrases, theirs, rows)
            self._look_back(candidate.phrases, theirs, rows)

    def _look_ahead(
        self, ours: Sequence[tuple[int, int, int]], theirs: Mapping[int, int], rows: Rows
    ) -> None:
        """Find entries from the references' phrases to the candidate's."""
        places: dict[int, list[tuple[int, int]]] = {}
        for start, count, phrase in ours:
            places.setdefault(phrase, []).append((start, count))
        for phrase, count in theirs.items():
            if phrase in rows and (entries := _entries(rows[phrase], places)):
                self._ahead[phrase] = [
                    _paraphrase(start, length, count)
                    for _, other in entries
                    for start, length in places[other]
                ]

    def _look_back(
        self, ours: Sequence[tuple[int, int, int]], theirs: Mapping[int, int], rows: Rows
    ) -> None:
        """Find entries from the candidate's phrases to the references'."""
        for start, count, phrase in ours:
            if phrase in rows:
                for entry, other in _entries(rows[phrase], theirs):
                    match = _paraphrase(start, count, theirs[other])
                    self._back.setdefault(other, []).append((start, count, entry, match))

    def matches(self, reference: Caption) -> Matches:
        """The matches with one of the references."""
        lists = [self._attraction[word] for word in reference.words]
        if self._ahead or self._back:
            self._add_paraphrases(lists, reference.phrases)
        our_once = our_more = their_once = their_more = 0
        ours, theirs = [0, 0, 0, 0], [0, 0, 0, 0]
        for start, found in enumerate(lists):
            for mask, length, _, _, _, stage in found:
                span = ((1 << length) - 1) << start
                our_more |= our_once & mask
                our_once |= mask
                their_more |= their_once & span
                their_once |= span
                ours[stage] |= mask
                theirs[stage] |= span
        fixed = [
            len(found) == 1
            and not found[0][0] & our_more
            and not ((1 << found[0][1]) - 1) << start & their_more
            for start, found in enumerate(lists)
        ]
        return Matches(lists, fixed, tuple(ours), tuple(theirs))

    def _add_paraphrases(
        self, lists: list[list[Match]], phrases: Sequence[tuple[int, int, int]]
    ) -> None:
        back: dict[int, list[_Pair]] = {}
        for start, _, phrase in phrases:
            if phrase in self._ahead:
                lists[start] = lists[start] + self._ahead[phrase]
            if phrase in self._back:
                # Phrases that start together take turns, by where the candidate's ones are.
                found = self._back[phrase]
                back[start] = sorted(back[start] + found) if start in back else found
        for start, pairs in back.items():
            lists[start] = lists[start] + [match for _, _, _, match in pairs]


def _entries(
    row: Mapping[int, Sequence[int]], others: Mapping[int, object]
) -> list[tuple[int, int]]:
    """The entries of a row whose right side is one of `others`, in the table's order."""
    found = [(entry, other) for other in row if other in others for entry in row[other]]
    if len(found) > 1:
        found.sort()
    return found


def _paraphrase(start: int, ours: int, theirs: int) -> Match:
    mask = ((1 << ours) - 1) << start
    return (mask, theirs, start, start + ours, ours // 2 + theirs // 2, PARAPHRASE)
