"""The pages that add evidence: send files or a text, and follow them until they are indexed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlmodel import Session

from api_gateway.auth.access import Caller, InCaller, Scope, needs
from api_gateway.backpressure.admission import require_room
from api_gateway.backpressure.bodies import BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.documents import adding_view
from api_gateway.documents.uploads import Item, accept, item_of
from api_gateway.http.idempotency import FORM_PREFIX, form_key
from api_gateway.http.uploads import MOST_UTF8_BYTES, PLAIN, Received, media_type_of
from api_gateway.pages.forms import (
    File,
    FormOrNothing,
    GivenFiles,
    InGivenFiles,
    lines,
    refused_form,
)
from api_gateway.pages.once import key_of, keyed
from api_gateway.pages.rendering import page
from api_gateway.problems import Problem, not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from store.documents import submissions
from store.documents.records import MAX_TEXT_CHARS
from store.models import Question

router = APIRouter(
    prefix="/evidence", include_in_schema=False, dependencies=[needs(Scope.DOCUMENTS)]
)

LATELY = 10
BODY_LIMITS = {("POST", router.prefix): BodyLimit(None)}
_BATCHES = UUID("5a3c0f4e-8f0c-4a52-9d6c-2d3f1c9b7e10")
_SAMPLES = UUID("0b1c2a52-6d1e-4a39-8d0f-0f3a3a5d7b11")
"""The key of the form that loads the samples: they are loaded once."""
_FIELDS = ("text", "source_type", *adding_view.DETAILS)


@dataclass
class _Outcome:
    """The outcome of a form: the names of the documents that were kept, the others with the reason,
    the number of files, and the errors by field."""

    kept: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    problem: Problem | None = None

    @property
    def whole(self) -> bool:
        """Whether everything that was sent was kept."""
        return bool(self.kept) and not self.refused and not self.errors


@router.get("")
def adding_page(
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    question: str = "",
    form: UUID | None = None,
) -> Response:
    """Where files are chosen or a text is pasted, and what was sent lately."""
    if form is None:
        return keyed(request)
    return _form(request, gateway, caller, {"question": question}, form)


def _form(
    request: Request,
    gateway: Gateway,
    caller: Caller,
    fields: Mapping[str, str],
    key: UUID,
    came: _Outcome | None = None,
) -> HTMLResponse:
    came = came or _Outcome()
    with gateway.store.reading() as session:
        for_question = _question(session, caller, fields.get("question", ""))
        lately = submissions.sent_lately(session, caller.owner, FORM_PREFIX, limit=LATELY)
        question = {"id": str(for_question.id), "text": for_question.text} if for_question else None
    status = 422 if came.refused or came.errors else 200
    if came.problem is not None and came.problem.status_code == 429:
        status = 429
    return page(
        request,
        "library/adding.html",
        status=status,
        key=str(key),
        given={name: fields.get(name, "") for name in _FIELDS},
        details=any(
            fields.get(name, "").strip() for name in adding_view.DETAILS if name != "title"
        ),
        errors=came.errors,
        refused=came.refused,
        kept=came.kept,
        had_files=came.files > 0,
        before=not came.kept and any(batch.batch_id == _batch(caller, key) for batch in lately),
        here=adding_view.sent_page(_batch(caller, key), for_question.id if for_question else None),
        question=question,
        kinds=adding_view.kinds(),
        identifiers=adding_view.IDENTIFIERS,
        single=adding_view.LINES,
        labels=adding_view.LABELS,
        suffixes=adding_view.SUFFIXES,
        most_chars=adding_view.MAX_PASTED_CHARS,
        most_files=adding_view.MOST_FILES,
        most_bytes=gateway.settings.max_body_bytes,
        lately=[(batch, adding_view.batch_badge(batch)) for batch in lately],
        item_name=adding_view.item_name,
    )


def _question(session: Session, caller: Caller, asked: str) -> Question | None:
    """The caller's own question that evidence is added for, if `asked` is its id."""
    try:
        row = session.get(Question, UUID(asked))
    except ValueError:
        return None
    if row is None or row.owner != caller.owner or row.status == "erased":
        return None
    session.expunge(row)
    return row


def _batch(caller: Caller, key: UUID) -> UUID:
    """The id of a form's batch. It depends on the owner, as others may know the form's key."""
    return uuid5(_BATCHES, f"{caller.owner}/{key}")


@router.post("")
def add(request: Request, form: InGivenFiles, gateway: InGateway, caller: InCaller) -> Response:
    """Keep each document for itself, and lead to the page of what was sent."""
    key = key_of(form.fields)
    came = _Outcome(files=len(form.files))
    for name, sent in _sent(form, came):
        try:
            _accept(request, gateway, caller, key, item_of(sent))
        except Problem as problem:
            _refuse(came, name, sent, problem)
        else:
            came.kept.append(name)
    if not came.whole:
        shown = _form(request, gateway, caller, form.fields, key, came)
        return refused_form(shown, came.problem) if came.problem is not None else shown
    with gateway.store.reading() as session:
        question = _question(session, caller, form.fields.get("question", ""))
    place = adding_view.sent_page(_batch(caller, key), question.id if question else None)
    return RedirectResponse(place, 303)


