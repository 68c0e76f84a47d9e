"""A claim that only leaves out, or strays in its wording, is shown in its source's own words. Pure.

What a paraphrase drops may be what matters ("in mice", "compared with placebo", "p = 0.6"), what it
rewords may be reworded wrongly, and no rule can tell. So where nothing else speaks against a claim,
the whole sentences that it leans on take its place: they say no less than their source, and they
are verified like any claim. So it is with a claim that says "it" or "this trial" of what only the
sentence before names: that sentence stands before it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from clinical_text.labels import body_of
from knowledge.loader import load
from store.core.hashes import text_hash
from store.core.spans import Span
from workers.verify.claims import Located, Rewritten, Verdict
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import read
from workers.verify.guards.stitches import Pointing, pointer, points
from workers.verify.locating import CitedText, repeats

_AUTHORS = ("we", "our")
_MOST_BEFORE = 2
"""Sentences that are shown before the one that points at them, at most (ours)."""
Vetoes = Callable[[str, Grounds], Sequence[Finding]]


def completed(located: Located, cited: CitedText | None, vetoes: Vetoes) -> Located:
    """The claim in the words of its passage, where all that speaks against it is that it strays
    from them, or where it points at what only the sentence before names; else the claim as it is.

    Args:
        cited: the version that the claim names; None if there is none.
        vetoes: all guards, which the passage's words must pass too.
    """
    if cited is None or located.place is None:
        return located
    if not (located.only_strays or (located.may_pass and _points_back(located.text))):
        return located
    place = _from_what_it_points_at(cited, located.place)
    if place is None or cited.speaks_to_programs(place):
        return located if located.findings else replace(located, findings=("closeness",))
    passage = place.of(cited.source.text)
    words = " ".join(body_of(passage).split())
    if not repeats(words, cited, place) or vetoes(words, cited.grounds(place)):
        return located if located.findings else replace(located, findings=("closeness",))
    before = Rewritten(text_hash(located.text), Verdict.PARTIAL.value, located.findings)
    return replace(
        located,
        text=words,
        place=place,
        passage=passage,
        repeats=True,
        findings=(),
        also=(),
        completed_from=before,
    )


def _from_what_it_points_at(cited: CitedText, place: Span) -> Span | None:
    """The place with the sentences before that name what it points at; None where none does, or
    where that is too much to show."""
    text = cited.source.text
    first = next((at for at, one in enumerate(cited.sentences) if one.end > place.start), 0)
    for at in range(first, first - _MOST_BEFORE - 1, -1):
        if at < 0:
            break
        start = min(place.start, cited.sentences[at].start)
        if place.end - start > load("answers")["most_chars"]:
            break
        if not _points_back(text[start : place.end]):
            return Span(start, place.end)
    return None


def _points_back(words: str) -> bool:
    """Whether what the words speak of is named only before them; authors need no name."""
    statement = read(words)
    first = statement.sentences[0] if statement.sentences else ()
    pointing = points(statement, first)[0] is not Pointing.NOT
    return pointing and pointer(statement, first) not in _AUTHORS
