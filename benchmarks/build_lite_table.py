"""Builds `src/meshcap/assets/spice_lite/table.json.zlib`, what the built-in caption parser learned.

    python benchmarks/build_lite_table.py            # from the captions under ../shared/data

Nothing is annotated: the chances of roles come from raw captions by Baum and Welch's way, from a
first guess (WordNet, lists, and the table of neighbours below); what goes with what is counted
where the roles leave no doubt, such as a caption's first phrases. Only counts of words that were
met several times are kept. The same captions give the same bytes. Takes about two minutes.
"""

import argparse
import json
import os
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from math import exp
from pathlib import Path
from typing import Any

from meshcap.files import written_whole
from meshcap.metrics.spice.lexicon import lemma
from meshcap.metrics.spice.lite.company import Attachment, Phrases
from meshcap.metrics.spice.lite.table import Table
from meshcap.metrics.spice.lite.tagger import Tagger, chances, units_of
from meshcap.metrics.spice.lite.words import ROLES

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("MESHCAP_SHARED", ROOT.parent / "shared"))
GOLDEN = ROOT / "tests" / "golden"
TARGET = ROOT / "src" / "meshcap" / "assets" / "spice_lite" / "table.json.zlib"
COMPANY = ("does", "nouns", "noun_phrases", "verbs", "verb_phrases", "compounds")
STATES = ROLES + "$"
END = STATES.index("$")

# The first guess at which role follows which: "D N.5 A.33" is an article before a noun half of the
# time. What is not named gets half a thousandth.
FIRST = "D.62 #.06 A.08 N.06 S.06 G.01 E.01 H.01 O.01 P.02 U.01 M.005 I.005 R.005"
NEXT = """
D N.5 A.33 S.06 G.03 E.03 #.02 R.01
# S.5 A.3 N.1 G.02 E.02 P.03 R.01
A N.5 A.15 S.15 C.06 G.01 E.01 P.04 $.04 M.005 R.01 U.005
G N.7 S.2 A.05 C.01
E N.7 S.2 A.05 C.02 G.01
N P.33 N.16 S.03 U.12 B.09 Z.1 C.06 Q.04 $.1 R.02 W.02 M.01 K.01 T.01 D.01 Y.01 V.003 A.005
S P.33 U.13 V.07 B.12 C.06 Q.04 $.15 R.02 W.02 N.02 D.01 K.005 M.01 A.005 Y.01 T.01
O B.2 Z.1 V.05 U.05 P.1 $.1 C.05 Y.02 D.03 A.03 R.03 N.02 X.02
K N.5 A.2 S.15 G.02 E.02 #.01
B U.4 Q.12 P.18 D.08 A.1 R.06 b.03 N.01 #.01 S.01 T.01 G.003 E.003
b Q.8 A.05 P.05 U.03 D.02
X I.45 Q.2 b.1 R.15 D.03
Z P.4 D.3 N.05 S.03 A.05 R.05 T.03 $.03 U.02 #.02 O.02 C.02 Q.005 G.005 E.005 M.01
V P.4 D.3 N.05 S.03 A.05 R.05 T.03 $.03 U.02 #.02 O.02 C.02 Q.005 G.005 E.005 M.01
Y P.4 D.3 N.05 S.03 A.05 R.05 T.03 $.03 U.02 #.02 O.02 C.02 Q.005 M.01
I P.3 D.4 N.07 S.05 A.06 R.04 T.01 $.07 U.01 #.01 O.03 C.02 Q.002 G.005 E.005 M.01
U P.35 D.3 N.06 S.06 A.07 R.05 $.05 T.03 C.02 O.02 #.02 G.005 E.005 M.01 Q.002
Q P.65 R.05 $.08 D.05 C.03 T.02 N.02 A.02 U.01 S.01
T I1.0
P D.6 N.1 S.05 A.08 #.03 P.05 O.03 G.01 E.01 U.03 R.005 W.005 $.02 H.001
R P.25 U.1 D.1 A.15 R.03 $.1 Q.1 N.03 E.05 C.03 Z.03 V.03 B.02 S.02 M.02
C D.3 N.15 S.1 A.12 U.1 Z.05 Q.02 V.03 #.02 P.02 B.01 E.01 G.01 O.02 R.02 I.01 Y.01
W B.4 Z.2 V.15 D.1 O.05 X.05 Y.02 N.02 S.01 U.01
M D.4 U.25 O.1 N.05 S.05 Q.02 A.05 #.02 H.01 P.02
H B.9 V.03 X.03 Z.02
F N.2 D.2 P.2 $.1 F.1 Z.05 U.05 S.05
"""
NOT_WORDS = {",", ".", ";", ":", "!", "?", "(", ")", "-", "--", "'", '"', "..."}
NP = "(?:D?(?:[A#EG]|AC(?=A))*[NS]+)"
SUBJECT_THEN_VERB = re.compile(f"^{NP}(B?)R*([UQZVY])")
NOUN_PHRASE_FIRST = re.compile(f"^{NP}(P)({NP})?")
VERB_THEN_PHRASE = re.compile(f"[UZVQYI](P){NP}")
VERB_NOUN_PHRASE = re.compile(f"([UZVYI]){NP}(P){NP}")
VERB = re.compile(f"([UZVQYI])({NP})?")
TAG = {"S": "NNS", "N": "NN", "U": "VBG", "Q": "VBN", "Z": "VBZ", "V": "VB", "I": "VB", "Y": "VBD"}


