"""Documents say what is so: their links lead somewhere, their trees and code are real.

Knows Markdown, as far as this project writes it; nothing of what the documents are about.
"""

import importlib.util
import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from meshcap.metrics import METRICS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
RUN = [README, ROOT / "docs" / "metrics.md"]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])

LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)[^)]*\)|(?:src|href)=\"(?P<quoted>[^\"]+)\"")
NOT_RUN = re.compile(r"<!-- not run: (?P<reason>.+?) -->\s*$")


def blocks(text: str) -> Iterator[tuple[str, str, int, str]]:
    """Each fenced block: its language, body, first line's number, and the line before it."""
    lines = text.splitlines()
    start = None
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("```"):
            continue
        if start is None:
            start = number
            continue
        before = next((above for above in reversed(lines[:start]) if above.strip()), "")
        body = "\n".join(lines[start + 1 : number]) + "\n"
        yield lines[start].strip().removeprefix("```").strip(), body, start + 2, before
        start = None


def without_code(text: str) -> str:
    """A page without its fenced blocks and code spans, whose brackets are no links."""
    text = re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def broken_links(text: str, folder: Path) -> list[str]:
    """The relative links of a page in `folder` that lead to no file of the repository."""
    targets = [found["target"] or found["quoted"] for found in LINK.finditer(without_code(text))]
    relative = [target for target in targets if not re.match(r"[a-z]+:|#", target)]
    return [
        target
        for target in relative
        if not (place := (folder / target.split("#")[0]).resolve()).exists()
        or not place.is_relative_to(ROOT)
    ]


def drawn(block: str) -> list[Path]:
    """The paths that a drawing of a tree shows, relative to its root.

    A line names one or more files or folders (folders end in "/"), then says their purpose;
    what belongs to a folder is indented beneath it.
    """
    paths: list[Path] = []
    folders: list[tuple[int, Path]] = []
    for line in block.splitlines():
        names = re.sub(r"^[\s│├└─]*", "", line)
        indent = len(line) - len(names)
        while folders and folders[-1][0] >= indent:
            folders.pop()
        above = folders[-1][1] if folders else Path()
        for word in names.split():
            if not re.fullmatch(r"[\w.\-/]*(?:/|\.\w+)|\.\w+/\w+|LICENSE|Makefile", word):
                break  # here the purpose begins
            paths.append(above / word)
            if word.endswith("/"):
                folders.append((indent, above / word))
    return paths


def wrongly_drawn(block: str, root: Path) -> list[str]:
    """Where a drawing of a tree differs from the disk.

    All that it shows must exist; and where it goes into a folder of src, it must show every
    module and package there.
    """
    shown = drawn(block)
    sentences = [f"{path} is drawn but missing" for path in shown if not (root / path).exists()]
    for folder in sorted({path.parent for path in shown if path.parts[0] == "src"}):
        for found in sorted((root / folder).iterdir()):
            module = found.suffix == ".py" or any(found.glob("*.py"))
            place = found.relative_to(root)
            if module and found.stem not in {"__init__", "__main__"} and place not in shown:
                sentences.append(f"{place} is there but not drawn")
    return sentences


def trees(text: str) -> Iterator[str]:
    """The fenced blocks of a page that draw a tree."""
    for language, body, _, _ in blocks(text):
        if language in {"", "text"} and re.search(r"^(?:[│├└─ ]*├── |src/)", body, re.MULTILINE):
            yield body


@pytest.fixture(scope="module")
def readme() -> str:
    if not README.exists():
        pytest.skip("README.md is not written yet")
    return README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """docs/build.py, which is a script and in no package."""
    specification = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


# ---- the documents as they are


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files_of_the_repository(page):
    broken = broken_links(page.read_text(encoding="utf-8"), page.parent)
    assert not broken, f"{page.name} links to what is not there: {', '.join(broken)}"


def test_generated_documents_are_not_stale(build):
    stale = build.stale()
    assert not stale, "\n".join(stale)


def test_the_readme_draws_the_tree_that_is_there(readme):
    found = list(trees(readme))
    if not found:
        pytest.skip("README.md draws no tree")
    sentences = [sentence for tree in found for sentence in wrongly_drawn(tree, ROOT)]
    assert not sentences, "\n".join(sentences)


@pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")  # examples are small
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what an example writes stays out of the repository
    names = {"__name__": page.stem}  # examples build on those above them, as a reader does
    known = set(METRICS)
    for language, body, line, before in blocks(page.read_text(encoding="utf-8")):
        if language == "python" and not NOT_RUN.search(before):
            # Blank lines in front give a failure the page's own line numbers.
            exec(compile("\n" * (line - 1) + body, str(page), "exec"), names)
    for added in set(METRICS) - known:
        METRICS.remove(added)


