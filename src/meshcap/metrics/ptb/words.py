"""The words that the official tokeniser treats in a way of their own.

Knows lists of words; nothing of rules or characters. The lists were found by asking the official
tool: every string of up to five letters, beginnings and skeletons of 93,000 English words, each
with a full stop or an apostrophe in several places.
"""

ENDING = """
    al ala apr ariz assn aug bhd bldg blvd bros calif co colo conn corp cos ct dak dec ed.d esq
    est etc ext feb fla fri ga inc ind intl jan jr jul jun kan kans ky ltd mar md mich minn mo
    mon mont neb nev nov oct okla penn ph.d plc rd rt sep sept seq sq sr sys tel tenn thu thurs
    tue tues univ va vt wed wis wisc wyo""".split()
"""Abbreviations that may end a sentence: then the full stop counts twice."""

ENDING_CAPITALISED = "ark az del ill la mass miss ore pa tex wash".split()
"""The same, but only with a capital: in small letters they are words."""

INSIDE = """
    adj adm adv alex assoc asst atty attys ave brig capt cf cie cmdr col comdr cpl dept det dr
    drs elec ens ft gen gov govs hon insp invt jos lieut lt maj messrs mlle mme mr mrs ms msgr
    mt natl pfc ph pres prof profs pvt rep reps rev sen sens sfc sgt spc st ste supt supts treas
    vs wm""".split()
"""Abbreviations that end no sentence."""

BEFORE_NUMBERS = "art ca fig figs no nos op pp prop".split()
"""Abbreviations before a number, and words elsewhere."""

STARTERS = """
    a about according additionally after an as at but earlier he her here however if in it last
    many more mr. ms. now once one other our she since so some such that the their then there
    these they this we what when while yet you""".split()
"""Words that begin a sentence when they are capitalised after an initial or an acronym."""

PREFIXES = "anti- pro-".split()
"""Beginnings of words that stay with their hyphen when nothing comes after it."""

EXTENSIONS = """
    bat bmp c cgi class cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php
    pl png ppt ps py sql tar txt wav x xml zip""".split()
"""Endings of names of files."""

PLAIN_APOSTROPHE = "c'mon ev'ry nat'l li'l e'er".split()
"""Words with an apostrophe that stay whole, when it is the ASCII one."""

ANY_APOSTROPHE = "c'est cap'n dunkin' somethin' ol' 'em 'til 'till 'cause 'n 'n'".split()
"""Words with an apostrophe that stay whole, whichever apostrophe it is."""

JOINED = ("can not", "gon na", "wan na", "got ta", "gim me", "lem me")
"""Words that are two tokens."""
