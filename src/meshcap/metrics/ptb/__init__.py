"""The official tokeniser of caption scores: Stanford's PTBTokenizer 3.4.1 without Java.

    >>> from meshcap.metrics.ptb import tokenise, tokens
    >>> tokens("A man's dog.")
    ['a', 'man', "'s", 'dog', '.']
    >>> tokenise("A man's dog.")
    "a man 's dog"

Knows the public names only. `reading.py` reads captions; what a token is stands in `rules.py`.
"""

from meshcap.metrics.ptb.reading import PUNCTUATION, tokenise, tokenise_all, tokens

__all__ = ["PUNCTUATION", "tokenise", "tokenise_all", "tokens"]
