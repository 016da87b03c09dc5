"""How much CPU the metrics take, beside the official tools where they are installed.

Every figure is CPU seconds, of this process and of those that it starts (Java), since wall-clock
times say little on a shared machine. The captions are COCO's, from the folder `shared/` beside the
repository: five references a picture, and of three candidates two are one of the references and
one is of another picture. The official tools are pycocoevalcap and its Java programs.

    python benchmarks/metrics.py
    python benchmarks/metrics.py --pictures 1000 5000 --without-official
"""

import argparse
import gzip
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from meshcap.errors import MissingError
from meshcap.metrics import METRICS, Corpus
from meshcap.metrics.base import no_tick
from meshcap.metrics.ptb import tokenise_all
from meshcap.metrics.reward import BleuReward, CiderReward, Known, Mixture

SHARED = Path(os.environ.get("MESHCAP_SHARED") or Path(__file__).resolve().parents[2] / "shared")
IN_PAPERS = ("bleu", "rouge-l", "cider-d", "meteor", "spice-lite")
BATCH, BEAMS, LENGTH = 50, 5, 20


def cpu() -> float:
    """CPU seconds of this process and of its finished children so far."""
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in of)


def seconds(work: Callable[[], object]) -> float:
    """The CPU seconds of one run."""
    start = cpu()
    work()
    return cpu() - start


def captions() -> dict[str, list[str]]:
    """Pictures with five captions or more."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in ("captions_train.json", "more_captions.json.gz"):
        data = (SHARED / "data" / "coco" / name).read_bytes()
        rows = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)["annotations"]
        for row in rows:
            found[f"{name[0]}{row['image_id']}"].append(row["caption"])
    return {picture: texts[:5] for picture, texts in found.items() if len(texts) >= 5}


def speed_set(pictures: int) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Candidates and references of so many pictures, drawn by a fixed seed."""
    pool = list(captions().values())
    random = np.random.default_rng(2020)
    chosen = [pool[n] for n in random.choice(len(pool), pictures, replace=pictures > len(pool))]
    references = {str(number): texts for number, texts in enumerate(chosen)}
    candidates = {}
    for number, texts in enumerate(chosen):
        other = chosen[int(random.integers(len(chosen)))]
        candidates[str(number)] = (other if number % 3 == 2 else texts)[int(random.integers(5))]
    return candidates, references


def ours(candidates: dict[str, str], references: dict[str, list[str]]) -> dict[str, float]:
    """CPU seconds of the tokeniser and of each metric."""
    flat = [*candidates.values(), *(text for texts in references.values() for text in texts)]
    tokens: list[str] = []
    times = {"tokeniser": seconds(lambda: tokens.extend(tokenise_all(flat)))}
    rest = iter(tokens[len(candidates) :])
    corpus = Corpus(
        tuple(candidates),
        tuple(tokens[: len(candidates)]),
        tuple(tuple(next(rest) for _ in texts) for texts in references.values()),
    )
    for name in IN_PAPERS:
        try:
            metric = METRICS[name]
            times[name] = seconds(lambda metric=metric: metric.measure(corpus, no_tick))
        except MissingError as error:
            print(f"{name}: {error}", file=sys.stderr)
    return times


