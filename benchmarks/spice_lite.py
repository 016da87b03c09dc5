"""Precision, recall and F of the built-in parser's tuples against tuples written by hand.

    python benchmarks/spice_lite.py                   # the 100 captions it was built on
    python benchmarks/spice_lite.py --held-out        # 100 others, which nobody looked at
    python benchmarks/spice_lite.py gold.json --show  # rows of one's own; the differences too
    python benchmarks/spice_lite.py --speed 6000      # and how fast it parses captions

A tuple counts only when it is equal, word for word, to one written by hand for the same caption.
Words of both sides are first put into one form by the same rule (`plain` below), because guides
and parsers may disagree whether a smiling man is "smiling" or "smile". The gold files hold no
captions: these are read from ../shared/data (MESHCAP_SHARED names another place) by their numbers,
and checked by the first eight digits of their SHA-256. How the gold was written:
tests/golden/spice_lite_guide.md.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from meshcap.metrics.ptb import tokenise, tokenise_all
from meshcap.metrics.spice.lexicon import ADJECTIVE, VERB, lemma, weight
from meshcap.metrics.spice.lite import PARSER, parse
from meshcap.metrics.spice.patterns import tuples_of

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("MESHCAP_SHARED", ROOT.parent / "shared"))
GOLDEN = ROOT / "tests" / "golden"
KINDS = {1: "objects", 2: "attributes", 3: "relations"}

Tuple = tuple[str, ...]


@cache
def plain(word: str) -> str:
    """A word in the form in which it is compared.

    Nouns lose their plural, then adjectives their degree, then -ed and -ing forms become the
    verb's infinitive, each where WordNet knows what remains.
    """
    word = lemma(word, "NNS")
    for tag in ("JJR", "JJS"):
        if weight(lemma(word, tag), ADJECTIVE):
            word = lemma(word, tag)
    if word.endswith(("ing", "ed")):
        for tag in ("VBG", "VBN"):
            if weight(lemma(word, tag), VERB):
                word = lemma(word, tag)
    return word


def comparable(found: Tuple) -> Tuple:
    """A tuple with its words in plain form; "close up", "close-up" and "closeup" are one."""
    parts = (part.lower().replace("-", " ").split() for part in found)
    return tuple("".join(map(plain, words)) for words in parts)


def captions() -> dict[tuple[str, int], str]:
    """The training captions by source and number."""
    coco = json.loads((SHARED / "data/coco/captions_train.json").read_text(encoding="utf-8"))
    flickr = json.loads((SHARED / "data/flickr8k/dataset_flickr8k.json").read_text("utf-8"))
    found = {("coco", row["id"]): row["caption"] for row in coco["annotations"]}
    for image in flickr["images"]:
        found |= {("flickr8k", row["sentid"]): row["raw"] for row in image["sentences"]}
    return found


@dataclass
class Counts:
    """Tuples of both sides and their hits."""

    hits: int = 0
    found: int = 0
    gold: int = 0

    def add(self, found: set[Tuple], gold: set[Tuple]) -> None:
        """Count one caption."""
        self.hits += len(found & gold)
        self.found += len(found)
        self.gold += len(gold)

    def f(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.hits / max(1, self.found + self.gold)

    def __str__(self) -> str:
        precision = self.hits / max(1, self.found)
        recall = self.hits / max(1, self.gold)
        return f"{precision:9.3f} {recall:7.3f} {self.f():7.3f} {self.gold:6d}"


@dataclass
class Comparison:
    """All tuples, those of each kind, and all without `plain`."""

    all: Counts = field(default_factory=Counts)
    as_written: Counts = field(default_factory=Counts)
    kinds: dict[int, Counts] = field(default_factory=lambda: {kind: Counts() for kind in KINDS})

    def add(self, found: set[Tuple], gold: set[Tuple]) -> None:
        """Count one caption."""
        self.as_written.add(found, gold)
        found, gold = set(map(comparable, found)), set(map(comparable, gold))
        self.all.add(found, gold)
        for kind, counts in self.kinds.items():
            counts.add({t for t in found if len(t) == kind}, {t for t in gold if len(t) == kind})

    def table(self) -> str:
        """The figures, a line each."""
        lines = [f"{'':12}precision  recall       F   gold", f"{'all':12}{self.all}"]
        lines += [f"{KINDS[kind]:12}{counts}" for kind, counts in self.kinds.items()]
        return "\n".join([*lines, f"{'as written':12}{self.as_written}"])


def read_gold(path: Path) -> list[tuple[str, set[Tuple]]]:
    """Captions with the tuples written for them."""
    known = captions()
    rows = []
    for row in json.loads(path.read_text(encoding="utf-8")):
        caption = known.get((row["from"], row["id"]), "")
        if hashlib.sha256(caption.encode()).hexdigest()[:8] != row["sha"]:
            sys.exit(f"{path.name}: caption {row['from']} {row['id']} is not the one meant")
        rows.append((caption, set(map(tuple, row["tuples"]))))
    return rows


def compare(path: Path, *, show: bool) -> None:
    """Print how well the parser's tuples agree with a gold file."""
    comparison = Comparison()
    rows = read_gold(path)
    for caption, gold in rows:
        found = set(tuples_of(parse(tokenise(caption))))
        comparison.add(found, gold)
        found, gold = set(map(comparable, found)), set(map(comparable, gold))
        if show and found != gold:
            print(caption)
            for name, missing in (("missing", gold - found), ("extra", found - gold)):
                print(f"    {name}: " + " | ".join(", ".join(t) for t in sorted(missing)))
    print(f"{PARSER} on {path.name}: {len(rows)} captions, exact equality of plain forms")
    print(comparison.table())


def time_parser(number: int) -> None:
    """Print CPU seconds for so many different captions, one core, caches empty."""
    texts = list(dict.fromkeys(tokenise_all(list(captions().values())[: 2 * number])))[:number]
    parse("a man rides a horse")  # the tables are read with the first word
    parse.cache_clear()
    start = time.process_time()
    trees = [parse(text) for text in texts]
    middle = time.process_time()
    for tree in trees:
        tuples_of(tree)
    end = time.process_time()
    print(
        f"{len(texts):,} captions: parsing {middle - start:.2f} s CPU "
        f"({len(texts) / (middle - start):,.0f} a second), tuples {end - middle:.2f} s"
    )


def main() -> None:
    """Read the command line, compare, time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("gold", type=Path, nargs="?", default=GOLDEN / "spice_lite_built_on.json")
    parser.add_argument("--held-out", action="store_true", help="the captions nobody looked at")
    parser.add_argument("--show", action="store_true", help="print where the two differ")
    parser.add_argument("--speed", type=int, metavar="CAPTIONS", default=0)
    given = parser.parse_args()
    gold = GOLDEN / "spice_lite_held_out.json" if given.held_out else given.gold
    compare(gold, show=given.show)
    if given.speed:
        time_parser(given.speed)


if __name__ == "__main__":
    main()
