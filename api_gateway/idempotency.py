"""The `Idempotency-Key` of a submission: the header of every route that makes something new."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Header

from api_gateway.load import Work
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
"""A route's parameter of this type is the key; `store.idempotency` says what it means."""

Row = type[Question] | type[Verification] | type[Note] | type[ExtractionRow] | type[IngestItem]
ROWS: Mapping[Work, Row] = {
    Work.QUESTIONS: Question,
    Work.VERIFICATIONS: Verification,
    Work.NOTES: Note,
    Work.EXTRACTIONS: ExtractionRow,
    Work.DOCUMENTS: IngestItem,
}
"""What a key of a kind of work stands for."""
