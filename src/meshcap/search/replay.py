"""A search recorded once as a CUDA graph and replayed, so that a GPU never waits for Python.

Knows searches as functions of regions; nothing of what they do. On a CPU, and for NextWords that
are not Replayable, everything runs as it is written.

A recording is made when a shape comes for the second time (the first run warms the GPU up), and
serves smaller batches down to half its size, whose empty places it fills with earlier pictures.
A model keeps its last few recordings; they share one pool of memory.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from meshcap.regions import Regions
from meshcap.search.protocol import Hypotheses, Replayable

_RECORDINGS_KEPT = 8
_SHAPES_REMEMBERED = 256

Settings = TypeVar("Settings", bound=Hashable)
Search = Callable[[Any, Any, Settings], Hypotheses]


@dataclass
class Recording:
    """One captured search: where its input is written and its output appears."""

    features: Tensor  # (B, R, D_in)
    present: Tensor | None  # (B, R)
    graph: torch.cuda.CUDAGraph
    found: Hypotheses

    def play(self, regions: Regions) -> Hypotheses:
        """The search's result for other regions of the same shape, or of fewer pictures."""
        pictures = len(regions)
        self.features[:pictures].copy_(regions.features)
        if self.present is not None and regions.present is not None:  # both or none: the key
            self.present[:pictures].copy_(regions.present)
        self.graph.replay()
        found = self.found.first(pictures)
        # The next replay writes over its output.
        return Hypotheses(found.words.clone(), found.log_probs.clone(), found.scores.clone())


class _Recordings:
    """The recordings of one model."""

    def __init__(self) -> None:
        self.made: OrderedDict[Hashable, dict[int, Recording]] = OrderedDict()
        self.seen: set[Hashable] = set()
        self.refused: set[Hashable] = set()
        self.pool: Any = None
        self.lock = Lock()


_of: WeakKeyDictionary[Any, _Recordings] = WeakKeyDictionary()


def replayed(
    words: Any, regions: Any, settings: Settings, search: Search[Settings]
) -> Hypotheses | None:
    """The result of a recorded search, or None where there is none to replay yet."""
    if (
        not isinstance(regions, Regions)
        or regions.features.device.type != "cuda"
        or not isinstance(words, Replayable)
        or torch.cuda.is_current_stream_capturing()
        or torch.is_autocast_enabled("cuda")
    ):
        return None
    unchanged = words.replay_key()
    if unchanged is None:
        return None
    recordings = _of.setdefault(words, _Recordings())
    features = regions.features
    kind = (features.shape[1:], features.dtype, features.device, regions.present is None)
    key = (unchanged, settings, kind, torch.backends.cuda.matmul.fp32_precision)
    pictures = len(regions)
    with recordings.lock:
        sizes = recordings.made.get(key, {})
        fitting = [size for size in sizes if size // 2 <= pictures <= size]
        if fitting:
            recordings.made.move_to_end(key)
            return sizes[min(fitting)].play(regions)
        if (key, pictures) not in recordings.seen:
            if len(recordings.seen) >= _SHAPES_REMEMBERED:
                recordings.seen.clear()
            recordings.seen.add((key, pictures))
            return None
        if key in recordings.refused:
            return None
        recording = _record(words, regions, settings, search, recordings)
        if recording is None:
            recordings.refused.add(key)
            return None
        recordings.made.setdefault(key, {})[pictures] = recording
        while sum(map(len, recordings.made.values())) > _RECORDINGS_KEPT:
            oldest = next(iter(recordings.made.values()))
            oldest.pop(next(iter(oldest)))
            if not oldest:
                recordings.made.popitem(last=False)
        return recording.play(regions)


def _record(
    words: Any,
    regions: Regions,
    settings: Settings,
    search: Search[Settings],
    recordings: _Recordings,
) -> Recording | None:
    """The recording; None where the search cannot be recorded, by a hook that asks the GPU, say."""
    features = regions.features.clone()
    present = None if regions.present is None else regions.present.clone()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.empty_cache()  # a recording has memory of its own beside what earlier runs kept
    with torch.cuda.device(features.device):
        recordings.pool = recordings.pool or torch.cuda.graph_pool_handle()
        before = torch.cuda.current_stream()
        try:
            with torch.cuda.graph(graph, pool=recordings.pool):
                found = search(words, Regions(features, present), settings)
        except Exception as error:
            torch.cuda.set_stream(before)  # a broken recording leaves its own
            if not isinstance(error, RuntimeError):
                raise
            logging.getLogger(__name__).warning(
                "this search cannot be recorded and runs step by step: %s", error
            )
            return None
    return Recording(features, present, graph, found)
