"""SPICE: captions compared by the objects, attributes and relations that they state.

Knows the two metrics' names: `spice`, from tuples or trees that the user brings or by the official
tool, and `spice_lite`, by the built-in parser.
"""

from meshcap.metrics.spice.metric import spice, spice_lite

__all__ = ["spice", "spice_lite"]
