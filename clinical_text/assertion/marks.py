"""What can be said of a finding, and which of it counts where several things are said."""

from enum import StrEnum
from typing import NamedTuple


class Assertion(StrEnum):
    """In the sense of ConText (Harkema 2009, doi:10.1016/j.jbi.2009.05.002)."""

    AFFIRMED = "affirmed"
    NEGATED = "negated"
    POSSIBLE = "possible"
    HYPOTHETICAL = "hypothetical"
    """Aimed at, looked for, warned of or asked."""
    CONDITIONAL = "conditional"
    HISTORICAL = "historical"
    OTHER = "other"
    """Another person's."""
    UNKNOWN = "unknown"
    """It cannot be told: "Metastases: see text"."""


_GRAVEST_FIRST = (
    Assertion.OTHER,
    Assertion.NEGATED,
    Assertion.CONDITIONAL,
    Assertion.HYPOTHETICAL,
    Assertion.POSSIBLE,
    Assertion.HISTORICAL,
    Assertion.UNKNOWN,
)


class Cue(NamedTuple):
    """Words at `[start, end)` of a text, and what they say of what they reach."""

    means: Assertion
    start: int
    end: int


class Reading(NamedTuple):
    """What a text says of a phrase: the one assertion that counts, and all cues that reach it."""

    assertion: Assertion
    cues: frozenset[Cue]

    @property
    def marks(self) -> frozenset[Assertion]:
        """All that is said of it; two denials are none."""
        found = {cue.means for cue in self.cues}
        if sum(cue.means is Assertion.NEGATED for cue in self.cues) % 2 == 0:
            found.discard(Assertion.NEGATED)
        return frozenset(found)


def reading(cues: frozenset[Cue]) -> Reading:
    """What the cues that reach a phrase say together."""
    marks = Reading(Assertion.AFFIRMED, cues).marks
    first = next((one for one in _GRAVEST_FIRST if one in marks), Assertion.AFFIRMED)
    return Reading(first, cues)
