"""The audit trail of one answer, from the audit chain and the rows that it attests.

It contains hashes, ids, counts, versions and verdicts, but no words of questions, documents or
claims (invariant 11), so it may be given to an auditor unchanged.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.audit.links import Event, link_hash
from store.models import Answer, AuditEvent, Question

Payload = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One event of the trail. `seconds` counts from the first event. `holds`: the event matches its
    hash. That the hash itself is unchanged can only be verified with the whole chain."""

    seq: int
    at: datetime
    seconds: float
    event: str
    actor: str
    subject: str
    words: str
    """What happened, in plain words of ours."""
    payload: Payload
    hash: str
    holds: bool


@dataclass(frozen=True)
class Source:
    """A document version that was evidence, in its present state."""

    document_id: UUID
    version_id: UUID
    version: int
    source_type: str
    content_hash: str
    status: str
    cited: bool


@dataclass(frozen=True)
class Sealed:
    """The sealed answer, without its words."""

    hash: str
    sealed_at: datetime | None
    abstain_reason: str | None
    claims: int
    citations: int
    provenance: Payload


@dataclass(frozen=True)
class Trail:
    """The history of a question, in the order in which its events were committed."""

    question_id: UUID
    status: str
    asked_at: datetime
    finished_at: datetime | None
    text_hash: str
    steps: Sequence[Step]
    sources: Sequence[Source]
    answer: Sealed | None


def trail(session: Session, question_id: UUID) -> Trail | None:
    """The trail of a question's answer; None if there is no such question.

    It includes refreshes that were requested to cure an abstention.
    """
    question = session.get(Question, question_id)
    if question is None:
        return None
    own = _events(session, [str(question_id)])
    cures = [refresh for event in own for refresh in event.payload.get("cure_refreshes", ())]
    events = sorted([*own, *_events(session, cures)], key=lambda event: event.seq)
    answer = session.get(Answer, question_id)
    retrieved = [
        key
        for event in own
        if event.event == "question.retrieved"
        for key in event.payload.get("version_ids", ())
    ]
    return Trail(
        question_id=question.id,
        status=question.status,
        asked_at=question.created_at,
        finished_at=question.finished_at,
        text_hash=question.text_hash,
        steps=[_step(event, events[0].at) for event in events],
        sources=_sources(session, question_id, list(dict.fromkeys(retrieved))),
        answer=_sealed(answer, own) if answer is not None else None,
    )


def _events(session: Session, subjects: Sequence[str]) -> list[AuditEvent]:
    if not subjects:
        return []
    chosen = select(AuditEvent).where(col(AuditEvent.subject).in_(subjects))
    return list(session.exec(chosen.order_by(col(AuditEvent.seq))))


def _step(event: AuditEvent, began: datetime) -> Step:
    wording = _WORDS.get(event.event)
    return Step(
        seq=event.seq,
        at=event.at,
        seconds=round((event.at - began).total_seconds(), 3),
        event=event.event,
        actor=event.actor,
        subject=event.subject,
        words=wording(event.payload) if wording else f"{event.event.replace('.', ' ')}.",
        payload=event.payload,
        hash=event.hash.hex(),
        holds=_holds(event),
    )


def _holds(event: AuditEvent) -> bool:
    at = event.at.astimezone(UTC).isoformat(timespec="microseconds")
    recorded = Event(event.event, event.subject, event.actor, event.request_id, event.payload)
    return link_hash(event.previous_hash, event.seq, at, recorded) == event.hash


_SOURCES = sa.text(
    """
    SELECT v.id, v.document_id, v.n, v.source_type, v.content_hash, v.status,
           EXISTS (SELECT FROM citation c
                   WHERE c.question_id = :question_id AND c.version_id = v.id) AS cited
    FROM unnest(CAST(:ids AS uuid[])) WITH ORDINALITY AS wanted (id, place)
    JOIN document_version v ON v.id = wanted.id ORDER BY wanted.place
    """
)


def _sources(session: Session, question_id: UUID, version_ids: Sequence[str]) -> list[Source]:
    rows = session.execute(_SOURCES, {"question_id": question_id, "ids": list(version_ids)})
    return [
        Source(
            document_id=row.document_id,
            version_id=row.id,
            version=row.n,
            source_type=row.source_type,
            content_hash=row.content_hash,
            status=row.status,
            cited=row.cited,
        )
        for row in rows
    ]


_PROVENANCE = ("generator", "model", "prompt_version", "knowledge_version", "cost_usd")


