"""Beam search over word numbers, batched; greedy search is its smallest case.

Knows scores and beams; nothing of pictures, regions or the network.

Shapes: B pictures, K beams, N candidates a beam, T words, V vocabulary.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, isnan
from operator import index
from typing import Any, NamedTuple
from weakref import WeakSet

import torch
from torch import Tensor

from meshcap.errors import FeatureError, SettingError
from meshcap.regions import Regions
from meshcap.search.protocol import Hypotheses, NextWord, Reservable, S
from meshcap.search.replay import replayed
from meshcap.search.top import largest
from meshcap.special_words import SPECIAL_WORDS, SpecialWords

_NEVER = float("-inf")
_ROUNDING = 1e-3


@dataclass(frozen=True)
class BeamSettings:
    """A search's choices, as a value."""

    beams: int
    length: int
    least: int
    length_normalisation: float
    forbidden: tuple[int, ...]
    no_repeats: bool
    special: SpecialWords


class Beams(NamedTuple):
    """The sentences so far of each picture, the best first."""

    words: Tensor  # (B, K, T)
    log_probs: Tensor  # (B, K, T)
    scores: Tensor  # (B, K) sums of log_probs
    lengths: Tensor  # (B, K) words spoken, the end included; counted where scores need them
    finished: Tensor  # (B, K) booleans


class Candidates(NamedTuple):
    """The ways on from each beam, the best first."""

    words: Tensor  # (B, K, N)
    log_probs: Tensor  # (B, K, N)


def beam_search(
    words: NextWord[S],
    regions: Any,
    *,
    beams: int = 5,
    length: int = 20,
    captions: int | None = None,
    least: int = 0,
    length_normalisation: float = 0.0,
    forbidden: Iterable[int] | None = None,
    no_repeats: bool = False,
    dropout: bool = False,
    replay: bool = True,
) -> Hypotheses:
    """The most probable sentences of each picture that `beams` beams find.

    A sentence's score is the sum of its words' log-probabilities, its end's included. A finished
    beam keeps its score and its place among the others.

    `length`: the most words, the end counted. `captions`: how many to return, else all beams.
    `least`: no end before so many words. `length_normalisation`: α of score / words^α; 0 is off.
    `forbidden`: words never said; else those that `words` names in its `special_words`.
    `no_repeats`: no word twice in a row. `dropout`: a model in training mode is meant to be;
    else a warning says that its searches differ from one another. `replay`: on a GPU, record a
    search whose shapes come again and replay it (search/replay.py).
    """
    special = getattr(words, "special_words", SPECIAL_WORDS)
    beams, length = _count("beams", beams, 1), _count("length", length, 1)
    least = _count("least", least, 0)
    captions = None if captions is None else _count("captions", captions, 1)
    if not isinstance(length_normalisation, (int, float)) or not isfinite(length_normalisation):
        raise SettingError(
            f"'length_normalisation' is {length_normalisation!r}; expected a number, 0 for none"
        )
    if not isinstance(forbidden, Iterable | None):
        raise SettingError(f"'forbidden' is {forbidden!r}; expected several words' numbers")
    chosen = special.never_spoken if forbidden is None else forbidden
    never = {_count("forbidden", word, 0) for word in chosen}
    settings = BeamSettings(
        beams,
        length,
        least,
        float(length_normalisation),
        tuple(sorted(never)),
        bool(no_repeats),
        special,
    )
    _check(settings, captions, getattr(words, "longest", None))
    if isinstance(regions, Tensor) and regions.is_floating_point() and regions.dim() in (2, 3):
        regions = Regions(regions)  # bare features; whatever else a NextWord takes goes through
    if getattr(words, "training", False) and not dropout:
        _say_once(words)
    with torch.no_grad():
        found = replayed(words, regions, settings, _search) if replay else None
        if found is None:
            found = _search(words, regions, settings)
    return found if captions is None else found.best(captions)


def greedy_search(
    words: NextWord[S], regions: Any, *, length: int = 20, **settings: Any
) -> Hypotheses:
    """The sentence that takes the most probable word at each step: one beam, K = 1."""
    return beam_search(words, regions, beams=1, length=length, **settings)


_told: WeakSet[Any] = WeakSet()


