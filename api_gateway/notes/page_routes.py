"""The pages of clinical notes: send a note, read its summary and plan beside it."""

from collections.abc import Mapping, Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import ValidationError

from api_gateway.auth.access import Caller, InCaller, Scope, needs, needs_own, owned
from api_gateway.backpressure.bodies import BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.http.uploads import MOST_UTF8_BYTES
from api_gateway.notes.schemas import MAX_NOTE_CHARS, NoteIn
from api_gateway.notes.view import NoteLine, note_line, note_view
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Given, InGiven, lines, refused_form
from api_gateway.pages.once import admit, key_of, keyed, once, sent_before
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import plainly
from api_gateway.problems import Problem, erased, from_validation, invalid, request_id_of
from api_gateway.state import Gateway, InGateway
from store.models import Note
from store.texts import notes

router = APIRouter(prefix="/notes", include_in_schema=False)

PAGE = 25
BODY_LIMITS = {("POST", router.prefix): BodyLimit(None)}
"""The gateway's maximum, as a user may choose any file by mistake; the page then says so."""


@router.get("", dependencies=[needs(Scope.READ, Scope.ASK)])
def notes_page(
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    cursor: str | None = None,
    form: UUID | None = None,
) -> Response:
    """Where a note is pasted or uploaded, and those that were, newest first."""
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
    lines: Sequence[NoteLine] = ()
    more, key = None, key_of(fields)
    before = None if problem else sent_before(gateway, caller, Work.NOTES, key)
    if Scope.READ in caller.scopes:
        with gateway.store.reading() as session:
            listed = notes.listing(session, owner=caller.owner, cursor=cursor, limit=PAGE)
            lines = [note_line(note) for note in listed.notes]
        more = listed.next_cursor
    return page(
        request,
        "notes.html",
        status=problem.status_code if problem else 200,
        key=str(key),
        before=before and f"/notes/{before}",
        given={name: fields.get(name, "") for name in ("text", "title")},
        errors=[plainly(error.message) for error in problem.errors] or [problem.detail]
        if problem
        else [],
        most=MAX_NOTE_CHARS,
        lines=lines,
        cursor=cursor,
        next_cursor=more,
    )


@router.post("", dependencies=[needs(Scope.ASK)])
def send_note(request: Request, form: InGiven, gateway: InGateway, caller: InCaller) -> Response:
    """Keep the note, promise it to the stage, and lead to its page."""
    title = form.fields.get("title", "").strip() or None
    try:
        body = NoteIn.model_validate({"text": _text(form), "title": title})
        return _submit(request, gateway, caller, key_of(form.fields), body)
    except ValidationError as error:
        problem = from_validation(error.errors(include_input=False))
        return _form(request, gateway, caller, form.fields, problem)
    except Problem as problem:
        return refused_form(_form(request, gateway, caller, form.fields, problem), problem)


def _submit(
    request: Request, gateway: Gateway, caller: Caller, key: UUID, body: NoteIn
) -> Response:
    """Raises Problem: there is no room for it, or the owner's daily budget is spent."""
    content = body.model_dump()

    def submit(named: str) -> Note:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            return notes.submit(
                work, body.text, body.title, owner=caller.owner, idempotency_key=named
            )

    admit(request, caller, Work.NOTES, key, content)
    return RedirectResponse(f"/notes/{once(key, content, submit).id}", 303)


def _text(form: Given) -> str:
    """The text of the note: the UTF-8 text of the file or, without a file, the pasted text.

    Raises:
        Problem: the file is no UTF-8 text, the note is too long, or it is empty.
    """
    if form.content is not None and len(form.content) > MOST_UTF8_BYTES * MAX_NOTE_CHARS:
        raise invalid("form.file", f"a note has up to {MAX_NOTE_CHARS:,} characters")
    try:
        text = (
            lines(form.fields.get("text", ""))
            if form.content is None
            else form.content.decode("utf-8-sig")
        )
    except UnicodeDecodeError:
        raise invalid("form.file", "a note is a text file in UTF-8") from None
    if not text.strip():
        raise invalid("form.text", "paste a note or choose a file with its text")
    return text


@router.get("/{note_id}", dependencies=[needs_own])
def note_page(
    request: Request,
    note_id: UUID,
    gateway: InGateway,
    caller: InCaller,
    item: Annotated[str | None, Query(max_length=100)] = None,
) -> HTMLResponse:
    """The summary beside the note; the words of `item` stand out."""
    with gateway.store.reading() as session:
        row = owned(caller, notes.get(session, note_id), "note")
        if row.status == "erased":
            raise erased("note", row.erased_at)
        session.expunge(row)
    done = row.status == "done" and row.result is not None
    return page(
        request,
        "note.html",
        row=row,
        name=row.title or "A note without a title",
        sent=moment(row.created_at),
        found=note_view(row.text, row.result or {}, item) if done else None,
        chosen=item,
    )
