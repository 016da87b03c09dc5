"""Captions in, scores out: checks what is given, tokenises once, runs metrics, signs the scores.

Knows captions by picture and the table of metrics; nothing of files, nor how any metric measures.
"""

import hashlib
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Literal

from meshcap import __version__
from meshcap.errors import CaptionError, MissingError, SettingError
from meshcap.metrics.base import CaptionWarning, Corpus, Measured, Metric, Score, Signature
from meshcap.metrics.table import METRICS, canonical

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is finished, and of how much."""

Tokeniser = Literal["ptb", "none"]
Repeats = Literal["kept", "removed"]

FEW_PICTURES = 50
"""Document frequencies counted in fewer pictures than this say little."""

_FIRST_FIELDS = ("tok", "idf", "refs", "end", "repeats")
_LEFT_IN = re.compile(
    r"<(?:unk|eos|end|bos|start|pad|sos|s|/s)>|<\|?end_?of_?text\|?>|\[(?:SEP|CLS|PAD|EOS|BOS)\]",
    re.IGNORECASE,
)


class Scores(Mapping[str, Score]):
    """Scores by name, in the order of the metrics."""

    def __init__(self, scores: Sequence[Score], missing: Mapping[str, str]) -> None:
        self._scores = {score.name: score for score in scores}
        self.missing = dict(missing)
        """Metrics that could not run, and in a sentence why."""

    def __getitem__(self, name: str) -> Score:
        try:
            return self._scores[name]
        except KeyError:
            why = self.missing.get(name.partition(".")[0], f"found are {', '.join(self)}")
            raise KeyError(f"no score '{name}' was measured: {why}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}: {score.value:.4f}" for name, score in self._scores.items())
        return f"<Scores {inner}>"


def no_progress(what: str, finished: int, of: int) -> None:
    """Watch nothing."""


def score(
    candidates: Mapping[Any, str],
    references: Mapping[Any, Sequence[str] | str],
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    *,
    tokeniser: Tokeniser = "ptb",
    repeats: Repeats = "kept",
    subset: bool = False,
    choices: Mapping[str, str] | None = None,
    missing: Literal["raise", "skip"] | None = None,
    progress: Progress = no_progress,
) -> Scores:
    """Score one candidate a picture against the picture's references.

    `metrics` are names of metrics or of their scores, or values such as `cider_d(end=True)`; None
    means the usual ones, as far as what they need is installed (`Scores.missing` says which is
    not). `tokeniser="none"` takes captions as tokens joined by blanks. `repeats="removed"` drops
    a candidate's words that repeat the one before, as the authors' evaluation does.
    `subset=True` leaves out references of pictures that have no candidate. `choices` are further
    entries of the signature, such as {"beam": "5"}; `missing` says what becomes of a metric that
    lacks its data: "raise" when it was named, "skip" otherwise.

    >>> found = score({"1": "a cat"}, {"1": ["a cat on a mat"]}, metrics=["bleu-1", "rouge-l"])
    >>> round(found["rouge-l"].value, 4)
    0.5328
    """
    _expect_choice("tokeniser", tokeniser, ("ptb", "none"))
    _expect_choice("repeats", repeats, ("kept", "removed"))
    chosen, wanted = _chosen(metrics)
    skip = missing == "skip" if missing else metrics is None
    ours, theirs = _candidates(candidates), _references(references)
    _expect_same_pictures(ours, theirs, subset=subset)
    _warn_of_captions(ours, theirs)
    pictures = tuple(ours)
    if repeats == "removed":
        ours = {picture: without_repeats(text) for picture, text in ours.items()}
    corpus = _tokenised(pictures, ours, theirs, tokeniser, progress)
    common = {
        "tok": tokeniser,
        "refs": _how_many(corpus),
        "repeats": repeats,
        "pictures": str(len(corpus)),
        "data": _fingerprint(pictures, theirs),
    }
    scores: list[Score] = []
    lacking: dict[str, str] = {}
    for metric in chosen:
        try:
            if metric.prepare is not None:
                metric.prepare(partial(progress, f"data of {metric.name}"))
            measured = metric.measure(corpus, _ticking(progress, metric.name, len(corpus)))
        except MissingError as error:
            if not skip:
                raise
            lacking[metric.name] = str(error)
            continue
        _expect_measured(metric, measured, len(corpus))
        _warn_of_idf(measured)
        scores += [
            Score(
                name,
                found.value,
                _signature(name, common, found.choices, choices or {}),
                pictures,
                found,
                metric.better,
                metric.percent,
            )
            for name, found in measured.items()
            if wanted is None or name in wanted
        ]
    return Scores(scores, lacking)


def without_repeats(caption: str) -> str:
    """A caption without words that repeat the word before, as the authors evaluate."""
    return " ".join(word for word, _ in groupby(caption.split(" ")))


# What is measured -------------------------------------------------------------------------------


def _expect_choice(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise SettingError(f"{name} is {value!r}; expected {' or '.join(map(repr, known))}")


def _chosen(
    metrics: Sequence[str | Metric] | str | Metric | None,
) -> tuple[list[Metric], set[str] | None]:
    """The metrics to run, each once, and the names of the scores to keep (None: all)."""
    if metrics is None:
        return [metric for metric in METRICS.values() if metric.usual], None
    if isinstance(metrics, str) or not isinstance(metrics, Sequence):
        metrics = [metrics]
    chosen: dict[str, Metric] = {}
    wanted: set[str] = set()
    for each in metrics:
        if not isinstance(each, str | Metric):
            raise SettingError(
                f"{each!r} is no metric; expected a name or a value such as cider_d()"
            )
        metric = each if isinstance(each, Metric) else METRICS.named(each)
        if isinstance(each, Metric) and each.name in chosen and chosen[each.name] is not each:
            raise SettingError(
                f"metric '{each.name}' is asked for twice; expected each once, "
                "or call score once for each setting"
            )
        chosen.setdefault(metric.name, metric)
        score_name = canonical(each) if isinstance(each, str) else metric.name
        wanted |= set(metric.names) if score_name == metric.name else {score_name}
    if not chosen:
        raise SettingError("no metric is named; expected at least one, or None for the usual ones")
    given = [name for metric in chosen.values() for name in metric.names]
    for name in given:
        if given.count(name) > 1:
            raise SettingError(f"two metrics give a score '{name}'; expected one")
    return list(chosen.values()), wanted


def _candidates(given: Mapping[Any, Any]) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise CaptionError(
            f"candidates are of type {type(given).__name__}; expected a mapping from pictures to "
            "captions"
        )
    found: dict[str, str] = {}
    for picture, caption in given.items():
        if isinstance(caption, list | tuple) and len(caption) == 1:
            caption = caption[0]  # as the official tools want it
        if not isinstance(caption, str):
            what = (
                f"{len(caption)} captions"
                if isinstance(caption, list | tuple)
                else f"a value of type {type(caption).__name__}"
            )
            raise CaptionError(f"the candidate of picture {picture} is {what}; expected one string")
        _add(found, picture, caption, "candidates")
    if not found:
        raise CaptionError("there are no candidates; expected at least one")
    return found


def _references(given: Mapping[Any, Any]) -> dict[str, tuple[str, ...]]:
    if not isinstance(given, Mapping):
        raise CaptionError(
            f"references are of type {type(given).__name__}; expected a mapping from pictures to "
            "lists of captions"
        )
    found: dict[str, tuple[str, ...]] = {}
    for picture, captions in given.items():
        captions = [captions] if isinstance(captions, str) else captions
        if not isinstance(captions, list | tuple):
            raise CaptionError(
                f"the references of picture {picture} are of type {type(captions).__name__}; "
                "expected a list of strings"
            )
        if not captions:
            raise CaptionError(f"picture {picture} has no references; expected at least one")
        for number, caption in enumerate(captions, start=1):
            if not isinstance(caption, str):
                raise CaptionError(
                    f"reference {number} of picture {picture} is of type "
                    f"{type(caption).__name__}; expected a string"
                )
        _add(found, picture, tuple(captions), "references")
    return found


def _add(found: dict[str, Any], picture: Any, value: Any, whose: str) -> None:
    name = str(picture)
    if name in found:
        raise CaptionError(f"{whose} name picture {name} twice, as a number and as a string, say")
    found[name] = value


def _expect_same_pictures(
    ours: Mapping[str, str], theirs: dict[str, tuple[str, ...]], *, subset: bool
) -> None:
    """Refuse pictures of one side alone; put references into the candidates' order."""
    lonely = [picture for picture in ours if picture not in theirs]
    if lonely:
        raise CaptionError(
            f"{_listed(lonely)} {'has a candidate' if len(lonely) == 1 else 'have candidates'} "
            "but no references; expected references for every candidate"
        )
    unanswered = [picture for picture in theirs if picture not in ours]
    if unanswered and not subset:
        raise CaptionError(
            f"{_listed(unanswered)} {'has' if len(unanswered) == 1 else 'have'} references but no "
            "candidate; expected a candidate for every picture (subset=True or --subset scores "
            "those that have one)"
        )
    ordered = {picture: theirs[picture] for picture in ours}
    theirs.clear()
    theirs.update(ordered)


