"""Compares the scores' tokeniser with the official one, caption by caption, and times it.

Needs Java and pycocoevalcap (`pip install pycocoevalcap==1.2`), whose jar holds the official
tokeniser; the program itself needs neither.

    python benchmarks/ptb_agreement.py                     # all under ../shared
    python benchmarks/ptb_agreement.py captions.json …     # COCO's or Karpathy's form
    python benchmarks/ptb_agreement.py --random 300000     # hostile random strings too
    python benchmarks/ptb_agreement.py --every             # and every short string
"""

import argparse
import gzip
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from meshcap.metrics.ptb import PUNCTUATION, tokenise, tokenise_all, tokens
from meshcap.metrics.ptb import words as lists

SHARED = Path(os.environ.get("MESHCAP_SHARED", Path(__file__).resolve().parents[2] / "shared"))

JAR = "tokenizer/stanford-corenlp-3.4.1.jar"
CLASS = "edu.stanford.nlp.process.PTBTokenizer"
AT_ONCE = 300_000

# After each text an empty line and one with a sign, since the official tokeniser looks over the
# end of a line and over empty lines.
BETWEEN = "\n\n§\n"
LINE_END = re.compile("[\n\r\x0b\x0c\u2028\u2029]")

PLAIN = "abcstnABCST0159 .,'-!?:;()[]{}\"/&@#$%+*^=<>_~|`\\"
WIDE = (
    "éßÉſΩd日أ\u0301\u0660²₂§½⅓‘’“”„‚‹›«»–—…€£¥¢\xa0\u2003\xad‐⁄、٫\x85\x91\x92"
    "😀🐶\u200b\ufeffⅠⒶ\x00\t。！"
)
PARTS = """
    can't cannot gonna n't 's 'S 'll 're don't o'clock O'Brien d'you l'eau ma'am u.s. U.S. a.m.
    e.g. A. a. B. The A In dog Dog DOG t-shirt and/or w/o 1/2 3 3.5 1,000 10:30 5th '90s '11 555
    5555 (555) 555-5555 +1 $ $5 US$ % #1 #tag @user a@b.com http:// www. .com .net/ab abc.com/xy
    :) :-( ;P ^_^ (^_^) <b> </b> <a <br/> &amp; &lt; &quot; &apos; &#39; &nbsp; ... .. . -- ---
    _ __ AT&T C++ A+B \\/ -LRB- '' `` ` ' \" ! ? !? , ; : / \\ * ** << >> < > = | ~ + 'n' 'tis
    more'n 1-2-2012 x.html
""".split()
LISTS = [
    *lists.ENDING,
    *lists.ENDING_CAPITALISED,
    *lists.INSIDE,
    *lists.BEFORE_NUMBERS,
    *lists.STARTERS,
    *lists.PREFIXES,
    *lists.EXTENSIONS,
    *lists.PLAIN_APOSTROPHE,
    *lists.ANY_APOSTROPHE,
    *lists.JOINED,
]
ALPHABETS = (
    "aB1é.-_' ", "aA1.,-&+#@", "a1.,:-+$%", "aN1!?.,; ", "dnsDa'. 1", "lLyo'ae", "Aan't .,",
    "a1'’‘`", "sa'’“”«»‹›„\x91\x92\x93\x94\"", "aé\u0301\u0660\xad.-'", "1\u0660\xad.,:-+",
    "½²⁄ 1a/£", "ab&;#mp", "etc. A<>é\u2003", "mrst. A\x85", "U.STheA ", "-:)(D;1a'", "5 -+/()",
    '<a b="/>', "a1/-\\. ", "a@.<>(\" \xa0", "_-'xX^=<>(.)", "..… \xa0.!?", "--–—a1\x96 ",
)  # fmt: skip


def jar() -> Path:
    """The official tokeniser, out of pycocoevalcap."""
    found = find_spec("pycocoevalcap")
    if found is None or not found.submodule_search_locations:
        sys.exit("pycocoevalcap is not installed: pip install pycocoevalcap==1.2")
    return Path(found.submodule_search_locations[0]) / JAR


def official_lines(texts: list[str]) -> list[str]:
    """The official tokeniser's line for each text, as if only empty lines followed."""
    with tempfile.NamedTemporaryFile("wb", suffix=".txt") as file:
        for text in texts:
            file.write((LINE_END.sub(" ", text) + BETWEEN).encode())
        file.flush()
        command = ["java", "-cp", str(jar()), CLASS, "-preserveLines", "-lowerCase", file.name]
        settings = ["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]
        try:
            done = subprocess.run(
                [command[0], *settings, *command[1:]],
                capture_output=True,
                check=True,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
            )
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"the official tokeniser does not run: {error}")
    lines = done.stdout.decode("utf-8").split("\n")
    each = BETWEEN.count("\n")
    if len(lines) != each * len(texts) + 1 or set(lines[2::each]) - {"§"}:
        sys.exit("the official tokeniser's lines do not fit the texts")
    return lines[0:-1:each]


