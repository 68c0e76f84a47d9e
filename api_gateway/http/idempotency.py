"""The key of a submission: the header `Idempotency-Key` of every route that makes something new,
and what stands for it where a form of the pages sends the same."""

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
"""A route's parameter of this type is the key; `store.texts.idempotency` says what it means."""

Row = type[Question] | type[Verification] | type[Note] | type[ExtractionRow] | type[IngestItem]
ROWS: Mapping[Work, Row] = {
    Work.QUESTIONS: Question,
    Work.VERIFICATIONS: Verification,
    Work.NOTES: Note,
    Work.EXTRACTIONS: ExtractionRow,
    Work.DOCUMENTS: IngestItem,
}
"""What a key of a kind of work stands for."""

FORM_PREFIX = "page:"
"""What keys of forms begin with; programs choose theirs."""


def form_prefix(form: UUID) -> str:
    """What the keys of all that is sent by one form begin with."""
    return f"{FORM_PREFIX}{form}:"


def form_key(form: UUID, content: Mapping[str, Any]) -> str:
    """The key of what a form sends: the form's own and a hash of what is in it, so that the same is
    sent once, and what was changed meanwhile is something else.

    The hash is no hash of the words alone: only the form's key, which stands beside it and goes
    with it, leads from words to it (invariant 11).

    Args:
        content: JSON values and bytes.
    """
    told = json.dumps(content, sort_keys=True, default=_hash).encode()
    return form_prefix(form) + sha256(form.bytes + told).hexdigest()


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
