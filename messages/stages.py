"""The stages of the chain, in order. Each has one queue and one actor of the same name."""

from enum import StrEnum


class Stage(StrEnum):
    """refresh asks the sources; ingest → embed → anchor stores evidence; retrieve → generate →
    verify → audit answers questions; check verifies a pasted text; recall checks answers whose
    sources changed; recheck verifies held answers under a new gate; summarize reads a clinical
    note; extract reads a clinical document's fields."""

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
    RECHECK = "recheck"
    SUMMARIZE = "summarize"
    EXTRACT = "extract"


SOURCE_STAGES = (Stage.REFRESH,)
EVIDENCE_STAGES = (Stage.INGEST, Stage.EMBED, Stage.ANCHOR)
TEXT_STAGES = (Stage.CHECK, Stage.SUMMARIZE)
DOCUMENT_STAGES = (Stage.EXTRACT,)
RECALL_STAGES = (Stage.RECALL, Stage.RECHECK)
QUESTION_STAGES = (Stage.RETRIEVE, Stage.GENERATE, Stage.VERIFY, Stage.AUDIT)
