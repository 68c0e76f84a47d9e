"""The stages of the chain, in order. Each has one queue and one actor of the same name."""

from enum import StrEnum


class Stage(StrEnum):
    """refresh asks the sources; ingest → embed → anchor holds evidence; retrieve → generate →
    verify → audit answers; check verifies a pasted text."""

    REFRESH = "refresh"
    INGEST = "ingest"
    EMBED = "embed"
    ANCHOR = "anchor"
    RETRIEVE = "retrieve"
    GENERATE = "generate"
    VERIFY = "verify"
    AUDIT = "audit"
    CHECK = "check"


SOURCE_STAGES = (Stage.REFRESH,)
EVIDENCE_STAGES = (Stage.INGEST, Stage.EMBED, Stage.ANCHOR)
TEXT_STAGES = (Stage.CHECK,)
QUESTION_STAGES = (Stage.RETRIEVE, Stage.GENERATE, Stage.VERIFY, Stage.AUDIT)