def _listed(pictures: Sequence[str]) -> str:
    shown = ", ".join(pictures[:3])
    if len(pictures) == 1:
        return f"picture {shown}"
    more = f" and {len(pictures) - 3:,} more" if len(pictures) > 3 else ""
    return f"pictures {shown}{more}"


def _warn(sentence: str) -> None:
    warnings.warn(sentence, CaptionWarning, stacklevel=4)


def _warn_of_captions(ours: Mapping[str, str], theirs: Mapping[str, tuple[str, ...]]) -> None:
    empty = [picture for picture, text in ours.items() if not text.strip()]
    if empty:
        are = "candidate is" if len(empty) == 1 else "candidates are"
        _warn(f"{len(empty):,} {are} empty: {_listed(empty)}")
    empty = [picture for picture, texts in theirs.items() if not all(map(str.strip, texts))]
    if empty:
        have = "picture has" if len(empty) == 1 else "pictures have"
        _warn(f"{len(empty):,} {have} an empty reference: {_listed(empty)}")
    marked = {picture: mark for picture, text in ours.items() if (mark := _LEFT_IN.search(text))}
    if marked:
        first, mark = next(iter(marked.items()))
        hold = "candidate still holds" if len(marked) == 1 else "candidates still hold"
        _warn(
            f"{len(marked):,} {hold} a special word ('{mark.group()}' in picture {first}), which "
            "is scored as a word"
        )


