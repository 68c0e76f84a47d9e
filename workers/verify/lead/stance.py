"""Whether claims say yes or no to a question. Not pure: the local reader of sides reads.

A claim says a side only if it answers all that is asked, and nothing narrower, wider or beside it:
the reader was trained on what does not (`entailment.siding`). One claim must say it by itself, and
none of those read the contrary.
"""

from collections.abc import Iterable, Sequence

from clinical_text.doc import doc
from contracts.answer import Siding
from workers.verify.entailment import siding
from workers.verify.gate import Verified
from workers.verify.lead.proposition import Stance, sides

MOST_READ = 5
"""Claims that are read, at some 8 ms each (ours): the strongest designs come first."""
MOST_POLICY_LINES = 10
"""Likewise of policies, most of whose lines decide nothing."""
_SAYS: dict[Stance, float] = {"yes": 0.7, "no": 0.8}
_SAYS_ALONE: dict[Stance, float] = {"yes": 0.4, "no": 0.3}
"""How probable it is at least that a claim says a side, and where its words leave it that alone. A
wrong no does more harm."""
_NEITHER = 0.94
_CONTRARY = 0.5
"""From which probability on a claim says neither for certain, and how probable it may be that
another says the contrary, whatever its words. All set on what was not learned:
docs/questions.md."""


def asking(question: str) -> str:
    """The last sentence of a question that asks; all of it where none ends in a question mark."""
    found = (question[one.start : one.end] for one in reversed(doc(question).sentences))
    return next((one for one in found if one.rstrip().endswith("?")), question)


def read_stances(
    question: str, claims: Sequence[Verified], most: int = MOST_READ
) -> dict[str, Siding]:
    """How probable it is that each of the first claims says yes, and no, by their ids."""
    asked, read = asking(question), claims[:most]
    found = siding.sides((asked, one.text) for one in read)
    return {
        claim.claim_id: Siding(
            supported=round(one.yes, 3),
            contradicted=round(one.no, 3),
            digest=siding.digest(),
            sides=sides(asked, claim.text),
        )
        for claim, one in zip(read, found, strict=True)
    }


def stance(read: Iterable[Siding]) -> Stance | None:
    """The side that a claim takes by itself and none is against; None if there is none."""
    found = list(read)
    for side in _SAYS:
        contrary = (_share(one, other) for one in found for other in _SAYS if other != side)
        if any(says(one, side) for one in found) and max(contrary) <= _CONTRARY:
            return side
    return None


def says_neither(read: Iterable[Siding]) -> bool:
    """Whether each of the claims that were read says neither yes nor no for certain."""
    shares = [1 - one.supported - one.contradicted for one in read]
    return bool(shares) and min(shares) >= _NEITHER


def of_side(read: Siding, side: Stance) -> float:
    """How probable it is that a claim is on a side by itself; 0 where its words may not be."""
    return _share(read, side) if side in read.sides else 0.0


def says(read: Siding, side: Stance) -> bool:
    """Whether a claim takes a side by itself."""
    least = _SAYS_ALONE if read.sides == (side,) else _SAYS
    return of_side(read, side) >= least[side]


def _share(read: Siding, side: Stance) -> float:
    return read.supported if side == "yes" else read.contradicted
