"""The pages of pasted texts: check a text, read the result, see its own sources."""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import ValidationError

from api_gateway.auth.access import Caller, InCaller, Scope, needs, needs_own, owned
from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.documents import evidence_view
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Form, lines, refused_form
from api_gateway.pages.once import admit, key_of, keyed, once, sent_before
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import plainly
from api_gateway.problems import Problem, erased, from_validation, invalid, not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from api_gateway.verifications.schemas import MAX_DOCUMENTS, MAX_TEXT_CHARS, VerificationIn
from api_gateway.verifications.view import verification_view
from store.core.spans import Span
from store.models import Verification
from store.texts import verifications

router = APIRouter(prefix="/verify", include_in_schema=False)

BODY_LIMITS = {("POST", router.prefix): BodyLimit(5 * MIB)}
"""Enough for a text and its sources, each with as many bytes as a field may have."""
OWN_SOURCES = 3
"""The fields for sources on the page; `POST /v1/verifications` accepts more."""


@router.get("", dependencies=[needs(Scope.ASK)])
def verify_page(
    request: Request, gateway: InGateway, caller: InCaller, form: UUID | None = None
) -> Response:
    """Where a text is pasted."""
    if form is None:
        return keyed(request)
    before = sent_before(gateway, caller, Work.VERIFICATIONS, form)
    return _form(request, {"key": str(form)}, before=before)


def _form(
    request: Request,
    given: Mapping[str, str],
    problem: Problem | None = None,
    before: UUID | None = None,
) -> HTMLResponse:
    return page(
        request,
        "verify.html",
        status=problem.status_code if problem else 200,
        key=str(key_of(given)),
        before=before and f"/verify/{before}",
        given=given,
        errors=_told(problem) if problem else [],
        many=OWN_SOURCES,
        most=MAX_TEXT_CHARS,
    )


def _told(problem: Problem) -> list[str]:
    return [plainly(error.message) for error in problem.errors] or [problem.detail]


@router.post("", dependencies=[needs(Scope.ASK)])
def verify(request: Request, form: Form, gateway: InGateway, caller: InCaller) -> Response:
    """Submit the text and lead to its page."""
    documents = [
        {"title": form.get(f"title{n}", ""), "text": form[f"source{n}"]}
        for n in range(1, MAX_DOCUMENTS + 1)
        if form.get(f"source{n}", "").strip()
    ]
    if missing := _missing(form):
        return _form(request, form, invalid("form", missing))
    sent = {"text": lines(form.get("text", "")), "documents": documents}
    for item in documents:
        item["text"] = lines(item["text"])
    try:
        body = VerificationIn.model_validate(sent)
    except ValidationError as error:
        return _form(request, form, from_validation(error.errors()))
    if any("\x00" in item for item in (body.text, *(v for d in documents for v in d.values()))):
        raise invalid("form.text", "contains a NUL character; remove it")
    try:
        return _submit(request, gateway, caller, key_of(form), body)
    except Problem as problem:
        return refused_form(_form(request, form, problem), problem)


def _submit(
    request: Request, gateway: Gateway, caller: Caller, key: UUID, body: VerificationIn
) -> Response:
    """Raises Problem: there is no room for it."""
    content = body.model_dump()

    def submit(named: str) -> Verification:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            return verifications.submit(
                work,
                body.text,
                content["documents"],
                owner=caller.owner,
                idempotency_key=named,
            )

    admit(request, caller, Work.VERIFICATIONS, key, content)
    return RedirectResponse(f"/verify/{once(key, content, submit).id}", 303)


def _missing(form: Mapping[str, str]) -> str | None:
    """A message about the first required field that is empty; None if all are filled in."""
    if not form.get("text", "").strip():
        return "paste the text that is to be checked"
    for n in range(1, MAX_DOCUMENTS + 1):
        if form.get(f"source{n}", "").strip() and not form.get(f"title{n}", "").strip():
            return f"give source {n} a title"
    return None


@router.get("/{verification_id}", dependencies=[needs_own])
def verification_page(
    request: Request, verification_id: UUID, gateway: InGateway, caller: InCaller
) -> HTMLResponse:
    """The text with a verdict on every claim, quotation and identifier."""
    row = _row(gateway, caller, verification_id)
    with gateway.store.reading() as session:
        refused = verifications.refused(session, row)
    done = row.status == "done" and row.result is not None
    return page(
        request,
        "verification.html",
        id=str(row.id),
        state=row.status,
        refused=refused,
        asked=moment(row.created_at),
        found=verification_view(row.id, row.text, row.result or {}) if done else None,
    )


@router.get("/{verification_id}/sources/{n}", dependencies=[needs_own])
def own_source_page(
    request: Request,
    verification_id: UUID,
    n: Annotated[int, Path(ge=1, le=MAX_DOCUMENTS)],
    gateway: InGateway,
    caller: InCaller,
    start: Annotated[int | None, Query(ge=0)] = None,
    end: Annotated[int | None, Query(ge=1)] = None,
) -> HTMLResponse:
    """A source that was pasted with the text; `[start, end)` of its code points is marked."""
    row = _row(gateway, caller, verification_id)
    if n > len(row.documents):
        raise not_found("source")
    source = row.documents[n - 1]
    text = source["text"]
    span = None if start is None and end is None else Span(start or 0, end or len(text))
    try:
        parts = evidence_view.parts(text, None, span)
    except evidence_view.SpanOutside as error:
        raise invalid("query.start, query.end", str(error)) from error
    return page(
        request,
        "own_source.html",
        title=source.get("title") or f"Source {n}",
        back=f"/verify/{verification_id}",
        parts=parts,
        span=span,
    )


def _row(gateway: Gateway, caller: InCaller, verification_id: UUID) -> Verification:
    """The verification.

    Raises:
        Problem: there is no such verification, or its words were erased.
    """
    with gateway.store.reading() as session:
        row = owned(caller, verifications.get(session, verification_id), "verification")
        if row.status == "erased":
            raise erased("verification", row.erased_at)
        session.expunge(row)
    return row
