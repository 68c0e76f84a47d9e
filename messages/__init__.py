"""What stages say to each other: one pydantic model per message, ids and hashes only."""

from messages.models import (
    MESSAGES,
    AnchorV1,
    AuditV1,
    CheckV1,
    EmbedV1,
    GenerateV1,
    IngestV1,
    Message,
    RecallV1,
    RefreshV1,
    RetrieveV1,
    SummarizeV1,
    VerifyV1,
)
from messages.parsing import FutureMessage, InvalidMessage, MessageError, UnknownMessage, parse
from messages.stages import (
    EVIDENCE_STAGES,
    QUESTION_STAGES,
    RECALL_STAGES,
    SOURCE_STAGES,
    TEXT_STAGES,
    Stage,
)

__all__ = [
    "EVIDENCE_STAGES",
    "MESSAGES",
    "QUESTION_STAGES",
    "RECALL_STAGES",
    "SOURCE_STAGES",
    "TEXT_STAGES",
    "AnchorV1",
    "AuditV1",
    "CheckV1",
    "EmbedV1",
    "FutureMessage",
    "GenerateV1",
    "IngestV1",
    "InvalidMessage",
    "Message",
    "MessageError",
    "RecallV1",
    "RefreshV1",
    "RetrieveV1",
    "Stage",
    "SummarizeV1",
    "UnknownMessage",
    "VerifyV1",
    "parse",
]