def raw_captions() -> Iterable[str]:
    """COCO's training captions, but for those that the parser is measured on.

    Flickr8k's are left out: their terms are narrower than the package's licence.
    """
    rows = json.loads((GOLDEN / "spice_lite_held_out.json").read_text(encoding="utf-8"))
    held_out = {row["id"] for row in rows if row["from"] == "coco"}
    coco = json.loads((SHARED / "data/coco/captions_train.json").read_text(encoding="utf-8"))
    for annotation in coco["annotations"]:
        if annotation["id"] not in held_out:
            yield annotation["caption"]


def tokens_of(caption: str) -> list[str]:
    """Roughly the official tokens, punctuation kept."""
    found: list[str] = []
    for chunk in caption.lower().replace("’", "'").replace('"', " ").split():
        word = chunk.strip(".,;:!?()`")
        ending = chunk[len(chunk.rstrip(".,;:!?()`")) :]
        if cut := re.fullmatch(r"(.+?)('s|n't|'re|'ve|'ll|'m|'d|')", word):
            found += [part for part in cut.groups() if part != "'"]
        elif word:
            found.append(word)
        found += ending[:1]
    return found


def normal(row: dict[str, float] | list[float]) -> list[float]:
    """Numbers that add up to 1."""
    values = list(row.values()) if isinstance(row, dict) else row
    total = sum(values)
    return [value / total for value in values]


def first_guess(line: str) -> list[float]:
    """A row of the table of neighbours."""
    row = [0.0005] * len(STATES)
    for entry in line.split():
        row[STATES.index(entry[0])] += float(entry[1:])
    return normal(row)


class Model:
    """The hidden Markov model while it learns."""

    def __init__(self, captions: Counter[tuple[str, ...]]) -> None:
        self.captions = captions
        self.count: Counter[str] = Counter()
        for units, times in captions.items():
            for unit in units:
                self.count[unit] += times
        self.start = first_guess(FIRST)
        rows = {line[0]: line[2:] for line in NEXT.strip().split("\n")}
        self.after = [first_guess(rows.get(state, "")) for state in STATES]
        self.guess = {unit: self._guess(unit) for unit in self.count}
        self.words = self.guess
        self.emit = self._emissions()

    @staticmethod
    def _guess(unit: str) -> dict[str, float]:
        found = chances(unit)
        total = sum(found.values())
        return {role: chance / total for role, chance in found.items()}

    def shares(self) -> dict[str, float]:
        """How common each role is."""
        total: dict[str, float] = dict.fromkeys(ROLES, 1.0)
        for unit, roles in self.words.items():
            for role, chance in roles.items():
                total[role] += chance * self.count[unit]
        return dict(zip(ROLES, normal(total), strict=True))

    def _emissions(self) -> dict[str, list[tuple[int, float]]]:
        shares = self.shares()
        return {
            unit: [
                (STATES.index(role), chance * self.count[unit] / shares[role])
                for role, chance in roles.items()
                if chance > 1e-4
            ]
            for unit, roles in self.words.items()
        }

    def learn(self) -> None:
        """One round: how often each role is met and follows each, given what is known so far."""
        self.next = [[0.0] * len(STATES) for _ in STATES]
        self.first = [0.0] * len(STATES)
        self.met: dict[str, dict[str, float]] = {u: defaultdict(float) for u in self.count}
        for units, times in self.captions.items():
            self._add(units, times)
        self.start = normal([x + 50 * old for x, old in zip(self.first, self.start, strict=True)])
        self.after = [
            normal([x + 200 * old for x, old in zip(row, before, strict=True)])
            for row, before in zip(self.next, self.after, strict=True)
        ]
        self.words = {}
        for unit, roles in self.met.items():
            total = sum(roles.values()) + 2
            self.words[unit] = {
                role: (roles[role] + 2 * chance) / total
                for role, chance in self.guess[unit].items()
            }
        self.emit = self._emissions()

    def _add(self, units: tuple[str, ...], times: int) -> None:
        """Forwards and backwards through one caption."""
        forward: list[list[tuple[int, float]]] = []
        scales: list[float] = []
        for place, unit in enumerate(units):
            if place:
                before = forward[-1]
                row = [
                    (role, fit * sum(x * self.after[old][role] for old, x in before))
                    for role, fit in self.emit[unit]
                ]
            else:
                row = [(role, fit * self.start[role]) for role, fit in self.emit[unit]]
            scales.append(sum(x for _, x in row))
            forward.append([(role, x / scales[-1]) for role, x in row])
        end = sum(x * self.after[role][END] for role, x in forward[-1])
        backward = [self.after[role][END] / end for role, _ in forward[-1]]
        for (role, x), y in zip(forward[-1], backward, strict=True):
            self.next[role][END] += x * y * times
        for place in range(len(units) - 1, -1, -1):
            met = self.met[units[place]]
            for (role, x), y in zip(forward[place], backward, strict=True):
                met[STATES[role]] += x * y * times
                if not place:
                    self.first[role] += x * y * times
            if place:
                ahead = [
                    (role, fit * y / scales[place])
                    for (role, fit), y in zip(self.emit[units[place]], backward, strict=True)
                ]
                backward = []
                for old, x in forward[place - 1]:
                    row_sum = 0.0
                    for role, value in ahead:
                        step = self.after[old][role] * value
                        row_sum += step
                        self.next[old][role] += x * step * times
                    backward.append(row_sum)


