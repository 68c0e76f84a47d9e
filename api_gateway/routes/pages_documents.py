"""The pages of clinical documents: send one, follow it, read its fields beside its text."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api_gateway.access import Caller, InCaller, Scope, needs, needs_own, owned, within_budget
from api_gateway.admission import require_room
from api_gateway.extraction_schemas import MAX_DOCUMENT_CHARS
from api_gateway.extraction_uploads import sent
from api_gateway.load import Work
from api_gateway.pages import documents
from api_gateway.pages.clocks import milliseconds, moment
from api_gateway.pages.documents import label, state_badge
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import plainly
from api_gateway.problems import Problem, erased, invalid, request_id_of
from api_gateway.routes.pages_forms import InGiven, lines, refused_form
from api_gateway.state import InGateway
from api_gateway.uploads import Received
from knowledge.extraction import DOCUMENT_TYPE_NAMES, PROFILE_NAMES
from knowledge.loader import load
from store import extractions, reviews
from store.models import ExtractionIteration, ExtractionRow

router = APIRouter(include_in_schema=False)

PAGE = 20
OPTIONS = ("title", "document_type", "profile")
UNFINISHED = ("queued", "running")


@router.get("/documents", dependencies=[needs(Scope.READ, Scope.ASK)])
def documents_page(
    request: Request, gateway: InGateway, caller: InCaller, cursor: str | None = None
) -> HTMLResponse:
    """Where a document is sent, and those that were, newest first."""
    return _form(request, gateway, caller, {}, cursor=cursor)


def _form(
    request: Request,
    gateway: InGateway,
    caller: Caller,
    fields: Mapping[str, str],
    problem: Problem | None = None,
    cursor: str | None = None,
) -> HTMLResponse:
    lines: Sequence[Mapping[str, Any]] = ()
    more = None
    if Scope.READ in caller.scopes:
        with gateway.store.reading() as session:
            found = extractions.listing(session, owner=caller.owner, cursor=cursor, limit=PAGE)
            lines = [_line(one) for one in found.extractions]
        more = found.next_cursor
    errors = [plainly(one.message) for one in problem.errors] or [problem.detail] if problem else []
    return page(
        request,
        "documents.html",
        status=problem.status_code if problem else 200,
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
    found = load("rubrics/policy")["profiles"].get(profile)
    return float(found["threshold"]) if found else None


@router.post("/documents", dependencies=[needs(Scope.ASK), within_budget])
def send_document(
    request: Request, form: InGiven, gateway: InGateway, caller: InCaller
) -> Response:
    """Keep the document, promise it to the stage, and lead to its page."""
    options = {name: form.fields[name] for name in OPTIONS if form.fields.get(name, "").strip()}
    try:
        if form.content is not None:
            found = sent(
                Received(form.content, form.filename, form.declared, tuple(options.items()))
            )
        else:
            text = lines(form.fields.get("text", ""))
            if not text.strip():
                raise invalid("form.file", "choose a file or paste a text")
            found = sent(Received(json.dumps({"text": text, **options}).encode()))
        require_room(gateway, Work.EXTRACTIONS, caller)
    except Problem as problem:
        return refused_form(_form(request, gateway, caller, form.fields, problem), problem)
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        row = extractions.submit(
            work,
            found.document,
            owner=caller.owner,
            title=found.options.title,
            document_type=found.options.document_type,
            profile=found.options.profile,
        )
    return RedirectResponse(f"/extractions/{row.id}", 303)


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
        chart=documents.chart(steps, _threshold(row.profile)),
        found=documents.result_view(row.text or "", extracted, field) if extracted else None,
        unreadable=result if result is not None and extracted is None else None,
        review=review,
        review_badge=documents.REVIEW.get(review.status) if review else None,
        chosen=field,
    )


def _steps(
    row: ExtractionRow, iterations: Sequence[ExtractionIteration]
) -> list[Mapping[str, Any]]:
    kinds = [one["type"] for one in (row.plan or {}).get("parts", [])]
    return [
        {
            "part": one.part,
            "type": kinds[one.part] if one.part < len(kinds) else "unknown",
            "n": one.n,
            "score": one.score,
            "gain": one.gain,
        }
        for one in iterations
    ]
