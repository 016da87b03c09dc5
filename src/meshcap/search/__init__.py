"""From scores of next words to sentences.

Knows the protocol NextWord; nothing of pictures, words' spelling or the network.
"""

from meshcap.search.beam import beam_search, greedy_search
from meshcap.search.ensemble import Ensemble
from meshcap.search.protocol import Hypotheses, NextWord

__all__ = ["Ensemble", "Hypotheses", "NextWord", "beam_search", "greedy_search"]
