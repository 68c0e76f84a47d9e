"""Is what stands here denied, or only suspected? As the one reading of the document says. Pure."""

from clinical_text.assertion.marks import Assertion
from clinical_text.doc import doc

_DOUBTS = frozenset(
    {Assertion.POSSIBLE, Assertion.HYPOTHETICAL, Assertion.CONDITIONAL, Assertion.HISTORICAL}
)


def negated(text: str, start: int, end: int) -> bool:
    """Whether `text` denies what `[start, end)` states."""
    return doc(text).is_negated(start, max(end, start + 1))


def doubted(text: str, start: int) -> bool:
    """Whether it only suspects what begins at `start`, or tells of earlier times."""
    return not _DOUBTS.isdisjoint(doc(text).reading(start, start + 1).marks)
