"""`meshcap score`: candidates and references in, scores with their signatures out. No torch.

Knows the command's options and the order of its work; forms of captions are `meshcap.data`'s
business, metrics `meshcap.metrics`'s, and how scores are printed `score_reports.py`'s.
"""

import argparse
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from meshcap.cli.score_options import add_options
from meshcap.cli.terminal import Progress, command, printable
from meshcap.errors import FileError, SettingError

if TYPE_CHECKING:
    from meshcap.cli.saved_scores import Result, Rival
    from meshcap.cli.score_metrics import Chosen
    from meshcap.data import Captions, Matched
    from meshcap.metrics import Score, Scores

STDIN = "-"
_EXAMPLE = """\
  meshcap score results.json captions_val2014.json
  meshcap score results.json dataset_coco.json --split test --metric cider-d,bleu --json
  meshcap score ours.txt refs1.txt refs2.txt --against theirs.txt --per-picture differences.csv"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the program's."""
    score = command(
        commands,
        "score",
        says="score captions against references, with the metrics of the papers",
        example=_EXAMPLE,
    )
    score.add_argument(
        "candidates",
        metavar="CANDIDATES",
        help="one caption a picture: COCO's results, JSON lines, an object of pictures, or text, "
        "a caption a line or `picture<TAB>caption`; `-` is standard input; .gz is fine",
    )
    score.add_argument(
        "references",
        metavar="REFERENCES",
        nargs="+",
        help="COCO's captions, Karpathy's JSON, or any form of CANDIDATES; several files are "
        "merged by picture, or, as lines of text, are parallel",
    )
    add_options(score)
    score.set_defaults(run=partial(_score, score))


# ---- the command