def without_punctuation(line: str) -> str:
    """What the official wrapper makes of a line."""
    return " ".join(token for token in line.rstrip().split(" ") if token not in PUNCTUATION)


def captions_in(path: Path) -> list[str]:
    """The captions of a file in COCO's or Karpathy's form, or the golden texts."""
    data = path.read_bytes()
    content = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    if "annotations" in content:
        return [annotation["caption"] for annotation in content["annotations"]]
    if "cases" in content:
        return [case["text"] for case in content["cases"]]
    return [sentence["raw"] for image in content["images"] for sentence in image["sentences"]]


def default_files() -> list[Path]:
    """The caption files and the golden texts of the shared folder."""
    return [
        *sorted((SHARED / "data").glob("*/captions_*.json")),
        *sorted((SHARED / "data").glob("*/*.json.gz")),
        *sorted((SHARED / "data").glob("*/dataset_*.json")),
        *sorted((SHARED / "golden").glob("metrics/tokeniser_cases.json.gz")),
    ]


def random_strings(count: int, seed: int) -> Iterator[str]:
    """Strings of what tokenisers are bad at: abbreviations, apostrophes, addresses, any script."""
    draw = random.Random(seed)
    for _ in range(count):
        kind = draw.random()
        if kind < 0.5:
            pieces = [draw.choice(draw.choice((PARTS, LISTS))) for _ in range(draw.randint(1, 6))]
            pieces = [
                draw.choice((piece, piece, piece.capitalize(), piece.upper())) for piece in pieces
            ]
            between = draw.choice(("", " ", ".", "'", "-", "/", ", ", ". "))
            yield between.join(pieces)
        elif kind < 0.8:
            yield "".join(draw.choice(PLAIN) for _ in range(draw.randint(1, 20)))
        else:
            yield "".join(draw.choice(PLAIN + WIDE * 2) for _ in range(draw.randint(1, 20)))


def short_strings(alphabet: str, longest: int) -> Iterator[str]:
    """Every string of these characters up to a length."""
    for length in range(1, longest + 1):
        yield from map("".join, itertools.product(alphabet, repeat=length))


def report(name: str, texts: Iterable[str]) -> bool:
    """Print one line of figures, and the first differences; true when there is none."""
    total = equal_lines = equal_words = 0
    shown: list[str] = []
    remaining = iter(texts)
    while part := list(itertools.islice(remaining, AT_ONCE)):
        for text, line in zip(part, official_lines(part), strict=True):
            ours = " ".join(tokens(text))
            total += 1
            equal_lines += ours == line
            equal_words += tokenise(text) == without_punctuation(line)
            if ours != line and len(shown) < 20:
                shown.append(f"  {text!r}\n    official {line!r}\n    ours     {ours!r}")
    share = 100 * equal_words / max(total, 1)
    print(
        f"{name:32} {total:9,} texts  words equal {equal_words:9,} ({share:.3f} %)"
        f"  lines equal {equal_lines:9,}"
    )
    print(*shown, sep="\n" if shown else "", end="\n" if shown else "")
    return equal_lines == total == equal_words


def speed(name: str, work: Callable[[], object], captions: int) -> None:
    """Print captions a second of processor time."""
    begun = time.process_time()
    work()
    print(f"{name:32} {captions / (time.process_time() - begun):9,.0f} captions/s")


def main() -> int:
    """Time, compare, and say by the exit code whether all were equal."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path, help="captions (default: ../shared)")
    parser.add_argument("--random", type=int, default=0, help="how many random strings to add")
    parser.add_argument("--every", action="store_true", help="add every short string")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    files: list[Path] = chosen.files or default_files()
    if not (files or chosen.random or chosen.every):
        sys.exit("no captions: name files in COCO's or Karpathy's form")

    found = {file: captions_in(file) for file in files}
    captions = [caption for content in found.values() for caption in content]
    if captions:
        speed("words, nothing remembered yet", lambda: tokenise_all(captions), len(captions))
        speed("words, again", lambda: tokenise_all(captions), len(captions))
        speed("tokens", lambda: [tokens(caption) for caption in captions], len(captions))
    equal = True
    for file, content in found.items():
        equal &= report(file.name, content)
    if chosen.random:
        strings = random_strings(chosen.random, chosen.seed)
        equal &= report(f"random strings, seed {chosen.seed}", strings)
    if chosen.every:
        for alphabet in ALPHABETS:
            equal &= report(ascii(alphabet), short_strings(alphabet, 4))
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
