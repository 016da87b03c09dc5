"""Dependency trees written by hand, as short text, for the tests of SPICE.

    tree_of("a/DT man/NN rides/ride/VBZ it/PRP", "det(man, a) nsubj(rides, man) dobj(rides, it)")

Words are form/tag or form/lemma/tag; edges are relation(head, dependent) by form, with "-2" behind
a form for its second place. Knows the notation only.
"""

import re

from meshcap.metrics.spice.tree import Edge, Tree, Word


def tree_of(text: str, edges: str = "", *, collapsed: bool = False) -> Tree:
    words = []
    for cell in text.split():
        form, *lemma, tag = cell.split("/")
        words.append(Word(form, lemma[0] if lemma else form, tag))
    forms = [word.form for word in words]

    def place(name: str) -> int:
        form, _, which = name.partition("-")
        return [place for place, found in enumerate(forms) if found == form][int(which or 1) - 1]

    found = [
        Edge(place(head), place(dependent), relation)
        for relation, head, dependent in re.findall(r"([a-z:_]+)\(([^ ,]+), ([^ ,)]+)\)", edges)
    ]
    return Tree(tuple(words), tuple(found), collapsed)