def _score(usage: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    from meshcap.cli import score_reports
    from meshcap.cli.saved_scores import as_object, write_per_picture
    from meshcap.cli.score_metrics import chosen_metrics, load_plugin
    from meshcap.files import expect_writable

    if options.vocabulary is not None and options.idf is None:
        usage.error("--vocabulary goes with --idf")
    if options.intervals and (options.against is not None or options.latex):
        usage.error("--intervals goes without --against and --latex")
    if len(dict(options.note)) < len(options.note):
        usage.error("argument --note: a name comes twice; expected each once")
    for plugin in options.plugin:
        load_plugin(plugin)
    if options.list:
        _print(score_reports.metrics_there_are())
        return 0
    if options.per_picture is not None:
        if options.per_picture == STDIN or options.per_picture.endswith(".gz"):
            usage.error(
                f"argument --per-picture: '{options.per_picture}' would be a plain file; expected "
                "the name of one, without .gz"
            )
        expect_writable(options.per_picture)
        _expect_other(options.per_picture, _read_files(options))
    chosen = chosen_metrics(options, usage)
    with _said(quiet=options.quiet) as say, Progress(quiet=options.quiet) as progress:
        result, rival = _measured(options, chosen, progress, say)
        for name, why in result.missing.items():
            say.append(f"{name} was not measured: {why}")
    if options.per_picture is not None:
        write_per_picture(options.per_picture, result, rival)
    if options.json:
        import json

        print(json.dumps(as_object(result, rival)))
    elif options.latex:
        named = chosen.scores is not None
        _print(score_reports.latex(result, rival, named=named))
    else:
        _print(score_reports.table(result, rival))
    return 0


def _measured(
    options: argparse.Namespace, chosen: "Chosen", progress: Progress, say: list[str]
) -> "tuple[Result, Rival | None]":
    from meshcap.cli.saved_scores import Result
    from meshcap.data import read_references
    from meshcap.metrics import interval
    from meshcap.metrics.comparison import can_resample

    references = read_references(options.references, splits=_splits(options.split))
    captions = _candidates(options.candidates)
    found = _matched(options, captions, references, say)
    scores = _scores(options, chosen, found, progress)
    kept = {name: score for name, score in scores.items() if chosen.reports(name)}
    intervals = {}
    if options.intervals:
        for done, (name, score) in enumerate(kept.items()):
            if can_resample(score):
                progress("intervals", done, len(kept))
                intervals[name] = interval(score, samples=options.samples, seed=options.seed)
    result = Result(
        options.candidates,
        options.references,
        kept,
        found.candidates,
        found.by,
        scores.missing,
        intervals,
    )
    if options.against is None:
        return result, None
    return result, _rival(options, chosen, result, references, progress, say)


def _rival(
    options: argparse.Namespace,
    chosen: "Chosen",
    ours: "Result",
    references: "Captions",
    progress: Progress,
    say: list[str],
) -> "Rival":
    from meshcap.cli.saved_scores import Rival, is_result, read_result
    from meshcap.cli.score_metrics import without_brought_tuples
    from meshcap.data import captions_of
    from meshcap.data.documents import read_text
    from meshcap.metrics import compare
    from meshcap.metrics.comparison import can_resample, expect_comparable

    text = read_text(options.against)
    texts: Mapping[str, str] = {}
    scores: Mapping[str, Score]
    if is_result(text):
        scores, texts = read_result(text, options.against, ours.scores)
    else:
        found = _matched(options, captions_of(text, source=options.against), references, say)
        theirs = without_brought_tuples(chosen, options)
        if len(theirs.metrics) < len(chosen.metrics):
            say.append(
                f"spice of '{options.against}' was not measured, for the tuples or trees are those "
                f"of '{options.candidates}'; give what an earlier run of the other wrote"
            )
        with _about(options.against):
            measured = _scores(options, theirs, found, progress) if theirs.metrics else {}
        scores = {name: each for name, each in measured.items() if name in ours.scores}
        texts = found.candidates
    comparisons = {}
    for done, (name, other) in enumerate(scores.items()):
        score = ours.scores[name]
        expect_comparable(score, other)
        defined = math.isfinite(score.value) and math.isfinite(other.value)
        if defined and can_resample(score) and can_resample(other):
            progress("bootstrap", done, len(scores))
            comparisons[name] = compare(score, other, samples=options.samples, seed=options.seed)
    return Rival(options.against, scores, comparisons, options.samples, options.seed, texts)


def _scores(
    options: argparse.Namespace, chosen: "Chosen", found: "Matched", progress: Progress
) -> "Scores":
    from meshcap.metrics import score

    return score(
        found.candidates,
        found.references,
        chosen.metrics,
        tokeniser=options.tokens,
        repeats=options.repeats,
        choices=dict(options.note),
        missing=chosen.missing,
        progress=progress,
    )


# ---- what is read


def _candidates(path: str) -> "Captions":
    from meshcap.data import captions_in, read_captions
    from meshcap.data.documents import MOST_BYTES

    if path != STDIN:
        return read_captions(path)
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise FileError(f"standard input holds more than the {MOST_BYTES:,} bytes allowed")
    return captions_in(data, source="standard input")


def _splits(given: str | None) -> list[str]:
    return [] if given is None else [name.strip() for name in given.split(",")]


def _matched(
    options: argparse.Namespace, captions: "Captions", references: "Captions", say: list[str]
) -> "Matched":
    from meshcap.data import matched

    found = matched(captions, references, subset=options.subset, numbers=options.match_numbers)
    if found.by != references.named_by:
        say.append(f"pictures of '{captions.source}' are matched by {found.by}")
    return found


def _read_files(options: argparse.Namespace) -> list[str]:
    read = [options.candidates, *options.references]
    read += [options.against, options.idf, options.vocabulary, options.training]
    read += [options.spice_tuples, *(options.spice_trees or ()), *options.plugin]
    return [path for path in read if path is not None]


def _expect_other(written: str, read: Sequence[str]) -> None:
    """What is written must not replace what is read by the same command."""
    for path in map(Path, read):
        if path.exists() and Path(written).exists() and path.samefile(written):
            raise SettingError(f"'{written}' is named twice; expected another file to write")


# ---- what is said


@contextmanager
def _said(*, quiet: bool) -> Iterator[list[str]]:
    """Sentences for stderr, warnings about captions among them, each once; none after an error."""
    from meshcap.metrics import CaptionWarning
    from meshcap.metrics.cache import CacheWarning

    ours = (CaptionWarning, CacheWarning)
    said: list[str] = []
    with warnings.catch_warnings(record=True) as warned:
        for kind in ours:
            warnings.simplefilter("always", kind)
        yield said
    for each in warned:
        if issubclass(each.category, ours):
            said.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    for sentence in () if quiet else dict.fromkeys(said):
        print(f"meshcap: {printable(sentence)}", file=sys.stderr)


@contextmanager
def _about(path: str) -> Iterator[None]:
    """Warnings about candidates name the file, where it is not the one that one thinks of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield
    for each in warned:
        about = f"'{path}': " if "candidate" in str(each.message) else ""
        warnings.warn_explicit(f"{about}{each.message}", each.category, each.filename, each.lineno)


def _print(lines: Sequence[str]) -> None:
    for line in lines:
        print(printable(line))
