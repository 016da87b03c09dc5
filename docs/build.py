"""Writes the documents that are drawn from the program: docs/cli.md and docs/paper.md.

Knows argparse's parsers and docstrings; nothing of what commands or models do. With `--check`
it writes nothing, and says in a sentence which document is stale.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "meshcap"
WIDTH = 100
WRITTEN = "<!-- Written by `make docs`; `make check` fails when it is stale. Do not edit. -->"


# ---- docs/cli.md


def steady(formatter: Any) -> Any:
    """`formatter` at a fixed width, and spelling options alike under every Python.

    Until 3.12 argparse wrote "-o FILE, --out FILE", from 3.13 on "-o, --out FILE".
    """

    class Steady(formatter):  # type: ignore[misc]
        """The same help on every machine."""

        def _format_action_invocation(self, action: argparse.Action) -> str:
            spelt: str = super()._format_action_invocation(action)
            if not action.option_strings:
                return spelt
            # Either spelling ends with the last option and its value.
            value = spelt.rpartition(action.option_strings[-1])[2]
            return ", ".join(action.option_strings) + value

    return partial(Steady, width=WIDTH)


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser, and those of its commands in the order in which `--help` lists them."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            # A command with a second name is in `choices` twice.
            for command in dict.fromkeys(action.choices.values()):
                yield from commands(command)


def cli_page(parser: argparse.ArgumentParser) -> str:
    """What `--help` says, of the program and of each command."""
    parts = ["# The command line", WRITTEN]
    for command in commands(parser):
        command.formatter_class = steady(command.formatter_class)
        if hasattr(command, "color"):  # Python 3.14 colours help, and this page is no terminal
            command.color = False
        parts += [f"## `{command.prog}`", f"```text\n{command.format_help().rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


# ---- docs/paper.md

# A docstring belongs to the paper when it begins with its place there: "Eq. 6: the sum …",
# "Eq. 1–3. …", "Section 4.2: …", "Supplement: …", "Table 5: …" or "T5: …".
PLACE = re.compile(
    r"(?P<place>(?:Eqs?\. ?|Sections? |Tables? |T)\d+(?:\.\d+)*"
    r"(?:(?:\s*[-–,]\s*|\s+and\s+)\d+(?:\.\d+)*)*|Supplement)(?=\W|$)(?:'s)?\s*[:.,;—–-]?\s*"
)
KINDS = ("Eq", "Section", "T", "Supplement")


class Mention(NamedTuple):
    """One place of the paper, and the code that does what it says."""

    place: str
    what: str
    name: str
    file: Path
    line: int

    def order(self) -> tuple[Any, ...]:
        """The paper's order: equations, sections, tables, the supplement; by number in each."""
        kind = next(n for n, kind in enumerate(KINDS) if self.place.startswith(kind))
        return (kind, [int(n) for n in re.findall(r"\d+", self.place)], self.file, self.line)


def first_sentence(text: str) -> str:
    """The first sentence or paragraph of a docstring, on one line."""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[^.][.!?]) (?=[A-Z(`])", paragraph)[0].rstrip(".")


def mentions(source: str, file: Path) -> Iterator[Mention]:
    """The file, classes and functions whose docstrings begin with a place in the paper."""

    def named(node: ast.AST, name: str) -> Iterator[Mention]:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            if found := PLACE.match(docstring):
                what = first_sentence(docstring[found.end() :])
                line = 1 if isinstance(node, ast.Module) else node.lineno
                yield Mention(found["place"], what, name, file, line)
        for child in ast.iter_child_nodes(node):
            yield from named(child, ".".join(filter(None, [name, getattr(child, "name", "")])))

    yield from named(ast.parse(source), "")


def paper_page(found: list[Mention]) -> str:
    """A table from the paper's equations and sections to files and lines."""
    rows = ["| paper | what | code |", "|---|---|---|"]
    for mention in sorted(found, key=Mention.order):
        path = mention.file.relative_to(ROOT).as_posix()
        place = f"{mention.file.relative_to(SOURCE).as_posix()}:{mention.line}"
        what = mention.what.replace("|", "\\|")
        name = f"`{mention.name}`" if mention.name else "the file"
        link = f"[{place}](../{path}#L{mention.line})"
        rows.append(f"| {mention.place} | {what} | {name}, {link} |")
    introduction = (
        "Where each equation and section of *Meshed-Memory Transformer for Image Captioning* "
        "lives,\ndrawn from the docstrings that begin with its number."
    )
    return "\n\n".join(["# From the paper to the code", WRITTEN, introduction, "\n".join(rows)])


# ---- both


def pages() -> dict[Path, str]:
    """Every generated document, as it should be."""
    from meshcap.cli.main import parser

    found = [
        mention
        for file in sorted(SOURCE.rglob("*.py"))
        for mention in mentions(file.read_text(encoding="utf-8"), file)
    ]
    return {DOCS / "cli.md": cli_page(parser()), DOCS / "paper.md": paper_page(found) + "\n"}


def stale() -> list[str]:
    """A sentence for each generated document that does not say what the program says."""
    return [
        f"{file.relative_to(ROOT).as_posix()} is {'stale' if file.exists() else 'missing'}; "
        "write it with `make docs`"
        for file, text in pages().items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str] | None = None) -> int:
    """Write the documents, or with `--check` judge them."""
    options = argparse.ArgumentParser(description="Write docs/cli.md and docs/paper.md.")
    options.add_argument("--check", action="store_true", help="write nothing; exit 1 when stale")
    if options.parse_args(arguments).check:
        sentences = stale()
        print("\n".join(sentences) or "docs/cli.md and docs/paper.md are up to date")
        return 1 if sentences else 0
    for file, text in pages().items():
        file.write_text(text, encoding="utf-8")
        print(f"wrote {file.relative_to(ROOT).as_posix()}")
    return 0


if __name__ == "__main__":
    # The program beside this file, whatever else may be installed.
    sys.path.insert(0, str(ROOT / "src"))
    sys.exit(main())
