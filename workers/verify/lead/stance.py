"""Whether claims say yes or no to a question. Not pure: the local verifier reads.

It reads the question as it was asked: over the yes/no questions of BioASQ 7B to 9B3 that tells yes
from no (area 0.838) at least as well as a statement made of its words (0.828). A claim that aims
at, asks or reports of others takes no side. What several sources say adds up; the words of one must
be on all that is asked (`proposition`).
"""

import math
import re
from collections.abc import Iterable, Sequence

from clinical_text.assertion.marks import Assertion
from clinical_text.doc import doc
from contracts.answer import Siding
from store.index.terms import term_set
from workers.verify.entailment import reader
from workers.verify.gate import Verified
from workers.verify.lead.proposition import Stance, denies, sides

MOST_READ = 5
"""Claims that are read, at some 8 ms each (ours): the strongest designs come first."""
_YES, _NO = (0.5, 0.4), (0.6, 0.6)
"""From which log odds of the sums of what speaks for the sides on one is taken, and how probable it
is at least by one claim, which is shown with it: many that are on something else add up to nothing.
A wrong no does more harm."""
_LITTLE, _DENIED = 0.1, 0.6
"""What is added to each sum; how much of the support for what is denied counts for the contrary.
All set on 365 yes/no questions of BioASQ 7B to 9B3: docs/questions.md."""
_WORD = re.compile(r"\w+")
_TAKES_NO_SIDE = frozenset({Assertion.HYPOTHETICAL, Assertion.UNKNOWN, Assertion.OTHER})


def asking(question: str) -> str:
    """The last sentence of a question that asks; all of it where none ends in a question mark."""
    found = (question[one.start : one.end] for one in reversed(doc(question).sentences))
    return next((one for one in found if one.rstrip().endswith("?")), question)


def read_stances(question: str, claims: Sequence[Verified]) -> dict[str, Siding]:
    """How probable it is that each of the first claims that take a side says so, or the contrary,
    by their ids. Where the reading of a claim denies words of the question, much of what speaks for
    it counts for the contrary."""
    asked = asking(question)
    siding = [one for one in claims if _takes_a_side(one.text, asked)][:MOST_READ]
    read = reader.judge_all([(asked, one.text) for one in siding])
    found = {}
    for claim, one in zip(siding, read, strict=True):
        moved = _DENIED * one.supported if denies(asked, claim.text) else 0.0
        found[claim.claim_id] = Siding(
            supported=round(one.supported - moved, 3),
            contradicted=round(one.contradicted + moved, 3),
            digest=reader.digest(),
            sides=sides(asked, claim.text),
        )
    return found


def _takes_a_side(claim: str, asked: str) -> bool:
    """Whether a claim says what it does of the first word of the question that it has outright."""
    terms = term_set(asked)
    shared = (one.span() for one in _WORD.finditer(claim) if terms & term_set(one.group()))
    first = next(shared, None)
    return first is None or _TAKES_NO_SIDE.isdisjoint(doc(claim).reading(*first).marks)


def stance(read: Iterable[Siding]) -> Stance | None:
    """The side that claims take together and one of them by itself; None if they take none for
    certain."""
    found = list(read)
    yes, no = (sum(one.supported for one in found), sum(one.contradicted for one in found))
    odds = math.log(yes + _LITTLE) - math.log(no + _LITTLE)
    if odds >= _YES[0] and max(of_side(one, "yes") for one in found) >= _YES[1]:
        return "yes"
    sure = -odds >= _NO[0] and max(of_side(one, "no") for one in found) >= _NO[1]
    return "no" if sure else None


def of_side(read: Siding, side: Stance) -> float:
    """How probable it is that a claim is on a side by itself; 0 where its words may not be."""
    if side not in read.sides:
        return 0.0
    return read.supported if side == "yes" else read.contradicted
