"""What the built-in parser learned from captions: chances of roles, and what goes with what.

Knows the file `assets/spice_lite/table.json.zlib` and how to ask it; nothing of sentences.
`benchmarks/build_lite_table.py` makes the file. It holds counts of words, no captions.
"""

import json
import zlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

Counts = dict[str, int]


@dataclass(frozen=True)
class Table:
    """The file's content."""

    start: dict[str, float]
    after: dict[str, dict[str, float]]
    roles: dict[str, dict[str, float]]
    shares: dict[str, float]
    does: dict[str, Counts]
    """A verb ("ride U" for riding, "cover Q" for covered) to the nouns that were its subject."""
    nouns: Counts
    """How often a noun headed a caption's first phrase."""
    noun_phrases: dict[str, Counts]
    """Such nouns with the prepositional phrases behind them: "bathroom" to {"with sink": 98, …}."""
    verbs: Counts
    verb_phrases: dict[str, Counts]
    """Verbs with the phrases right behind them: "sit" to {"on bench": 552, …}."""
    compounds: Counts
    """Nouns that stand together, such as "tennis court", less those with a comma between."""


@lru_cache(maxsize=1)
def table() -> Table:
    """The file, read once."""
    packed = (files("meshcap") / "assets" / "spice_lite" / "table.json.zlib").read_bytes()
    return Table(**json.loads(zlib.decompress(packed)))
