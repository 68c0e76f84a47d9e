"""A question as callers see it: from its rows to the resource of DESIGN section 5."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlmodel import Session, col, select

from api_gateway.problems import GIVEN_UP, erased, given_up
from api_gateway.schemas import QuestionOut, QuestionStatus, StageTiming
from knowledge.loader import load
from store import question_bodies, questions, recall_log
from store.models import Answer, Question

FINISHED = frozenset({"answered", "failed"})


@dataclass(frozen=True)
class Snapshot:
    """A question at one moment."""

    resource: QuestionOut

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to it by itself."""
        return self.resource.status in FINISHED


def snapshot(session: Session, question_id: UUID) -> Snapshot | None:
    """The question as it is now; None if there is no such question.

    Raises:
        Problem: its words were erased.
    """
    question = questions.get(session, question_id)
    if question is None:
        return None
    if question.status == "erased":
        raise erased("question", question.erased_at)
    status = _status(question)
    steps = questions.progress(session, question_id)
    answer: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    if status == "answered":
        sealed = question_bodies.sealed(session, question_id)
        if sealed is None:
            status = "running"  # shown only once it is sealed (invariant 6)
        else:
            recall = recall_log.shown(session, question_id)
            answer = {**_with_timings(sealed, steps), "recall": recall}
    elif status == "failed":
        answer = failed_answer() | {"recall": recall_log.shown(session, question_id)}
        error = given_up("question", question.request_id)
    timings = [StageTiming.model_validate(vars(step)) for step in steps]
    resource = QuestionOut(
        id=question.id,
        status=status,
        stage=question.stage,
        question=question.text,
        filters=question.options.get("filters"),
        created_at=question.created_at,
        finished_at=question.finished_at if status in FINISHED else None,
        answer=answer,
        error=error,
        timings=timings,
    )
    return Snapshot(resource)


def abstained(session: Session, question_ids: Collection[UUID]) -> set[UUID]:
    """Those of the questions that came to an abstention."""
    found = select(Answer.question_id).where(
        col(Answer.question_id).in_(question_ids),
        col(Answer.sealed_at).is_not(None),
        col(Answer.body)["abstained"].as_boolean(),
    )
    return set(session.exec(found))


def _with_timings(body: dict[str, Any], steps: list[questions.Step]) -> dict[str, Any]:
    """The sealed answer with how long its stages took: known only after the sealing."""
    times = {step.stage: step.ms for step in steps if step.ms is not None}
    return {**body, "provenance": {**body["provenance"], "stage_timings_ms": times}}


def _status(question: Question) -> QuestionStatus:
    match question.status:
        case "queued" | "running" | "answered" | "failed" as status:
            return status
        case _:  # the database refuses others
            raise ValueError(f"question {question.id} has status {question.status!r}")


def failed_answer() -> dict[str, Any]:
    """The answer to a question that a stage gave up on: an abstention, with every key there is.

    It says `unchecked`, because nothing that may have been found was verified (invariant 6).
    """
    trust = load("trust")
    return {
        "query_type": None,
        "classification": None,
        "pico": dict.fromkeys(("patient", "intervention", "comparison", "outcome", "condition")),
        "tags": {
            "primary_disease": None,
            "diseases": [],
            "primary_decision": None,
            "decisions": [],
        },
        "sub_queries": [],
        "sufficiency": {"score": None, "level": None, "basis": None},
        "abstained": True,
        "abstain_reason": "unchecked",
        "abstain_detail": f"{trust['details']['unchecked']} {GIVEN_UP}",
        "cure": {**trust["cures"]["unchecked"], "sources": []},
        "cure_refreshes": [],
        "summary": {"text": "", "supported_claim_ids": []},
        "sections": [],
        "claims": [],
        "evidence": [],
        "references": [],
        "images": [],
        "conflicts": [],
        "verification_summary": {
            "verified_count": 0,
            "partial_count": 0,
            "unverified_count": 0,
            "conflicting_count": 0,
        },
        "freshness_summary": {
            "latest_fetch_at": None,
            "max_age_hours": None,
            "stale_sources": [],
        },
        "recall": {"state": "current", "because": []},
        "provenance": {
            "generator": None,
            "model": None,
            "prompt_version": None,
            "knowledge_version": None,
            "cost_usd": None,
            "stage_timings_ms": {},
        },
    }
