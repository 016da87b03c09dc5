"""Compares the training tokeniser with spaCy's, caption by caption, and times it.

Needs spaCy (`pip install spacy==3.8.18`) and captions; the program itself needs neither.

    python benchmarks/tokeniser_agreement.py                     # all under ../shared/data
    python benchmarks/tokeniser_agreement.py captions.json …     # COCO's or Karpathy's form
    python benchmarks/tokeniser_agreement.py --random 300000     # hostile random strings too
"""

import argparse
import gzip
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from meshcap.text.exceptions import EXCEPTIONS
from meshcap.text.tokenize import split, tokenize

SHARED = Path(__file__).resolve().parents[2] / "shared"

Tokeniser = Callable[[str], list[str]]

PLAIN = "abcsmtnd'..,,--:;!?()[]/\"&@#$%+*^=<>_~|`  \t\n0123"
WIDE = "éñßƻαсמשك日本…—–’‘“”°😀🥰🫠€£¥。，²µ\xa0\u2003İſ\u0308\u2329〈﷼·ツ"
PARTS = ["www.", "a.com", "b.co.uk", "http://", ":80", "/x-y", "?q=a", "user", "5", "km", "kg"]


def spacy_tokeniser() -> Tokeniser:
    """spaCy's blank English tokenizer on a caption in lower case."""
    try:
        import spacy
    except ImportError:
        sys.exit("spaCy is not installed: pip install spacy==3.8.18")
    tokenizer = spacy.blank("en").tokenizer

    def tokens(caption: str) -> list[str]:
        return [token.text for token in tokenizer(caption.lower().rstrip("\n"))]

    return tokens


def captions_in(path: Path) -> list[str]:
    """The captions of a file in COCO's or Karpathy's form."""
    data = path.read_bytes()
    content = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    if "annotations" in content:
        return [annotation["caption"] for annotation in content["annotations"]]
    return [sentence["raw"] for image in content["images"] for sentence in image["sentences"]]


def default_files() -> list[Path]:
    """The caption files of the shared folder (MESHCAP_SHARED names another place)."""
    data = Path(os.environ.get("MESHCAP_SHARED", SHARED)) / "data"
    return sorted([*data.glob("*/captions_*.json"), *data.glob("*/*.json.gz")]) + sorted(
        data.glob("*/dataset_*.json")
    )


def random_strings(count: int, seed: int) -> Iterable[str]:
    """Strings with what tokenisers are bad at: punctuation, exceptions, addresses, any script."""
    draw = random.Random(seed)
    mixtures: list[list[str]] = [
        list(PLAIN),
        list(PLAIN + WIDE * 2),
        [*EXCEPTIONS, *PLAIN * 20],
        [*PARTS * 4, *PLAIN],
    ]
    for _ in range(count):
        mixture = draw.choice(mixtures)
        pieces = [draw.choice(mixture) for _ in range(draw.randint(1, 8))]
        if draw.random() < 0.1:
            # Surrogates are left out: spaCy refuses text that holds half a character.
            pieces.append(
                chr(draw.choice([draw.randint(33, 0xD7FF), draw.randint(0xE000, 0x1FFFF)]))
            )
            draw.shuffle(pieces)
        yield "".join(pieces)


def compare(captions: Iterable[str], reference: Tokeniser) -> tuple[int, Counter[str]]:
    """How many captions there are, and those with other tokens."""
    total, different = 0, Counter[str]()
    for caption in captions:
        total += 1
        if split(caption) != reference(caption):
            different[caption] += 1
    return total, different


def report(name: str, captions: Iterable[str], reference: Tokeniser) -> bool:
    """Print one line of figures, and each difference; true when there is none."""
    total, different = compare(captions, reference)
    equal = total - different.total()
    print(f"{name:32} {total:9,} captions {equal:9,} equal {100 * equal / max(total, 1):8.3f} %")
    for caption, times in different.most_common(50):
        print(
            f"  {times} × {caption!r}\n    spaCy {reference(caption)}\n    ours  {split(caption)}"
        )
    return not different


def speed(name: str, tokenise: Tokeniser, captions: list[str]) -> None:
    """Print captions a second on one thread."""
    begun = time.perf_counter()
    for caption in captions:
        tokenise(caption)
    print(f"{name:32} {len(captions) / (time.perf_counter() - begun):9,.0f} captions/s")


def main() -> int:
    """Compare, time, and say by the exit code whether all were equal."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path, help="captions (default: ../shared/data)")
    parser.add_argument("--random", type=int, default=0, help="how many random strings to add")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    files: list[Path] = chosen.files or default_files()
    if not files and not chosen.random:
        sys.exit("no captions: name files in COCO's or Karpathy's form")

    reference = spacy_tokeniser()
    found = {file: captions_in(file) for file in files}
    captions = [caption for content in found.values() for caption in content]
    if captions:
        speed("tokenize, nothing remembered yet", tokenize, captions)
        speed("tokenize, again", tokenize, captions)
        speed("split", split, captions)
        speed("spaCy", reference, captions)
    equal = True
    for file, content in found.items():
        equal &= report(file.name, content, reference)
    if captions:
        equal &= report("all, each wording once", set(captions), reference)
    if chosen.random:
        strings = random_strings(chosen.random, chosen.seed)
        equal &= report(f"random strings, seed {chosen.seed}", strings, reference)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
