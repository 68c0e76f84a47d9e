"""The API routes of notes: a summary and a plan of a clinical note, with citations."""

from sqlmodel import Session

from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.notes.schemas import NoteIn, NoteOut
from api_gateway.problems import given_up
from api_gateway.resources.resource import Api, Resource
from api_gateway.resources.routes import api_router
from store.core.unit_of_work import UnitOfWork
from store.models import Note
from store.texts import notes

BODY_LIMITS = {("POST", "/v1/notes"): BodyLimit(3 * MIB)}
"""Enough for `MAX_NOTE_CHARS` of up to twelve bytes each in JSON (RFC 8259, section 7)."""


def _submit(work: UnitOfWork, given: NoteIn, *, owner: str, idempotency_key: str | None) -> Note:
    return notes.submit(work, given.text, given.title, owner=owner, idempotency_key=idempotency_key)


async def _given(body: NoteIn) -> NoteIn:
    return body


def _out(_: Session, row: Note) -> NoteOut:
    return NoteOut(
        id=row.id,
        status=row.status,
        title=row.title,
        created_at=row.created_at,
        finished_at=row.finished_at,
        result=row.result if row.status == "done" else None,
        error=given_up("note", row.request_id) if row.status == "failed" else None,
    )


NOTE = Resource(notes.NOTES, Work.NOTES, _submit)

router = api_router(
    Api(
        NOTE,
        given=_given,
        out=_out,
        out_model=NoteOut,
        submitting=(
            "Submit a clinical note to be summarized",
            "Each item of the summary and each recommendation stands, to the letter, in the "
            "span of the note that it cites. The note is kept in its row and in nothing else.",
        ),
        getting=(
            "Get the summary and plan of a note",
            "With `wait`, answers as soon as they are made, at the latest after so many seconds.",
        ),
    )
)
