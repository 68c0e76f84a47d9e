"""The API routes of notes: a summary and a plan of a clinical note, with citations."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from api_gateway.auth.access import (
    Caller,
    InCaller,
    Scope,
    needs,
    needs_own,
    owned,
    within_budget,
)
from api_gateway.backpressure.admission import room_for
from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.http.idempotency import IdempotencyKey
from api_gateway.http.waiting import settled
from api_gateway.notes.schemas import NoteIn, NoteOut
from api_gateway.problems import documented, erased, given_up, request_id_of
from api_gateway.schemas import MAX_WAIT_SECONDS, POLL_AFTER_MS, Accepted
from api_gateway.state import Gateway, InGateway
from store.texts import notes

router = APIRouter(prefix="/v1/notes", tags=["notes"])

RETRY_AFTER_SECONDS = 1
BODY_LIMITS = {("POST", router.prefix): BodyLimit(3 * MIB)}
"""Enough for `MAX_NOTE_CHARS` of up to twelve bytes each in JSON (RFC 8259, section 7)."""


@router.post(
    "",
    status_code=202,
    summary="Submit a clinical note to be summarized",
    description="Each item of the summary and each recommendation stands, to the letter, in the "
    "span of the note that it cites. The note is kept in its row and in nothing else.",
    response_description="Accepted; `Location` says where to look",
    dependencies=[needs(Scope.ASK), within_budget, room_for(Work.NOTES)],
    responses=documented(400, 403, 413, 415, 422, 429, 503),
)
def submit_note(
    body: NoteIn,
    request: Request,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    idempotency_key: IdempotencyKey = None,
) -> Accepted:
    """Write the note and promise it to the summarize stage."""
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        note = notes.submit(
            work, body.text, body.title, owner=caller.owner, idempotency_key=idempotency_key
        )
    response.headers["Location"] = f"/v1/notes/{note.id}"
    return Accepted.model_validate(
        {"id": note.id, "status": note.status, "poll_after_ms": POLL_AFTER_MS}
    )


@router.get(
    "/{note_id}",
    summary="Get the summary and plan of a note",
    description="With `wait`, answers as soon as they are made, at the latest after so many "
    "seconds.",
    response_model=NoteOut,
    dependencies=[needs_own],
    responses=documented(404, 410, 422, 503),
)
async def get_note(
    note_id: UUID,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    wait: Annotated[
        float,
        Query(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False, description="seconds, up to 60"),
    ] = 0,
) -> NoteOut:
    """The note, now or once it has ended."""
    current = await settled(
        gateway,
        caller,
        note_id,
        lambda: _read(gateway, caller, note_id),
        lambda note: note.status != "queued",
        wait,
    )
    if current.status == "queued":
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return current


async def _read(gateway: Gateway, caller: Caller, note_id: UUID) -> NoteOut:
    """The note as it is now.

    Raises:
        Problem: there is no such note.
    """

    def read() -> NoteOut:
        with gateway.store.reading() as session:
            row = owned(caller, notes.get(session, note_id), "note")
            if row.status == "erased":
                raise erased("note", row.erased_at)
            failed = row.status == "failed"
            return NoteOut.model_validate(
                {
                    "id": row.id,
                    "status": row.status,
                    "title": row.title,
                    "created_at": row.created_at,
                    "finished_at": row.finished_at,
                    "result": row.result if row.status == "done" else None,
                    "error": given_up("note", row.request_id) if failed else None,
                }
            )

    return await run_in_threadpool(read)