def official(candidates: dict[str, str], references: dict[str, list[str]]) -> dict[str, float]:
    """The same of pycocoevalcap and its Java programs."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    tokens: list[dict[str, list[str]]] = []

    def tokenise() -> None:
        for side in ({key: [text] for key, text in candidates.items()}, references):
            rows = {key: [{"caption": text} for text in texts] for key, texts in side.items()}
            tokens.append(PTBTokenizer().tokenize(rows))

    def meteor() -> None:
        scorer = Meteor()
        scorer.compute_score(tokens[1], tokens[0])
        scorer.meteor_p.stdin.close()
        scorer.meteor_p.wait()  # its CPU time counts when it has ended

    times = {"tokeniser": seconds(tokenise)}
    times["bleu"] = seconds(lambda: Bleu(4).compute_score(tokens[1], tokens[0], verbose=0))
    times["rouge-l"] = seconds(lambda: Rouge().compute_score(tokens[1], tokens[0]))
    times["cider-d"] = seconds(lambda: Cider().compute_score(tokens[1], tokens[0]))
    times["meteor"] = seconds(meteor)
    return times


def batches_of(
    runs: int, written: dict[str, list[str]], encode: Callable[[str], list[int]]
) -> list[tuple[np.ndarray, list[str]]]:
    """Batches of sentences (50, 5, 20), half of them captions of other pictures, and pictures."""
    random = np.random.default_rng(2020)
    names = list(written)
    batches = []
    for _ in range(runs):
        pictures = [names[n] for n in random.integers(len(names), size=BATCH)]
        rows = []
        for picture in np.repeat(pictures, BEAMS):
            of = picture if random.random() < 0.5 else names[int(random.integers(len(names)))]
            said = encode(written[of][int(random.integers(5))])
            rows.append((said[1:] + [1] * LENGTH)[:LENGTH])
        batches.append((np.array(rows).reshape(BATCH, BEAMS, LENGTH), pictures))
    return batches


def rewards(runs: int, with_official: bool) -> None:
    """Milliseconds of CPU for the rewards of 250 sentences, five of each of 50 pictures."""
    from meshcap.text import Vocabulary

    written = captions()
    vocabulary = Vocabulary.count(text for texts in written.values() for text in texts)
    start = cpu()
    known = Known(vocabulary.words, written)
    print(
        f"\nrewards: {len(written):,} pictures, {len(vocabulary):,} words, "
        f"{known.table.size:,} n-grams; made ready in {cpu() - start:.1f} s"
    )
    batches = batches_of(runs, written, vocabulary.encode)
    cider, bleu = CiderReward(known), BleuReward(known)
    mixed = Mixture({cider: 1, bleu: 0.5})
    for name, reward in (("cider-d", cider), ("bleu-4", bleu), ("cider-d + 0.5 bleu-4", mixed)):
        reward(*batches[0])
        taken = [milliseconds(partial(reward, *batch)) for batch in batches]
        print(f"{name}: {np.median(taken):.2f} ms (median of {runs}; worst {max(taken):.2f})")
    numbers = np.concatenate([words for words, _ in batches])
    pictures = known.numbers([picture for _, of in batches for picture in of])
    rewards_of = {threads: CiderReward(known, threads) for threads in (1, 2)}
    wall: dict[int, list[float]] = {threads: [] for threads in rewards_of}
    for _ in range(9):  # in turn, since other work on the machine comes and goes
        for threads, many in rewards_of.items():
            start = time.perf_counter()
            many(numbers, pictures)
            wall[threads].append(1000 * (time.perf_counter() - start))
    said = ", ".join(f"{n}: {np.median(each):.1f} ms" for n, each in wall.items())
    print(f"{len(pictures) * BEAMS:,} sentences at once, wall, by threads {said} (medians of 9)")
    if with_official:
        taken = [milliseconds(their_reward(known, written, *batches[0])) for _ in range(5)]
        print(f"pycocoevalcap's CIDEr of 250 of them: {np.median(taken):.1f} ms (median of 5)")


def their_reward(
    known: Known, written: dict[str, list[str]], sentences: np.ndarray, pictures: list[str]
) -> Callable[[], object]:
    """The official scorer on the same sentences; tokenised before, in its favour."""
    from pycocoevalcap.cider.cider_scorer import CiderScorer

    references = [tokenise_all(written[picture]) for picture in pictures]
    texts = known.official.texts(sentences.reshape(-1, LENGTH))

    def work() -> None:
        scorer = CiderScorer(n=4, sigma=6.0)
        for number, text in enumerate(texts):
            scorer += (text, references[number // BEAMS])
        scorer.compute_score()

    return work


def milliseconds(work: Callable[[], object]) -> float:
    """The CPU milliseconds of one run in this process, all threads."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def importing() -> float:
    """CPU seconds of `import meshcap.metrics` in a new Python, the smallest of five."""
    return min(
        seconds(
            lambda: subprocess.run([sys.executable, "-c", "import meshcap.metrics"], check=True)
        )
        for _ in range(5)
    )


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pictures", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--runs", type=int, default=40, help="batches of rewards")
    parser.add_argument("--without-official", action="store_true")
    options = parser.parse_args()
    if not (SHARED / "data" / "coco").is_dir():
        print(f"the captions, '{SHARED / 'data' / 'coco'}', are absent", file=sys.stderr)
        return 1
    warnings.simplefilter("ignore")
    there = find_spec("pycocoevalcap") is not None and shutil.which("java") is not None
    with_official = there and not options.without_official
    try:
        beside = f"pycocoevalcap {version('pycocoevalcap')}"
    except PackageNotFoundError:
        beside = "no pycocoevalcap"
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, {beside}, {'Java' if shutil.which('java') else 'no Java'}"
    )
    print(f"import meshcap.metrics: {importing():.2f} s with Python's own start")
    # METEOR's cache is made once for a machine; that is measured by itself.
    for pictures in options.pictures:
        candidates, references = speed_set(pictures)
        table = {"ours": ours(candidates, references)}
        if with_official:
            table["official"] = official(candidates, references)
        print(f"\n{pictures:,} pictures x 5 references, CPU seconds\n| | {' | '.join(table)} |")
        print("|---" * (len(table) + 1) + "|")
        for name in table["ours"]:
            cells = [f"{row[name]:.2f}" if name in row else "-" for row in table.values()]
            print(f"| {name} | {' | '.join(cells)} |")
    rewards(options.runs, with_official)
    return 0


if __name__ == "__main__":
    sys.exit(main())
