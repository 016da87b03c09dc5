"""Pickles of document frequencies, read by a machine that can do nothing else.

Knows the few instructions that dictionaries, tuples of strings and numbers are written with, by
every protocol from 0 to 5; nothing of what the numbers mean.

A pickle is a program for Python's own machine, which calls what it is told to call. This one knows
no calls but `defaultdict`, which makes an empty dictionary, and a few ways to say a number's type.
Tuples hold strings alone, so that nothing nests; what is remembered is no more than what was read.
"""

import struct
from collections.abc import Callable
from typing import Any

from meshcap.errors import FileError

Gram = tuple[str, ...]

_MARK = object()
_TYPE = object()
"""Stands for `float` or `int`, the argument of a defaultdict."""
_MAKE_DICT = object()
_GLOBALS = {
    ("collections", "defaultdict"): _MAKE_DICT,
    ("builtins", "float"): _TYPE,
    ("__builtin__", "float"): _TYPE,
    ("builtins", "int"): _TYPE,
    ("__builtin__", "int"): _TYPE,
}
_DEEPEST = 1_000_000  # picklers put a thousand entries of a dictionary on the stack at most
_LONGEST_NUMBER = 32  # characters, or bytes


class _BrokenError(ValueError):
    """The pickle is broken, or holds what document frequencies do not need."""


class _Machine:
    """One pickle being read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value that the pickle says."""
        data, instructions = self.data, _INSTRUCTIONS
        while True:
            code = data[self.at]
            self.at += 1
            if code == _STOP:
                return self.pop()
            step = instructions.get(code)
            if step is None:
                raise _BrokenError(f"it holds the instruction {bytes([code])!r}")
            step(self)

    def take(self, count: int) -> bytes:
        """The next bytes."""
        end = self.at + count
        if end > len(self.data):
            raise _BrokenError("it ends too early")
        found = self.data[self.at : end]
        self.at = end
        return found

    def number(self, form: str, size: int) -> Any:
        """The next bytes as a number."""
        return struct.unpack(form, self.take(size))[0]

    def line(self) -> str:
        """The rest of a line, of protocol 0."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise _BrokenError("it ends too early")
        found = self.data[self.at : end]
        self.at = end + 1
        return found.decode("latin-1")

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        if len(self.stack) >= _DEEPEST:
            raise _BrokenError(f"it puts more than {_DEEPEST:,} values aside")
        self.stack.append(value)

    def pop(self) -> Any:
        """Take a value from the stack."""
        if not self.stack or self.stack[-1] is _MARK:
            raise _BrokenError("a value is missing")
        return self.stack.pop()

    def since_mark(self) -> list[Any]:
        """Take all values above the last mark, and the mark."""
        stack = self.stack
        for place in range(len(stack) - 1, -1, -1):
            if stack[place] is _MARK:
                found = stack[place + 1 :]
                del stack[place:]
                return found
        raise _BrokenError("a mark is missing")

    def tuple_of(self, values: list[Any]) -> None:
        """Push a tuple: words, or the argument of a call."""
        if not all(type(value) is str for value in values) and values != [_TYPE]:
            raise _BrokenError("it holds a tuple of other things than words")
        self.push(tuple(values))

    def set_items(self, values: list[Any]) -> None:
        """Put keys and values into the dictionary on the stack."""
        if len(values) % 2 or not self.stack or type(self.stack[-1]) is not dict:
            raise _BrokenError("a dictionary is missing")
        keys = values[::2]
        if not all(type(key) in (str, tuple) for key in keys):
            raise _BrokenError("it holds a dictionary of other things than n-grams")
        self.stack[-1].update(zip(keys, values[1::2], strict=True))

    def new_dict(self, values: list[Any]) -> None:
        """Push a dictionary of keys and values."""
        self.push({})
        self.set_items(values)

    def remember(self, place: int) -> None:
        """Remember the value on top of the stack."""
        if not self.stack or self.stack[-1] is _MARK:
            raise _BrokenError("a value is missing")
        self.memo[place] = self.stack[-1]

    def recall(self, place: int) -> None:
        """Push a remembered value."""
        if place not in self.memo:
            raise _BrokenError("it recalls what it never remembered")
        self.push(self.memo[place])

    def named(self, module: Any, name: Any) -> None:
        """Push what stands for a name."""
        found = _GLOBALS.get((module, name)) if type(module) is type(name) is str else None
        if found is None:
            raise _BrokenError(f"it asks for {str(module)[:40]}.{str(name)[:40]}")
        self.push(found)

    def call(self) -> None:
        """Make an empty dictionary: the one call there is."""
        arguments, function = self.pop(), self.pop()
        if function is not _MAKE_DICT or arguments not in ((), (_TYPE,)):
            raise _BrokenError("it calls something")
        self.push({})

    def whole_number(self, text: str) -> None:
        """Push a number written in decimal digits; `True` and `False` are 01 and 00."""
        if len(text) > _LONGEST_NUMBER:
            raise _BrokenError("it holds a number of too many digits")
        self.push(int(text.removesuffix("L")))

    def long(self, size: int) -> None:
        """Push a number of several bytes."""
        if size > _LONGEST_NUMBER:
            raise _BrokenError("it holds a number of too many digits")
        self.push(int.from_bytes(self.take(size), "little", signed=True))


def _utf_8(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _bytes(data: bytes) -> str:
    """A string of Python 2: UTF-8 mostly, else a character a byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _quoted(text: str) -> str:
    body = text[1:-1]
    return _bytes(body.encode("latin-1").decode("unicode_escape").encode("latin-1"))


