"""Schemas of requests and responses, as OpenAPI shows them."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)

from api_gateway.questions.answer_schemas import SealedAnswer
from store.documents.browse import VersionSummary
from store.documents.publication_status import State
from store.documents.records import NoticeKind
from store.recalls.log import RecallState

POLL_AFTER_MS = 250
MAX_WAIT_SECONDS = 60

QuestionStatus = Literal["queued", "running", "answered", "failed", "erased"]


class Accepted(BaseModel):
    """It was accepted. Follow `Location`, best with `?wait=30`."""

    id: UUID
    status: Literal["queued", "running", "answered", "done", "failed"] = Field(
        description="`queued`, or where it stands if it was accepted before under its key"
    )
    poll_after_ms: int = Field(description="a good time to ask again when not waiting")


class StageTiming(BaseModel):
    """How one stage of the chain did."""

    stage: str
    status: Literal["running", "waiting", "done", "dead"]
    attempts: int
    started_at: datetime
    finished_at: datetime | None
    ms: float | None = Field(description="from the last claim to the commit")


class QuestionOut(BaseModel):
    """A question and, once it is answered, its answer."""

    id: UUID
    status: QuestionStatus
    stage: str | None = Field(description="the stage that works on it or did last")
    question: str
    filters: dict[str, list[str] | str] | None = Field(
        default=None, description="as they were given; null: none were"
    )
    created_at: datetime
    finished_at: datetime | None
    answer: Annotated[dict[str, Any], SealedAnswer()] | None = Field(
        description="null until the status is `answered` or `failed`; a failed question has an "
        "abstention of reason `unchecked` here"
    )
    error: dict[str, Any] | None = Field(description="a problem, if the status is `failed`")
    timings: list[StageTiming]


class QuestionLine(BaseModel):
    """A question in a list."""

    id: UUID
    status: QuestionStatus
    stage: str | None
    question: str
    created_at: datetime
    finished_at: datetime | None
    recall: RecallState = Field(
        description="`affected` once something that the answer cites has changed, then "
        "`reaffirmed` or `superseded`"
    )


class QuestionPage(BaseModel):
    """Questions, newest first."""

    questions: list[QuestionLine]
    next_cursor: str | None = Field(description="for the next page; null on the last")


class SubmissionAccepted(BaseModel):
    """A document was accepted and will be read. Follow `Location`."""

    id: UUID
    status: Literal["pending", "done", "failed"]


class NumberClaimOut(BaseModel):
    """A document stands under the number of a work that a source holds, and is not that work."""

    number: str = Field(description="such as pmid:123; the source's own key where it has no number")
    held: list[UUID] = Field(
        description="the documents of sources under it; for keys that may read", default=[]
    )
    held_ended: bool = Field(description="whether that work was retracted, withdrawn or removed")
    title_agrees: bool
    year_agrees: bool | None = Field(description="null: not both say when they were published")
    authors_agree: bool | None = Field(
        default=None, description="their first authors; null: not both name authors"
    )


class SubmissionOut(BaseModel):
    """A submitted file or record: whether it was read, and what became of it."""

    kind: Literal["submission"] = "submission"
    id: UUID
    status: Literal["pending", "done", "failed"]
    filename: str | None = Field(description="null to operators who did not send it")
    media_type: str | None
    source_type: str | None
    content_hash: str
    created_at: datetime
    finished_at: datetime | None
    error: str | None = Field(
        description="why it could not be read, or what was read cannot be found, and what to do"
    )
    outcome: dict[str, Any] | None = Field(
        description="`documents`: those it became, and their versions; `problems`: `line` and "
        "`reason` of each line of a JSON Lines file that is no record, where there are such"
    )
    claims: dict[UUID, list[NumberClaimOut]] = Field(
        description="by document: it was sent under the number of a work that a source holds, so "
        "it is a document of its own, which is never shown as that work",
        default={},
    )


class Freshness(BaseModel):
    """The two clocks of a document."""

    checked_at: datetime | None = Field(description="when its source was last looked at")
    published_at: datetime | None = Field(description="when it was published")
    sla_hours: float | None = Field(description="null: freshness goes by version")
    stale: bool = Field(description="whether the last check is longer ago than the SLA allows")


class NoticeOut(BaseModel):
    """What a source says became of a work."""

    model_config = ConfigDict(from_attributes=True)

    source: str
    kind: NoticeKind
    notice_id: Annotated[str | None, BeforeValidator(lambda value: value or None)] = Field(
        description="of the notice itself, such as pmid:123 or doi:10.1/x"
    )
    stated_on: date | None
    first_seen_at: datetime


class AskedOut(BaseModel):
    """A source that was asked what became of a work."""

    model_config = ConfigDict(from_attributes=True)

    source: str
    asked_at: datetime
    known: bool = Field(description="whether it knows the work")


class StandingOut(BaseModel):
    """What became of a work, by the word of every source that was asked."""

    model_config = ConfigDict(from_attributes=True)

    state: State = Field(
        description="the gravest of the notices; a retracted, withdrawn or removed work is no "
        "evidence any more, whichever source says so"
    )
    notices: list[NoticeOut]
    asked: list[AskedOut]


class DocumentOut(BaseModel):
    """A document: its current version, its clocks, and what became of the work."""

    kind: Literal["document"] = "document"
    id: UUID
    source_type: str
    source_key: str
    created_at: datetime
    versions: int
    version: VersionSummary | None
    freshness: Freshness
    standing: StandingOut
    claims: list[NumberClaimOut] = Field(
        description="works of sources that it claims to be: it is never shown as one of them"
    )


class VersionList(BaseModel):
    """All versions of a document, newest first."""

    document_id: UUID
    versions: Sequence[VersionSummary]
