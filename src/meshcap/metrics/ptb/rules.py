"""What the official tokeniser takes for a token, as ordered rules.

Knows the forms of tokens and what is printed for them; nothing of captions as a whole. Written from
what the official tool prints for tens of millions of strings, not from its source.

The longest match wins, and of equally long ones the first rule: most of the order therefore does
not matter. See `dialect` for the notation. Letters outside ASCII and other characters stand
for their kinds (`characters`): é is any small letter, § any sign, and so on.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from meshcap.metrics.ptb import words
from meshcap.metrics.ptb.characters import (
    BLANK,
    CAPITAL,
    CAPITAL_NOTHING,
    CAPITAL_SYMBOL,
    DIGIT,
    LETTER,
    MARK,
    SUBSCRIPT,
    SUPERSCRIPT,
    SYMBOL,
)

# What is printed -------------------------------------------------------------------------------

Print = Callable[[str], str] | str
"""A token's text from the matched one, or that text itself; nothing is printed for ""."""

_QUOTES = {
    **dict.fromkeys("\x91‘‛‹", "`"),
    **dict.fromkeys("\x92’›", "'"),
    **dict.fromkeys("\x93“«", "``"),
    **dict.fromkeys("\x94”»", "''"),
}
_APOSTROPHES = str.maketrans("’\x92‘\x91‛", "''```")
_BRACKETS = {
    "(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"
}  # fmt: skip
_FRACTIONS = {"¼": "1/4", "½": "1/2", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"}


def same(text: str) -> str:
    """The matched text."""
    return text


def without_soft_hyphens(text: str) -> str:
    """Without the hyphens that show at the end of a line only; one when nothing else is there."""
    return text.replace("\xad", "") or "-"


def plain_apostrophe(text: str) -> str:
    """With an ASCII apostrophe, as in the n't of don’t."""
    return text.replace("&apos;", "'").translate(_APOSTROPHES)


def plain_quotes(text: str) -> str:
    """With ASCII quotation marks."""
    return "".join(_QUOTES.get(character, character) for character in text)


def plain_ampersand(text: str) -> str:
    """With & for its name."""
    return re.sub("&amp;", "&", text, flags=re.IGNORECASE)


def unbroken(text: str) -> str:
    """With blanks that do not end a token."""
    return text.replace(" ", "\xa0")


def named_brackets(text: str) -> str:
    """With the names of round brackets, unbroken."""
    return unbroken(text).replace("(", "-LRB-").replace(")", "-RRB-")


class Rule(NamedTuple):
    """A form of tokens, what is printed, and how much of the match is read a second time."""

    form: str
    prints: Print = same
    read_again: int = 0


# Parts of rules --------------------------------------------------------------------------------


def _any_of(choices: Iterable[str]) -> str:
    return "(" + "|".join(choices) + ")"


def _spelt(word: str) -> str:
    """A word as a rule, with any apostrophe for the ASCII one."""
    return re.sub("([.-])", r"\\\1", word).replace("'", "{apostrophe}")


def _capitalised(word: str) -> str:
    return f"{word[0].upper()}(?i:{_spelt(word[1:])})"


PARTS = {
    # Insides of classes.
    "letter": f"a-zA-Z{LETTER}{CAPITAL}ſİı\u212a",
    "of_word": f"{{letter}}{MARK}{{soft}}",
    "digit": f"0-9{DIGIT}",
    "capital": f"A-Z{CAPITAL}İ\u212a{CAPITAL_SYMBOL}{CAPITAL_NOTHING}",
    "line_end": "\n",
    "unbreaking": "\xa0",
    "soft": "\xad",
    "blank": f" \t{{unbreaking}}{BLANK}",
    "space": "{blank}{line_end}\x85",
    # Words.
    "word": "[{of_word}] [{of_word}{digit}]* ([.!?] [{of_word}] [{of_word}{digit}]*)*",
    "word_ends": "[^{of_word}{digit}]",
    "apostrophe": "(['’\x92] | (?i:&apos;))",
    "any_apostrophe": r"({apostrophe} | [\`‘‛{grave}])",
    "grave": "\x91",
    "nt": "[nN] {any_apostrophe} [tT]",
    "clitic": "{apostrophe} ([dDmMsS] | (?i: ll | re | ve))",
    "acronym": r"[a-zA-Z] (\.[a-zA-Z])+",
    "capitals": "[A-Z]+ (([+&] | (?i:&amp;)) [A-Z]+)+",
    "thing": r"{part} ([\-_‐‑֊] {part})*",
    "part": "([{letter}{digit}]+ | [dDlLoO]{any_apostrophe}[{letter}{digit}]{2}[{letter}{digit}]*)",
    "dotted": r"[a-zA-Z0-9] [a-zA-Z0-9.,{soft}]* (- ([a-zA-Z0-9{soft}]+ | {acronym}\.))+",
    "slashed": r"{side} (\\?\/ {side}){1,2}",
    "side": "[a-zA-Z0-9]+ (-[a-zA-Z]+){0,2}",
    # Numbers.
    "number": "([{digit}]+ | [{digit}]* ([.:,٫٬{soft}] [{digit}]+)+)",
    "gap": r"[ {unbreaking}\-]",
    # Abbreviations, and what comes after them.
    "ending": "((?i:{endings}) | {capitalised} | (?i:p?pt)[ye](?i:s?))",
    "endings": _any_of(map(_spelt, words.ENDING)),
    "capitalised": _any_of(map(_capitalised, words.ENDING_CAPITALISED)),
    "inside": f"((?i:{_any_of(words.INSIDE)}) | (?i:m)[ft](?i:g))",
    "before_number": f"(?i:{_any_of(words.BEFORE_NUMBERS)})",
    "sentence": "[{space}] ([{space}{capital}] | {tag})",
    "sentence_start": "[{space}]+ ({starter} | {tag}) [{space}]",
    "starter": _any_of(map(_capitalised, words.STARTERS)),
    # Mark-up, addresses and faces.
    "tag": r"(<[!?][a-zA-Z\-][^>{line_end}]*> | <{name}{attribute}*\ *\/?\ *> | <\/{name}\ *>)",
    "name": r"[a-zA-Z][a-zA-Z0-9:._\-]*",
    "attribute": r"""(\ +{name} (\ *=\ * ("[^"]*" | '[^']*'))?)""",
    "not_of_url": ' \t{line_end}"<>|()',
    "not_of_mail": r"{not_of_url}{unbreaking}\{\}",
    "not_of_site": r"{not_of_url}!$',\-./0-9:;<=>?@A-Z\[\\\]^_\`\{\}",
    "path": r"(\/ [^{not_of_url}]+ [^{not_of_url}.!?,\-\{\}])",
    "eye": r"['\-<=>^x~]",
}

# Rules -----------------------------------------------------------------------------------------

RULES = [
    Rule("[{blank}{line_end}]+ | (?i:&nbsp;)", ""),
    Rule("{tag}", unbroken),
    Rule(r"[A-Z]+\$"),
    # Words that are two: cannot, gonna; 'tis.
    *(Rule("(?i:{}) / (?i:{}) {{word_ends}}".format(*word.split())) for word in words.JOINED),
    Rule("'[tT] / (?i:is | was)"),
    # dog's, it'll, don't.
    Rule(r"(?i:cont'd\.)"),
    Rule("{clitic} / [^a-zA-Z]", plain_apostrophe),
    Rule("{word} / {clitic}", without_soft_hyphens),
    Rule("{nt}", plain_apostrophe),
    Rule("[a-zA-Z{soft}]* [a-mo-zA-MO-Z] {soft}* / {nt}", without_soft_hyphens),
    # Words with an apostrophe inside: O'Brien, d'you, ma'am.
    Rule("[A-HJ-XZdlno] {any_apostrophe} [{letter}]{2} [{letter}]*"),
    Rule("[{letter}]+ [aeiouyAEIOUY] {any_apostrophe} [aeiouA-Z] [{letter}]*"),
    Rule(f"(?i:{_any_of([*words.PLAIN_APOSTROPHE, *map(_spelt, words.ANY_APOSTROPHE)])})"),
    Rule("[dDjJlL] {apostrophe}"),
    Rule("[yY] {apostrophe} / [{letter}]"),
    Rule("{apostrophe} [2-9]0(?i:s)"),
    Rule("{apostrophe} [0-9][0-9] / [{space}]"),
    # Numbers.
    Rule(r"[+\-]? {number}", without_soft_hyphens),
    Rule(r"[{digit}]{1,2} [\-\/] [{digit}]{1,2} [\-\/] [{digit}]{2,4}"),
    Rule(r"([{digit}]{1,4} {gap})? [{digit}]{1,4} (\\?\/ | ⁄) [{digit}]{1,4}", unbroken),
    Rule(
        r"(\([0-9]{2,3}\) [ {unbreaking}]? | \+?([0-9]{2,4}{gap})? [0-9]{2,4}{gap})"
        r"[0-9]{3,4} {gap}? [0-9]{3,5}",
        named_brackets,
    ),
    # Abbreviations. Where one ends the sentence, its full stop is read again.
    Rule(r"{ending}\. / {sentence}", read_again=1),
    Rule(r"{inside}\."),
    Rule(r"{before_number}\. / [{space}]? [{digit}]"),
    Rule(r"{acronym}\. / {sentence_start}", read_again=1),
    Rule(r"{acronym}\."),
    Rule(r"[a-zA-Z] / \. {sentence_start}"),
    Rule(r"[a-zA-Z]\."),
    # Words.
    Rule("{word}", without_soft_hyphens),
    Rule(
        r"(< | (?i:&lt;))? [a-zA-Z0-9] [^{not_of_mail}]* @"
        r" ([^{not_of_mail}.]+\.)* [^{not_of_mail}.]+ (> | (?i:&gt;))?"
    ),
    Rule(r"{ending}\. / .."),
    Rule(
        rf"[{{of_word}}{{digit}}]+ (\.[{{of_word}}{{digit}}]+)* \.(?i:{_any_of(words.EXTENSIONS)})"
        " / [{space}.?!,]"
    ),
    Rule("{thing}"),
    Rule(f"(?i:{_any_of(map(_spelt, words.PREFIXES))})"),
    Rule("{dotted}", without_soft_hyphens),
    Rule("{slashed}"),
    Rule("{capitals} | (?i:s (& | &amp;) ls)", plain_ampersand),
    Rule(r"({thing} | {dotted} | {word} | {capitals})\. / [,;:、]", without_soft_hyphens),
    Rule(r"[cC]\+\+ | [cCfF]#"),
    # Addresses and names of the net.
    Rule(r"(?i:https?):\/\/ [^{not_of_url}\{\}]+ [^{not_of_url}.!?,\-\{\}]"),
    Rule(r"(?i:www)\. ([^{not_of_url}.!?,\{\}]+\.)+ [a-zA-Z]{2,4} {path}?"),
    Rule(r"([^{not_of_site}]+\.)+ (?i:com | net | org | edu) {path}?"),
    Rule("@[a-zA-Z_][a-zA-Z0-9_]*"),
    Rule("#[{of_word}]+"),
    # Faces.
    Rule(r"[<>]? [:;=] [\-o*']? [()DOPdp\\\{@|\[\]] / [^a-zA-Z0-9]", named_brackets),
    Rule(r"{eye}_{eye} | \({eye}[._]?{eye}\) | \(['<=>^x~]-['<=>^x~]\)", named_brackets),
    Rule("[oO] {any_apostrophe} [oO]"),
    # Quotation marks.
    Rule('" / [a-zA-Z0-9$]', "``"),
    Rule("&quot; / [a-zA-Z0-9$]", "``"),
    Rule('" | &quot;', "''"),
    Rule("(?i:&quot;)"),
    Rule("' / [a-zA-Z] [^ \t\xa0\n]", "`"),
    Rule("{clitic}", plain_apostrophe),
    Rule("'' | ' | (?i:&apos;)", plain_apostrophe),
    Rule("[\\`\x91\x92\x93\x94‘’‛‚‟„“”«»‹›]{1,2}", plain_quotes),
    # Other punctuation and signs.
    Rule("\\.{3,5} | (\\.[ {unbreaking}]){2,4} \\. | […\x85]", "..."),
    Rule("---?-? | [\x96\x97–—―] | (?i:&(md | mdash | ndash);)", "--"),
    Rule("-----+ | [!?]+ | @+ | \\*+ | (\\\\\\*)+ | #+ | __+ | << | >>"),
    Rule(f"{SUPERSCRIPT}+ | {SUBSCRIPT}+"),
    *(Rule(f"\\{bracket}", name) for bracket, name in _BRACKETS.items()),
    *(Rule(sign, fraction) for sign, fraction in _FRACTIONS.items()),
    Rule(r"(?i:-[lr][crs]b-)"),
    Rule("[$€¤₠\x80]", "$"),
    Rule("£", "#"),
    Rule("¢", "cents"),
    Rule("(?i:&amp;)", "&"),
    Rule("(?i:&lt;)", "<"),
    Rule("(?i:&gt;)", ">"),
    Rule("(?i:& (ht|tl|ur|lr|qc|ql|qr|odq|cdq | [aeiou](acute|grave|uml) | #[0-9]+) ;)"),
    Rule(rf"\\ | [.,;:=<>|\/^%_~+\-&⁄、{SYMBOL}{CAPITAL_SYMBOL}]"),
    Rule(".", ""),  # any other character: the official tool drops what it does not know
]
