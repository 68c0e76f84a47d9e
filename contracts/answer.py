"""An answer as the gate let it through, as it is sealed and shown (DESIGN section 5)."""

from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from contracts.body import Body, Part
from contracts.draft import Fallback, Lacks
from contracts.retrieval import Asked, Image, Pico, SubQuery, Sufficiency, Tags

REMARK = "remark"
"""What stands for the id of a claim where a remark quotes."""
Verdict = Literal["supported", "partial", "conflicting"]
Status = Literal["verified", "partially_verified", "conflicting"]
Reason = Literal[
    "conflict",
    "low_trust_only",
    "no_evidence",
    "out_of_scope",
    "stale",
    "unchecked",
    "unsupported",
]


class Table(Part):
    """What several sources say, a row each."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Lead(Part):
    """The first line: what it says, and the claims that say so; a line each, or a row of a table.

    `value`: yes or no, the figure, or who recommends.
    """

    kind: str
    value: str | None = None
    text: str
    claim_ids: tuple[str, ...] = ()
    table: Table | None = None


class Citation(Part):
    """The words that a claim leans on, at their place in a version of a source."""

    evidence_id: str
    document_id: str
    version: int
    chunk_id: str | None
    section: str | None
    start: Annotated[int, Field(description="in code points of the version's text, as is `end`")]
    end: int
    quote: Annotated[str, Field(description="the words there, to the letter")]
    quote_verdict: str
    citation: Annotated[str | None, Field(description="the place as people write it")]

    @property
    def place(self) -> "Place":
        """Where the words stand."""
        return Place(self.document_id, self.version, self.start, self.end, self.quote)


class Earlier(Part):
    """What a claim was before it was changed: not its words, for they did not hold."""

    text_hash: str
    verdict: str
    findings: tuple[str, ...]


class Doubted(Part):
    """A doubt that was put to the judges, and what they said."""

    kind: str
    question: str
    answer: str | None = None


class Scores(Part):
    """What the local verifier made of a claim and its passage: probabilities."""

    supported: float
    contradicted: float
    digest: str


class Siding(Scores):
    """What the reader of sides made of a claim on a yes/no question: how probable it is that it
    says yes (`supported`) and no (`contradicted`), and the sides that it may take by its words, no
    alone where they deny all that is asked. Of earlier releases what the verifier made of it."""

    sides: tuple[Literal["yes", "no"], ...] = ("yes", "no")


class Claim(Part):
    """A statement of the answer, and what it rests on."""

    claim_id: str
    text: str
    verdict: Verdict
    verification_status: Status
    basis: str = "words"
    citations: tuple[Citation, ...]
    rewritten_from: Earlier | None = None
    repaired_from: Earlier | None = None
    completed_from: Earlier | None = None
    doubts: tuple[Doubted, ...] = ()
    scores: Scores | None = None


class Summary(Part):
    """The first claims that hold."""

    text: str
    supported_claim_ids: tuple[str, ...]


class Section(Part):
    """A heading and the claims under it."""

    heading: str
    claim_ids: tuple[str, ...]


class Clocks(Part):
    """Both clocks of evidence: fetched against its source's SLA, and published."""

    fetched_at: str
    freshness_hours: float
    sla_hours: float | None
    stale: bool
    published_at: str | None
    published_precision: str
    published_age_days: int | None
    dated: bool = False


class Notice(Part):
    """A notice on a work."""

    source: str
    kind: str
    notice_id: str | None
    stated_on: str | None
    first_seen_at: str


class AskedSource(Part):
    """A source that was asked what became of a work."""

    source: str
    asked_at: str
    known: bool


class Standing(Part):
    """What became of a work, by the word of every source that was asked."""

    state: str
    notices: tuple[Notice, ...]
    asked: tuple[AskedSource, ...] = ()


class EvidenceSource(Part):
    """Where evidence comes from."""

    name: str
    url: str | None
    document_id: str
    published_at: str | None


class Fetched(Part):
    """When evidence was fetched and what for; `hash` is that of the version's content."""

    fetched_at: str
    query: str
    snippet: str
    hash: str


class Quality(Part):
    """What evidence weighs."""

    source_tier: str | None
    confidence: float
    verification_status: str
    freshness_hours: float


class Evidence(Part):
    """The evidence record of a claim (SentinelPharma 5.1), with the version and both clocks."""

    claim_id: str
    claim_text: str
    evidence_id: str
    source: EvidenceSource
    retrieval: Fetched
    quality: Quality
    version: int
    version_id: str
    title: str
    labels: tuple[str, ...] = ()
    clocks: Clocks | None = None
    standing: Standing | None = None