def rounded(value: float) -> float:
    """Three significant digits."""
    return float(f"{value:.3g}")


def table_of_roles(model: Model, at_least: int) -> dict[str, Any]:
    """What the tagger needs; a word met less often, or with one role, is left to the lists."""
    roles = {
        unit: {role: rounded(chance) for role, chance in sorted(found.items()) if chance > 0.004}
        for unit, found in sorted(model.words.items())
        if model.count[unit] >= at_least
    }
    return {
        "start": {role: rounded(p) for role, p in zip(STATES, model.start, strict=True)},
        "after": {
            before: {role: rounded(p) for role, p in zip(STATES, row, strict=True)}
            for before, row in zip(ROLES, model.after, strict=False)
        },
        "roles": {unit: found for unit, found in roles.items() if found != model.guess[unit]},
        "shares": {role: rounded(share) for role, share in model.shares().items()},
    }


def save(path: Path, content: dict[str, object]) -> None:
    """The table as packed JSON."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    with written_whole(path) as temporary:
        temporary.write_bytes(zlib.compress(text.encode(), 9))


def dictionary_form(unit: str, role: str) -> str:
    """A unit's dictionary form by its role."""
    return lemma(unit, TAG[role])


class Company:
    """What was met with what, where roles alone leave no doubt."""

    def __init__(self) -> None:
        self.does: Counter[tuple[str, str]] = Counter()
        self.noun: Counter[str] = Counter()
        self.noun_phrase: Counter[tuple[str, str]] = Counter()
        self.verb: Counter[str] = Counter()
        self.verb_phrase: Counter[tuple[str, str]] = Counter()
        self.either: Counter[tuple[str, str, str, str]] = Counter()
        self.beside: Counter[tuple[str, str]] = Counter()

    def add(self, units: list[str], roles: str) -> None:
        """Count one caption."""
        if found := SUBJECT_THEN_VERB.match(roles):
            verb = found.start(2)
            noun = max(roles.rfind("N", 0, verb), roles.rfind("S", 0, verb))
            form = "Q" if roles[verb] == "Q" else "U"
            name = f"{dictionary_form(units[verb], roles[verb])} {form}"
            self.does[name, dictionary_form(units[noun], roles[noun])] += 1
        if first := re.match(NP, roles):
            noun_form = dictionary_form(units[first.end() - 1], roles[first.end() - 1])
            self.noun[noun_form] += 1
            if found := NOUN_PHRASE_FIRST.match(roles):
                self._phrase(
                    self.noun_phrase, noun_form, units, roles, found.start(1), found.end(2)
                )
        for found in VERB.finditer(roles):
            verb_form = dictionary_form(units[found.start()], roles[found.start()])
            self.verb[verb_form + ("+" if found.group(2) and found.group(1) != "Q" else "")] += 1
        for found in VERB_NOUN_PHRASE.finditer(roles):
            verb, at, end = found.start(), found.start(2), found.end() - 1
            forms = [dictionary_form(units[i], roles[i]) for i in (verb, at - 1, end)]
            self.either[forms[0] + "+", forms[1], units[at], forms[2]] += 1
        for found in VERB_THEN_PHRASE.finditer(roles):
            verb_form = dictionary_form(units[found.start()], roles[found.start()])
            self._phrase(self.verb_phrase, verb_form, units, roles, found.start(1), found.end())

    @staticmethod
    def _phrase(
        into: Counter[tuple[str, str]], head: str, units: list[str], roles: str, at: int, end: int
    ) -> None:
        if end > at:
            thing = dictionary_form(units[end - 1], roles[end - 1])
            into[head, f"{units[at]} {thing}"] += 1

    def add_neighbours(self, units: list[str], roles: str, cut: set[int]) -> None:
        """Count nouns that stand side by side, or, against it, with a comma between them."""
        for place in range(len(units) - 1):
            if roles[place] in "NSG" and roles[place + 1] in "NS":
                self.beside[units[place], units[place + 1]] += -2 if place + 1 in cut else 1

    def shared_out(self) -> Counter[tuple[str, str]]:
        """The phrases behind verb and object that are the verb's, shared out in a few rounds."""
        mine: Counter[tuple[str, str]] = Counter()
        nouns = Phrases(self.noun, nested(self.noun_phrase, 1))
        for round_number in range(4):
            verbs = Phrases(self.verb, nested(self.verb_phrase + mine, 0), verbs=True)
            both = Attachment(nouns, verbs)
            shares: dict[tuple[str, str], float] = defaultdict(float)
            for (verb, noun, preposition, thing), times in self.either.items():
                pull = both.takes(verbs, verb, preposition, thing) if round_number else 0.0
                against = both.takes(nouns, noun, preposition, thing)
                if not round_number:
                    pull = both.takes(verbs, verb[:-1], preposition, thing)
                shares[verb, f"{preposition} {thing}"] += times / (1 + exp(against - pull))
            mine = Counter({key: round(share) for key, share in shares.items()})
        return mine

    def table(self) -> dict[str, dict[str, dict[str, int]] | dict[str, int]]:
        """What is kept."""
        return {
            "does": nested(self.does, 2),
            "nouns": dict(sorted((n, c) for n, c in self.noun.items() if c > 2)),
            "noun_phrases": nested(self.noun_phrase, 2),
            "verbs": dict(sorted((v, c) for v, c in self.verb.items() if c > 2)),
            "verb_phrases": nested(self.verb_phrase + self.shared_out(), 2),
            "compounds": {
                f"{one} {other}": min(count, 9)
                for (one, other), count in sorted(self.beside.items())
                if count > 1
            },
        }


