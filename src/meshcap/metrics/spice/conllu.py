"""Dependency trees in files of the CoNLL-U form that users bring.

Knows the form, both versions of Universal Dependencies, and how a sentence says which caption it
is; nothing of tuples.

A sentence belongs to a caption in one of two ways, the same for all sentences of a metric's files:

- by picture: comments `# picture = 391895` and `# role = candidate` (or `reference`). Several
  sentences with the same two are one caption of several sentences, or several references;
- by text: neither comment. Its `# text = …`, or else its words joined by blanks, is the caption as
  the official tokeniser gives it. Equal captions need one sentence.

Column 5 (XPOS) must hold Penn tags. Where column 9 (DEPS) is filled, those edges are read and
taken for collapsed ones; else HEAD and DEPREL, which are collapsed here. Relations of v2 are given
their names of v1.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from meshcap.errors import CaptionError, FileError
from meshcap.files import MIB, read_unpacked
from meshcap.metrics.base import Corpus
from meshcap.metrics.spice.tree import ROOT, Edge, Tree, Word

_AT_MOST = 2048 * MIB
_COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()
# Tags that are no Penn tags: a file that has them in column 5 would give no tuples at all.
_UNIVERSAL = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ VERB X".split()
)
_ROLES = ("candidate", "reference")

_WHOLE = {  # names of v2 with an ending that v1 has as a name of its own
    "nsubj:pass": "nsubjpass",
    "nsubj:outer": "nsubj",
    "csubj:pass": "csubjpass",
    "csubj:outer": "csubj",
    "aux:pass": "auxpass",
    "obl:unmarked": "nmod:npmod",
    "nmod:unmarked": "nmod:npmod",
    "obl:arg": "nmod",
}
_BASE = {"obj": "dobj", "obl": "nmod", "fixed": "mwe", "flat": "name", "orphan": "dep"}


def version_1(relation: str) -> str:
    """A relation's name in Universal Dependencies v1; those of v1 stay."""
    base, _, kind = relation.partition(":")
    first, _, more = kind.partition(":")
    whole = _WHOLE.get(f"{base}:{first}")
    if whole is not None:
        return f"{whole}:{more}" if more else whole
    return ":".join(filter(None, (_BASE.get(base, base), kind)))


@dataclass(frozen=True)
class Trees:
    """The trees of files, by caption."""

    paths: tuple[Path, ...]
    of_text: dict[str, Tree] = field(default_factory=dict)
    of_picture: dict[tuple[str, str], list[Tree]] = field(default_factory=dict)

    @property
    def trees(self) -> list[Tree]:
        """All trees."""
        return [
            *self.of_text.values(),
            *(tree for each in self.of_picture.values() for tree in each),
        ]

    def of(self, corpus: Corpus, number: int) -> tuple[list[Tree], list[Tree]]:
        """The trees of a picture's candidate and of its references."""
        picture = corpus.pictures[number]
        texts = [corpus.candidates[number]], corpus.references[number]
        candidates, references = (
            self._of_role(picture, role, [text for text in said if text.strip()])
            for role, said in zip(_ROLES, texts, strict=True)
        )
        return candidates, references

    def _of_role(self, picture: str, role: str, texts: list[str]) -> list[Tree]:
        files = " and ".join(f"'{path}'" for path in self.paths)
        if self.of_picture:
            trees = self.of_picture.get((picture, role), [])
            if len(trees) < len(texts):
                raise CaptionError(
                    f"{files}: picture {picture} has {len(trees)} trees of the role {role}; "
                    f"expected {len(texts)} or more, one for each caption"
                )
            return trees
        for text in texts:
            if text not in self.of_text:
                raise CaptionError(
                    f"{files}: no tree is of '{text}', a {role} of picture {picture}; expected "
                    "each caption, tokenised, as '# text = …', or '# picture' and '# role'"
                )
        return [self.of_text[text] for text in texts]


def read_trees(paths: Path | str | Iterable[Path | str]) -> Trees:
    """The trees in one file or several."""
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    trees = Trees(tuple(map(Path, given)))
    for path in trees.paths:
        _read_file(path, trees)
    return trees


