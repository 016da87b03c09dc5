"""METEOR's matching, search and formula so plain that one sees they are what the description says.

Knows lists of words and plain dictionaries; nothing of meshcap but its stemmer. Slow: each word of
one caption is compared with each of the other, all paths are copied, no reference is skipped.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from meshcap.metrics.meteor.stems import stem

BEAM = 40
RULES = (
    "s- ses-s xes-x zes-z ches-ch shes-sh men-man ies-y "
    "s- ies-y es-e es- ed-e ed- ing-e ing- er- est- er-e est-e"
).split()


class Match(NamedTuple):
    """A stretch of the reference, a stretch of the candidate, and what joins them."""

    theirs: range
    ours: range
    stage: int


class Data(NamedTuple):
    """Synsets by word, bases by form, function words, and the table of paraphrases in order."""

    synsets: Mapping[str, Sequence[int]]
    bases: Mapping[str, Sequence[str]]
    function_words: frozenset[str]
    table: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]


def synsets_of(word: str, data: Data) -> set[int]:
    found = set(data.synsets.get(word, ()))
    if word in data.bases:
        return found.union(*(data.synsets.get(base, ()) for base in data.bases[word]))
    if len(word) > 2 and not word.endswith("ss"):
        for rule in RULES:
            ending, instead = rule.split("-")
            # The official program runs the rules on a word in "ful" too, then appends "ful".
            base = word.removesuffix(ending) + instead + ("ful" if word.endswith("ful") else "")
            if word.endswith(ending) and base in data.synsets:
                return found | set(data.synsets[base])
    return found


def places_of(phrase: Sequence[str], words: Sequence[str]) -> list[range]:
    return [
        range(start, start + len(phrase))
        for start in range(len(words) - len(phrase) + 1)
        if tuple(words[start : start + len(phrase)]) == tuple(phrase)
    ]


def matches_of(ours: Sequence[str], theirs: Sequence[str], data: Data) -> list[Match]:
    """All matches, in the order in which the official program finds them."""

    def words_that(agree):
        return [
            (range(place, place + 1), range(other, other + 1))
            for place, their_word in enumerate(theirs)
            for other, our_word in enumerate(ours)
            if agree(their_word, our_word)
        ]

    def entries_from(words):
        """Entries whose left side begins at each position: the shortest first, then in order."""
        for start in range(len(words)):
            for count in range(1, len(words) - start + 1):
                for left, right in data.table:
                    if left == tuple(words[start : start + count]):
                        yield range(start, start + count), right

    found = [Match(*each, 0) for each in words_that(str.__eq__)]
    if list(ours) == list(theirs):
        return found
    found += [Match(*each, 1) for each in words_that(lambda a, b: a != b and stem(a) == stem(b))]
    found += [
        Match(*each, 2)
        for each in words_that(
            lambda a, b: a != b and bool(synsets_of(a, data) & synsets_of(b, data))
        )
    ]
    found += [
        Match(place, other, 3)
        for place, right in entries_from(theirs)
        for other in places_of(right, ours)
    ]
    found += [
        Match(other, place, 3)
        for place, right in entries_from(ours)
        for other in places_of(right, theirs)
    ]
    return found


class Path(NamedTuple):
    """A way through the reference so far."""

    gain: int = 0
    chunks: int = 0
    distance: int = 0
    taken: tuple[Match, ...] = ()
    end: int | None = None
    """Where in the candidate the open chunk ends."""

    @property
    def worth(self) -> tuple[int, int, int]:
        return -self.gain, self.chunks, self.distance

    def closed(self) -> "Path":
        return self if self.end is None else self._replace(chunks=self.chunks + 1, end=None)

    def takes(self, match: Match) -> "Path":
        apart = self.end is not None and self.end != match.ours.start
        weight = 1.0 if match.stage == 0 else 0.5
        return self._replace(
            gain=self.gain + int(len(match.ours) * weight) + int(len(match.theirs) * weight),
            chunks=self.chunks + apart,
            taken=(*self.taken, match),
            end=match.ours.stop,
        )

    def is_free(self, match: Match) -> bool:
        return all(
            set(match.ours).isdisjoint(other.ours) and set(match.theirs).isdisjoint(other.theirs)
            for other in self.taken
        )


def alignment_of(matches: Sequence[Match], theirs: int) -> list[Match]:
    """The matches that the beam search takes, by position in the reference."""
    lists = [[match for match in matches if match.theirs.start == place] for place in range(theirs)]
    covers = {
        ("ours", place): sum(place in match.ours for match in matches)
        for match in matches
        for place in match.ours
    } | {
        ("theirs", place): sum(place in match.theirs for match in matches)
        for match in matches
        for place in match.theirs
    }
    paths = [Path()]
    for place, found in enumerate(lists):
        paths = sorted(paths, key=lambda path: path.worth)[:BEAM]
        definite = len(found) == 1 and all(
            covers[side, each] == 1
            for side in ("ours", "theirs")
            for each in getattr(found[0], side)
        )
        following = []
        for path in paths:
            if any(place in match.theirs for match in path.taken):
                following.append(path)
            elif definite:
                away = abs(place - found[0].ours.start)
                path = path._replace(distance=path.distance + away)
                following.append(path.takes(found[0]))
            else:
                for match in found:
                    if path.is_free(match):
                        following.append(path.takes(match))
                        away = abs(place - match.ours.start)
                        path = path._replace(distance=path.distance + away)
                following.append(path.closed())
        paths = following
    paths = [path.closed() for path in sorted(paths, key=lambda path: path.worth)[:BEAM]]
    return list(min(paths, key=lambda path: path.worth).taken)


def statistics_of(ours: Sequence[str], theirs: Sequence[str], data: Data) -> tuple[int, ...]:
    """The 23 statistics of a candidate's words and a reference's."""
    taken = alignment_of(matches_of(ours, theirs, data), len(theirs))

    def counted(words, places):
        function = sum(words[place] in data.function_words for place in places)
        return len(places) - function, function

    stages = []
    for stage in range(4):
        our_places = [place for match in taken if match.stage == stage for place in match.ours]
        their_places = [place for match in taken if match.stage == stage for place in match.theirs]
        our_content, our_function = counted(ours, our_places)
        their_content, their_function = counted(theirs, their_places)
        stages += [our_content, their_content, our_function, their_function]
    ends = [(match.theirs.stop, match.ours.stop) for match in taken]
    starts = [(match.theirs.start, match.ours.start) for match in taken]
    chunks = sum(number == 0 or start != ends[number - 1] for number, start in enumerate(starts))
    return (
        len(ours),
        len(theirs),
        counted(ours, range(len(ours)))[1],
        counted(theirs, range(len(theirs)))[1],
        *stages,
        chunks,
        sum(len(match.ours) for match in taken),
        sum(len(match.theirs) for match in taken),
    )


def score_of(statistics: Sequence[float]) -> float:
    """The formula, word for word."""
    ours, theirs, our_function, their_function = statistics[:4]
    chunks, our_matched, their_matched = statistics[20:]
    if our_matched == 0:
        return 0.0

    def part(side, words, function_words):
        weights = (1.0, 0.6, 0.8, 0.6)
        matched = 0.0
        for kind, delta in ((0, 0.75), (2, 1 - 0.75)):
            for stage, weight in enumerate(weights):
                matched += weight * statistics[4 + 4 * stage + kind + side] * delta
        return matched / (0.75 * (words - function_words) + (1 - 0.75) * function_words)

    precision, recall = part(0, ours, our_function), part(1, theirs, their_function)
    mean = 1 / ((1 - 0.85) / precision + 0.85 / recall)
    penalty = 0.6 * (chunks / ((our_matched + their_matched) / 2)) ** 0.2
    if (our_matched, their_matched, chunks) == (ours, theirs, 1):
        penalty = 0.0
    return max(0.0, mean * (1 - penalty))
