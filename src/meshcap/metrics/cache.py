"""Where the user's cache folder is.

Knows the habits of operating systems and one environment variable; nothing of what is kept there,
and makes no folder.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import gettempdir


def cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder for what can be made again: MESHCAP_CACHE, or where the system keeps such files.

    That is XDG_CACHE_HOME/meshcap, ~/Library/Caches/meshcap on macOS, LOCALAPPDATA\\meshcap on
    Windows, else ~/.cache/meshcap. Everything in it may be deleted at any time.
    """
    if named := environment.get("MESHCAP_CACHE"):
        return Path(named).expanduser()
    # The specification of XDG says that a relative path is to be ignored.
    if (named := environment.get("XDG_CACHE_HOME")) and Path(named).is_absolute():
        return Path(named) / "meshcap"
    if platform == "darwin":
        return _home() / "Library" / "Caches" / "meshcap"
    if platform == "win32":
        named = environment.get("LOCALAPPDATA")
        return (Path(named) if named else _home() / "AppData" / "Local") / "meshcap"
    return _home() / ".cache" / "meshcap"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user without a home, as containers have them
        return Path(gettempdir())


class CacheWarning(UserWarning):
    """The cache folder cannot be used; work goes on without it, more slowly."""
