"""The API routes of the library: list what is held, search it by words, see what rests on it."""

from uuid import UUID

from fastapi import APIRouter

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.library.schemas import (
    FoundList,
    HeldDocumentPage,
    InDocuments,
    InSearch,
    RestingList,
)
from api_gateway.problems import documented, not_found
from api_gateway.state import InGateway
from store.documents import library
from store.index.partitions import without
from store.models import Document

router = APIRouter(prefix="/v1", tags=["documents"], dependencies=[needs(Scope.READ)])

MOST_ANSWERS = 100


@router.get(
    "/documents",
    summary="List what is held",
    description="The newest published first. Only what can be found is listed: a document that is "
    "not indexed yet is not.",
    responses=documented(422, 503),
)
def list_documents(gateway: InGateway, asked: InDocuments) -> HeldDocumentPage:
    """A page of documents."""
    with gateway.store.reading() as session:
        rows, cursor = library.listing(
            session, asked.wanted, cursor=asked.cursor, limit=asked.limit
        )
    return HeldDocumentPage(documents=list(rows), next_cursor=cursor)


@router.get(
    "/search",
    summary="Search what is held",
    description="Passages of current versions by their words (BM25). It answers nothing and means "
    "nothing: for an answer, ask a question.",
    responses=documented(422, 503),
)
def search(gateway: InGateway, asked: InSearch) -> FoundList:
    """Passages, best first."""
    with gateway.store.reading() as session:
        found = library.search(
            session, asked.q, gateway.segments, only=asked.only, limit=asked.limit
        )
        away = without(session)
    return FoundList(passages=list(found), without=list(away))


@router.get(
    "/documents/{document_id}/answers",
    summary="List the answers that rest on a document",
    description="The caller's own, newest first, whichever version they cite.",
    responses=documented(404, 422, 503),
)
def list_answers(document_id: UUID, gateway: InGateway, caller: InCaller) -> RestingList:
    """The caller's answers that cite it."""
    with gateway.store.reading() as session:
        if session.get(Document, document_id) is None:
            raise not_found("document")
        rows = library.resting_on(session, document_id, owner=caller.owner, limit=MOST_ANSWERS)
    return RestingList(answers=list(rows))
