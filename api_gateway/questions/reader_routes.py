"""The API routes for readers of an answer: say what you think of it, share it by a link."""

from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlmodel import Session

from api_gateway.auth.access import Caller, InCaller, Scope, needs, owned
from api_gateway.problems import Problem, documented, not_found, request_id_of
from api_gateway.questions import sharing
from api_gateway.questions.answers import snapshot
from api_gateway.state import InGateway
from store.models import Question, now
from store.questions import judgments
from store.questions.judgments import Judgment

router = APIRouter(prefix="/v1/questions", tags=["questions"], dependencies=[needs(Scope.ASK)])


class JudgmentIn(BaseModel):
    """What a reader thinks of an answer."""

    model_config = ConfigDict(extra="forbid")

    judgment: Judgment = Field(
        description="`missing`: what it says holds, and something that matters is not in it"
    )


class JudgmentsOut(BaseModel):
    """How many readers think so; of each reader the last judgment counts."""

    right: int = 0
    wrong: int = 0
    missing: int = 0


class ShareIn(BaseModel):
    """How long a link is to hold."""

    model_config = ConfigDict(extra="forbid")

    days: Annotated[Literal[1, 7, 30], Field()] = 7


class ShareOut(BaseModel):
    """A link to the read-only page of an answer."""

    href: str
    expires_at: datetime


@router.post(
    "/{question_id}/judgments",
    status_code=201,
    summary="Say what you think of an answer",
    description="It goes into the audit chain and the quality report, without words of yours.",
    response_description="Noted",
    responses=documented(400, 404, 409, 410, 422, 503),
)
def judge(
    question_id: UUID, body: JudgmentIn, request: Request, gateway: InGateway, caller: InCaller
) -> JudgmentsOut:
    """Write it down; what readers think with this judgment."""
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        _require_answer(work.session, caller, question_id)
        judgments.give(work, question_id, body.judgment)
    with gateway.store.reading() as session:
        return JudgmentsOut.model_validate(judgments.of_answer(session, question_id))


@router.post(
    "/{question_id}/shares",
    status_code=201,
    summary="Make a link that shows an answer",
    description="Whoever has the link reads this one answer, without a key, until it expires or "
    "the question is erased. It cannot be taken back before.",
    response_description="Made",
    responses=documented(400, 404, 409, 410, 422, 503),
)
def share(
    question_id: UUID, body: ShareIn, request: Request, gateway: InGateway, caller: InCaller
) -> ShareOut:
    """Make it, and write down that it was made."""
    ends = now() + timedelta(days=body.days)
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        _require_answer(work.session, caller, question_id)
        question = owned(caller, work.session.get(Question, question_id), "question")
        try:
            href = sharing.address(question, ends)
        except LookupError:
            raise not_found("secret of this question, which is older than this release") from None
        work.record("answer.shared", question_id, expires_at=ends.isoformat(timespec="seconds"))
    return ShareOut(href=href, expires_at=ends)


def _require_answer(session: Session, caller: Caller, question_id: UUID) -> None:
    """Raises Problem: there is no such question of the caller, or no answer yet."""
    if not snapshot(session, caller, question_id).finished:
        raise Problem(409, "there is no answer yet", kind="under-way")
