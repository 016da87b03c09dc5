"""Data on disk: captions of pictures in every form that they come in.

Knows files; nothing of networks, pictures or scores.
"""

from meshcap.data.captions import (
    Captions,
    captions_in,
    captions_of,
    merged,
    read_captions,
    read_references,
)
from meshcap.data.matching import Matched, matched

__all__ = [
    "Captions",
    "Matched",
    "captions_in",
    "captions_of",
    "matched",
    "merged",
    "read_captions",
    "read_references",
]
