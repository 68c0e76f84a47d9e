"""A claim that only leaves out is shown in its source's own words. Pure.

What a paraphrase drops may be what matters ("in mice", "compared with placebo", "p = 0.6"), and no
rule can tell. So where nothing else speaks against a claim, the whole sentences that it leans on
take its place: they say no less than their source, and they are verified like any claim.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from knowledge.loader import load
from store.hashes import text_hash
from workers.reading.labels import body_of
from workers.verify.claims import Located, Rewritten, Verdict
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import read
from workers.verify.guards.stitches import Pointing, pointer, points
from workers.verify.locating import CitedText, repeats

_AUTHORS = ("we", "our")
Vetoes = Callable[[str, Grounds], Sequence[Finding]]


def completed(located: Located, cited: CitedText | None, vetoes: Vetoes) -> Located:
    """The claim in the words of its passage, where all that speaks against it is what it leaves
    out; else the claim as it is.

    Args:
        cited: the version that the claim names; None if there is none.
        vetoes: all guards, which the passage's words must pass too.
    """
    place = located.place
    if cited is None or place is None or not located.only_leaves_out:
        return located
    words = " ".join(body_of(located.passage).split())
    if len(words) > load("answers")["most_chars"] or _points_back(located.passage):
        return located
    if not repeats(words, cited, place) or vetoes(words, cited.grounds(place)):
        return located
    before = Rewritten(text_hash(located.text), Verdict.PARTIAL.value, located.findings)
    return replace(located, text=words, repeats=True, findings=(), also=(), completed_from=before)


def _points_back(passage: str) -> bool:
    """Whether what the passage speaks of is named only before it; its authors need no name."""
    statement = read(passage)
    first = statement.sentences[0] if statement.sentences else ()
    pointing = points(statement, first)[0] is not Pointing.NOT
    return pointing and pointer(statement, first) not in _AUTHORS
