"""The metrics there are, a row each, and how a user adds one.

Knows names and where metrics live; imports a metric when it is asked for.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points

from meshcap.errors import SettingError, nearest
from meshcap.metrics.base import CaptionWarning, Metric

Make = Callable[[], Metric]

# In the order of the papers' tables, then what is further asked for. A metric's file is imported
# when it is used: `import meshcap.metrics` stays quick.
_ROWS: dict[str, str] = {
    "bleu": "meshcap.metrics.bleu:bleu",
    "meteor": "meshcap.metrics.meteor:meteor",
    "rouge-l": "meshcap.metrics.rouge:rouge_l",
    "cider-d": "meshcap.metrics.cider:cider_d",
    "cider": "meshcap.metrics.cider:cider",
    "spice": "meshcap.metrics.spice:spice",
    "spice-lite": "meshcap.metrics.spice:spice_lite",
    "distinct-1": "meshcap.metrics.diversity:distinct_1",
    "distinct-2": "meshcap.metrics.diversity:distinct_2",
    "vocabulary": "meshcap.metrics.diversity:vocabulary",
    "length": "meshcap.metrics.diversity:length",
    "bad-endings": "meshcap.metrics.diversity:bad_endings",
    "repeats": "meshcap.metrics.diversity:repeats",
}
GROUP = "meshcap.metrics"
"""Installed packages name their metrics as these entry points: `name = "package.module:make"`."""


def canonical(name: str) -> str:
    """A name as the table has it: "BLEU_4" is bleu-4."""
    found = name.lower().replace("_", "-")
    if found == "cider" and name != found:  # a wrong guess would be a wrong number in a table
        raise SettingError(
            f"there is no metric '{name}': what papers call CIDEr is 'cider-d', and 'cider' is "
            "without clipping"
        )
    return found


class Metrics(Mapping[str, Metric]):
    """Metrics by name; a row is made when it is asked for."""

    def __init__(self, rows: Mapping[str, str | Make | Metric]) -> None:
        self._rows: dict[str, str | Make | Metric] = dict(rows)
        self._sought = False

    def __getitem__(self, name: str) -> Metric:
        if name not in self._rows:
            self._seek()
        row = self._rows[name]
        if isinstance(row, str):
            module, _, attribute = row.partition(":")
            row = getattr(import_module(module), attribute)
        return row if isinstance(row, Metric) else row()

    def __contains__(self, name: object) -> bool:
        if name not in self._rows:
            self._seek()
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        self._seek()
        return iter(tuple(self._rows))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def named(self, name: str) -> Metric:
        """The metric of this name, or of a score's ("bleu-4", "BLEU_4"), or the nearest named."""
        given, name = name, canonical(name)
        if name in self:
            return self[name]
        for metric in self.values():
            if name in metric.names:
                return metric
        known = {score for metric in self.values() for score in (metric.name, *metric.names)}
        raise SettingError(f"there is no metric '{given}'; {nearest(name, known)}")

    def add(self, metric: Metric) -> None:
        """Add a row, in place of one of the same name that was added before."""
        for name in (metric.name, *metric.names):
            if not re.fullmatch(r"[a-z0-9][a-z0-9.+-]*", name):
                raise SettingError(
                    f"a metric cannot give '{name}'; expected small letters, digits, '-' and '.'"
                )
        if isinstance(self._rows.get(metric.name), str):
            raise SettingError(
                f"there is a metric '{metric.name}' already; expected a name of its own"
            )
        others = [other for other in self.values() if other.name != metric.name]
        for other in others:
            for score in {other.name, *other.names} & {metric.name, *metric.names}:
                raise SettingError(
                    f"metric '{metric.name}' gives a score '{score}', and so does '{other.name}'; "
                    "expected a name of its own"
                )
        self._rows[metric.name] = metric

    def remove(self, name: str) -> None:
        """Take a row away again."""
        self._rows.pop(name, None)

    def _seek(self) -> None:
        """Look once for the metrics of installed packages."""
        if not self._sought:
            self._sought = True
            for found in entry_points(group=GROUP):
                if found.name in self._rows:
                    continue
                try:
                    self._rows[found.name] = found.load()
                except Exception as error:  # another's package fails in any way
                    warnings.warn(
                        f"the metric '{found.name}' of an installed package cannot be loaded: "
                        f"{type(error).__name__}: {error}",
                        CaptionWarning,
                        stacklevel=2,
                    )


METRICS = Metrics(_ROWS)


def register(metric: Metric) -> Metric:
    """Make a metric known by its name, to `score` and to the command line."""
    METRICS.add(metric)
    return metric
