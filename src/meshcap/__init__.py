"""meshcap: captions for pictures, by a Meshed-Memory Transformer (M², CVPR 2020).

Public names are imported when they are first used, so that `import meshcap.metrics` and
`meshcap --help` wait for nothing that they do not need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from meshcap.regions import Regions

__version__ = "0.1.0"

_HOMES = {"Regions": "meshcap.regions"}

__all__ = ["Regions", "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'meshcap' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
