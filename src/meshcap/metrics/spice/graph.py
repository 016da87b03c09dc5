"""Tuples merged into a scene graph, and which of a caption's tuples the references have too.

Knows concepts: words and synsets that are taken for one thing. Nothing of sentences, categories or
scores.

Two concepts are similar when they share a word or a synset: by 1 for a word, else by the share
of common synsets (Jaccard). What is new joins the most similar node there is. The original's order
of nodes, and so its choice between equally similar ones, changes from run to run; here the first
that came wins.
"""

from collections.abc import Callable, Iterable, Iterator

Tuple = tuple[str, ...]
Synsets = Callable[[str], frozenset[int]]


class Concepts:
    """Concepts in the order of their first words; each word belongs to one of them.

    `keys[i]` are all words and synsets of concept i: two concepts are similar when their keys
    meet.
    """

    def __init__(self) -> None:
        self.words: list[list[str]] = []
        self.keys: list[set[str | int]] = []
        self._synsets: list[set[int]] = []
        self._of_word: dict[str, int] = {}
        self._of_synset: dict[int, list[int]] = {}

    def join(self, word: str, synsets: frozenset[int]) -> int:
        """The number of the concept that a word belongs to from now on."""
        known = self._of_word.get(word)
        if known is not None:
            return known
        number = self._most_similar(synsets)
        if number is None:
            number = len(self.words)
            self.words.append([])
            self.keys.append(set())
            self._synsets.append(set())
        self._of_word[word] = number
        for synset in synsets - self._synsets[number]:
            self._of_synset.setdefault(synset, []).append(number)
        self.words[number].append(word)
        self._synsets[number] |= synsets
        self.keys[number].add(word)
        self.keys[number] |= synsets
        return number

    def _most_similar(self, synsets: frozenset[int]) -> int | None:
        shared: dict[int, int] = {}
        for synset in synsets:
            for number in self._of_synset.get(synset, ()):
                shared[number] = shared.get(number, 0) + 1
        best, most = None, 0.0
        for number in sorted(shared):
            union = len(synsets) + len(self._synsets[number]) - shared[number]
            if shared[number] / union > most:
                best, most = number, shared[number] / union
        return best

    def similar(self, keys: set[str | int]) -> list[int]:
        """The concepts that share a word or a synset with these keys."""
        found: set[int] = set()
        for key in keys:
            if isinstance(key, str):
                if key in self._of_word:
                    found.add(self._of_word[key])
            else:
                found.update(self._of_synset.get(key, ()))
        return sorted(found)

    def has_similar(self, keys: set[str | int]) -> bool:
        """Whether a concept shares a word or a synset with these keys."""
        return any(not keys.isdisjoint(own) for own in self.keys)

    def printed(self, number: int) -> str:
        """A concept's words, as the official tool prints them."""
        return "/".join(self.words[number])


class SceneGraph:
    """Objects, the attributes of each, and the relations between each two."""

    def __init__(self, tuples: Iterable[Tuple], synsets: Synsets) -> None:
        self.objects = Concepts()
        self.attributes: dict[int, Concepts] = {}
        self.relations: dict[tuple[int, int], Concepts] = {}
        self._synsets = synsets
        for found in tuples:
            self._add(found)

    def _add(self, found: Tuple) -> None:
        subject = self._object(found[0])
        if len(found) == 2:
            name = found[1]
            self.attributes.setdefault(subject, Concepts()).join(name, self._synsets(name))
        elif len(found) == 3:
            ends = (subject, self._object(found[2]))
            name = found[1].removeprefix("be ")
            self.relations.setdefault(ends, Concepts()).join(name, self._synsets(name))

    def _object(self, word: str) -> int:
        return self.objects.join(word, self._synsets(word))

    def tuples(self) -> Iterator[Tuple]:
        """The graph's tuples, each concept as it is printed."""
        for found, _ in self.found_in(self):
            yield found

    def found_in(self, other: "SceneGraph") -> Iterator[tuple[Tuple, bool]]:
        """Each tuple as it is printed, and whether `other` has one like it, part by part."""
        names = [self.objects.printed(number) for number in range(len(self.objects.words))]
        like = [other.objects.similar(keys) for keys in self.objects.keys]
        for number, name in enumerate(names):
            yield (name,), bool(like[number])
        for number, attributes in self.attributes.items():
            theirs = [other.attributes[one] for one in like[number] if one in other.attributes]
            for attribute, keys in enumerate(attributes.keys):
                found = any(others.has_similar(keys) for others in theirs)
                yield (names[number], attributes.printed(attribute)), found
        for (subject, thing), relations in self.relations.items():
            between = [
                other.relations[one, two]
                for one in like[subject]
                for two in like[thing]
                if (one, two) in other.relations
            ]
            for relation, keys in enumerate(relations.keys):
                found = any(others.has_similar(keys) for others in between)
                yield (names[subject], relations.printed(relation), names[thing]), found