# ---- the rules themselves


def test_a_broken_link_is_found_and_code_is_not_read():
    text = "[a](README.md) [b](gone.md#part) [c](https://x.y) [d](#part) `[e](f)` ![g](no.png)"
    assert broken_links(text, ROOT / "docs") == ["README.md", "gone.md#part", "no.png"]
    assert broken_links("[a](build.py#L12) [b](../docs/build.py)", ROOT / "docs") == []


def test_a_link_out_of_the_repository_is_broken_on_a_clone():
    assert broken_links("[a](../../)", ROOT / "docs") == ["../../"]


def test_a_drawn_tree_is_compared_both_ways(tmp_path):
    for name in ("src/cap/a.py", "src/cap/sub/b.py", "src/cap/sub/d.py", "src/cap/new.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    drawing = (
        "src/cap/\n"
        "  a.py   what a.py knows: x/y\n"
        "  sub/   two files\n"
        "    b.py  d.py\n"
        "  gone.py  no more\n"
    )
    assert wrongly_drawn(drawing, tmp_path) == [
        "src/cap/gone.py is drawn but missing",
        "src/cap/new.py is there but not drawn",
    ]
    with_lines = "src/cap/\n├── a.py  what\n├── new.py\n└── sub/\n    ├── b.py\n    └── d.py\n"
    assert wrongly_drawn(with_lines, tmp_path) == []
    assert list(trees(f"text\n```text\n{with_lines}```\n```\nmeshcap info\n```\n")) == [with_lines]


def test_blocks_know_their_language_their_line_and_what_stands_before():
    text = "Hello\n\n<!-- not run: needs a picture -->\n```python\na = 1\n```\n"
    assert list(blocks(text)) == [("python", "a = 1\n", 5, "<!-- not run: needs a picture -->")]


def test_the_cli_page_holds_every_command_in_one_spelling(build):
    parser = ArgumentParser(prog="cap")
    info = parser.add_subparsers().add_parser(
        "info",
        aliases=["i"],
        epilog="example:\n  cap info a.b",
        formatter_class=RawDescriptionHelpFormatter,
    )
    info.add_argument("-o", "--out", metavar="FILE", help="where to")
    info.add_argument("-q", "--quiet", action="store_true")
    page = build.cli_page(parser)
    assert page.count("## `") == 2
    assert "## `cap info`" in page
    assert "  -o, --out FILE" in page
    assert "  -q, --quiet" in page
    assert "example:\n  cap info a.b\n```" in page


def test_the_paper_page_lists_places_in_the_paper_s_order(build):
    source = (
        "'''Section 3 whole: the network.'''\n"
        "def norm():\n    '''Supplement: initial values. More.'''\n"
        "def gate():\n    '''T1's baseline: a gate.'''\n"
        "class Mesh:\n    '''Eq. 10 and 12 — the gradient.'''\n"
        "    def forward(self):\n        '''Eq. 6: the sum.'''\n"
        "def heads():\n    '''Eq. 1–3. Attention | heads'''\n"
        "def scale():\n    '''Section 4.2: a scale.'''\n"
        "def other():\n    '''Equal parts; Eq. 5 is elsewhere.'''\n"
    )
    file = build.SOURCE / "model" / "x.py"
    rows = build.paper_page(list(build.mentions(source, file))).splitlines()[-7:]
    link = "[model/x.py:{0}](../src/meshcap/model/x.py#L{0}) |".format
    assert rows == [
        rf"| Eq. 1–3 | Attention \| heads | `heads`, {link(10)}",
        f"| Eq. 6 | the sum | `Mesh.forward`, {link(8)}",
        f"| Eq. 10 and 12 | the gradient | `Mesh`, {link(6)}",
        f"| Section 3 | whole: the network | the file, {link(1)}",
        f"| Section 4.2 | a scale | `scale`, {link(12)}",
        f"| T1 | baseline: a gate | `gate`, {link(4)}",
        f"| Supplement | initial values | `norm`, {link(2)}",
    ]


def test_a_stale_document_is_named(build, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "pages", lambda: {tmp_path / "cli.md": "new\n"})
    assert build.main(["--check"]) == 1
    assert capsys.readouterr().out == "cli.md is missing; write it with `make docs`\n"
    (tmp_path / "cli.md").write_text("old\n", encoding="utf-8")
    assert build.stale() == ["cli.md is stale; write it with `make docs`"]
    assert build.main([]) == 0
    assert build.main(["--check"]) == 0
