"""What all commands share: the options that each takes, and how text reaches a terminal.

Knows argparse and characters; nothing of what the commands do.
"""

import argparse

_LONGEST = 1000


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
