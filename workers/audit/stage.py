"""audit: checks the answer once more from the store alone, and seals it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
import structlog
from sqlmodel import Session

from messages import AuditV1, Stage
from store.audit.payloads import evidence_of
from store.core.hashes import is_json_hash
from store.core.unit_of_work import UnitOfWork
from store.dead_letters.dead_letters import CODE_VERSION
from store.questions import bodies
from store.questions.bodies import Composed
from store.questions.states import Sealed, seal
from store.recalls import recalls
from store.reports import quality as quality_rows
from workers.audit.quality import Measured, measure
from workers.runtime.errors import Permanent
from workers.runtime.question_stage import question_stage
from workers.runtime.stage import Context

log = structlog.get_logger(__name__)

_SPANS = sa.text(
    """
    SELECT coalesce(substr(v.text, cited.start + 1, cited."end" - cited.start) = quote, false)
    FROM unnest(CAST(:start AS int[]), CAST(:end AS int[]), CAST(:quote AS text[]),
                CAST(:document_id AS uuid[]), CAST(:version AS int[]))
        WITH ORDINALITY AS cited (start, "end", quote, document_id, n, place)
    LEFT JOIN document_version v ON v.document_id = cited.document_id AND v.n = cited.n
    ORDER BY cited.place
    """
)
_PLACE = ("start", "end", "quote", "document_id", "version")


@dataclass(frozen=True)
class Quality:
    """The counts of an answer's quality that the audit log keeps."""

    claims: int
    citations: int
    verbatim: int


@dataclass(frozen=True)
class Passed:
    """An answer that may be sealed, with its measurements."""

    answer: Composed
    quality: Quality
    measured: Measured


def work(context: Context, message: AuditV1) -> Passed:
    """Check the hash and quotations of the stored answer; an answer with a fault is never shown."""
    with context.store.at_once() as session:  # the rows it reads never change
        answer = bodies.composed(session, message.question_id)
        if answer is None or answer.hash != message.answer_hash:
            raise Permanent(f"question {message.question_id} has no such answer")
        if not is_json_hash(answer.hash, answer.body, answer.hash_key):
            raise Permanent(f"the answer of question {message.question_id} was changed")
        check_summary(answer.body)
        quality = check_spans(session, answer.body)
    if answer.retrieval is None:
        raise Permanent(f"nothing was retrieved for question {message.question_id}")
    return Passed(answer, quality, measure(answer.retrieval, answer.body))


def check_spans(session: Session, body: Mapping[str, Any]) -> Quality:
    """Let PostgreSQL compare every quotation with its span (invariant 5).

    Raises:
        Permanent: a quotation differs from the text of its span, or a claim has no citation.
    """
    for claim in body["claims"]:
        if not claim["citations"] or not _may_be_shown(claim):
            raise Permanent(f"claim {claim['claim_id']} passed without a verdict and a citation")
    cited = [
        (f"claim {claim['claim_id']}", quotation)
        for claim in body["claims"]
        for quotation in claim["citations"]
    ]
    remarked = [
        ("a remark", quotation) for quotation in body.get("remarks", ()) if "quote" in quotation
    ]
    places = {key: [quotation[key] for _, quotation in (*cited, *remarked)] for key in _PLACE}
    matches = session.execute(_SPANS, places).scalars() if cited or remarked else ()
    for (where, _), match in zip((*cited, *remarked), matches, strict=True):
        if match is not True:
            raise Permanent(f"{where}: the quotation is not its span")
    verbatim = sum(quotation["quote_verdict"] == "verbatim" for _, quotation in cited)
    return Quality(len(body["claims"]), len(cited), verbatim)


def _may_be_shown(claim: Mapping[str, Any]) -> bool:
    """Whether a claim is supported, contested by another source, or rewritten to what holds."""
    if claim["verdict"] == "partial":
        return "rewritten_from" in claim
    return claim["verdict"] in ("supported", "conflicting") and claim["basis"] != "none"


def check_summary(body: Mapping[str, Any]) -> None:
    """Check that the summary consists only of supported claims (SP-4.2).

    Raises:
        Permanent: it does not.
    """
    texts = {
        claim["claim_id"]: claim["text"]
        for claim in body["claims"]
        if claim["verdict"] == "supported"
    }
    ids = body["summary"]["supported_claim_ids"]
    if not set(ids) <= texts.keys() or body["summary"]["text"] != " ".join(texts[i] for i in ids):
        raise Permanent("the summary is not made of supported claims")


def commit(unit: UnitOfWork, message: AuditV1, passed: Passed) -> None:
    """Seal the checked answer: from now on it is shown, and never changes."""
    answer = passed.answer
    sealed = seal(unit, message.question_id, answer.hash)
    if sealed is None:
        raise Permanent(f"the answer of question {message.question_id} is another one now")
    recalls.sealed(unit, message.question_id, message.request_id)
    unit.record(
        "answer.sealed",
        message.question_id,
        answer_hash=answer.hash,
        abstain_reason=answer.abstain_reason,
        evidence=evidence_of(answer.body["evidence"]),
        knowledge_version=answer.body["provenance"]["knowledge_version"],
        code_version=CODE_VERSION,
        claims=passed.quality.claims,
        citations=passed.quality.citations,
        verbatim=passed.quality.verbatim,
    )
    _write_down(unit, message, sealed, passed)


def _write_down(unit: UnitOfWork, message: AuditV1, sealed: Sealed, passed: Passed) -> None:
    """Store the measurements, and log them once the transaction has committed (MRD 4.2)."""
    answer, measured = passed.answer, passed.measured
    gate = answer.gate or {}
    counted = {
        "query_type": measured.query_type,
        "sources": measured.sources,
        "source_types": dict(measured.source_types),
        "nccn": measured.nccn,
        "trials": measured.trials,
        "trial_sources": measured.trial_sources,
        "guidelines": measured.guidelines,
        "over_caps": len(measured.over_caps),
        "first_section": measured.first_section,
        "routing_compliant": measured.routing_compliant,
        **asdict(measured.claims),
        "citations": measured.citations,
        "quotations": measured.quotations,
        "unanchored": measured.unanchored,
        "abstain_reason": answer.abstain_reason,
        "generator": answer.body["provenance"]["generator"],
        "cost_usd": answer.body["provenance"]["cost_usd"],
        "gate": gate.get("version"),
        **gate.get("counts", {}),
    }
    times = quality_rows.add(unit.session, message.question_id, sealed, counted)

    def complete(_: Session) -> None:
        log.info(
            "question_complete",
            request_id=str(message.request_id),
            question_id=str(message.question_id),
            **counted,
            response_ms=times.response_ms,
            stage_ms=times.stage_ms,
        )

    sa.event.listen(unit.session, "after_commit", complete, once=True)


SPEC = question_stage(Stage.AUDIT, work, commit)
