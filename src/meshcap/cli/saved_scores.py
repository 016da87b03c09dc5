"""Scores as JSON: what `--json` prints, what `--per-picture` writes, and both read again.

Knows scores and their files; nothing of captions' forms, of options or of how anything is
measured. A file of JSON lines begins with what `--json` prints, and has a line for each picture
after it, so that a later run can compare with it picture by picture.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from meshcap.data.documents import is_json_lines, json_lines, parsed
from meshcap.data.gathering import shown
from meshcap.errors import CaptionError, FileError
from meshcap.files import written_whole
from meshcap.metrics import Comparison, Measured, Score, Signature

FORMAT, VERSION = "meshcap scores", 1


@dataclass(frozen=True)
class Result:
    """All that one run of `meshcap score` found."""

    candidates: str
    references: Sequence[str]
    scores: Mapping[str, Score]
    texts: Mapping[str, str]
    """The candidate of each picture."""
    matched_by: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rival:
    """The scores of the other system, and how they compare."""

    source: str
    scores: Mapping[str, Score]
    comparisons: Mapping[str, Comparison]
    """Those that a bootstrap could compare."""
    samples: int
    seed: int
    texts: Mapping[str, str] = field(default_factory=dict)


# ---- written


def as_object(result: Result, rival: Rival | None) -> dict[str, Any]:
    """What `--json` prints."""
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "candidates": result.candidates,
        "references": list(result.references),
        "pictures": len(result.texts),
        "matched_by": result.matched_by,
        "scores": {},
        "missing": dict(result.missing),
    }
    for name, score in result.scores.items():
        entry: dict[str, Any] = {
            "value": _number(score.value),
            "better": score.better,
            "percent": score.percent,
            "signature": str(score.signature),
            "choices": dict(score.signature.choices),
        }
        if name in result.intervals:
            entry["interval"] = [_number(end) for end in result.intervals[name]]
        found["scores"][name] = entry
    if rival is not None:
        found["against"] = _against(result, rival)
    return found


def _against(result: Result, rival: Rival) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    for name, other in rival.scores.items():
        difference = result.scores[name].value - other.value
        entry: dict[str, Any] = {"value": _number(other.value), "difference": _number(difference)}
        if (comparison := rival.comparisons.get(name)) is not None:
            entry["interval"] = [_number(comparison.low), _number(comparison.high)]
            entry["p_value"] = _number(comparison.p_value)
        scores[name] = entry
    return {
        "candidates": rival.source,
        "samples": rival.samples,
        "seed": rival.seed,
        "scores": scores,
    }


def _number(value: float) -> float | None:
    """JSON has no NaN: what is defined for no picture is null."""
    return value if math.isfinite(value) else None


def write_per_picture(path: str, result: Result, rival: Rival | None) -> None:
    """Write each picture's scores: as a table when the name ends in .csv or .tsv, else as JSON."""
    separator = {".csv": ",", ".tsv": "\t"}.get(Path(path).suffix.lower())
    with (
        written_whole(path) as temporary,
        # Half a character, which a caption in JSON can hold, becomes its code.
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        if separator is None:
            for each in _json_lines(result, rival):
                file.write(json.dumps(each) + "\n")
        else:
            rows = csv.writer(file, delimiter=separator, lineterminator="\n")
            rows.writerows(_rows(result, rival))


def _json_lines(result: Result, rival: Rival | None) -> Iterator[dict[str, Any]]:
    yield as_object(result, rival)
    scores = _each_picture(result.scores)
    theirs = {} if rival is None else _each_picture(rival.scores)
    statistics = _statistics(result.scores)
    for number, (picture, text) in enumerate(result.texts.items()):
        line: dict[str, Any] = {
            "picture": picture,
            "candidate": text,
            "scores": {name: _number(values[number]) for name, values in scores.items()},
        }
        if rival is not None:
            if rival.texts:
                line["other_candidate"] = rival.texts[picture]
            line["other_scores"] = {name: _number(each[number]) for name, each in theirs.items()}
            line["differences"] = {
                name: _number(scores[name][number] - each[number]) for name, each in theirs.items()
            }
        if statistics:
            line["statistics"] = {
                names: [_number(value) for value in values[number]]
                for names, values in statistics.items()
            }
        yield line


def _rows(result: Result, rival: Rival | None) -> Iterator[list[Any]]:
    scores = _each_picture(result.scores)
    theirs = {} if rival is None else _each_picture(rival.scores)
    header = ["picture", "candidate"]
    header += ["other candidate"] if rival and rival.texts else []
    for name in scores:
        header += [name, f"other {name}", f"difference {name}"] if name in theirs else [name]
    yield header
    for number, (picture, text) in enumerate(result.texts.items()):
        row: list[Any] = [picture, text]
        row += [rival.texts[picture]] if rival and rival.texts else []
        for name, values in scores.items():
            row.append(values[number])
            if name in theirs:
                row += [theirs[name][number], values[number] - theirs[name][number]]
        yield row


def _each_picture(scores: Mapping[str, Score]) -> dict[str, list[float]]:
    return {
        name: score.measured.per_picture.tolist()
        for name, score in scores.items()
        if score.measured.per_picture is not None
    }


def _statistics(scores: Mapping[str, Score]) -> dict[str, list[list[float]]]:
    """What a bootstrap needs beyond the scores of pictures, by the names of its scores.

    BLEU's four share theirs. Scores that are means need none.
    """
    names: dict[int, list[str]] = {}
    arrays: dict[int, Any] = {}
    for name, score in scores.items():
        statistics = score.measured.statistics
        if statistics is None or _is_plain(score.measured):
            continue
        names.setdefault(id(statistics), []).append(name)
        arrays[id(statistics)] = statistics
    return {" ".join(names[key]): array.tolist() for key, array in arrays.items()}


def _is_plain(measured: Measured) -> bool:
    """Whether the statistics are the pictures' scores themselves."""
    values, statistics = measured.per_picture, measured.statistics
    if values is None or statistics is None or statistics.shape != (len(values), 1):
        return False
    return bool(np.array_equal(statistics[:, 0], values, equal_nan=True))


# ---- read again


def is_result(text: str) -> bool:
    """Whether a file's text is one that this program wrote as scores."""
    start = text[:200].lstrip().replace(" ", "").replace("\n", "")
    return start.startswith(f'{{"format":"{FORMAT}"'.replace(" ", ""))


def read_result(
    text: str, source: str, ours: Mapping[str, Score]
) -> tuple[dict[str, Score], dict[str, str]]:
    """The scores of an earlier run that this one has too, and its candidates where it says them.

    Statistics become scores by our own run's functions: equal signatures mean equal functions.
    """
    lines: list[dict[str, Any]] = []
    if is_json_lines(text):
        whole, *lines = [value for _, value in json_lines(text, source=source)]
    else:
        whole = parsed(text, source=source)
    if whole.get("version") != VERSION:
        raise FileError(
            f"'{source}' holds scores of version {shown(whole.get('version'))}; expected {VERSION}"
        )
    try:
        lines = _in_order(lines, next(iter(ours.values())).pictures)
        found = {
            name: _score(name, entry, lines, ours[name])
            for name, entry in whole["scores"].items()
            if name in ours
        }
        texts = {str(line["picture"]): str(line["candidate"]) for line in lines}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileError(
            f"'{source}' is no whole result of `meshcap score` ({type(error).__name__}: {error})"
        ) from error
    if not found:
        raise CaptionError(
            f"'{source}' has none of our scores: it has {', '.join(whole['scores']) or 'none'}, "
            f"we have {', '.join(ours)}"
        )
    return found, texts


def _in_order(lines: list[dict[str, Any]], pictures: Sequence[str]) -> list[dict[str, Any]]:
    """The lines in the order of our pictures, when they are of the same ones."""
    by_picture = {str(line["picture"]): line for line in lines}
    if len(by_picture) != len(lines):
        raise ValueError("a picture has several lines")
    if by_picture.keys() != set(pictures):
        return lines
    return [by_picture[picture] for picture in pictures]


def _score(name: str, entry: Mapping[str, Any], lines: list[dict[str, Any]], ours: Score) -> Score:
    value = math.nan if entry["value"] is None else float(entry["value"])
    signature = Signature.of(name, entry["choices"])
    # A result without lines is of our pictures if its signature is ours.
    pictures = tuple(str(line["picture"]) for line in lines) or ours.pictures
    if not lines or not all(name in line["scores"] for line in lines):
        return Score(name, value, signature, pictures, Measured(value), ours.better, ours.percent)
    per_picture = _array([line["scores"][name] for line in lines])
    key = next((key for key in lines[0].get("statistics", {}) if name in key.split()), None)
    statistics = (
        per_picture[:, None] if key is None else _array([line["statistics"][key] for line in lines])
    )
    expected = ours.measured.statistics
    same = expected is not None and expected.shape[1:] == statistics.shape[1:]
    measured = Measured(
        value,
        per_picture,
        statistics if same else None,
        ours.measured.total if same else None,
    )
    return Score(name, value, signature, pictures, measured, ours.better, ours.percent)


def _array(values: list[Any]) -> Any:
    """Numbers as an array, null as NaN."""
    return np.array(values, dtype=np.float64)
