"""What an answer was composed from, beside question, retrieval and draft: verdicts, moments, costs.

With it the same bytes can be composed again without a model. It holds words of claims, as answers
do: it is never shown.
"""

from collections.abc import Mapping

from contracts.answer import AskedSource, Conflict, Cure, CureRefresh, Earlier, Notice, Siding
from contracts.body import Body, Part

_NONE: Mapping[str, int] = {}


class Marks(Part):
    """The quotations inside a claim, and how many of them stood nowhere."""

    quotations: int
    unanchored: int


class Echo(Part):
    """Where another source says the same, or, if `needed`, another part of what the claim leans on
    stands: `place` is `[start, end)` of its version."""

    evidence_id: str
    place: tuple[int, int]
    quote_verdict: str
    needed: bool = False


class Opinions(Part):
    """What the judges said: the verifier's probabilities and weights, and the doubts that were
    found, answered by a language model, and left standing; `replies` are its verdicts in order."""

    supported: float | None = None
    contradicted: float | None = None
    digest: str | None = None
    doubts: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()


class CheckedClaim(Part):
    """A drafted claim after all checks; `place` is where its quotation stands in the version."""

    claim_id: str
    text: str
    evidence_id: str
    heading: str
    verdict: str
    quote_verdict: str
    place: tuple[int, int] | None
    findings: tuple[str, ...] = ()
    basis: str = "none"
    marks: Marks | None = None
    rewritten_from: Earlier | None = None
    completed_from: Earlier | None = None
    also: tuple[Echo, ...] = ()
    judged: Opinions | None = None
    repaired_from: Earlier | None = None


class HeldAsked(AskedSource):
    """A source that was asked, and how many works cite the work if it says so."""

    cited_by: int | None = None


class HeldStanding(Part):
    """What became of a work, by the word of every source that was asked."""

    notices: tuple[Notice, ...] = ()
    asked: tuple[HeldAsked, ...] = ()


class HeldClocks(Part):
    """Both clocks, when the answer was composed."""

    checked_at: str
    freshness_hours: float
    sla_hours: float | None
    stale: bool
    published_at: str | None
    published_precision: str
    published_age_days: int | None
    dated: bool = False


class HeldVersion(Part):
    """A version under its evidence key, as it was held then."""

    version_id: str
    status: str
    standing: HeldStanding
    doubts: tuple[str, ...] = ()
    cited_by: int | None = None
    clocks: HeldClocks


class Cured(Part):
    """What the commit added to the composed answer."""

    cure: Cure | None
    cure_refreshes: tuple[CureRefresh, ...]


class GateCounts(Part):
    """What a gate did with the drafted claims; `stops` counts by what stopped them, `believed`
    tells whether a judge passed its controls (None: there were none)."""

    drafted: int = 0
    own_words: int = 0
    source_words: int = 0
    mended: int = 0
    repaired: int = 0
    doubts: int = 0
    doubts_answered: int = 0
    doubts_standing: int = 0
    both_judged: int = 0
    disagreed: int = 0
    controls: int = 0
    controls_missed: int = 0
    believed: bool | None = None
    stops: Mapping[str, int] = _NONE


class Gate(Part):
    """What names the gate that was passed, and what it did."""

    version: str
    counts: GateCounts | None = None


_NO_STANCES: Mapping[str, Siding] = {}


class AnswerInputs(Body):
    """The inputs of an answer; `stances`: what the local verifier made of claims on a yes/no
    question. Fields with defaults are not in those of every earlier release."""

    checked: tuple[CheckedClaim, ...]
    keyless: bool = False
    contested: tuple[str, ...]
    undecided: tuple[str, ...] | None = None
    conflicts: tuple[Conflict, ...]
    in_the_past: bool | None = None
    cost_usd: str | None
    held: Mapping[str, HeldVersion]
    cured: Cured | None = None
    gate: Gate | None = None
    stances: Mapping[str, Siding] = _NO_STANCES
