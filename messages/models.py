"""One frozen model for each version of each message: ids and hashes only, never texts.

A field may be added with a default. A breaking change is a new model with the next version; the old
one stays until its queue and its dead letters are empty (STYLE 1.11). The golden JSON of every
version is in `tests/contract/golden/`.
"""

import hashlib
import json
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from messages.stages import Stage

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
VersionIds = Annotated[tuple[UUID, ...], Field(min_length=1, max_length=1000)]


class Message(BaseModel):
    """The base of all messages: a schema, and the id of the request that caused the message."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    stage: ClassVar[Stage]
    request_id: UUID

    @property
    def subject(self) -> str:
        """The subject of the work; the ledger's key is stage, subject and `input_hash`."""
        raise TypeError(f"{type(self).__name__} names no subject")

    def payload(self) -> dict[str, object]:
        """The JSON form that is sent."""
        return self.model_dump(mode="json", by_alias=True)

    def input_hash(self) -> str:
        """SHA-256 of all fields that decide the work, that is, of all but `request_id`."""
        body = {key: value for key, value in self.payload().items() if key != "request_id"}
        canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


class RefreshV1(Message):
    """Take the next step of a refresh: fetch one page from the source."""

    stage = Stage.REFRESH
    schema_: Literal["refresh.v1"] = Field(default="refresh.v1", alias="schema")
    refresh_id: UUID
    step: Annotated[int, Field(ge=0)]

    @property
    def subject(self) -> str:
        return str(self.refresh_id)


class IngestV1(Message):
    """Read one submitted item (a file, or a packet of records) into document versions."""

    stage = Stage.INGEST
    schema_: Literal["ingest.v1"] = Field(default="ingest.v1", alias="schema")
    item_id: UUID
    content_hash: Sha256

    @property
    def subject(self) -> str:
        return str(self.item_id)


class _VersionsMessage(Message):
    version_ids: VersionIds

    @property
    def subject(self) -> str:
        joined = ",".join(str(version_id) for version_id in self.version_ids)
        return hashlib.sha256(joined.encode()).hexdigest()


class EmbedV1(_VersionsMessage):
    """Chunk and index these document versions."""

    stage = Stage.EMBED
    schema_: Literal["embed.v1"] = Field(default="embed.v1", alias="schema")


class AnchorV1(_VersionsMessage):
    """Find the quotable sentences of these document versions."""

    stage = Stage.ANCHOR
    schema_: Literal["anchor.v1"] = Field(default="anchor.v1", alias="schema")


class _QuestionMessage(Message):
    question_id: UUID

    @property
    def subject(self) -> str:
        return str(self.question_id)


class RetrieveV1(_QuestionMessage):
    """Understand this question and find its evidence."""

    stage = Stage.RETRIEVE
    schema_: Literal["retrieve.v1"] = Field(default="retrieve.v1", alias="schema")
    question_hash: Sha256


class GenerateV1(_QuestionMessage):
    """Draft claims from the retrieval with this hash."""

    stage = Stage.GENERATE
    schema_: Literal["generate.v1"] = Field(default="generate.v1", alias="schema")
    retrieval_hash: Sha256


class VerifyV1(_QuestionMessage):
    """Check the draft with this hash and let only what holds through."""

    stage = Stage.VERIFY
    schema_: Literal["verify.v1"] = Field(default="verify.v1", alias="schema")
    draft_hash: Sha256


class AuditV1(_QuestionMessage):
    """Check the answer with this hash once more from the store and seal it."""

    stage = Stage.AUDIT
    schema_: Literal["audit.v1"] = Field(default="audit.v1", alias="schema")
    answer_hash: Sha256


class CheckV1(Message):
    """Check every claim, quotation and identifier of the pasted text with this hash."""

    stage = Stage.CHECK
    schema_: Literal["check.v1"] = Field(default="check.v1", alias="schema")
    verification_id: UUID
    text_hash: Sha256

    @property
    def subject(self) -> str:
        return str(self.verification_id)


class RecallV1(Message):
    """Check the next of the answers that one change of their sources affected."""

    stage = Stage.RECALL
    schema_: Literal["recall.v1"] = Field(default="recall.v1", alias="schema")
    recall_id: UUID
    step: Annotated[int, Field(ge=0)]

    @property
    def subject(self) -> str:
        return str(self.recall_id)


class RecheckV1(Message):
    """Verify the next of the held answers again that this run looks at."""

    stage = Stage.RECHECK
    schema_: Literal["recheck.v1"] = Field(default="recheck.v1", alias="schema")
    recheck_id: UUID
    step: Annotated[int, Field(ge=0)]

    @property
    def subject(self) -> str:
        return str(self.recheck_id)


class SummarizeV1(Message):
    """Summarize the clinical note with this hash."""

    stage = Stage.SUMMARIZE
    schema_: Literal["summarize.v1"] = Field(default="summarize.v1", alias="schema")
    note_id: UUID
    text_hash: Sha256

    @property
    def subject(self) -> str:
        return str(self.note_id)


class ExtractV1(Message):
    """Read the document with this hash (iteration 0), or make one iteration over a part of it."""

    stage = Stage.EXTRACT
    schema_: Literal["extract.v1"] = Field(default="extract.v1", alias="schema")
    extraction_id: UUID
    content_hash: Sha256
    part: Annotated[int, Field(ge=0)]
    iteration: Annotated[int, Field(ge=0)]

    @property
    def subject(self) -> str:
        return str(self.extraction_id)


MESSAGES: tuple[type[Message], ...] = (
    RefreshV1,
    IngestV1,
    EmbedV1,
    AnchorV1,
    RetrieveV1,
    GenerateV1,
    VerifyV1,
    AuditV1,
    CheckV1,
    RecallV1,
    RecheckV1,
    SummarizeV1,
    ExtractV1,
)