def _say_once(words: Any) -> None:
    if words not in _told:
        _told.add(words)
        logging.getLogger(__name__).warning(
            "the model is in training mode, so that dropout makes each search different: "
            "call its eval(), or say dropout=True if this is meant"
        )


def _count(name: str, value: Any, lowest: int) -> int:
    """A whole number of any kind, numpy's too, as Python's."""
    try:
        count = None if isinstance(value, bool) else index(value)
    except TypeError:
        count = None
    if count is None or count < lowest:
        raise SettingError(f"'{name}' is {value!r}; expected a whole number of at least {lowest}")
    return count


def _check(settings: BeamSettings, captions: int | None, longest: int | None) -> None:
    if captions is not None and captions > settings.beams:
        raise SettingError(
            f"'captions' is {captions}; {settings.beams} beams find at most {settings.beams}"
        )
    if longest is not None and settings.length > longest:
        raise SettingError(
            f"'length' is {settings.length}; this model has positions for {longest} words"
        )
    if settings.least >= settings.length:
        raise SettingError(
            f"'least' is {settings.least}; expected less than 'length', {settings.length}"
        )


def _search(words: NextWord[S], regions: Any, settings: BeamSettings) -> Hypotheses:
    special, length = settings.special, settings.length
    pictures, device = _pictures(regions), _device_of(regions)
    state = words.start(regions)
    if isinstance(state, Reservable):
        state = state.reserve(settings.beams, length)
    newest = torch.full((pictures,), special.beginning, dtype=torch.int64, device=device)
    picture = torch.arange(pictures, device=device)[:, None]
    # One beam a picture until the first word is chosen.
    beams = Beams(
        words=torch.full((pictures, 1, length), special.after_end, device=device),
        log_probs=torch.zeros(pictures, 1, length, dtype=torch.float32, device=device),
        scores=torch.zeros(pictures, 1, dtype=torch.float32, device=device),
        lengths=torch.zeros(pictures, 1, dtype=torch.int64, device=device),
        finished=torch.zeros(pictures, 1, dtype=torch.bool, device=device),
    )
    never = {*settings.forbidden}
    penalty: Tensor | None = None
    # A finished beam has one way on: to say nothing, at its unchanged score.
    silence = torch.full(
        (settings.beams + len(never) + 2,), _NEVER, dtype=torch.float32, device=device
    )
    silence.narrow(0, 0, 1).fill_(0.0)
    for t in range(length):
        log_probs, state = words.step(newest, state)
        before = beams.scores.shape[1]
        _expect_log_probs(log_probs, newest, check_numbers=t == 0 and device.type == "cpu")
        log_probs = log_probs.float().view(pictures, before, -1)  # (B, K, V)
        if t in (0, settings.least):
            early = {special.end} if t < settings.least else set()
            penalty = _penalty(log_probs.shape[-1], never | early, device)
        candidates = _candidates(log_probs, beams, penalty, silence, t, settings)
        beams, parents = _advance(beams, candidates, t, settings)
        if t + 1 == length or (device.type == "cpu" and _settled(beams)):
            break  # a GPU is not asked: it would make the search wait at every word
        state = state.follow((picture * before + parents).flatten())
        newest = beams.words[..., t].flatten()
    return _hypotheses(beams, settings)


def _settled(beams: Beams) -> bool:
    """Whether no beam can change: each has finished, or is no sentence at all."""
    return bool((beams.finished | (beams.scores == _NEVER)).all())


def _candidates(
    log_probs: Tensor,  # (B, K, V)
    beams: Beams,
    penalty: Tensor | None,  # (V,)
    silence: Tensor,  # (N or more,)
    t: int,
    settings: BeamSettings,
) -> Candidates:
    """Each beam's best next words, (B, K, N); those that are not allowed at -inf.

    No more than K of one beam's words can be among the K best of its picture, so N is K, and as
    many more as there are words that may turn out not to be allowed.
    """
    repeats = settings.no_repeats and t > 0
    spare = len(settings.forbidden) + (t < settings.least) + repeats
    best, words = largest(log_probs, min(log_probs.shape[-1], settings.beams + spare))
    if penalty is not None:
        best = best + penalty[words]
    if repeats:
        best = best.masked_fill(words == beams.words[..., t - 1 : t], _NEVER)
    finished = beams.finished[..., None]
    return Candidates(
        words.masked_fill(finished, settings.special.after_end),
        torch.where(finished, silence[: best.shape[-1]], best),
    )


