"""The dialect of regular expressions in which the tokeniser's rules are written.

Knows how a rule's text becomes a tree; nothing of automata, tokens or English.

Blanks and line feeds mean nothing; `[...]`, `[^...]`, `(...)`, `|`, `*`, `+`, `?`, `{2}`, `{2,3}`
and `\\` mean what they usually do; `.` is any character; `{name}` is a named part, and inside a
class the inside of a class; `(?i:...)` takes ASCII letters in either case. In `a/b` the text of
`b` must follow.
"""

from collections.abc import Mapping
from typing import NamedTuple

OTHER_FORMS = {"i": "İı", "k": "\u212a", "s": "ſ"}
"""What Java takes for an ASCII letter, beside its two cases, when case does not matter."""


class Characters(NamedTuple):
    """One character, of these or of all others."""

    these: bool
    members: frozenset[str]


class Sequence(NamedTuple):
    """One after another."""

    items: tuple["Tree", ...]


class Choice(NamedTuple):
    """Any one of several."""

    items: tuple["Tree", ...]


class Repeat(NamedTuple):
    """The same several times; without a limit when `most` is None."""

    item: "Tree"
    least: int
    most: int | None


Tree = Characters | Sequence | Choice | Repeat


def parse(rule: str, parts: Mapping[str, str]) -> tuple[Tree, Tree | None]:
    """The tree of a rule, and that of what must follow it."""
    return _Parser(rule, parts).rule()


def length(tree: Tree) -> int | None:
    """How many characters a tree takes, or None when that differs."""
    match tree:
        case Characters():
            return 1
        case Repeat(item, least, most):
            each = length(item)
            return None if each is None or least != most else each * least
        case Sequence(items):
            lengths = [length(item) for item in items]
            known = [known for known in lengths if known is not None]
            return sum(known) if len(known) == len(lengths) else None
        case Choice(items):
            first, *others = {length(item) for item in items}
            return None if others else first


class _Parser:
    """Reads a rule from left to right."""

    def __init__(self, text: str, parts: Mapping[str, str], any_case: bool = False) -> None:
        self.text = text
        self.parts = parts
        self.any_case = any_case
        self.at = 0

    def rule(self) -> tuple[Tree, Tree | None]:
        tree = self.choice()
        tail = None
        if self.ahead() == "/":
            self.at += 1
            tail = self.choice()
        assert not self.ahead(), f"nothing opens what '{self.text[self.at :]}' closes"
        return tree, tail

    def ahead(self) -> str:
        """The next character that means something, or nothing at the end."""
        while self.at < len(self.text) and self.text[self.at] in " \n":
            self.at += 1
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def choice(self) -> Tree:
        items = [self.sequence()]
        while self.ahead() == "|":
            self.at += 1
            items.append(self.sequence())
        return items[0] if len(items) == 1 else Choice(tuple(items))

    def sequence(self) -> Tree:
        items: list[Tree] = []
        while self.ahead() not in ("", "|", ")", "/"):
            items.append(self.repeated())
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def repeated(self) -> Tree:
        item = self.single()
        while True:
            ahead = self.ahead()
            if ahead in ("*", "+", "?"):
                self.at += 1
                item = Repeat(item, int(ahead == "+"), 1 if ahead == "?" else None)
            elif ahead == "{" and self.text[self.at + 1].isdigit():
                self.at += 1
                least, _, most = self.name().partition(",")
                item = Repeat(item, int(least), int(most or least))
            else:
                return item

    def single(self) -> Tree:
        self.ahead()
        character = self.take()
        if character == "(":
            return self.group()
        if character == "[":
            these = self.text[self.at] != "^"
            self.at += not these
            return Characters(these, self.members())
        if character == "{":
            return _Parser(self.parts[self.name()], self.parts, self.any_case).choice()
        if character == ".":
            return Characters(False, frozenset())
        return Characters(True, self.forms(self.take() if character == "\\" else character))

    def group(self) -> Tree:
        outside = self.any_case
        if self.text.startswith("?i:", self.at):
            self.at += 3
            self.any_case = True
        inside = self.choice()
        assert self.ahead() == ")", f"'{self.text}' lacks a closing bracket"
        self.at += 1
        self.any_case = outside
        return inside

    def name(self) -> str:
        """What stands before the closing brace."""
        start = self.at
        self.at = self.text.index("}", start) + 1
        return self.text[start : self.at - 1]

    def members(self) -> frozenset[str]:
        """The characters of a class, up to its bracket."""
        found: set[str] = set()
        while (character := self.take()) != "]":
            if character == "{":
                part = _Parser(self.parts[self.name()] + "]", self.parts, self.any_case)
                found |= part.members()
                continue
            first = last = self.take() if character == "\\" else character
            if self.text[self.at] == "-":
                self.at += 1
                last = self.take()
            for code in range(ord(first), ord(last) + 1):
                found |= self.forms(chr(code))
        return frozenset(found)

    def forms(self, character: str) -> frozenset[str]:
        if not self.any_case or not character.isascii():
            return frozenset(character)
        lower = character.lower()
        return frozenset(lower + lower.upper() + OTHER_FORMS.get(lower, ""))
