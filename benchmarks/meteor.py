"""What METEOR costs, and whether it equals the official jar, on captions of COCO.

CPU seconds, since wall-clock times say little on a shared machine; memory is what this process
holds. The captions lie in the folder `shared/` beside the repository. Two sets: the golden 1,000
pictures, hard because hardly a candidate equals a reference; and a set with five references a
picture, where of three candidates two are one of the references. Where Java is, the official jar
scores the same texts in the same run, and its statistics and scores are compared with ours.

    python benchmarks/meteor.py
    python benchmarks/meteor.py --agreement 20000     # random pairs of captions too
    python benchmarks/meteor.py --without-official
"""

import argparse
import gzip
import json
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from meshcap.metrics.base import Corpus, Measured, no_tick
from meshcap.metrics.meteor import meteor, opened
from meshcap.metrics.meteor.sources import located

SHARED = Path(os.environ.get("MESHCAP_SHARED") or Path(__file__).resolve().parents[2] / "shared")
SEED = 3
_MAXRSS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10

Result = TypeVar("Result")


def cpu(who: int = resource.RUSAGE_SELF) -> float:
    """CPU seconds of this process, or of its finished children, so far."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def resident() -> float:
    """MiB that this process holds now (its most so far, where the system does not say)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MAXRSS_PER_MIB


def timed(what: str, work: Callable[[], Result]) -> Result:
    """Print the CPU seconds of one run, and by how much the process grows; give what it gives."""
    start, before = cpu(), resident()
    result = work()
    print(f"{what:<52}{cpu() - start:>8.3f} s{resident() - before:>+8.0f} MiB", flush=True)
    return result


# The texts --------------------------------------------------------------------------------------


def corpus_of(rows: Sequence[tuple[str, Sequence[str]]]) -> Corpus:
    """Candidates with their references, as a corpus."""
    pictures = tuple(map(str, range(len(rows))))
    return Corpus(pictures, tuple(row[0] for row in rows), tuple(tuple(row[1]) for row in rows))


def golden() -> Corpus:
    """The golden 1,000 pictures, tokenised."""
    path = SHARED / "golden" / "metrics" / "tokenised.json.gz"
    texts = json.loads(gzip.decompress(path.read_bytes()))
    return corpus_of(
        [(texts["candidates"][key], texts["references"][key]) for key in texts["candidates"]]
    )


def captions() -> list[list[str]]:
    """Of each picture with five captions, these five, tokenised."""
    from meshcap.metrics.ptb import tokenise_all

    found: dict[int, list[str]] = defaultdict(list)
    for name in ("captions_train.json", "more_captions.json.gz"):
        data = (SHARED / "data" / "coco" / name).read_bytes()
        content = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
        for row in content["annotations"]:
            if row["caption"] not in found[row["image_id"]]:
                found[row["image_id"]].append(row["caption"])
    five = [texts[:5] for texts in found.values() if len(texts) >= 5]
    flat = iter(tokenise_all([text for texts in five for text in texts]))
    return [[next(flat) for _ in texts] for texts in five]


def usual(pictures: Sequence[Sequence[str]], count: int) -> Corpus:
    """So many pictures, repeated as needed; two of three candidates are one of the references."""
    chance = random.Random(SEED)
    rows = []
    for number in range(count):
        references = pictures[number % len(pictures)]
        whose = references if number % 3 else chance.choice(pictures)
        rows.append((chance.choice(whose), references))
    return corpus_of(rows)


def odd_pairs(pictures: Sequence[Sequence[str]], count: int) -> Corpus:
    """Pairs of captions of one picture: as they are, joined and shuffled, and full of repeats."""
    chance = random.Random(SEED)
    rows = []
    for number in range(count):
        texts = chance.choice(pictures)
        candidate, reference = chance.sample(list(texts), 2)
        if number % 3:
            words = f"{candidate} {chance.choice(texts)}".split(" ")
            few = chance.sample(words, min(len(words), 6))
            length = chance.randint(1, 20)
            chance.shuffle(words)
            candidate = " ".join(words if number % 3 == 1 else chance.choices(few, k=length))
            reference = reference if number % 3 == 1 else " ".join(chance.choices(few, k=length))
        rows.append((candidate, [reference]))
    return corpus_of(rows)


# The official program ---------------------------------------------------------------------------


def jar(lines: Sequence[str]) -> list[str]:
    """What the official program answers to lines, one to each (EVAL: one to each part, and one)."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as questions:
        questions.write("\n".join(lines) + "\n")
        questions.seek(0)
        command = ["java", "-Dfile.encoding=UTF-8", "-Xmx2G", "-jar", str(located().jar)]
        answers = subprocess.run(
            [*command, "-", "-", "-stdio", "-l", "en", "-norm"],
            stdin=questions,
            stdout=subprocess.PIPE,
            check=True,
        )
    return answers.stdout.decode("utf-8").splitlines()


def official(corpus: Corpus) -> tuple[list[list[float]], list[float], float, float]:
    """The official statistics, scores and corpus score, and the CPU seconds of the first."""
    lines = [
        " ||| ".join(["SCORE", *references, candidate.replace("|||", "").replace("  ", " ")])
        for candidate, references in zip(corpus.candidates, corpus.references, strict=True)
    ]
    start = cpu(resource.RUSAGE_CHILDREN)
    statistics = jar(lines)
    took = cpu(resource.RUSAGE_CHILDREN) - start
    *scores, total = map(float, jar([" ||| ".join(["EVAL", *statistics])]))
    return [list(map(float, row.split())) for row in statistics], scores, total, took


def compare(corpus: Corpus, ours: Measured) -> None:
    """Print what the official program took, and how many pictures have its very doubles."""
    statistics, scores, total, took = official(corpus)
    assert ours.per_picture is not None
    same = sum(
        row == its_row and score == its_score
        for row, score, its_row, its_score in zip(
            ours.details["statistics"].tolist(),
            ours.per_picture.tolist(),
            statistics,
            scores,
            strict=True,
        )
    )
    print(f"{'  official jar, with its start':<52}{took:>8.3f} s")
    print(
        f"  equal statistics and doubles: {same:,} of {len(corpus):,}; corpus score {total!r}: "
        f"{'equal' if ours.value == total else f'ours is {ours.value!r}'}"
    )


def main() -> int:
    """Measure, and print as it goes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agreement", type=int, default=0, metavar="PAIRS")
    parser.add_argument("--without-official", action="store_true")
    options = parser.parse_args()
    with_official = not options.without_official and shutil.which("java") is not None
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MESHCAP_CACHE"] = folder
        # In a process of its own, as at the first use on a machine.
        start = cpu(resource.RUSAGE_CHILDREN)
        command = "from meshcap.metrics.meteor import opened; opened()"
        subprocess.run([sys.executable, "-c", command], check=True)
        took = cpu(resource.RUSAGE_CHILDREN) - start
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 2**20
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / _MAXRSS_PER_MIB
        what = f"conversion, once a machine ({size:.0f} MiB on disk)"
        print(f"{what:<52}{took:>8.3f} s{most:>+8.0f} MiB at most, all told")
        timed("opening the data, at each start", opened)
        pictures = captions()
        sets = {
            "golden 1,000 (hard)": golden(),
            "1,000 x 5 references": usual(pictures, 1000),
            "5,000 x 5 references": usual(pictures, 5000),
        }
        if options.agreement:
            sets[f"{options.agreement:,} odd pairs"] = odd_pairs(pictures, options.agreement)
        for name, corpus in sets.items():
            found = timed(name, partial(meteor().measure, corpus, no_tick))["meteor"]
            if with_official:
                compare(corpus, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
