"""The pages of evidence: the text of a version with an exact span, and changes of versions."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlmodel import Session, col, select

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.documents import evidence_view
from api_gateway.documents.routes import MAX_VERSION
from api_gateway.documents.versions_view import DocumentView, document_view
from api_gateway.pages import differences
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import RECALL
from api_gateway.problems import invalid, not_found
from api_gateway.state import InGateway
from store.core.spans import Span
from store.documents import browse, claimed_works, library
from store.documents.citation_query import known
from store.models import DocumentVersion

router = APIRouter(prefix="/evidence", include_in_schema=False, dependencies=[needs(Scope.READ)])

RESTING = 10
"""The answers that are listed beside a document. Ours."""
VersionNumber = Annotated[int, Path(ge=1, le=MAX_VERSION)]
Offset = Annotated[int | None, Query(ge=0)]


@router.get("/{document_id}")
def evidence_of(
    document_id: UUID,
    gateway: InGateway,
    version_id: UUID | None = None,
    start: Offset = None,
    end: Offset = None,
) -> Response:
    """Lead to a version by its id, or to the one that is shown."""
    with gateway.store.reading() as session:
        document = browse.document(session, document_id)
    shown = document.shown if document else None
    if document is not None and version_id is not None:
        shown = next((row for row in document.versions if row.id == version_id), None)
    if shown is None:
        raise not_found("version")
    place = "" if start is None or end is None else f"?start={start}&end={end}"
    return RedirectResponse(f"/evidence/{document_id}/versions/{shown.n}{place}", 307)


@router.get("/{document_id}/versions/{n}")
def evidence_page(
    request: Request,
    document_id: UUID,
    n: VersionNumber,
    gateway: InGateway,
    caller: InCaller,
    start: Offset = None,
    end: Offset = None,
) -> HTMLResponse:
    """The text of a version; `[start, end)` of its code points is marked."""
    with gateway.store.reading() as session:
        version = _version(session, document_id, n)
        document = _described(session, document_id, n)
        resting = library.resting_on(session, document_id, owner=caller.owner, limit=RESTING)
    span = None if start is None and end is None else Span(start or 0, end or len(version.text))
    try:
        parts = evidence_view.parts(
            version.text, evidence_view.structure_of(version.structure), span
        )
    except evidence_view.SpanOutside as error:
        raise invalid("query.start, query.end", str(error)) from error
    return page(
        request,
        "documents/evidence.html",
        document=document,
        parts=parts,
        span=span,
        resting=resting,
        states=RECALL,
        text_href=f"/v1/documents/{document_id}/versions/{n}/text",
    )


@router.get("/{document_id}/diff")
def diff_page(
    request: Request,
    document_id: UUID,
    gateway: InGateway,
    old: Annotated[int, Query(ge=1, le=MAX_VERSION)],
    new: Annotated[int, Query(ge=1, le=MAX_VERSION)],
) -> HTMLResponse:
    """What changed from one version to another."""
    with gateway.store.reading() as session:
        before, after = (_version(session, document_id, n) for n in (old, new))
        document = _described(session, document_id, new)
    texts = (
        differences.sentences(version.text, evidence_view.structure_of(version.structure))
        for version in (before, after)
    )
    return page(
        request,
        "documents/diff.html",
        document=document,
        old=old,
        new=new,
        rows=differences.rows(*texts),
    )


def _described(session: Session, document_id: UUID, n: int) -> DocumentView:
    """The head of a page on version `n`, which must exist."""
    document = browse.document(session, document_id)
    if document is None:
        raise not_found("document")
    work = known(session, [document_id])[document_id]
    age = browse.age_hours(work.checked_at)
    claimed = claimed_works.of_documents(session, [document_id]).get(document_id, [])
    claims = [claimed_works.in_words(claim) for claim in claimed]
    return document_view(document, work.checked_at, age, work.standing, n, claims)


def _version(session: Session, document_id: UUID, n: int) -> DocumentVersion:
    query = select(DocumentVersion).where(
        col(DocumentVersion.document_id) == document_id, col(DocumentVersion.n) == n
    )
    version = session.exec(query).one_or_none()
    if version is None:
        raise not_found("version")
    session.expunge(version)
    return version
