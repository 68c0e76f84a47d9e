"""Which of the diseases that a text names it says the patient has. Pure."""

import re
from collections.abc import Iterable

from clinical_text.assertion.marks import Assertion
from clinical_text.doc import doc
from knowledge.loader import load
from knowledge.matching.words import Mention

_REACH = 400
"""Characters in which a question says whom it is on (ours): time stays linear in the text."""


def asserted(text: str, mentions: Iterable[Mention]) -> list[Mention]:
    """Those of `mentions` that `text` neither denies nor tells of a relative, unless that relative
    is the patient."""
    against = _against(text, {Assertion.NEGATED, Assertion.OTHER})
    reading = doc(text)
    return [
        one for one in mentions if against.isdisjoint(reading.reading(one.start, one.end).marks)
    ]


def is_asserted(text: str, start: int, end: int) -> bool:
    """Whether the words at `[start, end)` are told of the patient, as they are now."""
    against = _against(text, {Assertion.NEGATED, Assertion.OTHER, Assertion.HISTORICAL})
    return against.isdisjoint(doc(text).reading(start, end).marks)


def _against(text: str, marks: set[Assertion]) -> set[Assertion]:
    return marks - {Assertion.OTHER} if _is_on_relative(text) else marks


def _is_on_relative(text: str) -> bool:
    """Whether a question is on a relative of whoever asks, and not on the asker's own risk."""
    lists = load("questions/questions")["relatives"]
    return bool(re.search(lists["asked"], text[:_REACH], re.IGNORECASE)) and not re.search(
        lists["own_risk"], text, re.IGNORECASE
    )
