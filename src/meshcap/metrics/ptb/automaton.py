"""Ordered rules as one automaton that finds the longest match, built as texts ask for it.

Knows places, states and characters; nothing of captions, tokens or English.

At a place of a text the rule with the longest match wins, and of equally long ones the first; text
that must follow a match counts in the comparison and is left for the next match. Python's `re`
takes the first alternative that fits instead, and the time it takes can grow with the square of a
text's length or worse. Here it grows with the length: a state that once led to no match from a
place will not lead to one from there again, and is remembered when looking ahead becomes long
(Reps, "Maximal-munch tokenization in linear time", 1998).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from meshcap.metrics.ptb.dialect import Characters, Choice, Repeat, Tree, length, parse
from meshcap.metrics.ptb.dialect import Sequence as InSequence

PATIENCE = 64
"""How far to look past the end of a match before remembering what was in vain."""

STATES_AT_MOST = 5_000
"""When there are more, the automaton begins anew. English captions need about 600."""

InVain = set[tuple[int, int]]
"""States and places of a text from which no match was reached."""


class _State(dict[str, "_State | None"]):
    """The places in rules that a text may have reached, and where each character leads."""

    __slots__ = ("automaton", "number", "places", "rule")

    def __init__(self, automaton: "Automaton", places: frozenset[int]) -> None:
        super().__init__()
        self.automaton = automaton
        self.places = places
        self.number = next(automaton.numbers)
        self.rule = min((automaton.ends[at] for at in places if at in automaton.ends), default=-1)

    def __missing__(self, character: str) -> "_State | None":
        following = self.automaton.step(self.places, character)
        self[character] = following
        return following


class Automaton:
    """Rules in their order, for texts that are made of few different characters."""

    def __init__(self, rules: Sequence[str], parts: Mapping[str, str]) -> None:
        self._begin([parse(rule, parts) for rule in rules])

    @classmethod
    def _of(cls, tree: Tree) -> "Automaton":
        automaton = cls.__new__(cls)
        automaton._begin([(tree, None)])
        return automaton

    def _begin(self, rules: Sequence[tuple[Tree, Tree | None]]) -> None:
        self.numbers = count()
        # A place in a rule leads on for certain characters, or freely.
        self.moves: list[tuple[Characters, int] | None] = []
        self.free: list[list[int]] = []
        self.ends: dict[int, int] = {}
        self.tails: list[int | Automaton] = []
        first = self._place()
        for number, (tree, tail) in enumerate(rules):
            body_ends = self._place()
            self._add(tree, first, body_ends)
            tail_length = length(tail) if tail else 0
            self.tails.append(self._of(tree) if tail_length is None else tail_length)
            end = body_ends
            if tail:
                end = self._place()
                self._add(tail, body_ends, end)
            self.ends[end] = number
        self.first = self._closed([first])
        self._forget()

    def _forget(self) -> None:
        self.states: dict[frozenset[int], _State] = {}
        self.start = _State(self, self.first)

    def _place(self) -> int:
        self.moves.append(None)
        self.free.append([])
        return len(self.moves) - 1

    def _add(self, tree: Tree, start: int, end: int) -> None:
        """Lay a tree between two places."""
        match tree:
            case Characters():
                here = self._place()
                self.free[start].append(here)
                self.moves[here] = tree, end
            case Choice(items):
                for item in items:
                    self._add(item, start, end)
            case InSequence(items):
                for item in items:
                    start = self._after(item, start)
                self.free[start].append(end)
            case Repeat(item, least, most):
                for _ in range(least):
                    start = self._after(item, start)
                if most is None:
                    again = self._place()
                    self.free[start].append(again)
                    self.free[self._after(item, again)].append(again)
                    start = again
                else:
                    for _ in range(most - least):
                        self.free[start].append(end)
                        start = self._after(item, start)
                self.free[start].append(end)

    def _after(self, tree: Tree, start: int) -> int:
        end = self._place()
        self._add(tree, start, end)
        return end

    def _closed(self, places: Iterable[int]) -> frozenset[int]:
        """These places with all that are free to reach; only those that still matter."""
        found = set(places)
        todo = list(found)
        while todo:
            for place in self.free[todo.pop()]:
                if place not in found:
                    found.add(place)
                    todo.append(place)
        return frozenset(at for at in found if self.moves[at] is not None or at in self.ends)

    def step(self, places: frozenset[int], character: str) -> _State | None:
        """Where a character leads from these places."""
        moves = (self.moves[place] for place in places)
        reached = self._closed(
            move[1] for move in moves if move and (character in move[0].members) == move[0].these
        )
        if not reached:
            return None
        state = self.states.get(reached)
        if state is None:
            if len(self.states) >= STATES_AT_MOST:
                self._forget()
            state = self.states[reached] = _State(self, reached)
        return state

    def longest(self, text: str, start: int, stop: int, in_vain: InVain) -> tuple[int, int, int]:
        """The rule that wins at `start`, where its match ends, and where looking ahead ended.

        The rule is -1 where none matches. `in_vain` belongs to the text and begins empty.
        """
        state = self.start
        rule, end = -1, start
        at = start
        for at in range(start, stop):
            following = state[text[at]]
            if following is None:
                break
            state = following
            if state.rule >= 0:
                rule, end = state.rule, at + 1
            elif at - end > PATIENCE:
                rule, end, at = self._patiently(text, at + 1, stop, in_vain, state, rule, end)
                break
        else:
            at = stop
        if rule >= 0 and (tail := self.tails[rule]):
            if isinstance(tail, int):
                end -= tail
            else:
                end = tail.longest(text, start, end, set())[1]
        return rule, end, at

    def _patiently(
        self,
        text: str,
        start: int,
        stop: int,
        in_vain: InVain,
        state: _State,
        rule: int,
        end: int,
    ) -> tuple[int, int, int]:
        """`longest` from the middle on, which gives up where others gave up before."""
        tried: list[tuple[int, int]] = []
        at = start
        while at < stop:
            here = state.number, at
            if here in in_vain:
                at = stop  # that is how far somebody may have looked
                break
            tried.append(here)
            following = state[text[at]]
            if following is None:
                break
            state = following
            at += 1
            if state.rule >= 0:
                rule, end = state.rule, at
                tried.clear()
        in_vain.update(tried)
        return rule, end, at