def cuts_of(tokens: list[str], firsts: list[int]) -> set[int]:
    """The units before which a comma or the like stands."""
    starts: set[int] = set()
    words = 0
    for token in tokens:
        if token in NOT_WORDS:
            starts.add(words)
        else:
            words += 1
    return {unit for unit, first in enumerate(firsts) if first in starts}


def nested(counts: Counter[tuple[str, str]], at_least: int) -> dict[str, dict[str, int]]:
    """Pairs as a dictionary of dictionaries."""
    found: dict[str, dict[str, int]] = {}
    for (first, second), times in sorted(counts.items()):
        if times >= at_least:
            found.setdefault(first, {})[second] = times
    return found


def main() -> None:
    """Learn, count, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--to", type=Path, default=TARGET)
    given = parser.parse_args()
    tokens = [tokens_of(caption) for caption in raw_captions()]
    plain = [[token for token in found if token not in NOT_WORDS] for found in tokens]
    captions = Counter(tuple(units_of(words)[0]) for words in plain if words)
    model = Model(captions)
    for _ in range(given.rounds):
        model.learn()
    learned = table_of_roles(model, 3)
    company = Company()
    tagger = Tagger(Table(**learned, **{name: {} for name in COMPANY}))
    for found, words in zip(tokens, plain, strict=True):
        if words:
            units, firsts = units_of(words)
            roles = tagger.roles(units)
            company.add(units, roles)
            company.add_neighbours(units, roles, cuts_of(found, firsts))
    save(given.to, learned | company.table())
    print(f"{given.to}: {given.to.stat().st_size:,} bytes, {len(model.words):,} words")


if __name__ == "__main__":
    main()
