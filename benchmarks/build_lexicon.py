"""Builds `src/meshcap/assets/wordnet/lexicon.npz` from WordNet 3.0's database files.

    python benchmarks/build_lexicon.py DICT      # a folder with index.noun, data.noun, noun.exc, …

Debian's package wordnet-base (1:3.0-37) has them under usr/share/wordnet. The same files give the
same bytes. `meshcap/metrics/spice/lexicon.py` says what each array holds.
"""

import argparse
import io
import math
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from meshcap.files import written_whole

ASSETS = Path(__file__).resolve().parents[1] / "src" / "meshcap" / "assets" / "wordnet"
PARTS = ("noun", "verb", "adj", "adv")
KINDS_OF_SENSES = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}

# Debian corrects glosses in two files, and the synsets between the corrections move by some bytes,
# which are their numbers. What the world calls a synset of WordNet 3.0 is the number before.
DEBIAN_SIZES = {"adj": 3155427, "verb": 2772517}  # of the corrected files
DEBIAN_MOVED = {"adj": (1681478, 1 << 32, 1), "verb": (613036, 2422967, 18)}  # from, to, by


def index_of(folder: Path, part: str) -> dict[str, list[int]]:
    """A part of speech's lemmas with the numbers of their synsets, commonest first."""
    corrected = (folder / f"data.{part}").stat().st_size == DEBIAN_SIZES.get(part)
    start, end, by = DEBIAN_MOVED[part] if corrected else (0, 0, 0)
    lemmas: dict[str, list[int]] = {}
    for line in (folder / f"index.{part}").read_text(encoding="latin-1").splitlines():
        if line.startswith("  "):  # the licence
            continue
        fields = line.split()
        numbers = [int(number) for number in fields[-int(fields[2]) :]]
        lemmas[fields[0]] = [number - by * (start <= number < end) for number in numbers]
    return lemmas


def counts_of(folder: Path) -> Counter[tuple[str, str]]:
    """How often (lemma, part of speech) was met in the texts that WordNet's makers tagged."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in (folder / "cntlist.rev").read_text(encoding="latin-1").splitlines():
        key, _, count = line.split()
        lemma, sense = key.split("%")
        counts[lemma, KINDS_OF_SENSES[sense[0]]] += int(count)
    return counts


def fields_of_nouns(folder: Path) -> dict[int, int]:
    """The lexicographer's file of each noun synset: 5 animals, 13 food, 18 persons, …"""
    fields = {}
    for line in (folder / "data.noun").read_text(encoding="latin-1").splitlines():
        if not line.startswith("  "):
            number, field, _ = line.split(" ", 2)
            fields[int(number)] = int(field)
    return fields


def arrays_of(folder: Path) -> dict[str, np.ndarray]:
    """The lexicon's arrays by name."""
    indexes = {part: index_of(folder, part) for part in PARTS}
    counts, fields = counts_of(folder), fields_of_nouns(folder)
    lemmas = sorted({lemma for index in indexes.values() for lemma in index})
    synsets: list[list[int]] = []
    weights = np.zeros((len(PARTS), len(lemmas)), np.uint8)
    field = np.zeros(len(lemmas), np.uint8)
    for row, lemma in enumerate(lemmas):
        numbers: set[int] = set()
        for column, part in enumerate(PARTS):
            senses = indexes[part].get(lemma)
            if senses:
                # Eighths of a doubling; a sense nobody met counts as a fifth of a meeting.
                weight = counts[lemma, part] + len(senses) / 5
                weights[column, row] = round(8 * math.log2(weight)) + 64
                numbers.update(senses)
        synsets.append(sorted(numbers))
        if lemma in indexes["noun"]:
            field[row] = fields[indexes["noun"][lemma][0]]
    every = sorted({number for numbers in synsets for number in numbers})
    place = {number: index for index, number in enumerate(every)}
    flat = np.array([place[number] for numbers in synsets for number in numbers], "<u4")
    return {
        "lemmas": np.frombuffer("\n".join(lemmas).encode(), np.uint8),
        "senses": np.array([len(numbers) for numbers in synsets], np.uint8),
        # Bytes of a kind beside each other: zip finds more to save.
        "synsets": np.ascontiguousarray(flat.view(np.uint8).reshape(-1, 4).T[:3]),
        "numbers": np.diff(np.array(every), prepend=0).astype("<u4"),
        "weights": weights,
        "field": field,
        "irregular": np.frombuffer(irregular_forms(folder).encode(), np.uint8),
    }


def irregular_forms(folder: Path) -> str:
    """Lines "form base …", the four parts of speech apart by empty lines."""
    blocks = []
    for part in PARTS:
        bases: dict[str, list[str]] = defaultdict(list)
        for line in (folder / f"{part}.exc").read_text(encoding="latin-1").splitlines():
            form, *found = line.split()
            bases[form] += [base for base in found if base not in bases[form]]
        blocks.append("\n".join(" ".join([form, *bases[form]]) for form in sorted(bases)))
    return "\n\n".join(blocks)


def save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """The arrays as an .npz file in which nothing depends on the clock."""
    with written_whole(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy")  # of 1980, always
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content.getvalue(), compresslevel=9)


def main() -> None:
    """Read the database, write the asset."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dict", type=Path, help="the folder with WordNet 3.0's files")
    parser.add_argument("--to", type=Path, default=ASSETS / "lexicon.npz")
    given = parser.parse_args()
    arrays = arrays_of(given.dict)
    save(given.to, arrays)
    print(f"{given.to}: {given.to.stat().st_size:,} bytes, {len(arrays['senses']):,} lemmas")


if __name__ == "__main__":
    main()
