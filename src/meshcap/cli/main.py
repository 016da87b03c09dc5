"""The door of the command line: which commands there are, and errors as exit codes.

Knows the commands' parsers; nothing of what they do. The commands import what they need when
they run, so that `--help` is quick.

Exit codes: 0 success, 1 bad input, 2 wrong usage, 130 interruption.
"""

import argparse
import contextlib
import errno
import io
import os
import sys

from meshcap import __version__
from meshcap.cli import score, weights
from meshcap.cli.terminal import printable
from meshcap.errors import MeshcapError


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    whole = argparse.ArgumentParser(
        prog="meshcap",
        description="Captions for pictures, by a Meshed-Memory Transformer.",
        epilog="`meshcap COMMAND --help` says more about a command, with an example.",
    )
    whole.add_argument("--version", action="version", version=f"meshcap {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    score.add_to(commands)
    weights.add_to(commands)
    return whole


def main(argv: list[str] | None = None) -> int:
    """Run one command; its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a word of the vocabulary shows its code instead.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(argv)
        if sys.stdout is not None:  # closed by whoever started us
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our results has enough (`meshcap info … | head`): that is no failure.
        _forget_stdout()
        return 0
    except MeshcapError as error:
        return _complain(str(error), 1)
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        _forget_stdout()
        return _complain(f"the results cannot be written: {error.strerror}", 1)
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    return code


def _run(argv: list[str] | None) -> int:
    try:
        options = parser().parse_args(argv)
        code: int = options.run(options)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return code


def _complain(sentence: str, code: int) -> int:
    with contextlib.suppress(BrokenPipeError):
        print(f"meshcap: {printable(sentence)}", file=sys.stderr)
    return code


def _forget_stdout() -> None:
    """Keep Python from flushing into the closed pipe at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
