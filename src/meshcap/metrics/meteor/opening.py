"""From METEOR's data to a lexicon, through a file in the user's cache folder.

Knows the data's place, the cache and how one is made of the other; nothing of captions.

The lists and the table are read once and kept as arrays that are mapped into memory. The file's
name holds a fingerprint of the data's content, so that other data, or another layout, make another
file. A file that is not whole, or not what was written, is made again. Several processes may do so
at once: each writes under a name of its own and puts the whole file into its place. Where nothing
can be written, the arrays stay in memory, and a warning says so.
"""

import warnings
from pathlib import Path
from threading import Lock

from meshcap.errors import FileError
from meshcap.metrics.base import Watch
from meshcap.metrics.cache import CacheWarning, cache_folder
from meshcap.metrics.meteor.arrays import Arrays, read_arrays, write_arrays
from meshcap.metrics.meteor.lexicon import Lexicon, list_arrays
from meshcap.metrics.meteor.paraphrases import table_arrays
from meshcap.metrics.meteor.sources import Sources, fingerprint, located, word_lists

_LAYOUT = 1
"""Of the arrays; a change of what they mean is a new number."""

_OPEN_AT_ONCE = 4
_lexicons: dict[str, Lexicon] = {}
_opening = Lock()


def no_watch(read: int, of: int) -> None:
    """Watch nothing."""


def opened(data: Path | str | None = None, watch: Watch = no_watch) -> Lexicon:
    """The lexicon of METEOR's data, from `data`, MESHCAP_METEOR or the package of the extra.

    The first call on a machine takes some seconds, in which `watch` is called with the bytes read
    of the table, and all its bytes; MissingError says what to install where there are no data.
    """
    sources = located(data)
    content = fingerprint(sources)
    with _opening:
        if content not in _lexicons:
            lexicon = Lexicon(_arrays(sources, content, watch), content)
            while len(_lexicons) >= _OPEN_AT_ONCE:
                del _lexicons[next(iter(_lexicons))]
            _lexicons[content] = lexicon
        return _lexicons[content]


def cache_file(content: str) -> Path:
    """Where the arrays made of data with this fingerprint are kept."""
    return cache_folder() / f"meteor-{_LAYOUT}-{content}.arrays"


def _arrays(sources: Sources, content: str, watch: Watch) -> Arrays:
    path, made_of = cache_file(content), f"{_LAYOUT}-{content}"
    if (kept := read_arrays(path, made_of)) is not None:
        return kept
    made = {**list_arrays(word_lists(sources)), **table_arrays(sources.table, watch)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, made_of, made)
    except (OSError, FileError) as error:
        reason = str(error)
    else:
        reason = "what was written there cannot be read again"
    if (kept := read_arrays(path, made_of)) is not None:
        return kept  # and what was made takes no more memory
    warnings.warn(
        f"METEOR's data cannot be kept in '{path.parent}' ({reason}), so that each process reads "
        "them anew, which takes seconds and more memory; MESHCAP_CACHE names another folder",
        CacheWarning,
        stacklevel=2,
    )
    return made
