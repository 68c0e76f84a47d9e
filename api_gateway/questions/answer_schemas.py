"""A sealed answer, as OpenAPI shows it."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from knowledge.links import DirectUrl, is_direct
from store.recalls.log import RecallState


class ReferenceOut(BaseModel):
    """A cited work: its title is the link, and the link opens the work itself."""

    n: int = Field(ge=1)
    evidence_id: str = Field(description="the evidence that it stands for")
    title: str
    authors: str = Field(description="the first and `et al.` where there are more than three")
    source: str = Field(description="journal, registry, organization")
    year: int | None = Field(description="of publication; null: not known")
    badges: list[str] = Field(
        description="where it comes from, what kind of work it is, what speaks for it or against, "
        "such as PubMed, Cochrane, Clinical Trial, Guideline, Meta-Analysis, Systematic Review, "
        "Gold Standard, Recent, Highly Cited, Practical Guidance; User-supplied on what no source "
        "brought"
    )
    url: DirectUrl = Field(description="the page of the work itself, never one of a search")
    pmid: str | None = None
    doi: str | None = None
    nct_id: str | None = None


class ImageOut(BaseModel):
    """A figure beside the answer: a decision algorithm, or one of the modality asked for."""

    title: str
    url: DirectUrl = Field(description="the page of the article that it stands in")
    image_url: DirectUrl | None = Field(default=None, description="the picture")
    source: str
    license: str | None = None


class RecallOut(BaseModel):
    """What became of an answer since it was sealed."""

    model_config = ConfigDict(extra="allow")

    state: RecallState
    because: list[dict[str, Any]] = Field(description="which documents changed, how and when")
    superseded_by: UUID | None = Field(default=None, description="the question, asked anew")
    supersedes: UUID | None = Field(default=None, description="the question that it asks anew")


class CitationOut(BaseModel):
    """The words that a claim leans on, at their place in a version of a source."""

    model_config = ConfigDict(extra="allow")

    evidence_id: str
    document_id: UUID
    version: int = Field(ge=1)
    chunk_id: str | None
    section: str | None
    start: int = Field(ge=0, description="in code points of the version's text, as is `end`")
    end: int
    quote: str = Field(description="the words there, to the letter")
    quote_verdict: str
    citation: str | None = Field(description="the place as people write it")


class EarlierOut(BaseModel):
    """What a claim was before it was changed: not its words, for they did not hold."""

    text_hash: str
    verdict: str
    findings: list[str] = Field(description="what spoke against it, by guard")


class ClaimOut(BaseModel):
    """A statement of the answer, and what it rests on."""

    model_config = ConfigDict(extra="allow")

    claim_id: str
    text: str
    verdict: Literal["supported", "partial", "conflicting"]
    verification_status: Literal["verified", "partially_verified", "conflicting"]
    basis: Literal["words", "verifier", "model", "none"]
    citations: list[CitationOut]
    rewritten_from: EarlierOut | None = Field(
        default=None,
        description="only there where the claim did not hold and was hedged: what it says now is "
        "what its source does discuss",
    )
    repaired_from: EarlierOut | None = Field(
        default=None,
        description="only there where the claim did not hold at first, and holds as the language "
        "model worded it when it was told why",
    )
    completed_from: EarlierOut | None = Field(
        default=None,
        description="in answers of earlier releases, where the claim left something of its "
        "source's sentence out: the whole sentence stands in its place",
    )


class NextRefreshOut(BaseModel):
    """The next look at a source that may help."""

    source: str
    at: datetime


class LacksOut(BaseModel):
    """Of whom no source speaks that speaks to all else that is asked."""

    who: Literal["names", "patients", "payers", "regulators"]
    asked: list[str] = Field(description="by name, as far as the question names them")


class CureOut(BaseModel):
    """What would cure an abstention."""

    model_config = ConfigDict(extra="allow")

    action: Literal["add_sources", "refresh", "rephrase", "replay", "review"] = Field(
        description="add_sources: `POST /v1/documents`; refresh: `POST /v1/sources/{name}/refresh`"
    )
    detail: str = Field(description="for people: what to do, and what is under way")
    sources: list[str] = Field(description="the kinds of source that are stale or contradict")
    next_refresh: NextRefreshOut | None = Field(
        default=None, description="where a refresh would help; null: none is planned"
    )
    lacks: LacksOut | None = Field(
        default=None, description="only there where that is all that the sources lack"
    )


class RemarkOut(BaseModel):
    """What is told of the question beside its answer; it takes nothing out of the answer."""

    model_config = ConfigDict(extra="allow")

    code: Literal["read_as", "misspelt", "not_english", "unnamed", "contradicted"] = Field(
        description="a misspelt word of medicine and what it was read as (`word`, `name`); "
        "a name that may be misspelt (`word`, and the `name` that may be meant); "
        "another language; `names` that no line of the answer speaks of; what the question takes "
        "for granted and a study denies (`document_id`, `version`, `start`, `end`, `quote`: its "
        "words there)"
    )
    detail: str = Field(description="for people")


class ConstraintOut(BaseModel):
    """A condition on what answers the question, in its words."""

    kind: str = Field(
        description="exclusion, age, kidney_function, pregnancy, status, date, design and the like"
    )
    text: str = Field(description="the question's words")
    value: float | None = Field(default=None, description="the figure; of a date its year")
    unit: str | None = None
    comparator: Literal["<", ">", "≤", "≥"] | None = None
    excludes: bool = Field(default=False, description="what is named is to be left out")


class AskedOut(BaseModel):
    """What is asked."""

    type: Literal[
        "yesno",
        "number",
        "list",
        "comparison",
        "recommendation",
        "mechanism",
        "trials",
        "coverage",
        "explanation",
    ] = Field(description="the form of the answer")
    problem: str | None = Field(description="what the question is about; null: it names nothing")
    names: list[str] = Field(description="what an answer must be about, known names or not")
    constraints: list[ConstraintOut]
    required: list[str] = Field(
        default=[], description="those of the names without which no source answers"
    )
    either: list[str] = Field(
        default=[], description="drugs among these to choose from: an answer may be on one alone"
    )


class TableOut(BaseModel):
    """What several sources say, a row each; the first columns are the source and its year."""

    columns: list[str]
    rows: list[list[str]]


class LeadOut(BaseModel):
    """The first line: the answer in the form of the question. Its facts are those of its claims."""

    kind: Literal[
        "yesno",
        "number",
        "list",
        "comparison",
        "trials",
        "recommendation",
        "sentence",
        "beside",
        "none",
    ] = Field(
        description="beside: what is held is near, and does not name what is asked about; none: it "
        "does not say, and `text` tells what it is on instead"
    )
    value: str | None = Field(
        default=None, description="yes or no, the figure, or who recommends, when and how firmly"
    )
    text: str = Field(description="for people, a line each")
    claim_ids: list[str] = Field(description="the claims that say so")
    table: TableOut | None = None


class SufficiencyOut(BaseModel):
    """How far what is held answers the question."""

    model_config = ConfigDict(extra="allow")

    score: int | None = Field(description="0 to 100")
    level: str | None
    basis: str | None = Field(description="what counted")


class AnswerOut(BaseModel):
    """An answer, or an abstention. Of its parts only whether and why it abstains, claims, those
    with addresses, and what may change, are described here."""

    model_config = ConfigDict(extra="allow")

    asked: AskedOut | None = Field(
        default=None, description="null: sealed before this was read, or not read"
    )
    lead: LeadOut | None = Field(default=None, description="null: sealed before there was one")
    sufficiency: SufficiencyOut
    abstained: bool
    abstain_reason: (
        Literal[
            "conflict",
            "low_trust_only",
            "no_evidence",
            "out_of_scope",
            "stale",
            "unchecked",
            "unsupported",
        ]
        | None
    )
    abstain_detail: str | None
    cure: CureOut | None = Field(description="null: it does not abstain")
    claims: list[ClaimOut]
    remarks: list[RemarkOut] = Field(
        default=[], description="answers that were sealed before there were any have none"
    )
    references: list[ReferenceOut]
    images: list[ImageOut]
    recall: RecallOut


class SealedAnswer:
    """Marks a sealed answer: OpenAPI shows it as `AnswerOut`. It passes unchanged, except for links
    that a rule newer than its seal takes for a search page (EB-9.3)."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(_scanned, handler(source))

    def __get_pydantic_json_schema__(
        self, _: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(AnswerOut.__pydantic_core_schema__)


def _scanned(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer without references and images whose link is not the page of a work."""
    kept: dict[str, Any] = {
        part: [item for item in answer[part] if is_direct(item["url"])]
        for part in ("references", "images")
        if part in answer
    }
    return {**answer, **kept}
