"""The API route of an answer's audit trail, which an auditor reads first."""

from uuid import UUID

from fastapi import APIRouter

from api_gateway.auth.access import InCaller, Scope, needs, owned
from api_gateway.problems import documented, not_found
from api_gateway.state import InGateway
from store.audit import trail
from store.audit.trail import Trail
from store.questions import questions

router = APIRouter(prefix="/v1/questions", tags=["operators"])


@router.get(
    "/{question_id}/trail",
    summary="Tell the story of an answer",
    description="Every event of the question in order, with plain words, times, versions, verdicts "
    "and hashes, and the versions that were evidence. No words of the question, of documents or of "
    "claims stand in it, so the scope `audit` shows the stories of all owners; the scope `read` "
    "those of its own.",
    dependencies=[needs(Scope.AUDIT, Scope.READ)],
    responses=documented(404, 503),
)
def question_trail(question_id: UUID, gateway: InGateway, caller: InCaller) -> Trail:
    """What happened to a question, and on which evidence."""
    with gateway.store.reading() as session:
        if Scope.AUDIT not in caller.scopes:
            owned(caller, questions.get(session, question_id), "question")
        story = trail.trail(session, question_id)
    if story is None:
        raise not_found("question")
    return story
