"""Schemas of pasted texts and their results, as callers send and see them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from api_gateway.http.storable import STORABLE

MAX_TEXT_CHARS = 100_000
MAX_DOCUMENTS = 50
MAX_DOCUMENT_CHARS = 1_000_000

VerificationStatus = Literal["queued", "done", "failed"]


class DocumentIn(BaseModel):
    """A document that the text is compared with; it is not kept as evidence."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(max_length=1000), STORABLE] = ""
    text: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_DOCUMENT_CHARS, pattern=r"\S"),
        STORABLE,
    ]
    identifiers: Annotated[
        dict[
            Literal["pmid", "pmcid", "doi", "nct_id"],
            Annotated[str, Field(max_length=300), STORABLE],
        ],
        Field(description="what names it; a statement that cites one is held to this document"),
    ] = {}


class VerificationIn(BaseModel):
    """A text to be checked: claims, quotations, identifiers and numbers."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_TEXT_CHARS, pattern=r"\S"),
        STORABLE,
    ]
    documents: Annotated[
        list[DocumentIn],
        Field(max_length=MAX_DOCUMENTS, description="compare with these, not with what is held"),
    ] = []


class VerificationOut(BaseModel):
    """A pasted text at one moment; `result` once it is done."""

    id: UUID
    status: VerificationStatus
    created_at: datetime
    finished_at: datetime | None
    result: Annotated[
        dict[str, Any] | None,
        Field(
            description="`statements` with a verdict, the passage it rests on, and what each "
            "quotation is, or with what was `not_judged` and why: a heading, a question, a "
            "reference, or no statement; `identifiers` with what is known of each; `sources` with "
            "both clocks; `summary` with counts. All offsets are code points."
        ),
    ] = None
    error: dict[str, Any] | None = None
