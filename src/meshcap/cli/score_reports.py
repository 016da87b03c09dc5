"""Scores in words: the aligned table, the signatures below it, and a row for a paper.

Knows scores and characters; nothing of files, options or of how anything is measured.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from meshcap.cli.saved_scores import Result, Rival
from meshcap.metrics import METRICS, Score
from meshcap.metrics.comparison import CONFIDENCE

PAPERS = {
    "bleu-1": "B-1",
    "bleu-4": "B-4",
    "meteor": "M",
    "rouge-l": "R",
    "cider-d": "C",
    "spice": "S",
}
"""The columns of the papers' tables, in their order. spice-lite is none of them."""

_NOTHING = "–"


# ---- the table


def table(result: Result, rival: Rival | None) -> list[str]:
    """The lines of the table and of the signatures."""
    rows = [_header(result, rival)]
    rows += [_row(score, result, rival) for score in result.scores.values()]
    return [*_aligned(rows), "", *_signatures(result.scores)]


def _header(result: Result, rival: Rival | None) -> list[str]:
    sure = f"{CONFIDENCE:.0%} interval".replace("%", " %")
    if rival is not None:
        return ["metric", "candidates", "other", "difference", sure, "p"]
    return ["metric", "score", *([sure] if result.intervals else [])]


def _row(score: Score, result: Result, rival: Rival | None) -> list[str]:
    value = digits(score.value, score)
    if rival is None:
        if not result.intervals:
            return [score.name, value]
        ends = result.intervals.get(score.name)
        return [score.name, value, _between(ends, score, sign="")]
    if (other := rival.scores.get(score.name)) is None:
        return [score.name, value, *[_NOTHING] * 4]
    difference = digits(score.value - other.value, score, sign="+")
    row = [score.name, value, digits(other.value, score), difference]
    if (found := rival.comparisons.get(score.name)) is None:
        return [*row, _NOTHING, _NOTHING]
    return [*row, _between((found.low, found.high), score, sign="+"), f"{found.p_value:.4f}"]


def digits(value: float, score: Score, sign: str = "") -> str:
    """A score to four digits, as the official tools print it; counts have fewer."""
    if not math.isfinite(value):
        return _NOTHING
    if score.percent:
        return f"{value:{sign}.4f}"
    return f"{value:{sign},.0f}" if value.is_integer() else f"{value:{sign},.2f}"


def _between(ends: tuple[float, float] | None, score: Score, *, sign: str) -> str:
    if ends is None:
        return _NOTHING
    return f"[{', '.join(digits(end, score, sign) for end in ends)}]"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Names to the left, numbers to the right, in columns."""
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for name, *numbers in rows:
        cells = [f"{number:>{width}}" for number, width in zip(numbers, wide[1:], strict=True)]
        yield "  ".join([f"{name:<{wide[0]}}", *cells]).rstrip()


def _signatures(scores: Mapping[str, Score]) -> Iterator[str]:
    """One line for all scores that were measured alike."""
    alike: dict[str, list[str]] = {}
    for name, score in scores.items():
        choices = str(score.signature).partition("|")[2]
        alike.setdefault(choices, []).append(name)
    for choices, names in alike.items():
        yield f"{' '.join(names)}: {choices}"


# ---- a row for a paper


def latex(result: Result, rival: Rival | None, *, named: bool) -> list[str]:
    """A tabular row a system, in the order and at the scale of papers, signatures as comments.

    When metrics were `named`, the columns are theirs; else they are those of the papers' tables.
    """
    there = result.scores
    columns = [name for name in PAPERS if name in there or not named]
    if named:
        columns += [name for name in there if name not in columns]
    heads = [PAPERS.get(name, name) for name in columns]
    lines = [f"% {line}" for line in _signatures({n: there[n] for n in columns if n in there})]
    lines += [f"% {name}: not measured" for name in columns if name not in there]
    lines.append(f"% & {' & '.join(heads)} \\\\")
    lines.append(_latex_row(result.candidates, there, columns))
    if rival is not None:
        lines.append(_latex_row(rival.source, rival.scores, columns))
    return lines


def _latex_row(source: str, scores: Mapping[str, Score], columns: Sequence[str]) -> str:
    cells = [_latex_number(scores[name]) if name in scores else "--" for name in columns]
    return f"{_latex_text(Path(source).name)} & {' & '.join(cells)} \\\\"


def _latex_number(score: Score) -> str:
    if not math.isfinite(score.value):
        return "--"
    return f"{score.value * 100:.1f}" if score.percent else digits(score.value, score)


def _latex_text(text: str) -> str:
    """Text with the characters that command TeX written out."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {character: f"\\{character}" for character in "_&%$#{}"}
    return "".join(special.get(character, character) for character in text)


# ---- what metrics there are


def metrics_there_are() -> list[str]:
    """A line a metric: its name, what it is, and the scores that it gives under other names."""
    rows = []
    for metric in METRICS.values():
        says = metric.says
        if metric.names != (metric.name,):
            says += f" ({', '.join(metric.names)})"
        if metric.better == "lower":
            says += "; lower is better"
        rows.append((metric.name, says if metric.usual else f"{says}; only when named"))
    wide = max(len(name) for name, _ in rows)
    return [f"{name:<{wide}}  {says}" for name, says in rows]
