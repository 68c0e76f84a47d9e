"""generate: evidence becomes a draft of claims with evidence keys. Nothing is checked yet."""

from collections import defaultdict
from typing import Any
from uuid import UUID

from sqlmodel import col, select

from messages import GenerateV1, Stage, VerifyV1
from store.content import content
from store.documents import get_versions
from store.hashes import json_hash
from store.index import lexical
from store.index.terms import terms
from store.models import Anchor, DocumentVersion, Draft, Question, Retrieval
from store.question_states import move_to
from store.spans import Structure
from store.unit_of_work import UnitOfWork
from workers.generate.extractive import Candidate, choose, sentences_of
from workers.runtime.errors import Permanent
from workers.runtime.question_stage import question_stage
from workers.runtime.stage import Context

GENERATOR = "extractive"
PROMPT_VERSION = "extractive.v1"


def work(context: Context, message: GenerateV1) -> dict[str, Any]:
    """Choose the sentences that answer the question; gives the body of the draft."""
    with context.store.reading() as session:
        question = session.get(Question, message.question_id)
        retrieval = session.get(Retrieval, message.question_id)
        if question is None or retrieval is None or retrieval.hash != message.retrieval_hash:
            raise Permanent(f"question {message.question_id} has no such retrieval")
        evidence = retrieval.body["evidence"]
        ids = [UUID(entry["version_id"]) for entry in evidence]
        versions = get_versions(session, ids)
        rows = session.exec(select(Anchor).where(col(Anchor.version_id).in_(ids)))
        anchors: dict[UUID, dict[int, int]] = defaultdict(dict)
        for row in rows:
            anchors[row.version_id][row.start] = row.score
        asked = [
            content(text, lexical.inverse_frequencies(session, terms(text)))
            for text in (one["text"] for one in retrieval.body["sub_queries"])
        ]
    candidates = [
        candidate
        for entry, version in zip(evidence, versions, strict=True)
        for candidate in _candidates(entry, version, anchors[version.id])
    ]
    body = retrieval.body
    diseases, products = body["tags"]["diseases"], body.get("products", ())
    claims = choose(candidates, body["query_type"], asked, diseases, products)
    return {
        "generator": GENERATOR,
        "prompt_version": PROMPT_VERSION,
        "claims": [claim.as_body() for claim in claims],
        "considered": len(candidates),
    }


def _candidates(
    entry: dict[str, Any], version: DocumentVersion, anchors: dict[int, int]
) -> list[Candidate]:
    structure = Structure.model_validate(version.structure)
    passages = [(passage["start"], passage["end"]) for passage in entry["passages"]]
    return [
        Candidate(
            evidence_id=entry["evidence_id"],
            source_type=version.source_type,
            text=sentence.of(version.text),
            title=version.title,
            passage_score=entry["score"],
            anchor_score=anchors.get(sentence.start, 0),
            publication_type=version.publication_type,
        )
        for sentence in sentences_of(version.text, structure.sentences, passages)
    ]


def commit(unit: UnitOfWork, message: GenerateV1, body: dict[str, Any]) -> None:
    """Store the draft and pass the question on."""
    digest = json_hash(body)
    unit.session.add(Draft(question_id=message.question_id, body=body, hash=digest))
    move_to(unit, message.question_id, Stage.VERIFY)
    unit.emit(
        VerifyV1(request_id=message.request_id, question_id=message.question_id, draft_hash=digest)
    )
    unit.record(
        "question.drafted",
        message.question_id,
        generator=body["generator"],
        prompt_version=body["prompt_version"],
        draft_hash=digest,
        claims=len(body["claims"]),
    )


SPEC = question_stage(Stage.GENERATE, work, commit, time_limit_seconds=120.0)