def _advance(
    beams: Beams, candidates: Candidates, t: int, settings: BeamSettings
) -> tuple[Beams, Tensor]:
    """The best K of all candidates of a picture, and the beams (B, K) that they continue."""
    totals = (beams.scores[..., None] + candidates.log_probs).flatten(1)  # (B, K * N)
    ways = candidates.words.shape[-1]
    kept = min(settings.beams, totals.shape[1])
    lengths = beams.lengths
    if settings.length_normalisation:
        lengths = lengths + ~beams.finished
        ranks = totals / lengths.repeat_interleave(ways, 1) ** settings.length_normalisation
        chosen = ranks.topk(kept, dim=1).indices  # (B, K)
        scores = totals.gather(1, chosen)
    else:
        scores, chosen = totals.topk(kept, dim=1)
    parents = chosen.div(ways, rounding_mode="floor")
    if settings.length_normalisation:
        lengths = lengths.gather(1, parents)
    history = parents[..., None].expand(-1, -1, settings.length)
    words, log_probs = beams.words.gather(1, history), beams.log_probs.gather(1, history)
    words[..., t] = candidates.words.flatten(1).gather(1, chosen)
    log_probs[..., t] = candidates.log_probs.flatten(1).gather(1, chosen)
    finished = beams.finished.gather(1, parents) | (words[..., t] == settings.special.end)
    return Beams(words, log_probs, scores, lengths, finished), parents


def _penalty(size: int, never: set[int], device: torch.device) -> Tensor | None:
    """(V,) zeros, and -inf for words that must not be said; None where all may be."""
    if not never:
        return None
    penalty = torch.zeros(size, dtype=torch.float32, device=device)
    for word in sorted(never):  # one by one: a list of them would have to be copied to a GPU
        if not 0 <= word < size:
            raise SettingError(f"forbidden word {word} is not among the {size} words")
        penalty.narrow(0, word, 1).fill_(_NEVER)
    return penalty


def _hypotheses(beams: Beams, settings: BeamSettings) -> Hypotheses:
    scores = beams.scores
    if settings.length_normalisation:
        scores = scores / beams.lengths**settings.length_normalisation
    words, log_probs = beams.words, beams.log_probs
    short = settings.beams - scores.shape[1]
    if short > 0:  # fewer sentences exist than beams were asked for
        pad = torch.nn.functional.pad
        words = pad(words, (0, 0, 0, short), value=settings.special.after_end)
        log_probs = pad(log_probs, (0, 0, 0, short))
        scores = pad(scores, (0, short), value=_NEVER)
    nothing = (scores == _NEVER)[..., None]
    words = words.masked_fill(nothing, settings.special.after_end)
    log_probs = log_probs.masked_fill(nothing, 0.0)
    return Hypotheses(words, log_probs, scores)


def _pictures(regions: Any) -> int:
    try:
        pictures = len(regions)
    except TypeError:
        pictures = 0
    if not pictures:
        kind = type(regions).__name__
        raise SettingError(f"a {kind} of no pictures was given to a search; expected one at least")
    return pictures


def _expect_log_probs(log_probs: Tensor, newest: Tensor, *, check_numbers: bool) -> None:
    if log_probs.dim() != 2 or log_probs.shape[0] != newest.shape[0]:
        raise SettingError(
            f"a step gave log-probabilities of the shape {tuple(log_probs.shape)}; "
            f"expected ({newest.shape[0]} rows, words)"
        )
    if check_numbers:  # once, and never on a GPU, which would have to be waited for
        most = log_probs.max().item()
        if isnan(most):
            raise FeatureError(
                "the first word's log-probabilities are not numbers; are all features numbers?"
            )
        if most > _ROUNDING:
            raise SettingError(
                f"a step gave a log-probability of {most:.3g}; expected none above 0"
            )


def _device_of(regions: Any) -> torch.device:
    features = getattr(regions, "features", regions)
    return features.device if isinstance(features, Tensor) else torch.device("cpu")
