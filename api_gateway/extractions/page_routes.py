"""The pages of clinical documents: send a document, follow it, read its fields beside its text."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api_gateway.auth.access import Caller, InCaller, Scope, needs, needs_own, owned
from api_gateway.backpressure.bodies import BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.extractions import view
from api_gateway.extractions.schemas import MAX_DOCUMENT_CHARS
from api_gateway.extractions.uploads import Sent, sent
from api_gateway.extractions.view import label, state_badge
from api_gateway.http.uploads import Received
from api_gateway.pages.clocks import milliseconds, moment
from api_gateway.pages.forms import Given, InGiven, lines, refused_form
from api_gateway.pages.once import admit, key_of, keyed, once, sent_before
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import plainly
from api_gateway.problems import Problem, erased, invalid, request_id_of
from api_gateway.state import Gateway, InGateway
from knowledge.extraction import DOCUMENT_TYPE_NAMES, PROFILE_NAMES
from knowledge.loader import load
from store.extractions import extractions, reviews
from store.models import ExtractionIteration, ExtractionRow

router = APIRouter(include_in_schema=False)

PAGE = 20
BODY_LIMITS = {("POST", "/extractions"): BodyLimit(None)}
OPTIONS = ("title", "document_type", "profile")
UNFINISHED = ("queued", "running")


@router.get("/documents", dependencies=[needs(Scope.READ, Scope.ASK)])
def former_page(request: Request) -> Response:
    """Where these pages were until a document was evidence everywhere."""
    query = request.url.query
    return RedirectResponse(f"/extractions?{query}" if query else "/extractions", 308)


@router.get("/extractions", dependencies=[needs(Scope.READ, Scope.ASK)])
def extractions_page(
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    cursor: str | None = None,
    form: UUID | None = None,
) -> Response:
    """Where a document is sent, and those that were, newest first."""
    if form is None and Scope.ASK in caller.scopes:
        return keyed(request)
    return _form(request, gateway, caller, {"key": str(form)}, cursor=cursor)


def _form(
    request: Request,
    gateway: Gateway,
    caller: Caller,
    fields: Mapping[str, str],
    problem: Problem | None = None,
    cursor: str | None = None,
) -> HTMLResponse:
    lines: Sequence[Mapping[str, Any]] = ()
    more, key = None, key_of(fields)
    before = None if problem else sent_before(gateway, caller, Work.EXTRACTIONS, key)
    if Scope.READ in caller.scopes:
        with gateway.store.reading() as session:
            listed = extractions.listing(session, owner=caller.owner, cursor=cursor, limit=PAGE)
            lines = [_line(row) for row in listed.extractions]
        more = listed.next_cursor
    errors = (
        [plainly(error.message) for error in problem.errors] or [problem.detail] if problem else []
    )
    return page(
        request,
        "extractions.html",
        status=problem.status_code if problem else 200,
        key=str(key),
        before=before and f"/extractions/{before}",
        given={name: fields.get(name, "") for name in ("text", *OPTIONS)},
        errors=errors,
        types=[(name, label(name)) for name in DOCUMENT_TYPE_NAMES if name != "unknown"],
        profiles=[(name, label(name), _threshold(name)) for name in PROFILE_NAMES],
        most=MAX_DOCUMENT_CHARS,
        lines=lines,
        cursor=cursor,
        next_cursor=more,
    )


def _line(row: ExtractionRow) -> Mapping[str, Any]:
    return {
        "id": str(row.id),
        "name": row.title or row.filename or "A document without a title",
        "sent": moment(row.created_at),
        "badge": state_badge(row.status, row.outcome),
        "kind": label(row.document_type) if row.document_type else "",
        "score": "" if row.score is None else f"{row.score:.3f}",
    }


def _threshold(profile: str) -> float | None:
    values = load("rubrics/policy")["profiles"].get(profile)
    return float(values["threshold"]) if values else None


@router.post("/extractions", dependencies=[needs(Scope.ASK)])
def send_document(
    request: Request, form: InGiven, gateway: InGateway, caller: InCaller
) -> Response:
    """Keep the document, promise it to the stage, and lead to its page."""
    try:
        return _submit(request, gateway, caller, key_of(form.fields), _sent(form))
    except Problem as problem:
        return refused_form(_form(request, gateway, caller, form.fields, problem), problem)


def _sent(form: Given) -> Sent:
    """The document of the form, as it would be sent to the API.

    Raises:
        Problem: it is refused, or there is none.
    """
    options = {name: form.fields[name] for name in OPTIONS if form.fields.get(name, "").strip()}
    if form.content is not None:
        return sent(Received(form.content, form.filename, form.declared, tuple(options.items())))
    text = lines(form.fields.get("text", ""))
    if not text.strip():
        raise invalid("form.file", "choose a file or paste a text")
    return sent(Received(json.dumps({"text": text, **options}, ensure_ascii=False).encode()))


def _submit(request: Request, gateway: Gateway, caller: Caller, key: UUID, given: Sent) -> Response:
    """Raises Problem: there is no room for it, or the owner's daily budget is spent."""
    document, options = given.document, given.options
    fields = {"title": options.title, "type": options.document_type, "profile": options.profile}
    content = fields | {"document": document if isinstance(document, str) else vars(document)}

    def submit(named: str) -> ExtractionRow:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            return extractions.submit(
                work,
                document,
                owner=caller.owner,
                title=options.title,
                document_type=options.document_type,
                profile=options.profile,
                idempotency_key=named,
            )

    admit(request, caller, Work.EXTRACTIONS, key, content)
    return RedirectResponse(f"/extractions/{once(key, content, submit).id}", 303)


@router.get("/extractions/{extraction_id}", dependencies=[needs_own])
def extraction_page(
    request: Request,
    extraction_id: UUID,
    gateway: InGateway,
    caller: InCaller,
    field: Annotated[str | None, Query(max_length=100)] = None,
) -> HTMLResponse:
    """How far the document is, or its fields; the words of `field` stand out."""
    with gateway.store.reading() as session:
        row = owned(caller, extractions.get(session, extraction_id), "extraction")
        if row.status == "erased":
            raise erased("extraction", row.erased_at)
        steps = _steps(row, extractions.iterations(session, row.id))
        review = reviews.of_extraction(session, row.id)
        session.expunge_all()
    result = row.result if row.status == "done" else None
    extracted = result if result is not None and row.outcome == "extracted" else None
    return page(
        request,
        "extraction.html",
        line=_line(row),
        row=row,
        is_open=row.status in UNFINISHED,
        took=milliseconds(row.seconds * 1000),
        chart=view.chart(steps, _threshold(row.profile)),
        found=view.result_view(row.text or "", extracted, field) if extracted else None,
        unreadable=result if result is not None and extracted is None else None,
        review=review,
        review_badge=view.REVIEW.get(review.status) if review else None,
        chosen=field,
    )


def _steps(
    row: ExtractionRow, iterations: Sequence[ExtractionIteration]
) -> list[Mapping[str, Any]]:
    kinds = [part["type"] for part in (row.plan or {}).get("parts", [])]
    return [
        {
            "part": step.part,
            "type": kinds[step.part] if step.part < len(kinds) else "unknown",
            "n": step.n,
            "score": step.score,
            "gain": step.gain,
        }
        for step in iterations
    ]