def _expect_measured(metric: Metric, measured: Any, pictures: int) -> None:
    """Refuse what a metric, a user's own say, should not have given."""
    found = measured if isinstance(measured, Mapping) else {}
    if set(found) != set(metric.names):
        raise SettingError(
            f"metric '{metric.name}' gave {', '.join(map(str, found)) or 'nothing'}; expected a "
            f"mapping with {', '.join(metric.names)}"
        )
    for name, each in found.items():
        if not isinstance(each, Measured):
            raise SettingError(
                f"metric '{metric.name}' gave a {type(each).__name__} as {name}; expected Measured"
            )
        for what, values in (("scores", each.per_picture), ("statistics", each.statistics)):
            if values is not None and len(values) != pictures:
                raise SettingError(
                    f"metric '{metric.name}' gave {what} of {len(values)} pictures as {name}; "
                    f"expected {pictures}"
                )


def _warn_of_idf(measured: Mapping[str, Measured]) -> None:
    for name, found in measured.items():
        documents = found.details.get("documents", FEW_PICTURES)
        if documents < FEW_PICTURES:
            _warn(
                f"the document frequencies of {name} are counted in {documents:g} "
                f"picture{'' if documents == 1 else 's'}; scores by so few do not compare with "
                "others"
            )


# Into tokens, and signed ------------------------------------------------------------------------


def _tokenised(
    pictures: tuple[str, ...],
    ours: Mapping[str, str],
    theirs: Mapping[str, tuple[str, ...]],
    tokeniser: Tokeniser,
    progress: Progress,
) -> Corpus:
    texts = [ours[picture] for picture in pictures]
    texts += [text for picture in pictures for text in theirs[picture]]
    if tokeniser == "ptb":
        from meshcap.metrics.ptb import tokenise_all

        texts = tokenise_all(texts, _ticking(progress, "tokens", len(texts)))
    references = iter(texts[len(pictures) :])
    return Corpus(
        pictures,
        tuple(texts[: len(pictures)]),
        tuple(tuple(next(references) for _ in theirs[picture]) for picture in pictures),
        tuple(ours[picture] for picture in pictures),
    )


def _ticking(progress: Progress, what: str, of: int) -> Callable[[int], None]:
    finished = 0

    def tick(newly: int) -> None:
        nonlocal finished
        finished += newly
        progress(what, finished, of)

    return tick


def _how_many(corpus: Corpus) -> str:
    many = {len(references) for references in corpus.references}
    return str(min(many)) if len(many) == 1 else f"{min(many)}-{max(many)}"


def _fingerprint(pictures: Sequence[str], theirs: Mapping[str, tuple[str, ...]]) -> str:
    """Eight digits that tell sets of references apart; the order of pictures does not matter."""
    whole = hashlib.sha256()
    for picture in sorted(pictures):
        for text in (picture, *theirs[picture]):
            data = text.encode("utf-8", "surrogatepass")
            whole.update(len(data).to_bytes(8, "little") + data)
        whole.update(b"\xff" * 8)
    return whole.hexdigest()[:8]


def _signature(name: str, *fields: Mapping[str, str]) -> Signature:
    choices: dict[str, str] = {}
    for each in fields:
        for key, value in each.items():
            if not key or set("|:") & set(key) or "|" in str(value):
                raise SettingError(
                    f"a signature cannot hold '{key}:{value}'; expected a name without ':' and "
                    "'|', and a value without '|'"
                )
        for key in each.keys() & {*choices, "meshcap"}:
            raise SettingError(
                f"the signature of {name} says '{key}' already; expected another name than "
                f"'{key}' for a choice of yours"
            )
        choices |= each
    first = {key: choices[key] for key in _FIRST_FIELDS if key in choices}
    return Signature.of(name, first | choices | {"meshcap": __version__})
