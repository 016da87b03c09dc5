"""English words that are listed, not learned: closed classes, fixed phrases, roles.

Knows words and phrases; nothing of statistics, of tagging or of trees.

A word's *role* is another kind than its Penn tag, one character each: whether a participle stands
before a noun or acts as a verb decides much in a caption, whether a noun is a name decides nothing.

    D determiner, possessive pronoun   # number            A adjective
    G -ing form before its noun        E -ed form before its noun
    N noun, singular                   S noun, plural      O pronoun
    K possessive 's                    B finite "be"       b "be", "been", "being"
    X other auxiliary                  Z verb in -s        V verb after a plural
    Y past tense                       I infinitive        U -ing form as a verb
    Q participle as a verb             T "to" before one   P preposition, particle
    R adverb                           C conjunction       W relative or asking word
    M word that opens a clause         H "there" that is   F anything else
"""

ROLES = "D#AGENSOKBbXZVYIUQTPRCWMHF"

_CLOSED = """
D a an the every no its my your our their his someones somebodys everyones
D this these those each either neither some any both all another such
# one
# two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
# seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds
# thousand thousands million dozen
DO her that's
A several many few other various same own different
O he she it they him them i you we me us himself herself itself themselves themself yourself myself
O someone somebody everyone everybody anyone anybody nobody none something anything everything
O nothing mine theirs hers each-other
KB 's
K ' s
B is are was were am 're 'm
b been being
Bb be
X can could will would may might must shall should ca wo don doesn didn 've 'd 'll
ZX has does
VIX have do
YX had did
C and or but nor & plus
W who whom whose which what
WDM that
WM where
M while whilst because if although though when whenever until till since unless
MP as
H there
TP to
P of in on at with by from for into onto upon near beside besides behind above below beneath
P underneath under between among amongst amidst amid along across against around through throughout
P over off out up down about inside outside toward towards during without within via past atop
P beyond alongside aboard despite except per than versus vs behing wit w/ infront ontop nexto
PM after before
PVI like
PR aside apart opposite
U including
R not n't very too also just almost only really quite away together back again ahead nearby
R here maybe perhaps still then now apparently probably already else even ever never
RA upside-down
RM so
"""


def _listed(text: str) -> dict[str, str]:
    """Each word with the roles that stand before it."""
    table: dict[str, str] = {}
    for line in text.split("\n"):
        roles, *words = line.split() or [""]
        for word in words:
            table[word] = roles
    return table


CLOSED: dict[str, str] = _listed(_CLOSED)
"""Every word of a closed class with the roles that it can have, the commonest first."""

_PHRASES = """
P in front of; on top of; next to; out of; off of; inside of; outside of; close to; near to
P away from; along with; because of; instead of; ahead of; across from; such as; in between
P together with; alongside of; due to; infront of; ontop of; nex to; rather than; in back of
P apart from; over top of; at top of; next too; up against; in font of; in from of; on front of
P prior to; according to; except for
C as well as
O each other; one another; no one; some one; any one; each others
R upside down; at least; as well; side by side; back and forth; up close; in front
R right side up; face to face
R close together; close by; near by; at once; of course; in a row; all together; hand in hand
R at all; each way; all day; up high; high up; one by one; down below
N close up; merry go round
UG skate boarding; snow boarding; wake boarding; wind surfing; body boarding; para sailing
UG roller blading; kite surfing
T about to; in order to; so as to; going to be
D what appears to be; what looks like; what seems to be; what looks to be; what appear to be
M as if; as though; even though; so that; such that; even if; as soon as
W in which; on which; at which; from which; with which
"""


def _phrases(text: str) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """By their first words: the phrases, longest first, and their roles."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for line in filter(None, text.split("\n")):
        role, _, phrases = line.partition(" ")
        for phrase in phrases.split(";"):
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((words, role))
    return {
        first: tuple(sorted(phrases, key=lambda phrase: -len(phrase[0])))
        for first, phrases in found.items()
    }


_ONE_WORD = """
close up=closeup; merry go round=merry-go-round; skate boarding=skateboard; snow boarding=snowboard
wake boarding=wakeboard; wind surfing=windsurf; body boarding=bodyboard
para sailing=parasail; roller blading=rollerblade; kite surfing=kitesurf
"""
ONE_WORD: dict[str, str] = dict(
    entry.strip().split("=") for entry in _ONE_WORD.replace("\n", ";").split(";") if entry.strip()
)
"""The dictionary forms of nouns and verbs that are written as several words."""

PHRASES = _phrases(_PHRASES)
"""Several words that are one unit of a caption, by the first of them, with the unit's role."""

_ALLOWED = """
N sign tower racket bread cheese milk mug jar foil nose mound lap rack seat corn court cream rice
N umpire stuff stall butter resort link control course part graffiti bat bear tongue exhibit groom
N wheel cone body wii nintendo xbox tv bmx atv pack handle batter catcher racquet palm straw
N intersection hydrant broccoli wave bench dog man woman boy girl cat plate table umbrella giraffe
N shot water skate floor train bus boat flock herd crowd
NA iron top front plain wild tabby color model square wii half remote male female adult
NAR back side
N home
NR outdoors indoors
NI board paint block pitch end smoke hand head
NS sheep deer fish police
S tracks signs lights bags trucks buses boards bars phones monitors mushrooms balloons carts jackets
S officers tools tags cones paws snowboards rackets supplies rows sprinkles balls stairs pants men
S women people children shorts clothes glasses sunglasses goggles scissors jeans bears benches
QE covered lined painted filled decorated mounted wrapped shaped fenced drawn marked arranged sliced
QE dressed parked stacked seated topped lit baked cooked surrounded loaded packed displayed attached
QE equipped placed tied crowded cluttered colored haired piled posted grilled fried glazed chopped
QE mixed located docked perched gathered prepared enclosed tiled
QV set
AQNR left
ANR right
A full various parallel long first third fourth fifth ready asleep awake alone alive
AR high low wide deep fast far close straight hard
P opposite
AIV dry
"""

ALLOWED: dict[str, str] = _listed(_ALLOWED)
"""The only roles that a word has in captions, where WordNet knows more."""
