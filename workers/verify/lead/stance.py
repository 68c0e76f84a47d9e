"""Whether claims say yes or no to a question. Not pure: the local verifier reads.

The question is turned into the statement that it asks about ("Does aspirin prevent stroke?" into
"aspirin prevent stroke"), and the verifier reads what a claim says of that. Where the reading of
the claim denies words of the statement, support counts for the contrary; a claim that aims at, asks
or reports of others takes no side.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from clinical_text.assertion.marks import Assertion
from clinical_text.doc import Doc, doc
from contracts.answer import Scores
from store.index.terms import term_set
from workers.verify.entailment import reader
from workers.verify.gate import Verified

Stance = Literal["yes", "no"]
MOST_READ = 5
"""Claims that are read, at some 8 ms each (ours): the strongest designs come first."""
_YES, _NO, _MARGIN, _DENIED = 0.4, 0.5, 0.2, 0.6
"""How probable a side is at least, how much more than the other, and how much of the support for
what is denied counts for the contrary. Ours: over the 123 yes/no questions of BioASQ 10B with
twelve sentences of their snippets a side is taken on half, rightly on 93 %."""
_AUXILIARY = re.compile(
    r"(?i)(?:^|(?<=[.?!,;:]\s))\W{0,3}(?:is|are|was|were|do|does|did|can|could|should|will|would|has"
    r"|have|may|might|must|shall)\b(?:\s+there\b)?\s*(?=[^.?!]{1,400}\?|[^.?!]{1,400}$)"
)
_WORD = re.compile(r"\w+")
_TAKES_NO_SIDE = frozenset({Assertion.HYPOTHETICAL, Assertion.UNKNOWN, Assertion.OTHER})


def statement(question: str) -> str:
    """What a yes/no question asks about, without its auxiliary; empty if it begins with none."""
    found = _AUXILIARY.search(question)
    return question[found.end() :].strip(" ?.\n") if found else ""


def read_stances(question: str, claims: Sequence[Verified]) -> dict[str, Scores]:
    """How probable it is that each of the first claims that take a side says so, or the contrary,
    by their ids."""
    asked = statement(question)
    if not asked:
        return {}
    siding = [(one.claim_id, doc(one.text)) for one in claims]
    siding = [(key, text) for key, text in siding if _takes_a_side(text, asked)][:MOST_READ]
    read = reader.judge_all([(asked, text.text) for _, text in siding])
    found = {}
    for (key, text), one in zip(siding, read, strict=True):
        moved = _DENIED * one.supported if _denies(text, asked) else 0.0
        found[key] = Scores(
            supported=round(one.supported - moved, 3),
            contradicted=round(one.contradicted + moved, 3),
            digest=reader.digest(),
        )
    return found


def _takes_a_side(text: Doc, asked: str) -> bool:
    """Whether a claim says what it does of the first word of the statement that it has outright."""
    first = next(_shared(text, asked), None)
    return first is None or _TAKES_NO_SIDE.isdisjoint(text.reading(*first).marks)


def _denies(text: Doc, asked: str) -> bool:
    """Whether a claim denies a word of the statement."""
    return any(text.is_negated(*word) for word in _shared(text, asked))


def _shared(text: Doc, asked: str) -> Iterator[tuple[int, int]]:
    """Where words of the statement stand in a claim."""
    terms = term_set(asked)
    for word in _WORD.finditer(text.text):
        if not terms.isdisjoint(term_set(word.group())):
            yield word.span()


def stance(read: Iterable[Scores]) -> Stance | None:
    """The side that claims take together; None if they take none for certain."""
    found = list(read)
    yes = max((one.supported for one in found), default=0.0)
    no = max((one.contradicted for one in found), default=0.0)
    if yes >= _YES and yes > no + _MARGIN:
        return "yes"
    return "no" if no >= _NO and no > yes + _MARGIN else None
