"""The pages of clinical notes: send a note, read its summary and plan beside it."""

from collections.abc import Mapping
from typing import Any

from api_gateway.backpressure.bodies import BodyLimit
from api_gateway.http.uploads import MOST_UTF8_BYTES
from api_gateway.notes.routes import NOTE
from api_gateway.notes.schemas import MAX_NOTE_CHARS, NoteIn
from api_gateway.notes.view import note_line, note_view
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Given, lines
from api_gateway.problems import invalid
from api_gateway.resources.page_routes import Pages, page_router
from store.models import Note

BODY_LIMITS = {("POST", "/notes"): BodyLimit(None)}
"""The gateway's maximum, as a user may choose any file by mistake; the page then says so."""


def _given(form: Given) -> NoteIn:
    """Raises Problem, ValidationError: the note is not accepted."""
    title = form.fields.get("title", "").strip() or None
    return NoteIn.model_validate({"text": _text(form), "title": title})


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


def _view(row: Note, _: None, chosen: str | None) -> Mapping[str, Any]:
    """The summary beside the note; the words of `chosen` stand out."""
    done = row.status == "done" and row.result is not None
    return {
        "name": row.title or "A note without a title",
        "sent": moment(row.created_at),
        "found": note_view(row.text, row.result or {}, chosen) if done else None,
    }


router = page_router(
    Pages(
        NOTE,
        path="/notes",
        form="notes/notes.html",
        shown="notes/note.html",
        fields=("text", "title"),
        given=_given,
        content=NoteIn.model_dump,
        choices={"most": MAX_NOTE_CHARS},
        line=note_line,
        view=_view,
        chosen="item",
    )
)
