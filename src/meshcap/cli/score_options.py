"""The options of `meshcap score`, what each may be, and what its help says.

Knows argparse; nothing of what the options do.
"""

import argparse
from typing import Any

SAMPLES, SEED = 1000, 0
SIGNED = {"tok", "refs", "repeats", "pictures", "data", "idf", "end", "meshcap"}
"""What signatures say in any case, so that no note may."""


class _List(argparse.Action):
    """A list of metrics needs no captions."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        _values: Any,
        _option: str | None = None,
    ) -> None:
        """Remember it, and require nothing else."""
        setattr(namespace, self.dest, True)
        for action in parser._actions:
            action.required = False


def add_options(score: argparse.ArgumentParser) -> None:
    """Add all that the command takes besides its files."""
    _add_choices(score)
    _add_measuring(score)
    _add_comparing(score)
    _add_output(score)


def _add_choices(score: argparse.ArgumentParser) -> None:
    what = score.add_argument_group("what is scored")
    what.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="a metric or one of its scores, such as bleu-4; repeat it or separate by commas "
        "(default: the usual ones that are installed)",
    )
    what.add_argument("--list", action=_List, nargs=0, help="say what metrics there are, and stop")
    what.add_argument(
        "--split",
        metavar="NAME",
        help="take the references of these splits only, separated by commas; for Karpathy's JSON",
    )
    what.add_argument(
        "--subset", action="store_true", help="score only the pictures that have a candidate"
    )
    what.add_argument(
        "--match-numbers",
        action="store_true",
        help="match names of pictures by the number that they end with, so that "
        "COCO_val2014_000000391895.jpg is 391895",
    )
    what.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="a Python module, or a .py file, that registers further metrics; it is run",
    )


def _add_measuring(score: argparse.ArgumentParser) -> None:
    how = score.add_argument_group("how it is measured")
    how.add_argument(
        "--tokens",
        choices=("ptb", "none"),
        default="ptb",
        help="ptb: tokenise as the official tools do; none: words are separated by blanks already "
        "(default: ptb)",
    )
    how.add_argument(
        "--repeats",
        choices=("kept", "removed"),
        default="kept",
        help="removed: drop a candidate's words that repeat the word before (default: kept)",
    )
    how.add_argument(
        "--idf",
        metavar="FILE",
        help="saved document frequencies for CIDEr (default: those of the references)",
    )
    how.add_argument(
        "--vocabulary",
        metavar="FILE",
        help="with an --idf file of words' numbers: JSON that says each word's number",
    )
    how.add_argument(
        "--end", action="store_true", help="for CIDEr, the end of a caption counts as a word"
    )
    tuples = how.add_mutually_exclusive_group()
    tuples.add_argument(
        "--spice-tuples",
        metavar="FILE",
        help="measure `spice` of these tuples: what official SPICE wrote with -detailed, or tuples "
        "by picture",
    )
    tuples.add_argument(
        "--spice-trees",
        action="append",
        metavar="FILE",
        help="measure `spice` of these dependency trees, in CoNLL-U; repeat it for several files",
    )
    tuples.add_argument(
        "--spice-jars",
        metavar="FOLDER",
        help="measure `spice` by the official tool, with the jars of CoreNLP 3.6.0 in this folder "
        "(default: MESHCAP_CORENLP)",
    )
    how.add_argument(
        "--training",
        metavar="FILE",
        help="captions that the model was trained on; adds the metric `novel`",
    )
    how.add_argument(
        "--note",
        action="append",
        default=[],
        type=_note,
        metavar="NAME=VALUE",
        help="put this into the signatures, such as beam=5",
    )


def _add_comparing(score: argparse.ArgumentParser) -> None:
    sure = score.add_argument_group("how sure it is")
    sure.add_argument(
        "--against",
        metavar="OTHER",
        help="compare by a paired bootstrap with another system: its captions, or what an earlier "
        "run wrote by --per-picture (JSON) or --json",
    )
    sure.add_argument(
        "--intervals", action="store_true", help="bootstrap intervals of the scores themselves"
    )
    sure.add_argument(
        "--samples",
        type=_at_least_one,
        default=SAMPLES,
        metavar="N",
        help=f"how often pictures are drawn anew (default: {SAMPLES})",
    )
    sure.add_argument(
        "--seed",
        type=_not_negative,
        default=SEED,
        metavar="N",
        help=f"the same seed gives the same intervals (default: {SEED})",
    )


def _add_output(score: argparse.ArgumentParser) -> None:
    output = score.add_argument_group("what is written")
    output.add_argument(
        "--per-picture",
        metavar="FILE",
        help="also write each picture's scores: a table if it ends in .csv or .tsv, "
        "otherwise JSON lines",
    )
    form = output.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument(
        "--latex", action="store_true", help="print a row for a paper: B-1 B-4 M R C S, times 100"
    )


def _note(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name and value) or set("|:") & set(name) or "|" in value:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no note; expected NAME=VALUE, without '|', and NAME without ':'"
        )
    if name in SIGNED:
        raise argparse.ArgumentTypeError(f"signatures say '{name}' already; expected another name")
    return name, value


def _at_least_one(text: str) -> int:
    return _number(text, 1)


def _not_negative(text: str) -> int:
    return _number(text, 0)


def _number(text: str, least: int) -> int:
    try:
        found = int(text)
    except ValueError:
        found = least - 1
    if found < least:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number of at least {least}")
    return found
