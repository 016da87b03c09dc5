"""Text to word numbers and back: the training tokeniser and the vocabulary.

Needs neither torch nor spaCy.
"""

from meshcap.text.tokenize import tokenize
from meshcap.text.vocabulary import Vocabulary

__all__ = ["Vocabulary", "tokenize"]
