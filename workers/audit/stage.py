"""audit: checks the answer once more from the store alone, and seals it."""

from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
import structlog
from sqlmodel import Session

from contracts import Answer
from contracts.answer import REMARK, Claim, Place
from contracts.inputs import Gate
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


@dataclass(frozen=True)
class Quality:
    """The counts of an answer's quality that the audit log keeps."""

    claims: int
    citations: int
    verbatim: int


@dataclass(frozen=True)
class Passed:
    """An answer that may be sealed, with its measurements."""

    composed: Composed
    answer: Answer
    quality: Quality
    measured: Measured


def work(context: Context, message: AuditV1) -> Passed:
    """Check the hash and quotations of the stored answer; an answer with a fault is never shown."""
    with context.store.at_once() as session:  # the rows it reads never change
        composed = bodies.composed(session, message.question_id)
        if composed is None or composed.hash != message.answer_hash:
            raise Permanent(f"question {message.question_id} has no such answer")
        if not is_json_hash(composed.hash, composed.body, composed.hash_key):
            raise Permanent(f"the answer of question {message.question_id} was changed")
        answer = Answer.read(composed.body)
        check_summary(answer)
        quality = check_spans(session, answer)
    if composed.retrieval is None:
        raise Permanent(f"nothing was retrieved for question {message.question_id}")
    return Passed(composed, answer, quality, measure(composed.retrieval, answer))


def check_spans(session: Session, answer: Answer) -> Quality:
    """Let PostgreSQL compare every quotation with its span (invariant 5).

    Raises:
        Permanent: a quotation differs from the text of its span, or a claim has no citation.
    """
    for claim in answer.claims:
        if not claim.citations or not _may_be_shown(claim):
            raise Permanent(f"claim {claim.claim_id} passed without a verdict and a citation")
    quoted = answer.quoted
    places = {name: [getattr(place, name) for _, place in quoted] for name in Place._fields}
    matches = session.execute(_SPANS, places).scalars() if quoted else ()
    for (claim_id, _), match in zip(quoted, matches, strict=True):
        if match is not True:
            where = "a remark" if claim_id == REMARK else f"claim {claim_id}"
            raise Permanent(f"{where}: the quotation is not its span")
    cited = [quotation for claim in answer.claims for quotation in claim.citations]
    verbatim = sum(quotation.quote_verdict == "verbatim" for quotation in cited)
    return Quality(len(answer.claims), len(cited), verbatim)


def _may_be_shown(claim: Claim) -> bool:
    """Whether a claim is supported, contested by another source, or rewritten to what holds."""
    if claim.verdict == "partial":
        return claim.rewritten_from is not None
    return claim.verdict in ("supported", "conflicting") and claim.basis != "none"


def check_summary(answer: Answer) -> None:
    """Check that the first line and the summary consist only of supported claims (SP-4.2).

    Raises:
        Permanent: one does not.
    """
    texts = {one.claim_id: one.text for one in answer.claims if one.verdict == "supported"}
    ids = answer.summary.supported_claim_ids
    lead = answer.lead
    if lead is not None and not (
        set(lead.claim_ids) <= texts.keys()
        and (lead.table or all(texts[one] in lead.text for one in lead.claim_ids))
    ):
        raise Permanent("the first line is not made of supported claims")
    if not set(ids) <= texts.keys() or answer.summary.text != " ".join(texts[i] for i in ids):
        raise Permanent("the summary is not made of supported claims")


def commit(unit: UnitOfWork, message: AuditV1, passed: Passed) -> None:
    """Seal the checked answer: from now on it is shown, and never changes."""
    composed, answer = passed.composed, passed.answer
    sealed = seal(unit, message.question_id, composed.hash)
    if sealed is None:
        raise Permanent(f"the answer of question {message.question_id} is another one now")
    recalls.sealed(unit, message.question_id, message.request_id)
    unit.record(
        "answer.sealed",
        message.question_id,
        answer_hash=composed.hash,
        abstain_reason=answer.abstain_reason,
        evidence=evidence_of(answer.evidence),
        knowledge_version=answer.provenance.knowledge_version,
        code_version=CODE_VERSION,
        claims=passed.quality.claims,
        citations=passed.quality.citations,
        verbatim=passed.quality.verbatim,
    )
    _write_down(unit, message, sealed, passed)


def _gate_counts(gate: Gate | None) -> dict[str, Any]:
    """What names the gate that the answer passed, and what it did, as far as it is on record."""
    if gate is None:
        return {"gate": None}
    return {"gate": gate.version, **(gate.counts.as_json() if gate.counts else {})}


def _write_down(unit: UnitOfWork, message: AuditV1, sealed: Sealed, passed: Passed) -> None:
    """Store the measurements, and log them once the transaction has committed (MRD 4.2)."""
    answer, measured = passed.answer, passed.measured
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
        "generator": answer.provenance.generator,
        "cost_usd": answer.provenance.cost_usd,
        **_gate_counts(passed.composed.gate),
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
