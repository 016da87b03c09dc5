"""Draws the layers from the imports, and holds the other rules about the tree.

Reads source as text (`ast`) and imports none of it, so that a module with a forbidden import is
judged even when it cannot be imported. Knows nothing of what the modules do.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "meshcap"

# From top to bottom; a part imports only parts of the lines below its own. The same lines stand
# in docs/architecture.md, and a test below compares the two.
LAYERS = (
    ("cli",),
    ("recipes",),
    ("training", "serve", "bulk"),
    ("evaluation", "explain"),
    ("captioner",),
    ("vision", "weights"),
    ("metrics", "data"),
    ("text", "model", "search"),
    ("regions", "files", "special_words"),
    ("errors",),
)
ABOVE_ALL = ("__init__", "__main__")  # the public names, and `python -m meshcap`
FORBIDDEN_NAMES = {"util", "utils", "misc", "helper", "helpers", "common", "old"}
LINES_AT_MOST = 400
TABLE_OF_VARIANTS = "model/config.py"


def sources() -> list[Path]:
    """Every source file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def inside(path: Path) -> str:
    """A source file's place in the package, such as "search/beam.py"."""
    return path.relative_to(PACKAGE).as_posix()


def part_of(place: str) -> str:
    """The part that a file belongs to: "search/beam.py" to search, "files.py" to files."""
    return place.split("/")[0].removesuffix(".py")


def may_import(part: str) -> set[str]:
    """The parts on the lines below `part`'s own."""
    line = next(number for number, parts in enumerate(LAYERS) if part in parts)
    return {below for parts in LAYERS[line + 1 :] for below in parts}


def imported_modules(source: str, place: str) -> Iterator[str]:
    """The modules of meshcap that a file imports, wherever the import stands in it."""
    folder = ("meshcap", *place.split("/")[:-1])
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) - node.level + 1] if node.level else ()
            module = ".".join((*above, *filter(None, [node.module])))
            # In `from meshcap import files` the name is the module.
            names = [f"meshcap.{name.name}" for name in node.names]
            names = names if module == "meshcap" else [module]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "meshcap")


def forbidden_imports(source: str, place: str) -> list[str]:
    """A sentence for each import that points upwards or sideways."""
    part = part_of(place)
    if part in ABOVE_ALL:
        return []
    if not any(part in parts for parts in LAYERS):
        return [f"{place} belongs to no layer; LAYERS in {Path(__file__).name} must name '{part}'"]
    allowed = may_import(part)
    ending = f"may import only {', '.join(sorted(allowed))}" if allowed else "may import none"
    sentences = []
    for module in imported_modules(source, place):
        # The version is a plain string of the package, which files record; it belongs to no layer.
        target = module.removeprefix("meshcap").strip(".").split(".")[0]
        if target not in {part, "__version__", *allowed}:
            sentences.append(f"{place} imports {module}; {part} {ending}")
    return sentences


def variant_branches(source: str, place: str, variants: set[str]) -> list[str]:
    """A sentence for each comparison with the name of a variant, or of something named variant."""
    if place == TABLE_OF_VARIANTS:
        return []

    def names_variant(node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and node.value in variants
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return any(names_variant(element) for element in node.elts)
        return isinstance(node, ast.Name | ast.Attribute) and (
            (node.id if isinstance(node, ast.Name) else node.attr) == "variant"
        )

    def branches(node: ast.AST) -> bool:
        if isinstance(node, ast.Compare):
            return any(names_variant(side) for side in [node.left, *node.comparators])
        return isinstance(node, ast.MatchValue) and names_variant(node.value)

    return [
        f"{place}, line {node.lineno} asks for a variant by its name; "
        "give ModelConfig a field that says what differs, and ask for that"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Compare | ast.MatchValue) and branches(node)
    ]


# ---- the tree as it is


def test_imports_point_downwards_only():
    sentences = [
        sentence
        for path in sources()
        for sentence in forbidden_imports(path.read_text(encoding="utf-8"), inside(path))
    ]
    assert not sentences, "\n".join(sentences)


def test_the_architecture_page_states_the_same_layers():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    stated = re.search(r"^`cli` >.*?`errors`", page, re.MULTILINE | re.DOTALL)
    assert stated, "docs/architecture.md has no line of layers that begins with `cli` >"
    lines = [re.findall(r"\w+", parts) for parts in stated.group().split(">")]
    assert lines == [list(parts) for parts in LAYERS]


def test_no_source_file_is_longer_than_400_lines():
    written = [*sources(), *ROOT.glob("docs/*.py"), *ROOT.glob("benchmarks/*.py")]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in written}
    sentences = [
        f"{path.relative_to(ROOT)} has {length} lines; at most {LINES_AT_MOST} are allowed"
        for path, length in lengths.items()
        if length > LINES_AT_MOST
    ]
    assert not sentences, "\n".join(sentences)