class Remark(Part):
    """What is told of the question beside its answer; which fields it has depends on its code."""

    code: str
    detail: str
    word: str | None = None
    name: str | None = None
    of: str | None = None
    names: tuple[str, ...] = ()
    document_id: str | None = None
    version: int | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None

    @model_validator(mode="after")
    def _quotes_from_a_place(self) -> Self:
        if self.quote is not None and self.place is None:
            raise ValueError("a remark that quotes says where the words stand")
        return self

    @property
    def place(self) -> "Place | None":
        """Where the words that it quotes stand; None if it quotes none."""
        document_id, version, start, end = self.document_id, self.version, self.start, self.end
        if document_id is None or version is None or start is None or end is None:
            return None
        return None if self.quote is None else Place(document_id, version, start, end, self.quote)


class Place(NamedTuple):
    """A place of a version and the words there, which an answer shows as a quotation."""

    document_id: str
    version: int
    start: int
    end: int
    quote: str


class Reference(Part):
    """A cited work: its title is the link, and the link opens the work itself."""

    n: int
    evidence_id: str = ""
    title: str
    authors: str
    source: str
    year: int | None
    badges: tuple[str, ...] = ()
    url: str
    pmid: str | None = None
    doi: str | None = None
    nct_id: str | None = None


class SideSource(Part):
    """What a side of a conflict is of."""

    name: str
    source_type: str
    published_at: str | None
    published_precision: str = "day"


class Side(Part):
    """A side of a conflict: the place in a version, its words, and what they amount to."""

    evidence_id: str
    document_id: str
    version_id: str
    start: int
    end: int
    quote: str
    statement: str
    title: str | None = None
    source: SideSource | None = None
    clocks: Clocks | None = None


class Conflict(Part):
    """Two sides that cannot both hold; `rule` says which rule decided, `stands` for whom."""

    kind: str
    why: str
    subject: str
    outcome: str | None
    resolved: bool
    rule: str | None
    stands: str | None
    sides: tuple[Side, ...]


class Counts(Part):
    """All drafted claims by their verification status."""

    verified_count: int
    partial_count: int
    unverified_count: int
    conflicting_count: int


class Quotations(Part):
    """Quotation marks inside claims, and how many lost them."""

    inside_claims: int
    unanchored: int


class Freshness(Part):
    """The newest look at a source, the oldest, and the kinds of source that are stale."""

    latest_fetch_at: str | None
    max_age_hours: float | None
    stale_sources: tuple[str, ...]


class NextRefresh(Part):
    """The next look at a source that may help."""

    source: str
    at: str


class Cure(Part):
    """What would cure an abstention."""

    action: str
    detail: str
    sources: tuple[str, ...] = ()
    next_refresh: NextRefresh | None = None
    lacks: Lacks | None = None


class CureRefresh(Part):
    """A refresh that an abstention asked for."""

    refresh_id: str
    source: str


class Recall(Part):
    """As it is sealed; what became of it since stands in `store.recalls`."""

    state: str
    because: tuple[str, ...] = ()


class Provenance(Part):
    """Who made the answer, by which prompt and policies, at what cost."""

    generator: str
    model: str | None
    prompt_version: str
    knowledge_version: str
    cost_usd: str | None
    fallback: Fallback | None = None


class Answer(Body):
    """An answer, or an abstention. Fields with defaults are not in answers of every release."""

    asked: Asked | None = None
    lead: Lead | None = None
    query_type: str
    classification: str
    pico: Pico
    tags: Tags
    sub_queries: tuple[SubQuery, ...]
    sufficiency: Sufficiency
    abstained: bool
    abstain_reason: Reason | None
    abstain_detail: str | None
    cure: Cure | None
    cure_refreshes: tuple[CureRefresh, ...] = ()
    summary: Summary
    sections: tuple[Section, ...]
    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...]
    remarks: tuple[Remark, ...] = ()
    references: tuple[Reference, ...]
    images: tuple[Image, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    verification_summary: Counts
    quotations: Quotations | None = None
    freshness_summary: Freshness
    recall: Recall
    provenance: Provenance

    @property
    def quoted(self) -> list[tuple[str, Place]]:
        """Every quotation that it shows, with the id of its claim; of a remark, `remark`."""
        return [
            *((claim.claim_id, one.place) for claim in self.claims for one in claim.citations),
            *((REMARK, place) for one in self.remarks if (place := one.place) is not None),
        ]
