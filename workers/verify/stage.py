"""verify: the draft is checked claim by claim; what passes becomes the answer."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from messages import AuditV1, Stage, VerifyV1
from store.documents import checked_at, get_versions
from store.hashes import json_hash, text_hash
from store.models import Answer, Chunk, Citation, DocumentVersion, Draft, Question, Retrieval, now
from store.question_states import move_to
from store.spans import Span, Structure, citation
from store.unit_of_work import UnitOfWork
from workers.runtime.errors import Permanent
from workers.runtime.question_stage import question_stage
from workers.runtime.stage import Context
from workers.verify.answer import Held, Place, compose
from workers.verify.evidence import clocks
from workers.verify.gate import check_claim
from workers.verify.quotes import Source

KEPT_SOURCES = 256
"""Normalized texts that a process keeps: versions never change, so they never go stale."""

_KEEPING = threading.Lock()


@dataclass(frozen=True)
class Result:
    """The answer's body and the spans it rests on."""

    body: dict[str, Any]
    citations: Sequence[dict[str, Any]]
    withheld: Sequence[dict[str, Any]]


def work(context: Context, message: VerifyV1) -> Result:
    """Check every drafted claim against the stored versions and compose the answer."""
    with context.store.reading() as session:
        question = session.get(Question, message.question_id)
        retrieval = session.get(Retrieval, message.question_id)
        draft = session.get(Draft, message.question_id)
        if question is None or retrieval is None or draft is None:
            raise Permanent(f"question {message.question_id} has no draft to verify")
        if draft.hash != message.draft_hash:
            raise Permanent(f"the draft of question {message.question_id} is another one")
        keys = [entry["evidence_id"] for entry in retrieval.body["evidence"]]
        ids = [UUID(entry["version_id"]) for entry in retrieval.body["evidence"]]
        versions = dict(zip(keys, get_versions(session, ids), strict=True))
        held = _held(session, versions)
        chunks = _chunks(session, ids)
    sources = {key: _source(context, version) for key, version in versions.items()}
    sentences = {
        key: Structure.model_validate(version.structure).sentences
        for key, version in versions.items()
    }
    checked = [check_claim(claim, sources, sentences) for claim in draft.body["claims"]]
    body = compose(
        question=question.text,
        retrieval=retrieval.body,
        draft=draft.body,
        checked=checked,
        held=held,
        place_of=lambda key, span: _place(chunks[versions[key].id], span),
    )
    return Result(
        body,
        _citations(body, versions),
        [
            {"claim_id": one.claim_id, "verdict": one.verdict, "findings": list(one.findings)}
            for one in checked
            if not one.passes
        ],
    )


def _held(session: Session, versions: Mapping[str, DocumentVersion]) -> dict[str, Held]:
    moment = now()
    seen = checked_at(session, [version.document_id for version in versions.values()])
    return {
        key: Held(version, clocks(version, seen[version.document_id], moment))
        for key, version in versions.items()
    }


def _chunks(session: Session, version_ids: Sequence[UUID]) -> dict[UUID, list[Chunk]]:
    rows = session.exec(
        select(Chunk).where(col(Chunk.version_id).in_(version_ids)).order_by(col(Chunk.ordinal))
    )
    found: dict[UUID, list[Chunk]] = {version_id: [] for version_id in version_ids}
    for row in rows:
        found[row.version_id].append(row)
    return found


def _place(chunks: Sequence[Chunk], span: Span) -> Place:
    """The chunk that holds the span, or most of it where it runs over a chunk's edge."""
    best = max(chunks, key=lambda one: min(one.end, span.end) - max(one.start, span.start))
    chunk_id = f"chunk_{best.ordinal}"
    return Place(chunk_id, best.section, citation(best.section, chunk_id, span.start, span.end))


def _source(context: Context, version: DocumentVersion) -> Source:
    kept: dict[UUID, Source] = context.cache.setdefault("verify_sources", {})
    with _KEEPING:  # threads share the cache
        source = kept.get(version.id)
        if source is None:
            if len(kept) >= KEPT_SOURCES:
                del kept[next(iter(kept))]
            source = kept[version.id] = Source(version.text)
    return source


def _citations(
    body: Mapping[str, Any], versions: Mapping[str, DocumentVersion]
) -> list[dict[str, Any]]:
    return [
        {
            "claim_id": claim["claim_id"],
            "version_id": versions[place["evidence_id"]].id,
            "start": place["start"],
            "end": place["end"],
            "quote_hash": text_hash(place["quote"]),
        }
        for claim in body["claims"]
        for place in claim["citations"]
    ]


def commit(unit: UnitOfWork, message: VerifyV1, result: Result) -> None:
    """Store the answer, unsealed, with the spans it rests on, and pass it on."""
    digest = json_hash(result.body)
    unit.session.add(
        Answer(
            question_id=message.question_id,
            body=result.body,
            hash=digest,
            abstain_reason=result.body["abstain_reason"],
        )
    )
    rows = [{"question_id": message.question_id, **row} for row in result.citations]
    if rows:
        unit.session.execute(sa.insert(Citation), rows)
    move_to(unit, message.question_id, Stage.AUDIT)
    unit.emit(
        AuditV1(request_id=message.request_id, question_id=message.question_id, answer_hash=digest)
    )
    unit.record(
        "question.verified",
        message.question_id,
        answer_hash=digest,
        abstain_reason=result.body["abstain_reason"],
        claims=[claim["claim_id"] for claim in result.body["claims"]],
        withheld=list(result.withheld),
    )


SPEC = question_stage(Stage.VERIFY, work, commit)