def _sealed(answer: Answer, events: Sequence[AuditEvent]) -> Sealed:
    """The answer as it was sealed; if its words were erased, the counts are those of the event."""
    provenance = answer.body.get("provenance", {})
    attested = next((event.payload for event in events if event.event == "answer.sealed"), {})
    claims = answer.body.get("claims")
    citations = sum(len(claim["citations"]) for claim in claims or ())
    return Sealed(
        hash=answer.hash,
        sealed_at=answer.sealed_at,
        abstain_reason=answer.abstain_reason,
        claims=len(claims) if claims is not None else attested.get("claims", 0),
        citations=citations if claims is not None else attested.get("citations", 0),
        provenance={name: provenance.get(name) for name in _PROVENANCE},
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _models(payload: Payload) -> str:
    """A sentence that names the models asked and the purpose of each; empty if none was asked."""
    requests = payload.get("asked", ())
    if not requests:
        return ""
    models = ", ".join(f"{request['model']} ({request['purpose']})" for request in requests)
    return f" Asked: {models}."


def _submitted(_: Payload) -> str:
    return "The question was accepted. The chain keeps the hash of its text."


def _retrieved(payload: Payload) -> str:
    versions = _count(len(payload.get("version_ids", ())), "version")
    sufficiency = payload.get("sufficiency")
    return f"{versions} became evidence; sufficiency {sufficiency}.{_models(payload)}"


def _drafted(payload: Payload) -> str:
    claims = _count(payload.get("claims", 0), "claim")
    by, prompt = payload.get("generator"), payload.get("prompt_version")
    instead = payload.get("fallback")
    why = f" No model's draft could be used: {instead}." if instead else ""
    return f"{claims} drafted ({by}, {prompt}), nothing checked yet.{why}{_models(payload)}"


def _verified(payload: Payload) -> str:
    verdicts = payload.get("verdicts", ())
    counts = Counter(str(verdict["verdict"]) for verdict in verdicts)
    summary = ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) or "none"
    reason = payload.get("abstain_reason")
    kept = f"abstains: {reason}" if reason else f"{len(payload.get('claims', ()))} may be shown"
    cures = payload.get("cure_refreshes")
    cure = f" Asked to cure that: {len(cures)} of the sources." if cures else ""
    judged = (payload.get("judged") or {}).get("model")
    by = f" Judged by {judged}." if judged else ""
    aside = _count(len(payload.get("set_aside", ())), "claim")
    instead = f" In the place of a model's {aside}." if payload.get("set_aside") else ""
    return f"{_count(len(verdicts), 'claim')} checked: {summary}; {kept}.{instead}{by}{cure}"


def _was_sealed(payload: Payload) -> str:
    if payload.get("abstain_reason"):
        return f"The abstention was sealed: {payload['abstain_reason']}."
    claims = _count(payload.get("claims", 0), "claim")
    citations = _count(payload.get("citations", 0), "citation")
    verbatim = payload.get("verbatim", 0)
    return f"The answer was sealed: {claims}, {citations}, {verbatim} of them verbatim."


def _rechecked(payload: Payload) -> str:
    ends = {
        "stands": "it stands",
        "falls": "it falls, and is recalled",
        "needs_judge": "the record does not say what it asks",
    }
    found = ends.get(str(payload.get("outcome")), "it could not be read")
    return f"It was verified again under the gate {payload.get('gate')}: {found}."


def _died(payload: Payload) -> str:
    return f"The {payload.get('stage')} stage died of {payload.get('error_type')}."


_WORDS: Mapping[str, Callable[[Payload], str]] = {
    "question.submitted": _submitted,
    "question.retrieved": _retrieved,
    "question.drafted": _drafted,
    "question.verified": _verified,
    "answer.sealed": _was_sealed,
    "answer.rechecked": _rechecked,
    "answer.judged": lambda payload: f"A reader judged it: {payload.get('judgment')}.",
    "answer.shared": lambda payload: f"A link shows it until {payload.get('expires_at')}.",
    "message.dead": _died,
    "message.replayed": lambda _: "An operator sent the work again.",
    "message.discarded": lambda _: "An operator gave the work up.",
    "question.erased": lambda payload: (
        f"Its words were erased ({payload.get('reason')}); what proves the rest stays."
    ),
    "question.failed": lambda _: "The question ended without an answer.",
    "language_model.misconfigured": lambda _: "The language model cannot be used as it is set.",
    "language_model.budget_spent": lambda _: "The language model's budget was spent.",
    "refresh.requested": lambda _: "A source was to be asked for what is missing.",
}
"""Plain wording for each event; it uses only counts, ids and verdicts of the payload."""
