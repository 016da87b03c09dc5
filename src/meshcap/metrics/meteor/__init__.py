"""METEOR 1.5 for English without Java, equal to the official program's doubles.

    >>> from meshcap.metrics.meteor import meteor
    >>> meteor().name
    'meteor'

Knows the public names only. `metric.py` has the steps, in their order: `normalise.py`,
`matching.py` (with `stems.py`, `lexicon.py`, `paraphrases.py`), `alignment.py`, `scoring.py`;
`opening.py` brings the data, by `sources.py` and `arrays.py`.
"""

from meshcap.metrics.meteor.metric import meteor, meteor_of
from meshcap.metrics.meteor.opening import opened

__all__ = ["meteor", "meteor_of", "opened"]
