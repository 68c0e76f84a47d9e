"""The tables. What each promises stands in DESIGN section 2; the DDL is in `migrations/`."""

from store.models.chain import AuditEvent, AuditHead, DeadLetter, Outbox, StageRun
from store.models.columns import EMBEDDING_DIMENSIONS, LOCAL_OWNER, now
from store.models.evidence import Anchor, Document, DocumentVersion, EffectEstimate, IngestItem
from store.models.extractions import (
    ExtractionIteration,
    ExtractionReply,
    ExtractionRow,
    PromptMemory,
    Review,
)
from store.models.index import (
    Chunk,
    ChunkVector,
    IndexEncoder,
    IndexPartition,
    LexPosting,
    LexSegment,
    VersionPartition,
)
from store.models.keys import AccessKey
from store.models.notes import Note
from store.models.quality import AnswerQuality, StageTakeover
from store.models.questions import (
    Answer,
    AnswerInputs,
    Citation,
    Draft,
    ModelUsage,
    Question,
    Retrieval,
    Verification,
)
from store.models.recalls import AnswerRecall, Recheck, RecheckAnswer
from store.models.sessions import PageSession
from store.models.sources import Finding, Refresh, SlaBreach, Watch

__all__ = [
    "EMBEDDING_DIMENSIONS",
    "LOCAL_OWNER",
    "AccessKey",
    "Anchor",
    "Answer",
    "AnswerInputs",
    "AnswerQuality",
    "AnswerRecall",
    "AuditEvent",
    "AuditHead",
    "Chunk",
    "ChunkVector",
    "Citation",
    "DeadLetter",
    "Document",
    "DocumentVersion",
    "Draft",
    "EffectEstimate",
    "ExtractionIteration",
    "ExtractionReply",
    "ExtractionRow",
    "Finding",
    "IndexEncoder",
    "IndexPartition",
    "IngestItem",
    "LexPosting",
    "LexSegment",
    "ModelUsage",
    "Note",
    "Outbox",
    "PageSession",
    "PromptMemory",
    "Question",
    "Recheck",
    "RecheckAnswer",
    "Refresh",
    "Retrieval",
    "Review",
    "SlaBreach",
    "StageRun",
    "StageTakeover",
    "Verification",
    "VersionPartition",
    "Watch",
    "now",
]
