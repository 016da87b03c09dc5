"""From found tuples to precision, recall and F, in all and by category.

Knows counts and SPICE's categories; nothing of graphs, trees or pictures' names.

Legend: P pictures, C categories, in the order of `CATEGORIES`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from meshcap.metrics.base import Floats

Tuple = tuple[str, ...]

CATEGORIES = ("all", "object", "attribute", "relation", "count", "color", "size")
_OF_LENGTH = {1: 1, 2: 2, 3: 3}  # a tuple's length to its category's place above
_COUNT, _COLOUR, _SIZE = 4, 5, 6

NUMBERS = frozenset("one two three four five six seven eight nine ten".split())
COLOURS = frozenset(
    """black brown blue red yellow pink gray grey green dark light white cream orange purple
    maroon beige violet""".split()
)
# Words of size from WordNet 3.0's clusters round big/large, small/little, thick and thin (data.adj
# of Debian's wordnet-base), but for those that say something else in captions ("double", "light",
# "quilted"). WordNet 3.0 is © 2006 Princeton University; its licence allows this use.
SIZES = frozenset(
    """big large ample sizable sizeable astronomic astronomical galactic bigger larger biggish
    largish enlarged broad spacious wide bulky capacious colossal prodigious stupendous enormous
    tremendous elephantine gargantuan giant jumbo gigantic mammoth great grand huge immense vast
    brobdingnagian hulking hulky humongous whopping king-size king-sized large-scale life-size
    lifesize life-sized full-size macroscopic macro man-sized massive monolithic monumental
    medium-large monstrous mountainous outsize outsized oversize oversized overlarge queen-size
    queen-sized rangy titanic voluminous small little bantam diminutive lilliputian midget
    petite tiny flyspeck bitty bittie teensy teeny wee weeny weensy teensy-weensy teeny-weeny
    itty-bitty itsy-bitsy dinky dwarfish elfin elflike gnomish half-size infinitesimal minute
    lesser microscopic micro miniature minuscule miniscule pocket-size pocket-sized pocketable
    puny runty shrimpy smaller littler smallish small-scale undersize undersized thick fat
    thickened thin slender slim svelte skinny bony lanky spindly wafer-thin paper-thin
    threadlike""".split()
)
_OF_ATTRIBUTE = {
    **dict.fromkeys(NUMBERS, _COUNT),
    **dict.fromkeys(COLOURS, _COLOUR),
    **dict.fromkeys(SIZES, _SIZE),
}

Counts = NDArray[np.int64]


def counts_of(found: Iterable[tuple[Tuple, bool]], references: Iterable[Tuple]) -> list[list[int]]:
    """A picture's counts (3, C): candidate tuples that were found, all of them, and references'.

    The tuples are as printed: an attribute that was merged ("gray/grey") is no colour any more,
    which is how the official tool counts.
    """
    hits, own, theirs = ([0] * len(CATEGORIES) for _ in range(3))
    for parts, is_hit in found:
        for category in _categories(parts):
            own[category] += 1
            hits[category] += is_hit
    for parts in references:
        for category in _categories(parts):
            theirs[category] += 1
    return [hits, own, theirs]


def _categories(parts: Tuple) -> tuple[int, ...]:
    length = len(parts)
    if length == 2 and parts[1] in _OF_ATTRIBUTE:
        return (0, 2, _OF_ATTRIBUTE[parts[1]])
    return (0, _OF_LENGTH[length])


@dataclass(frozen=True)
class Scores:
    """Each picture's scores by category, (P, C) each; NaN where a category has no references."""

    f: Floats
    precision: Floats
    recall: Floats


def scores_of(counts: Sequence[list[list[int]]]) -> Scores:
    """The scores of pictures' counts (P, 3, C).

    Recall counts hits on the candidates' side too, as the original does; where two of a
    candidate's tuples are like one of the references', it can pass 1.
    """
    table = np.array(counts, dtype=np.float64).reshape(-1, 3, len(CATEGORIES))
    hits, own, theirs = table[:, 0], table[:, 1], table[:, 2]
    nothing = np.zeros_like(hits)
    precision = np.divide(hits, own, out=nothing.copy(), where=own > 0)
    recall = np.divide(hits, theirs, out=nothing.copy(), where=theirs > 0)
    both = precision + recall
    f = np.divide(2 * precision * recall, both, out=nothing.copy(), where=both > 0)
    for scores in (f, precision, recall):
        # All of a picture without references is 0, so that it stays in the mean; a category of
        # one without such references has no value.
        scores[:, 1:][theirs[:, 1:] == 0] = np.nan
    return Scores(f, precision, recall)