_Step = Callable[[_Machine], Any]
_STOP = ord(".")
_BY_LETTER: dict[str, _Step] = {
    "\x80": lambda m: m.take(1),  # the protocol's number
    "\x95": lambda m: m.take(8),  # a frame's length
    "(": lambda m: m.push(_MARK),
    "}": lambda m: m.push({}),
    ")": lambda m: m.push(()),
    "d": lambda m: m.new_dict(m.since_mark()),
    "t": lambda m: m.tuple_of(m.since_mark()),
    "\x85": lambda m: m.tuple_of([m.pop()]),
    "\x86": lambda m: m.tuple_of([m.pop(), m.pop()][::-1]),
    "\x87": lambda m: m.tuple_of([m.pop(), m.pop(), m.pop()][::-1]),
    "s": lambda m: m.set_items([m.pop(), m.pop()][::-1]),
    "u": lambda m: m.set_items(m.since_mark()),
    "X": lambda m: m.push(_utf_8(m.take(m.number("<I", 4)))),
    "\x8c": lambda m: m.push(_utf_8(m.take(m.number("<B", 1)))),
    "\x8d": lambda m: m.push(_utf_8(m.take(m.number("<Q", 8)))),
    "V": lambda m: m.push(m.line().encode("latin-1").decode("raw_unicode_escape")),
    "U": lambda m: m.push(_bytes(m.take(m.number("<B", 1)))),
    "T": lambda m: m.push(_bytes(m.take(m.number("<I", 4)))),
    "S": lambda m: m.push(_quoted(m.line())),
    "K": lambda m: m.push(m.number("<B", 1)),
    "M": lambda m: m.push(m.number("<H", 2)),
    "J": lambda m: m.push(m.number("<i", 4)),
    "G": lambda m: m.push(m.number(">d", 8)),
    "I": lambda m: m.whole_number(m.line()),
    "L": lambda m: m.whole_number(m.line()),
    "\x8a": lambda m: m.long(m.number("<B", 1)),
    "F": lambda m: m.push(float(m.line())),
    "p": lambda m: m.remember(int(m.line()[:_LONGEST_NUMBER])),
    "q": lambda m: m.remember(m.number("<B", 1)),
    "r": lambda m: m.remember(m.number("<I", 4)),
    "\x94": lambda m: m.remember(len(m.memo)),
    "g": lambda m: m.recall(int(m.line()[:_LONGEST_NUMBER])),
    "h": lambda m: m.recall(m.number("<B", 1)),
    "j": lambda m: m.recall(m.number("<I", 4)),
    "c": lambda m: m.named(m.line(), m.line()),
    "\x93": lambda m: m.named(*[m.pop(), m.pop()][::-1]),
    "R": lambda m: m.call(),
}
_INSTRUCTIONS = {ord(letter): step for letter, step in _BY_LETTER.items()}


def loads(data: bytes, *, source: str) -> Any:
    """The dictionaries, tuples of strings and numbers that a pickle says; `source` is its file."""
    try:
        return _Machine(data).run()
    except (IndexError, ValueError, struct.error) as error:
        why = str(error) if isinstance(error, _BrokenError) else f"it is broken ({str(error)[:80]})"
        raise FileError(
            f"'{source}' cannot be read as document frequencies: {why}; expected a pickle with "
            "'document_frequency' and 'ref_len'"
        ) from error
