"""A sealed answer, as OpenAPI shows it: the parts of its contract, with what callers need to know.

Of its parts only whether and why it abstains, claims, those with addresses, and what may change,
are described.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from contracts import answer, retrieval
from contracts.answer import Reason
from knowledge.works.links import DirectUrl, is_direct
from store.recalls.log import RecallState


class ReferenceOut(answer.Reference):
    """A cited work: its title is the link, and the link opens the work itself."""

    authors: str = Field(description="the first and `et al.` where there are more than three")
    source: str = Field(description="journal, registry, organization")
    badges: tuple[str, ...] = Field(
        description="where it comes from, what kind of work it is, what speaks for it or against, "
        "such as PubMed, Guideline, Meta-Analysis; User-supplied on what no source brought"
    )
    url: DirectUrl = Field(description="the page of the work itself, never one of a search")


class ImageOut(retrieval.Image):
    """A figure beside the answer: a decision algorithm, or one of the modality asked for."""

    url: DirectUrl = Field(description="the page of the article that it stands in")
    image_url: DirectUrl | None = Field(default=None, description="the picture")


class RecallOut(BaseModel):
    """What became of an answer since it was sealed."""

    model_config = ConfigDict(extra="allow")

    state: RecallState
    because: list[dict[str, Any]] = Field(description="which documents changed, how and when")
    superseded_by: UUID | None = Field(default=None, description="the question, asked anew")
    supersedes: UUID | None = Field(default=None, description="the question that it asks anew")


_Earlier = answer.Earlier | None


class ClaimOut(answer.Claim):
    """A statement of the answer, and what it rests on."""

    basis: Literal["words", "verifier", "model", "none"]
    rewritten_from: Annotated[_Earlier, Field(description="it did not hold, and was hedged")] = None
    repaired_from: Annotated[
        _Earlier,
        Field(description="it did not hold at first, and holds as the language model worded it"),
    ] = None
    completed_from: Annotated[
        _Earlier, Field(description="of earlier releases: it left something of its source out")
    ] = None


class CureOut(answer.Cure):
    """What would cure an abstention."""

    action: Literal["add_sources", "refresh", "rephrase", "replay", "review"] = Field(
        description="add_sources: `POST /v1/documents`; refresh: `POST /v1/sources/{name}/refresh`"
    )
    detail: str = Field(description="for people: what to do, and what is under way")


class RemarkOut(answer.Remark):
    """What is told of the question beside its answer; it takes nothing out of the answer."""

    code: Literal[
        "searched_without", "read_as", "misspelt", "not_english", "unnamed", "contradicted"
    ] = Field(
        description="parts of what is held that were away (`names`); "
        "a misspelt word of medicine and what it was read as (`word`, `name`); "
        "a name that may be misspelt (`word`, and the `name` that may be meant); "
        "another language; `names` that no line of the answer speaks of; what the question takes "
        "for granted and a study denies (`document_id`, `version`, `start`, `end`, `quote`)"
    )


class AskedOut(retrieval.Asked):
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


class LeadOut(answer.Lead):
    """The first line: the answer in the form of the question. Its facts are those of its claims."""

    kind: Literal[
        "yesno",
        "number",
        "list",
        "comparison",
        "trials",
        "recommendation",
        "coverage",
        "sentence",
        "beside",
        "none",
    ] = Field(
        description="beside: what is held is near, and does not name what is asked about; none: it "
        "does not say, and `text` tells what it is on instead"
    )
    value: str | None = Field(
        default=None,
        description="yes or no, the figure, covered or not, or who recommends, when and how firmly",
    )


class AnswerOut(BaseModel):
    """An answer, or an abstention."""

    model_config = ConfigDict(extra="allow")

    asked: AskedOut | None = Field(
        default=None, description="null: sealed before this was read, or not read"
    )
    lead: LeadOut | None = Field(default=None, description="null: sealed before there was one")
    sufficiency: retrieval.Sufficiency
    abstained: bool
    abstain_reason: Reason | None
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
