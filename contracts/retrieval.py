"""What the retrieve stage understood of a question and found for it."""

from collections.abc import Mapping

from contracts.body import Body, Part


class Pico(Part):
    """Patient, intervention, comparison, outcome and the primary condition, as far as stated."""

    patient: str | None
    intervention: str | None
    comparison: str | None
    outcome: str | None
    condition: str | None = None


class Tags(Part):
    """Diseases and decisions of the vocabulary, the primary ones first."""

    primary_disease: str | None
    diseases: tuple[str, ...]
    primary_decision: str | None
    decisions: tuple[str, ...]


class SubQuery(Part):
    """What is searched for, what for, and the kinds of evidence it aims at."""

    text: str
    role: str
    targets: tuple[str, ...] = ()


class Sufficiency(Part):
    """How far the evidence suffices: 0 to 100, and what counted."""

    score: int | None
    level: str | None
    basis: str | None


class Restriction(Part):
    """A condition on what answers a question; `value` as it can be compared, in `unit`."""

    kind: str
    text: str
    value: float | None = None
    unit: str | None = None
    comparator: str | None = None
    excludes: bool = False


class Asked(Part):
    """What is asked: the form of the answer, the problem, names, and what restricts it; `required`:
    those of the names without which no source answers, `either`: drugs among these of which one
    will do, the answer then being on that one."""

    type: str
    problem: str | None = None
    names: tuple[str, ...] = ()
    constraints: tuple[Restriction, ...] = ()
    required: tuple[str, ...] = ()
    either: tuple[str, ...] = ()


class LabValue(Part):
    """A value of one patient, in the unit of the lab; a bound if `limit` is set."""

    lab: str
    value: float
    unit: str
    limit: str | None
    category: str | None


class PatientFacts(Part):
    """What a question states of one patient."""

    age_years: float | None
    age_group: str | None
    sex: str | None
    values: tuple[LabValue, ...]


class ReadAs(Part):
    """A misspelt word, and the name it was read as."""

    word: str
    name: str


class Meant(ReadAs):
    """A word that nothing held speaks of, and the name that may be meant; `of`: what that is."""

    of: str | None


class Request(Part):
    """A request to a language model: what came of it, and hashes of prompt and output.

    Of an understanding `added` and `refused` count its proposals, of an order `ignored` and `moved`
    its keys.
    """

    note: str
    model: str | None
    prompt_version: str | None
    prompt_hash: str | None = None
    output_hash: str | None = None
    cost_usd: str | None = None
    added: tuple[str, ...] = ()
    refused: int = 0
    ignored: int = 0
    moved: int = 0


class Passage(Part):
    """A place of a version that was found, in code points."""

    chunk_id: str
    section: str
    start: int
    end: int


class Found(Part):
    """A version that became evidence, under the key that names it. Earlier releases had the score
    alone: no `merit`, and nothing of whether the question names the work."""

    evidence_id: str
    document_id: str
    version_id: str
    version: int
    source_type: str
    score: float
    merit: float | None = None
    named: bool = False
    passages: tuple[Passage, ...]

    @property
    def worth(self) -> float:
        """What ranks its sentences."""
        return self.score if self.merit is None else self.merit


class Image(Part):
    """A figure beside the answer: the page of its article, and the picture."""

    title: str
    url: str
    image_url: str | None
    source: str
    license: str | None


class Lead(Part):
    """A record that a service outside named."""

    kind: str
    value: str
    where: str | None


class Outside(Part):
    """A look outside: what was asked, what came of it."""

    asked: str
    leads: tuple[Lead, ...]
    dropped: int
    cost_usd: str | None
    failure: str | None


class RankedPlace(Part):
    """The scores of a passage."""

    chunk_id: str
    score: float
    lexical: float | None
    dense: float | None
    coverage: float


class Decision(Part):
    """Why a candidate was kept, moved or dropped; in the first bodies, a passage."""

    version_id: str
    decision: str
    score: float
    document_id: str | None = None
    source_type: str | None = None
    relevance: float | None = None
    on_topic: bool | None = None
    primary_study: bool | None = None
    anchor: str | None = None
    reasons: tuple[str, ...] = ()
    passages: tuple[RankedPlace, ...] = ()
    chunk_id: str | None = None
    lexical: float | None = None
    dense: float | None = None
    coverage: float | None = None


class Metrics(Part):
    """Figures of a retrieval: kinds of source, shares, routing, milliseconds of each part."""

    query_type: str
    classification: str
    sub_queries: int
    candidates: Mapping[str, int]
    evidence: Mapping[str, int]
    guideline_share: float
    nccn_count: int
    trial_count: int
    routing_compliant: bool
    relaxations: int
    timings_ms: Mapping[str, float]


Names = Mapping[str, tuple[str, ...]]
"""Names or identifiers by kind."""
_NONE: Names = {}


class Retrieval(Body):
    """A question as it was understood, and its evidence.

    `explain` is nine tenths of it, for people: stages read it without. Fields with defaults are not
    in the bodies of every earlier release.
    """

    query_type: str
    classification: str
    pico: Pico
    tags: Tags
    mesh: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    asks_for_today: bool
    in_scope: bool | None = None
    """In bodies of 22 November 2026 only, and read no longer."""
    is_clinical: bool = True
    names_something: bool = True
    is_english: bool = True
    read_as: tuple[ReadAs, ...] = ()
    sub_queries: tuple[SubQuery, ...]
    products: tuple[str, ...] = ()
    modalities: tuple[str, ...] = ()
    patient: PatientFacts | None = None
    asked: Asked | None = None
    language_model: Request | None = None
    weights: tuple[Mapping[str, float], ...] = ()
    """How much each term of a sub-query tells in what is held, in their order."""
    scenario: str | None = None
    evidence: tuple[Found, ...]
    sufficiency: Sufficiency
    as_of: str | None
    filters: Mapping[str, tuple[str, ...] | str] | None = None
    search_terms: Names = _NONE
    reranked: Request | None = None
    outside: Outside | None = None
    pack_wanted: Names = _NONE
    named_wanted: Names = _NONE
    meant: tuple[Meant, ...] = ()
    without: tuple[str, ...] = ()
    """The partitions of the index that were not searched (ADR 0050)."""
    images: tuple[Image, ...] = ()
    explain: tuple[Decision, ...] = ()
    relaxations: tuple[str, ...] = ()
    metrics: Metrics | None = None

    @property
    def asks_on_coverage(self) -> bool:
        """Whether the question asks what a payer covers."""
        return self.query_type == "coverage_policy"
