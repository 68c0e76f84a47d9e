"""The stages of the chain, in order. Each has one queue and one actor of the same name."""

from enum import StrEnum


class Stage(StrEnum):
    """refresh asks the sources; ingest → embed → anchor holds evidence; retrieve → generate →
    verify → audit answers; check verifies a pasted text; recall checks answers whose sources
    changed; summarize reads a clinical note."""

    REFRESH = "refresh"
    INGEST = "ingest"
    EMBED = "embed"
    ANCHOR = "anchor"
    RETRIEVE = "retrieve"
    GENERATE = "generate"
    VERIFY = "verify"
    AUDIT = "audit"
    CHECK = "check"
    RECALL = "recall"
    SUMMARIZE = "summarize"


SOURCE_STAGES = (Stage.REFRESH,)
EVIDENCE_STAGES = (Stage.INGEST, Stage.EMBED, Stage.ANCHOR)
TEXT_STAGES = (Stage.CHECK, Stage.SUMMARIZE)
RECALL_STAGES = (Stage.RECALL,)
QUESTION_STAGES = (Stage.RETRIEVE, Stage.GENERATE, Stage.VERIFY, Stage.AUDIT)
