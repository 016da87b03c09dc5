"""What all commands share: the options that each takes, and how text reaches a terminal.

Knows argparse, characters and progress; nothing of what the commands do.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

_LONGEST = 1000
_SOON, _OFTEN = 0.5, 0.1  # seconds before progress is shown at all, and between two looks
_BAR = 20


def command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    *,
    says: str,
    example: str,
) -> argparse.ArgumentParser:
    """A command's parser, with an example in its help and the options that each command has."""
    parser = commands.add_parser(
        name,
        help=says,
        description=f"{says[0].upper()}{says[1:]}.",
        epilog=f"example:\n{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where to compute, for commands that compute with a model (default: auto)",
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing but results and errors")
    return parser


def printable(text: str) -> str:
    """`text` on one line of moderate length, without what would command a terminal.

    File names, tensors' names and words come from files of strangers.
    """
    shown = "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text[: _LONGEST + 1]
    )
    return shown if len(text) <= _LONGEST else shown[:_LONGEST] + " …"


class Progress:
    """One line that says what is being done, how far it is, and how long it will still take.

    It is drawn on a terminal only, not for what is done in half a second, and erased in the end,
    whatever ends it. Call it as often as something is finished; it draws seldom.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._watched = not quiet and self._stream.isatty() and os.environ.get("TERM", "") != "dumb"
        self._drawn = False
        self._what = ""
        self._began = self._next = 0.0

    def __enter__(self) -> "Progress":
        self._next = self._clock() + _SOON
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.erase()

    def __call__(self, what: str, finished: int, of: int) -> None:
        """`finished` of `of` pieces of this work are done."""
        if not self._watched:
            return
        now = self._clock()
        if what != self._what:
            self._what, self._began = what, now
        if now < self._next:
            return
        self._next = now + _OFTEN
        self._drawn = True
        wide = shutil.get_terminal_size().columns - 1
        self._write(f"\r{self._line(finished, of, now)[:wide]}\x1b[K")

    def erase(self) -> None:
        """Leave the line to others."""
        if self._drawn:
            self._drawn = False
            self._write("\r\x1b[K")

    def _line(self, finished: int, of: int, now: float) -> str:
        share = min(finished / of, 1.0) if of > 0 else 1.0
        full = round(share * _BAR)
        bar = "#" * full + "." * (_BAR - full)
        line = f"{printable(self._what)} [{bar}] {finished:,} of {of:,}"
        spent = now - self._began
        if 0 < share < 1 and spent > _SOON:
            line += f", {_in_words(spent * (1 - share) / share)} left"
        return line

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone; the work goes on
            self._watched = False


def _in_words(seconds: float) -> str:
    """A time to wait, as exactly as anyone cares: 40 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
