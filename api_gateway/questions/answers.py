"""The resource of a question (DESIGN section 5), made from its rows."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlmodel import Session, col, select

from api_gateway.auth.access import Caller, owned
from api_gateway.pages.wording import RELATED
from api_gateway.problems import GIVEN_UP, erased, given_up, not_found
from api_gateway.questions.follow_up import asked_on
from api_gateway.questions.question_in import MAX_QUESTION_CHARS, QuestionIn
from api_gateway.schemas import QuestionOut, QuestionStatus, StageTiming
from knowledge.loader import load
from store.documents import library
from store.models import Answer, Question
from store.questions import view
from store.questions.questions import Step
from store.questions.view import Seen
from store.recalls import log

FINISHED = frozenset({"answered", "failed"})


class Snapshot:
    """A question at one moment."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        status = _status(seen)
        if status == "answered" and seen.sealed is None:
            status = "running"  # an answer is shown only once it is sealed (invariant 6)
        self.status = status

    @property
    def finished(self) -> bool:
        """Whether the question will not change any more by itself."""
        return self.status in FINISHED

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the question."""
        return self._seen.options

    @cached_property
    def resource(self) -> QuestionOut:
        """The body that is shown. Built only on demand, as most waiting requests read twice."""
        seen = self._seen
        answer: dict[str, Any] | None = None
        error: dict[str, Any] | None = None
        if self.status == "answered" and seen.sealed is not None:
            answer = _with_timings(seen.sealed, seen.steps)
        elif self.status == "failed":
            answer = failed_answer()
            error = given_up("question", seen.request_id)
        if answer is not None:
            answer["recall"] = log.told(seen.id, seen.recalls)
        return QuestionOut(
            id=seen.id,
            status=self.status,
            stage=seen.stage,
            question=seen.text,
            filters=seen.options.get("filters"),
            created_at=seen.created_at,
            finished_at=seen.finished_at if self.finished else None,
            answer=answer,
            error=error,
            timings=[StageTiming.model_validate(vars(step)) for step in seen.steps],
        )


def snapshot(session: Session, caller: Caller, question_id: UUID) -> Snapshot:
    """The caller's question as it is now.

    Raises:
        Problem: the caller has no such question, or its words were erased.
    """
    seen = owned(caller, view.seen(session, question_id), "question")
    if seen.status == "erased":
        raise erased("question", seen.erased_at)
    return Snapshot(seen)


def unowned(session: Session, question_id: UUID) -> Snapshot:
    """A question whoever asks for it, for those to whom its owner shows it.

    Raises:
        Problem: there is no such question.
    """
    seen = view.seen(session, question_id)
    if seen is None:
        raise not_found("question")
    return Snapshot(seen)


def before(session: Session, caller: Caller, after: UUID | str | None) -> Question | None:
    """The caller's question that one follows, if it does and that has words."""
    row = session.get(Question, UUID(str(after))) if after else None
    return row if row and row.owner == caller.owner and row.status != "erased" else None


def in_full(session: Session, caller: Caller, body: QuestionIn) -> str:
    """The words of a question, with what they leave to the one that it follows."""
    followed = before(session, caller, body.after)
    words = asked_on(followed.text, body.question) if followed else body.question
    return words if len(words) <= MAX_QUESTION_CHARS else body.question


def related(session: Session, body: Mapping[str, Any]) -> list[str]:
    """What else to ask on the subject of an answer, where something is held that could tell it."""
    pico, disease = body.get("pico") or {}, (body.get("tags") or {}).get("primary_disease")
    subject = " in ".join(filter(None, map(pico.get, ("intervention", "patient"))))
    if not (disease and subject):
        return []
    ways = {name: way for name, way in RELATED.items() if name != body.get("query_type")}
    held = library.kinds_on(
        session, disease, [kind for _, kinds in ways.values() for kind in kinds]
    )
    return [asked.format(subject) for asked, kinds in ways.values() if held.intersection(kinds)]


def abstained(session: Session, question_ids: Collection[UUID]) -> set[UUID]:
    """The questions among these whose sealed answer is an abstention."""
    query = select(Answer.question_id).where(
        col(Answer.question_id).in_(question_ids),
        col(Answer.sealed_at).is_not(None),
        col(Answer.body)["abstained"].as_boolean(),
    )
    return set(session.exec(query))


def _with_timings(body: dict[str, Any], steps: Sequence[Step]) -> dict[str, Any]:
    """The sealed answer with the times of its stages, which are known only after the sealing."""
    times = {step.stage: step.ms for step in steps if step.ms is not None}
    return {**body, "provenance": {**body["provenance"], "stage_timings_ms": times}}


def _status(seen: Seen) -> QuestionStatus:
    match seen.status:
        case "queued" | "running" | "answered" | "failed" as status:
            return status
        case _:  # the database allows no others
            raise ValueError(f"question {seen.id} has status {seen.status!r}")


def failed_answer() -> dict[str, Any]:
    """The answer to a question that a stage gave up on: an abstention, with all keys of an answer.

    Its reason is `unchecked`, because nothing was verified (invariant 6).
    """
    trust = load("works/trust")
    return {
        "asked": None,
        "lead": {
            "kind": "none",
            "value": None,
            "text": trust["details"]["unchecked"],
            "claim_ids": [],
            "table": None,
        },
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