def test_no_file_has_a_name_that_says_nothing():
    sentences = [
        f"{path.relative_to(ROOT)} has a name that says nothing; name what it knows"
        for folder in ("src", "tests", "docs", "benchmarks")
        for path in (ROOT / folder).rglob("*")
        if (path.suffix == ".py" or path.is_dir()) and path.stem.lower() in FORBIDDEN_NAMES
    ]
    assert not sentences, "\n".join(sentences)


def test_every_source_file_says_first_what_it_knows():
    sentences = [
        f"{inside(path)} has no docstring; say what it knows and what not"
        for path in sources()
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not sentences, "\n".join(sentences)


def test_only_the_table_knows_variants_by_name():
    if not (PACKAGE / "model" / "config.py").exists():
        pytest.skip("model/config.py with VARIANTS does not exist yet")
    from meshcap.model import VARIANTS

    sentences = [
        sentence
        for path in sources()
        for sentence in variant_branches(
            path.read_text(encoding="utf-8"), inside(path), set(VARIANTS)
        )
    ]
    assert not sentences, "\n".join(sentences)


def test_metrics_load_no_torch():
    if not (PACKAGE / "metrics").exists() or find_spec("meshcap.metrics") is None:
        pytest.skip("meshcap.metrics does not exist yet")
    question = "import sys, meshcap.metrics; sys.exit('torch' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    asked = subprocess.run([sys.executable, "-c", question], env=environment, check=False)
    assert asked.returncode == 0, "`import meshcap.metrics` fails or loads torch"


# ---- the rules themselves


@pytest.mark.parametrize(
    ("place", "source", "module"),
    [
        ("search/beam.py", "from meshcap.model.decoder import Decoder", "meshcap.model.decoder"),
        ("search/beam.py", "import meshcap.model.decoder as d", "meshcap.model.decoder"),
        ("search/beam.py", "from ..model.decoder import Decoder", "meshcap.model.decoder"),
        ("search/beam.py", "from .. import model", "meshcap.model"),
        ("search/beam.py", "from meshcap import model", "meshcap.model"),
        ("search/beam.py", "from meshcap import load", "meshcap.load"),
        ("search/beam.py", "import meshcap", "meshcap"),
        ("search/beam.py", "def f():\n    from meshcap.text import T", "meshcap.text"),
        ("search/beam.py", "if TYPE_CHECKING:\n    import meshcap.cli.main", "meshcap.cli.main"),
    ],
)
def test_a_forbidden_import_is_named_in_a_sentence(place, source, module):
    assert forbidden_imports(source, place) == [
        f"{place} imports {module}; search may import only errors, files, regions, special_words"
    ]


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("search/beam.py", "from meshcap.search.protocol import NextWord"),
        ("search/beam.py", "from .protocol import NextWord"),
        ("search/beam.py", "from meshcap.special_words import SpecialWords\nimport torch"),
        ("weights/authors.py", "from meshcap import __version__, files\nimport meshcap.model"),
        ("cli/main.py", "from meshcap.errors import MeshcapError"),
        ("__init__.py", "from meshcap.captioner import load"),
        ("__main__.py", "from meshcap.cli.main import main"),
        ("search/beam.py", "import meshcapable"),
    ],
)
def test_imports_of_one_s_own_part_and_of_lower_ones_are_allowed(place, source):
    assert forbidden_imports(source, place) == []


def test_parts_on_one_line_do_not_import_each_other():
    [sentence] = forbidden_imports("import meshcap.files", "regions.py")
    assert sentence == "regions.py imports meshcap.files; regions may import only errors"


def test_the_lowest_layer_imports_nothing():
    [sentence] = forbidden_imports("import meshcap.files", "errors.py")
    assert sentence == "errors.py imports meshcap.files; errors may import none"


def test_a_part_without_a_layer_is_named():
    [sentence] = forbidden_imports("", "colours/red.py")
    assert sentence.startswith("colours/red.py belongs to no layer")


@pytest.mark.parametrize(
    "source",
    [
        "if name == 'm2': pass",
        "if variant != other: pass",
        "wide = config.variant in known",
        "if name in ('m2', 'm3'): pass",
        "match name:\n    case 'm2': pass",
    ],
)
def test_asking_for_a_variant_by_its_name_is_found(source):
    [sentence] = variant_branches(source, "model/decoder.py", {"m2"})
    assert "asks for a variant by its name" in sentence


def test_the_table_of_variants_and_other_words_are_left_alone():
    assert variant_branches("if name == 'm2': pass", "model/config.py", {"m2"}) == []
    assert variant_branches("if norm == 'mesh': pass", "model/decoder.py", {"m2"}) == []
    assert variant_branches("m2 = VARIANTS['m2']", "cli/main.py", {"m2"}) == []
