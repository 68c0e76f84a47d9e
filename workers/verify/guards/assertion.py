"""What a passage only supposes, looks for, tells of somebody else or leaves open is no fact. Pure.

"Performed to rule out metastases", "Metastases: see text" and "his mother had cancer" do not say
that there are metastases, or that he has cancer.
"""

from collections.abc import Sequence

from clinical_text.assertion.marks import Assertion
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.statements import Statement, read

_SHARE = 0.5
"""Share of the claim's words that the passage has, by which the claim states what the passage says
so (ours: at half, twice as many false claims have it as true ones, on 4,500 written claims)."""


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """How the passage says what the claim says as a fact. Empty: no veto, which is no support."""
    said = read(claim)
    held, marks = _held(said, read(grounds.passage))
    kept = _cues(said)
    return [
        Finding("modality", f"the passage says it as {means.value}, the claim as a fact")
        for means in Assertion
        if means not in kept and 0 < sum(means in one for one in marks) >= _SHARE * len(held)
    ]


def is_denied(claim: str, passage: str) -> bool:
    """Whether the passage denies, wherever it has them, all the words that it has of a claim that
    denies nothing, and these are most of the claim."""
    said = read(claim)
    held, marks = _held(said, read(passage))
    content = sum(token.content and not token.frame for token in said.tokens)
    return (
        len(held) > _SHARE * content
        and all(Assertion.NEGATED in one for one in marks)
        and Assertion.NEGATED not in _cues(said)
    )


def _held(
    said: Statement, source: Statement
) -> tuple[Sequence[int], Sequence[frozenset[Assertion]]]:
    """The words of content of the claim that the passage has, and what it says of each."""
    held = [
        i
        for i, token in enumerate(said.tokens)
        if token.content and not token.frame and token.stem in source.by_stem
    ]
    marks = {stem: _everywhere(source, stem) for stem in {said.stems[i] for i in held}}
    return held, [marks[said.stems[i]] for i in held]


def _cues(text: Statement) -> set[Assertion]:
    """All that a text says of anything."""
    doc = text.doc
    return {
        cue.means for number in range(len(doc.sentences)) for cue, _ in doc.marks_of(number).cues
    }


def _everywhere(text: Statement, stem: str) -> frozenset[Assertion]:
    """What a text says of a word wherever it stands."""
    places = [text.tokens[i] for i in text.by_stem[stem]]
    return frozenset.intersection(*(text.doc.reading(one.start, one.end).marks for one in places))
