"""Every error a user can meet, as one tree on one page.

    MeshcapError
    ├── PictureError      a picture that cannot be opened or is not allowed
    ├── FeatureError      regions of the wrong width or shape, or missing
    ├── VocabularyError   a vocabulary that is broken or does not fit its model
    ├── WeightsError      a weights file that is truncated, foreign, or does not fit
    ├── ConstraintError   constraints that no sentence can satisfy
    ├── SettingError      a setting with an unknown name or an impossible value
    ├── CaptionError      captions that miss, come twice, are no text, or fit no picture
    ├── MissingError      an optional package, its data or a program that is not installed
    └── FileError         a file that is missing, too big, or cannot be read or written

Each message is one sentence that names the thing, what was found, and what was expected.
Only `cli/main.py` turns these into exit codes.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class MeshcapError(Exception):
    """Any error whose cause lies in what the user gave, not in this program."""


class PictureError(MeshcapError):
    """A picture cannot be opened, or is larger than allowed."""


class FeatureError(MeshcapError):
    """Regions are missing, or of a width or shape that the model does not take."""


class VocabularyError(MeshcapError):
    """A vocabulary is broken, or does not fit the model or text it is used with."""


class WeightsError(MeshcapError):
    """A weights file is truncated, foreign, unsafe, or does not fit its model."""


class ConstraintError(MeshcapError):
    """What a caption must or must not contain cannot be satisfied."""


class SettingError(MeshcapError):
    """A setting has an unknown name or an impossible value."""


class CaptionError(MeshcapError):
    """Captions or references are missing, doubled, no text, or of other pictures."""


class MissingError(MeshcapError):
    """An optional package, the data in it or an outside program is not installed."""


class FileError(MeshcapError):
    """A file is missing, larger than allowed, or cannot be read or written."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest right one, or all of them."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    return f"did you mean '{close[0]}'?" if close else f"known are {', '.join(names)}"
