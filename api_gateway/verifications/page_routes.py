"""The pages of pasted texts: check a text, read the result, see its own sources."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Request
from fastapi.responses import HTMLResponse

from api_gateway.auth.access import InCaller, needs_own
from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.documents import evidence_view
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Given, lines
from api_gateway.pages.rendering import page
from api_gateway.problems import invalid, not_found
from api_gateway.resources.page_routes import Pages, page_router
from api_gateway.state import InGateway
from api_gateway.verifications.routes import VERIFICATION
from api_gateway.verifications.schemas import MAX_DOCUMENTS, MAX_TEXT_CHARS, VerificationIn
from api_gateway.verifications.view import verification_view
from store.core.spans import Span
from store.models import Verification
from store.texts import verifications

BODY_LIMITS = {("POST", "/verify"): BodyLimit(5 * MIB)}
"""Enough for a text and its sources, each with as many bytes as a field may have."""
OWN_SOURCES = 3
"""The fields for sources on the page; `POST /v1/verifications` accepts more."""
_PARTS = ("title", "source")


def _given(form: Given) -> VerificationIn:
    """Raises Problem, ValidationError: the text is not accepted."""
    fields = form.fields
    if missing := _missing(fields):
        raise invalid("form", missing)
    documents = [
        {"title": fields.get(f"title{n}", ""), "text": lines(fields[f"source{n}"])}
        for n in range(1, MAX_DOCUMENTS + 1)
        if fields.get(f"source{n}", "").strip()
    ]
    sent = {"text": lines(fields.get("text", "")), "documents": documents}
    return VerificationIn.model_validate(sent)


def _missing(form: Mapping[str, str]) -> str | None:
    """A message about the first required field that is empty; None if all are filled in."""
    if not form.get("text", "").strip():
        return "paste the text that is to be checked"
    for n in range(1, MAX_DOCUMENTS + 1):
        if form.get(f"source{n}", "").strip() and not form.get(f"title{n}", "").strip():
            return f"give source {n} a title"
    return None


def _view(row: Verification, refused: str | None, _: str | None) -> Mapping[str, Any]:
    """The text with a verdict on every claim, quotation and identifier."""
    done = row.status == "done" and row.result is not None
    return {
        "refused": refused,
        "asked": moment(row.created_at),
        "found": verification_view(row.id, row.text, row.result or {}) if done else None,
    }


router = page_router(
    Pages(
        VERIFICATION,
        path="/verify",
        form="verifications/verify.html",
        shown="verifications/verification.html",
        fields=("text", *(f"{part}{n}" for n in range(1, OWN_SOURCES + 1) for part in _PARTS)),
        given=_given,
        content=VerificationIn.model_dump,
        choices={"many": OWN_SOURCES, "most": MAX_TEXT_CHARS},
        beside=verifications.refused,
        view=_view,
    )
)


@router.get("/verify/{verification_id}/sources/{n}", dependencies=[needs_own])
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
    with gateway.store.reading() as session:
        row = VERIFICATION.readable(session, caller, verification_id)
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
        "documents/own_source.html",
        title=source.get("title") or f"Source {n}",
        back=f"/verify/{verification_id}",
        parts=parts,
        span=span,
    )
