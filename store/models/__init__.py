"""The tables. What each promises stands in DESIGN section 2; the DDL is in `migrations/`."""

from store.models.chain import AuditEvent, AuditHead, DeadLetter, Outbox, StageRun
from store.models.columns import EMBEDDING_DIMENSIONS, now
from store.models.evidence import Anchor, Document, DocumentVersion, EffectEstimate, IngestItem
from store.models.index import Chunk, ChunkVector, IndexEncoder, LexPosting, LexSegment
from store.models.notes import Note
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
from store.models.recalls import AnswerRecall
from store.models.sources import Finding, Refresh, SlaBreach, Watch

__all__ = [
    "EMBEDDING_DIMENSIONS",
    "Anchor",
    "Answer",
    "AnswerInputs",
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
    "Finding",
    "IndexEncoder",
    "IngestItem",
    "LexPosting",
    "LexSegment",
    "ModelUsage",
    "Note",
    "Outbox",
    "Question",
    "Refresh",
    "Retrieval",
    "SlaBreach",
    "StageRun",
    "Verification",
    "Watch",
    "now",
]
