"""Chunks that the training tokeniser takes apart by heart instead of by rule.

Knows lower-case English contractions, abbreviations, times and emoticons, as spaCy 3.8's blank
English tokenizer has them; nothing of captions, vocabularies or how a chunk is found.

`EXCEPTIONS` gives the words of each such chunk. It is written down as rules over short lists,
and a test compares it with spaCy's own table, entry for entry.
"""

_PERSONS = "i you he she it we they"
_ASKING = "who what when where why how there that this these those"
_PLURAL_ASKING = "who what when where why how there these those"
_NOT_OR_NOT_HAVE = (
    "ca could do does did had may might must need ought sha should wo would"  # can't've, …
)

_ENDINGS: tuple[tuple[str, str], ...] = (
    # an ending, its words apart, and the words that take it
    ("'m", "i"),
    ("'m a", "i"),
    ("'ll", f"{_PERSONS} {_ASKING}"),
    ("'ll 've", f"{_PERSONS} {_ASKING}"),
    ("'d", f"{_PERSONS} {_ASKING}"),
    ("'d 've", f"{_PERSONS} {_ASKING}"),
    ("'ve", f"i you we they {_PLURAL_ASKING} could might must should would not"),
    ("'re", f"you we they {_PLURAL_ASKING}"),
    ("'s", "he she it who what when where why how there that this"),
    ("n't", f"{_NOT_OR_NOT_HAVE} ai are is was were have has dare"),
    ("n't 've", _NOT_OR_NOT_HAVE),
)

_ORDINARY = frozenset("ill its hell shell shed were well whore".split())
"""Words of their own, though they look like contractions without their apostrophe."""

_OTHER_CONTRACTIONS = (
    "y' all",
    "y all",
    "how 'd 'y",
    "can not",
    "gon na",
    "got ta",
    "let 's",
    "c'm on",
    "° c .",
    "° f .",
    "° k .",
)

_WHOLE = r"""
    a. b. c. d. e. f. g. h. i. j. k. l. m. n. o. p. q. r. s. t. u. v. w. x. y. z. ä. ö. ü.
    a.m. p.m. e.g. i.e. co. vs. v.s. and/or w/o
    o'clock ma'am 'bout 'cause 'cos 'coz 'cuz 'd 'em 'll 'nuff 're 's ‘s em ll nuff
    doin doin' goin goin' havin havin' lovin lovin' nothin nothin' nuthin nuthin' ol ol'
    somethin somethin'
    ' '' — <space> \n \t \")
    :) :)) :))) :-) :-)) :-))) :( :(( :((( :-( :-(( :-((( :() :] :-] :} :-} :o) :> :->
    (: (-: (o: ): )-: [: [-: (; (-; ;) ;-) =) (= =] ]= [= =[ =( =/ =| =3 8) 8-) (-8
    :') :'-) :'( :'-( :/ :-/ :| :-| :* :-* :0 :-0 :1 :3 :-3 :o :-o :p :-p :x :-x >:( >:o
    ^_^ ^__^ ^___^ -_- -__- ._. ;_; @_@ >.< >.> <.< v.v v_v o_o o_0 0_o 0_0 o.o o.0 0.o 0.0
    <3 <33 <333 </3 (^_^) (-_-) (._.) (>_<) (*_*) (¬_¬) ಠ_ಠ ಠ︵ಠ (ಠ_ಠ) ¯\(ツ)/¯ (╯°□°）╯︵┻━┻
    ><(((*>
"""
"""What stays one word although a rule would split it, or part of it."""


def _written_down() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {chunk: (chunk,) for chunk in _WHOLE.split()}
    for ending, takers in _ENDINGS:
        for word in takers.split():
            pieces = (word, *ending.split())
            table["".join(pieces)] = pieces
            bare = tuple(piece.replace("'", "") for piece in pieces)
            if "".join(bare) not in _ORDINARY:
                table["".join(bare)] = bare
    for contraction in _OTHER_CONTRACTIONS:
        table[contraction.replace(" ", "")] = tuple(contraction.split())
    for hour in range(1, 13):
        for half in ("am", "a.m.", "pm", "p.m."):
            table[f"{hour}{half}"] = (str(hour), half)
    return table


def _with_curly_apostrophes(table: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    curly = {
        chunk.replace("'", "’"): tuple(piece.replace("'", "’") for piece in pieces)
        for chunk, pieces in table.items()
        if "'" in chunk
    }
    return table | curly


EXCEPTIONS: dict[str, tuple[str, ...]] = _with_curly_apostrophes(_written_down())
