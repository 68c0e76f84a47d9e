"""The pages for readers of an answer: say what you think of it, share it, read what was shared."""

from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Form, fitting
from api_gateway.pages.rendering import NOBODY, page
from api_gateway.problems import not_found
from api_gateway.questions import reader_routes, sharing
from api_gateway.questions.answer_view import answer_view
from api_gateway.questions.answers import unowned
from api_gateway.questions.reader_routes import JudgmentIn, ShareIn
from api_gateway.questions.view import question_view
from api_gateway.state import InGateway
from store.models import Question, now

router = APIRouter(include_in_schema=False)


@router.post("/questions/{question_id}/judge", dependencies=[needs(Scope.ASK)])
def judge(
    request: Request, question_id: UUID, form: Form, gateway: InGateway, caller: InCaller
) -> Response:
    """Write down what a reader thinks of the answer."""
    given = fitting(JudgmentIn, judgment=form.get("judgment"))
    reader_routes.judge(question_id, given, request, gateway, caller)
    return RedirectResponse(f"/questions/{question_id}#judge", 303)


@router.post("/questions/{question_id}/share", dependencies=[needs(Scope.ASK)])
def share(
    request: Request, question_id: UUID, form: Form, gateway: InGateway, caller: InCaller
) -> Response:
    """Make a link that shows the answer, and lead back to where it stands."""
    days = next((one for one in sharing.DAYS if str(one) == form.get("days")), None)
    made = reader_routes.share(question_id, fitting(ShareIn, days=days), request, gateway, caller)
    link = made.href.removeprefix(f"/shared/{question_id}/")
    return RedirectResponse(f"/questions/{question_id}?{urlencode({'link': link})}#share", 303)


@router.get("/shared/{question_id}/{until}/{proof}")
def shared_page(
    request: Request,
    question_id: UUID,
    until: Annotated[int, Path(ge=0, lt=2**35)],
    proof: Annotated[str, Path(max_length=64)],
    gateway: InGateway,
) -> HTMLResponse:
    """One answer for whoever has the link: nothing can be done on it, and nobody is known."""
    with gateway.store.reading() as session:
        row = session.get(Question, question_id)
        if row is None or row.status == "erased" or not sharing.holds(row, until, proof, now()):
            raise not_found("answer under this link, or it has expired")
        found = unowned(session, question_id)
    answer = answer_view(found.resource.answer) if found.resource.answer else None
    shown = page(
        request,
        "questions/question.html",
        image_origins=answer.image_origins if answer else (),
        question=question_view(found.resource, found.options),
        answer=answer,
        curing=(),
        followed=(),
        before=None,
        link_until=moment(sharing.as_moment(until)),
        shared=True,
        **NOBODY,
    )
    shown.headers["Referrer-Policy"] = "no-referrer"
    shown.headers["X-Robots-Tag"] = "noindex"
    return shown