def _sent(form: GivenFiles, came: _Outcome) -> Sequence[tuple[str, Received]]:
    """The documents of the form, as they would be sent to the API; errors that the form itself can
    detect are added to `came`."""
    text = lines(form.fields.get("text", ""))
    files, details = form.files, adding_view.has_details(form.fields)
    if len(files) > adding_view.MOST_FILES:
        came.errors["file"] = (
            f"up to {adding_view.MOST_FILES} files are taken at once: none was sent"
        )
        return []
    if not files and not text.strip():
        empty = "choose a file or paste a text"
        came.errors["text" if details else "file"] = (
            "paste the text that the title and the details belong to" if details else empty
        )
        return []
    if details and not text.strip():
        return _described(form, files, came)
    documents = [(file.name, _file(file, form.fields)) for file in files]
    if text.strip():
        documents += _record(form.fields, text, "The pasted text", came)
    return documents


def _described(
    form: GivenFiles, files: Sequence[File], came: _Outcome
) -> Sequence[tuple[str, Received]]:
    """One plain text file as a record, with the title and the details of the form."""
    file = files[0]
    try:
        plain = len(files) == 1 and media_type_of(file.name, file.declared, file.content) == PLAIN
    except Problem as problem:
        came.refused.append((file.name, adding_view.why_not(file.name, problem)))
        return []
    if not plain:
        came.errors["text"] = (
            "title and details go with a pasted text or with one plain text file. Of a PDF only "
            "the title is read, no date and no identifier: where they matter paste its text here, "
            "else empty these fields"
        )
        return []
    if len(file.content) > MOST_UTF8_BYTES * MAX_TEXT_CHARS:
        came.errors["text"] = f"the file has more than {MAX_TEXT_CHARS:,} characters: split it"
        return []
    words = file.content.decode("utf-8-sig")
    return _record(form.fields, words, file.name, came, most=MAX_TEXT_CHARS)


def _file(file: File, fields: Mapping[str, str]) -> Received:
    chosen = fields.get("source_type", "").strip()
    return Received(
        file.content,
        filename=file.name,
        declared=file.declared,
        fields=(("source_type", chosen),) if chosen and chosen != "document" else (),
    )


def _record(
    fields: Mapping[str, str], text: str, name: str, came: _Outcome, **most: int
) -> Sequence[tuple[str, Received]]:
    body, errors = adding_view.record_body(fields, text, **most)
    received = Received(json.dumps(body, ensure_ascii=False).encode())
    if not errors:
        return [(name, received)]
    try:
        item_of(received)  # so that all errors are reported at once
    except Problem as problem:
        _refuse(came, name, received, problem)
    came.errors |= errors
    return []


def _accept(request: Request, gateway: Gateway, caller: Caller, key: UUID, item: Item) -> None:
    """Keep a document, once per form. The form's key and the document's hash are its idempotency
    key, so a form sent again with other files adds only those.

    Raises:
        Problem: there is no room for it.
    """
    idempotency_key = form_key(key, vars(item))
    require_room(gateway, Work.DOCUMENTS, caller, idempotency_key)
    accept(
        gateway,
        caller,
        item,
        request_id=request_id_of(request),
        idempotency_key=idempotency_key,
        batch_id=_batch(caller, key),
    )


def _refuse(came: _Outcome, name: str, sent: Received, problem: Problem) -> None:
    """Add a refused document to `came`: errors of a record by field, others by document name."""
    came.problem = came.problem or problem
    if sent.filename is None and problem.errors:
        came.errors |= adding_view.misfits(problem.errors)
    elif sent.filename is None and "NUL" in problem.detail:
        came.errors["text"] = problem.detail
    else:
        came.refused.append((name, adding_view.why_not(name, problem)))


@router.post("/samples")
def load_samples(
    request: Request, _: FormOrNothing, gateway: InGateway, caller: InCaller
) -> Response:
    """Keep the sample records, once for each owner, and lead to how far they are."""
    if not adding_view.SAMPLES.is_dir():
        raise not_found("sample corpus in this installation")
    for file in sorted(adding_view.SAMPLES.glob("*.jsonl")):
        item = item_of(Received(file.read_bytes(), filename=file.name, declared=None))
        _accept(request, gateway, caller, _SAMPLES, item)
    return RedirectResponse(adding_view.sent_page(_batch(caller, _SAMPLES), None), 303)


@router.get("/sent/{batch_id}")
def sent_page(
    request: Request, batch_id: UUID, gateway: InGateway, caller: InCaller, question: str = ""
) -> HTMLResponse:
    """How far each document is, or why it could not be read."""
    with gateway.store.reading() as session:
        sent = _found(session, caller, batch_id)
        asked_question = _question(session, caller, question)
        shown_question: dict[str, Any] | None = (
            {"id": str(asked_question.id), "text": asked_question.text} if asked_question else None
        )
    return page(
        request,
        "library/sent.html",
        found=sent,
        here=adding_view.sent_page(batch_id, asked_question.id if asked_question else None),
        state_href=f"/evidence/sent/{batch_id}/state",
        question=shown_question,
    )


@router.get("/sent/{batch_id}/state")
def sent_state(batch_id: UUID, gateway: InGateway, caller: InCaller) -> dict[str, Any]:
    """What the page of what was sent asks for, to know when to show itself anew."""
    with gateway.store.reading() as session:
        sent = _found(session, caller, batch_id)
    return {"state": sent.state, "waiting": sent.waiting}


def _found(session: Session, caller: Caller, batch_id: UUID) -> adding_view.SentView:
    """The documents that this owner sent together.

    Raises:
        Problem: there is no such batch.
    """
    items = submissions.sent_together(session, caller.owner, batch_id)
    if not items:
        raise not_found("submission")
    return adding_view.sent_view(items)
