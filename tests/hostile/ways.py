"""The ways in for texts: what a stage does with one, without its database.

Each is a function of a text that returns how many characters of result there would be, or raises
`Refused` where the product says no with a reason.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

from api_gateway.extractions.schemas import MAX_DOCUMENT_CHARS
from api_gateway.notes.schemas import MAX_NOTE_CHARS
from api_gateway.questions.question_in import MAX_QUESTION_CHARS
from api_gateway.verifications.schemas import MAX_TEXT_CHARS
from clinical_text.chunks import chunk
from clinical_text.structure import segment
from store.core.settings import Settings
from store.index.terms import heading
from tests.hostile.texts import documents
from workers.anchor.stage import find
from workers.encoder import encoder_for
from workers.extract.intake.readability import Unreadable
from workers.extract.loop.extraction import extract_text
from workers.extract.loop.steps import TooLong as DocumentTooLong
from workers.extract.loop.steps import require_length
from workers.file_formats import UnreadableDocument, read
from workers.retrieve.understanding.read import understand
from workers.summarize.summary import summarize
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import TooLong, statements

AT = datetime(2026, 11, 26, tzinfo=UTC)
MAX_EVIDENCE_CHARS = 1_000_000


class Refused(Exception):
    """The text is not read, and its sender is told why."""


@dataclass(frozen=True)
class Way:
    """A way in: the most characters that it takes, and what happens to a text."""

    limit: int
    take: Callable[[str], int]


def _settings() -> Settings:
    return Settings(encoder="hash")


def question(text: str) -> int:
    """What is understood of a question."""
    return len(json.dumps(understand(text, "", None).as_body(), default=str))


def verification(text: str) -> int:
    """A pasted text against two documents, as if they were sent along."""
    try:
        found = statements(text)
    except TooLong as error:
        raise Refused(str(error)) from None
    along = [{"title": "A source", "text": one} for one in documents()[:2]]
    body = checked(
        text,
        found,
        sent_along(along, found),
        against="documents",
        at=AT,
    )
    return len(json.dumps(body, default=str))


def verification_source(text: str) -> int:
    """A hostile document sent along with an ordinary text."""
    found = statements(documents()[0][:1_000])
    try:
        sources = sent_along([{"title": "A source", "text": text}], found)
    except TooLong as error:
        raise Refused(str(error)) from None
    body = checked(
        documents()[0][:1_000],
        found,
        sources,
        against="documents",
        at=AT,
    )
    return len(json.dumps(body, default=str))


def note(text: str) -> int:
    """A note's summary, by rules."""
    return len(json.dumps(summarize(text), default=str))


def extraction(text: str) -> int:
    """A clinical document's fields, by rules, all iterations."""
    try:
        require_length(text)
        found = extract_text(text)
    except (Unreadable, DocumentTooLong) as error:
        raise Refused(str(error)) from None
    return len(repr(found.fields))


def evidence(text: str) -> int:
    """A file of evidence: read, cut, encoded (by hashes), anchored."""
    try:
        records = read(text.encode("utf-8", "surrogatepass"), filename="a.md")
    except UnreadableDocument as error:
        raise Refused(str(error)) from None
    return sum(_indexed(record.title, record.text) for record in records)


def page(text: str) -> int:
    """The same of a page of HTML."""
    data = f"<html><body>{text}</body></html>".encode("utf-8", "surrogatepass")
    try:
        records = read(data, filename="a.html")
    except UnreadableDocument as error:
        raise Refused(str(error)) from None
    return sum(_indexed(record.title, record.text) for record in records)


def _indexed(title: str, text: str) -> int:
    structure = segment(text)
    encoder = encoder_for(_settings())
    for piece in chunk(text, structure):
        whole = heading(title, piece.section) + text[piece.start : piece.end]
        encoder.encode([window.of(whole) for window in encoder.windows(whole)])
    version = SimpleNamespace(
        id=uuid4(), text=text, title=title, structure=structure.model_dump(mode="json")
    )
    return len(repr(find(cast(Any, version))))


WAYS: Mapping[str, Way] = {
    "question": Way(MAX_QUESTION_CHARS, question),
    "verification": Way(MAX_TEXT_CHARS, verification),
    "verification source": Way(MAX_EVIDENCE_CHARS, verification_source),
    "note": Way(MAX_NOTE_CHARS, note),
    "extraction": Way(MAX_DOCUMENT_CHARS, extraction),
    "evidence": Way(MAX_EVIDENCE_CHARS, evidence),
    "page": Way(MAX_EVIDENCE_CHARS, page),
}
