"""The built-in parser of `spice-lite`: words, roles, phrases, and what belongs to what.

Knows the public names only.
"""

from meshcap.metrics.spice.lite.parsing import PARSER, parse

__all__ = ["PARSER", "parse"]