def _read_file(path: Path, trees: Trees) -> None:
    data = read_unpacked(path, at_most=_AT_MOST)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            f"'{path}' is not text: byte {error.start} is not UTF-8; expected CoNLL-U"
        ) from error
    for first, lines in _blocks(text):
        comments = dict(_comment(line) for _, line in lines if line.startswith("#"))
        rows = [(number, line) for number, line in lines if not line.startswith("#")]
        if not rows:
            continue
        tree = _tree(path, rows)
        where = f"'{path}', line {first}"
        picture, role = comments.get("picture"), comments.get("role")
        if (picture is None) != (role is None) or (role and role not in _ROLES):
            found = f"picture {picture}, role {role}"
            raise FileError(
                f"{where}: a sentence with {found}; expected both comments, the role being "
                "candidate or reference, or neither"
            )
        if picture is not None and role is not None:
            trees.of_picture.setdefault((picture, role), []).append(tree)
        else:
            said = comments.get("text") or " ".join(word.form for word in tree.words)
            trees.of_text.setdefault(said.lower(), tree)
        if trees.of_text and trees.of_picture:
            raise FileError(
                f"{where}: a sentence {'with' if picture else 'without'} '# picture', unlike those "
                "before; expected all sentences to name their caption in one way"
            )


def _blocks(text: str) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Sentences: the first line's number, and the numbered lines."""
    block: list[tuple[int, str]] = []
    # Not splitlines(): a form may hold a character that Python takes for an end of line.
    for number, line in enumerate((*text.split("\n"), ""), 1):
        line = line.rstrip("\r")
        if line.strip():
            block.append((number, line))
        elif block:
            yield block[0][0], block
            block = []


def _comment(line: str) -> tuple[str, str]:
    name, _, value = line.removeprefix("#").partition("=")
    return name.strip(), value.strip()


def _tree(path: Path, rows: list[tuple[int, str]]) -> Tree:
    words: list[Word] = []
    heads: list[tuple[str, int, str, str, str]] = []
    for number, line in rows:
        where = f"'{path}', line {number}"
        cells = line.split("\t")
        if len(cells) != len(_COLUMNS):
            raise FileError(f"{where} has {len(cells)} columns; expected 10, between tabs")
        if re.fullmatch(r"[0-9]+[-.][0-9]+", cells[0]):
            continue  # a written word that stands for several, or one that was left out
        expected = str(len(words) + 1)
        if cells[0] != expected:
            raise FileError(f"{where}: column 1 (ID) is '{cells[0]}'; expected '{expected}'")
        for column, wanted in ((2, "a dictionary form"), (4, "a Penn tag such as NN")):
            if (cells[column] in ("_", "") and cells[1] != "_") or (
                column == 4 and cells[column] in _UNIVERSAL
            ):
                raise FileError(
                    f"{where}: column {column + 1} ({_COLUMNS[column]}) is '{cells[column]}'; "
                    f"expected {wanted}"
                )
        words.append(Word(cells[1].lower(), cells[2].lower(), cells[4]))
        heads.append((where, len(words) - 1, cells[6], cells[7], cells[8]))
    enhanced = any(deps != "_" for *_, deps in heads)
    edges: list[Edge] = []
    for where, word, head, relation, deps in heads:
        basic = Edge(_head(where, 7, head, len(words)), word, version_1(relation))
        edges += (_enhanced(where, word, deps, len(words)) if enhanced else []) or [basic]
    if not enhanced:  # an enhanced graph may have circles
        _expect_tree([where for where, *_ in heads], words, [edge.head for edge in edges])
    return Tree(tuple(words), tuple(edges), collapsed=enhanced)


def _expect_tree(places: list[str], words: list[Word], heads: list[int]) -> None:
    """Each word leads, from head to head, to a root."""
    rooted = {ROOT}
    for word in range(len(words)):
        way: list[int] = []
        at = word
        while at not in rooted:
            if at in way:
                raise FileError(
                    f"{places[at]}: the heads of '{words[at].form}' lead in a circle; expected "
                    "each word to lead to a root, whose head is 0"
                )
            way.append(at)
            at = heads[at]
        rooted.update(way)


def _enhanced(where: str, word: int, deps: str, words: int) -> list[Edge]:
    edges = []
    for pair in deps.split("|") if deps != "_" else ():
        head, colon, relation = pair.partition(":")
        if not colon or not relation:
            raise FileError(
                f"{where}: column 9 (DEPS) holds '{pair}'; expected a head and a relation, such "
                "as 2:nmod:on"
            )
        if "." not in head:  # a word that was left out has no tuples
            edges.append(Edge(_head(where, 9, head, words), word, version_1(relation)))
    return edges


def _head(where: str, column: int, head: str, words: int) -> int:
    if not (re.fullmatch(r"[0-9]{1,6}", head) and int(head) <= words):
        raise FileError(
            f"{where}: column {column} ({_COLUMNS[column - 1]}) names the head '{head}'; expected "
            f"a number from 0 to {words}"
        )
    return int(head) - 1 if int(head) else ROOT
