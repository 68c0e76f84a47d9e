"""retrieve: a question becomes understanding and evidence."""

from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from knowledge.policy import retrieval_policy
from messages import GenerateV1, RetrieveV1, Stage
from store.hashes import json_hash
from store.index import dense, lexical
from store.index.terms import terms
from store.models import Question, Retrieval
from store.question_states import move_to
from store.unit_of_work import UnitOfWork
from workers.retrieve.search import search
from workers.retrieve.selection import Judged, explain, select
from workers.retrieve.sufficiency import sufficiency
from workers.retrieve.understanding.read import search_terms, understand
from workers.runtime.errors import Permanent
from workers.runtime.question_stage import question_stage
from workers.runtime.stage import Context


def work(context: Context, message: RetrieveV1) -> dict[str, Any]:
    """Understand the question and find its evidence; gives the body of the retrieval."""
    with context.store.reading() as session:
        question = session.get(Question, message.question_id)
    if question is None:
        raise Permanent(f"there is no question {message.question_id}")
    options = question.options
    understanding = understand(question.text, options.get("patient_context") or "")
    as_of = end_of(options["as_of"]) if options.get("as_of") else None
    documents = options.get("max_references") or retrieval_policy().documents
    vector = context.encoder.encode([question.text])[0]
    asked = terms(question.text)
    with context.store.reading() as session:
        try:
            dense.require_encoder(session, context.encoder.name, context.encoder.dimensions)
        except dense.EncoderMismatch as error:
            raise Permanent(str(error)) from error
        segments = context.cache.setdefault("lexical_segments", {})
        passages = search(session, question.text, vector, segments, as_of=as_of)
        weighted = lexical.inverse_frequencies(session, asked)
    judged = select(passages, understanding, weighted, documents=documents)
    kept = [one for one in judged if one.kept]
    return {
        **understanding.as_body(),
        "evidence": _evidence(kept),
        "sufficiency": sufficiency(_best_per_document(kept)),
        "as_of": options.get("as_of"),
        "search_terms": search_terms(question.text),
        "explain": [explain(one) for one in judged],
    }


def end_of(as_of: str) -> datetime:
    """The moment that `as_of` names; of a plain date, the end of that day in UTC."""
    moment = datetime.fromisoformat(as_of)
    if len(as_of) == len("2026-01-31"):
        moment = datetime.combine(moment, time.max)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _best_per_document(kept: list[Judged]) -> list[float]:
    best: dict[UUID, float] = {}
    for one in kept:
        document_id = one.passage.document_id
        best[document_id] = max(best.get(document_id, 0.0), one.covered)
    return list(best.values())


def _evidence(kept: list[Judged]) -> list[dict[str, Any]]:
    """One entry a version, in the order of the best passage; keys E1, E2, … name them."""
    entries: dict[UUID, dict[str, Any]] = {}
    for one in kept:
        passage = one.passage
        entry = entries.setdefault(
            passage.version_id,
            {
                "evidence_id": f"E{len(entries) + 1}",
                "document_id": str(passage.document_id),
                "version_id": str(passage.version_id),
                "version": passage.n,
                "source_type": passage.source_type,
                "score": round(one.score, 4),
                "passages": [],
            },
        )
        entry["passages"].append(
            {
                "chunk_id": passage.chunk_id,
                "section": passage.section,
                "start": passage.start,
                "end": passage.end,
            }
        )
    return list(entries.values())


def commit(unit: UnitOfWork, message: RetrieveV1, body: dict[str, Any]) -> None:
    """Store the retrieval and pass the question on."""
    digest = json_hash(body)
    unit.session.add(Retrieval(question_id=message.question_id, body=body, hash=digest))
    move_to(unit, message.question_id, Stage.GENERATE)
    unit.emit(
        GenerateV1(
            request_id=message.request_id, question_id=message.question_id, retrieval_hash=digest
        )
    )
    unit.record(
        "question.retrieved",
        message.question_id,
        query_type=body["query_type"],
        retrieval_hash=digest,
        version_ids=[entry["version_id"] for entry in body["evidence"]],
        sufficiency=body["sufficiency"]["score"],
    )


SPEC = question_stage(Stage.RETRIEVE, work, commit)
