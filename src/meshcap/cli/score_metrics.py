"""From options to metrics: which ones run, and with which idf, tuples or training captions.

Knows options and the makers of metrics; nothing of candidates or of reports.
"""

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from meshcap.data import read_captions
from meshcap.data.documents import parsed, read_text
from meshcap.data.gathering import shown
from meshcap.errors import MeshcapError, SettingError, VocabularyError
from meshcap.metrics import METRICS, Metric
from meshcap.metrics.idf import DocumentFrequencies
from meshcap.metrics.table import canonical

_CIDER = ("cider-d", "cider")
_TRAINING_SPLITS = ("train", "restval")


@dataclass(frozen=True)
class Chosen:
    """The metrics to run and which of their scores to report."""

    metrics: list[str | Metric]
    scores: frozenset[str] | None
    """None: all that the metrics give."""
    missing: Literal["raise", "skip"]
    """What to do about metrics whose data are not installed: skip them if nobody named them."""

    def reports(self, score: str) -> bool:
        """Whether this score was asked for."""
        return self.scores is None or score in self.scores


def chosen_metrics(options: argparse.Namespace, usage: argparse.ArgumentParser) -> Chosen:
    """The metrics that the options name, or the usual ones, with the options' settings."""
    named = _names(options.metric, usage)
    if "novel" in named and options.training is None:
        usage.error("--metric novel needs --training FILE")
    if named and options.training is not None and "novel" not in named:
        named.append("novel")
    made = _made(options, {METRICS.named(name).name for name in named if name != "novel"}, usage)
    if not named:
        usual = [metric.name for metric in METRICS.values() if metric.usual]
        names = list(dict.fromkeys([*usual, *made]))
        return Chosen([made.get(name, name) for name in names], None, "skip")
    metrics: dict[str, Metric] = {}
    scores: set[str] = set()
    for name in named:
        metric = made.get(name) or METRICS.named(name)
        metrics.setdefault(metric.name, made.get(metric.name, metric))
        scores |= set(metric.names) if name == metric.name else {name}
    return Chosen(list(metrics.values()), frozenset(scores), "raise")


def without_brought_tuples(chosen: Chosen, options: argparse.Namespace) -> Chosen:
    """The same for captions of another system, of which tuples by picture know nothing."""
    by_picture = options.spice_tuples is not None
    if options.spice_trees is not None:
        from meshcap.metrics.spice.conllu import read_trees

        by_picture = bool(read_trees(options.spice_trees).of_picture)
    if not by_picture:
        return chosen
    left = [each for each in chosen.metrics if getattr(each, "name", each) != "spice"]
    return replace(chosen, metrics=left)


def _names(given: Iterable[str] | None, usage: argparse.ArgumentParser) -> list[str]:
    names = [name.strip() for each in given or () for name in each.split(",")]
    if not all(names):
        usage.error("argument --metric: expected a name before and after each comma")
    return list(dict.fromkeys(map(canonical, names)))


def _made(
    options: argparse.Namespace, named: set[str], usage: argparse.ArgumentParser
) -> dict[str, Metric]:
    """The metrics that the options change, by name."""
    made: dict[str, Metric] = {}
    if options.idf is not None or options.end:
        if named and not named & set(_CIDER):
            usage.error("--idf and --end are for the metrics cider-d and cider")
        names = named & set(_CIDER) or {"cider-d"}
        made |= _ciders(options, [name for name in _CIDER if name in names])
    if options.spice_tuples or options.spice_trees or options.spice_jars:
        from meshcap.metrics.spice import spice

        if named and "spice" not in named:
            usage.error("--spice-tuples, --spice-trees and --spice-jars are for the metric spice")
        made["spice"] = spice(options.spice_tuples, options.spice_trees, options.spice_jars)
    if options.training is not None:
        from meshcap.metrics.diversity import novel

        made["novel"] = novel(training_captions(options.training))
    return made


# ---- what CIDEr is given


def _ciders(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Metric]:
    from meshcap.metrics.cider import cider, cider_d

    makers = {"cider-d": cider_d, "cider": cider}
    idf: Literal["corpus"] | DocumentFrequencies = "corpus"
    if options.idf is not None:
        numbers = None if options.vocabulary is None else word_numbers(options.vocabulary)
        try:
            idf = DocumentFrequencies.load(options.idf, numbers=numbers)
        except SettingError as error:
            raise SettingError(f"{error} (--vocabulary FILE)") from error
    return {name: makers[name](idf=idf, end=options.end) for name in names}


def word_numbers(path: str) -> dict[str, int | str]:
    """Each word's number, from JSON that maps either to the other, or has it as `ix_to_word`."""
    value = parsed(read_text(path), source=path)
    if isinstance(value, dict) and isinstance(value.get("ix_to_word"), dict):
        value = value["ix_to_word"]
    expected = "expected an object of words and their numbers, or of numbers and their words"
    if not isinstance(value, dict) or not value:
        raise VocabularyError(f"'{path}' holds {shown(value)}; {expected}")
    pairs = list(value.items())
    if all(isinstance(word, str) and number.isdecimal() for number, word in pairs):
        pairs = [(word, int(number)) for number, word in pairs]
    found: dict[str, int | str] = {}
    for word, number in pairs:
        if not _is_number(number):
            raise VocabularyError(f"'{path}': '{word}' has the number {shown(number)}; {expected}")
        if word in found:
            raise VocabularyError(f"'{path}': '{word}' has the numbers {found[word]} and {number}")
        found[word] = number
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# ---- what else metrics are given


def training_captions(path: str) -> list[str]:
    """All captions of a file; of one with splits those that models are trained on."""
    found = read_captions(path)
    splits = [name for name in _TRAINING_SPLITS if name in set(found.splits.values())]
    if splits:
        found = found.of_splits(splits)
    return [caption for captions in found.by_picture.values() for caption in captions]


def load_plugin(name: str) -> None:
    """Import a module that registers metrics: a file that ends in .py, or a module's name."""
    try:
        if not name.endswith(".py"):
            # `meshcap` is started from its own folder; a module beside the captions is meant too.
            sys.path.append(str(Path.cwd()))
            importlib.import_module(name)
            return
        specification = importlib.util.spec_from_file_location(Path(name).stem, name)
        assert specification is not None, "a path that ends in .py has a loader"
        assert specification.loader is not None, "likewise"
        module = importlib.util.module_from_spec(specification)
        sys.modules[specification.name] = module
        specification.loader.exec_module(module)
    except MeshcapError:
        raise
    except Exception as error:  # a user's module fails in any way
        raise SettingError(
            f"plugin '{name}' cannot be loaded: {type(error).__name__}: {error}"
        ) from error
