"""Idempotency keys: the header `Idempotency-Key` of every route that creates something, and the
key that takes its place for a form of the pages."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any
from uuid import UUID

from fastapi import Header

from api_gateway.backpressure.load import Work
from store.models import ExtractionRow, IngestItem, Note, Question, Verification

IdempotencyKey = Annotated[
    str | None,
    Header(
        pattern=r"^[\x21-\x7e]+$",
        min_length=1,
        max_length=255,
        description="1 to 255 visible ASCII characters; the same key with the same request gives "
        "the first submission again, with another request it is a 422",
    ),
]
"""The type of a route's parameter for the key; its meaning is in `store.texts.idempotency`."""

Row = type[Question] | type[Verification] | type[Note] | type[ExtractionRow] | type[IngestItem]
ROWS: Mapping[Work, Row] = {
    Work.QUESTIONS: Question,
    Work.VERIFICATIONS: Verification,
    Work.NOTES: Note,
    Work.EXTRACTIONS: ExtractionRow,
    Work.DOCUMENTS: IngestItem,
}
"""The table whose rows the keys of a kind of work identify."""

FORM_PREFIX = "page:"
"""The prefix of keys of forms; programs choose their own keys."""


def form_prefix(form: UUID) -> str:
    """The prefix of the keys of all submissions of one form."""
    return f"{FORM_PREFIX}{form}:"


def form_key(form: UUID, content: Mapping[str, Any]) -> str:
    """The key of a form's submission: the form's id and a hash of the content. The same content is
    accepted once; changed content is a new submission.

    The hash also covers the form's id, so it is no hash of the words alone; the id is stored beside
    it and deleted with it (invariant 11).

    Args:
        content: JSON values and bytes.
    """
    serialized = json.dumps(content, sort_keys=True, default=_hash).encode()
    return form_prefix(form) + sha256(form.bytes + serialized).hexdigest()


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
