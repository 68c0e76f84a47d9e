"""Extractions that a person should review: listed, accepted as they are, or corrected.

A correction quotes the document: its value must stand in the span that it names. The audit log
records who decided and which fields, never a word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlmodel import Session, col, select

from store.core.hashes import json_hash
from store.core.paging import Page, page_of
from store.core.unit_of_work import UnitOfWork
from store.extractions.extractions import EXTRACTIONS
from store.models import ExtractionRow, Review, now


class Decided(ValueError):
    """The review was already decided."""


class Unsupported(ValueError):
    """A correction that the document does not support; `field`: its field, if there is one."""

    def __init__(self, field: str | None, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Stated:
    """A value and where the document states it, `[start, end)` in code points."""

    value: str
    start: int
    end: int


Correction = Mapping[str, Sequence[Stated] | None]
"""Fields with their values and spans; None where the document states no value."""


def get(session: Session, review_id: UUID, owner: str | None = None) -> Review | None:
    """The review with this id; with `owner`, only if it is theirs."""
    review = session.get(Review, review_id)
    return None if review is None or (owner is not None and review.owner != owner) else review


def of_extraction(session: Session, extraction_id: UUID) -> Review | None:
    """The review of an extraction, if it needed one."""
    return session.exec(select(Review).where(Review.extraction_id == extraction_id)).first()


def listing(
    session: Session,
    *,
    owner: str | None = None,
    status: str | None = "open",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Review]:
    """Reviews, the longest waiting first.

    Args:
        owner: only their reviews; None for everybody's.
        status: open, accepted or corrected; None for all.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    query = select(Review)
    if owner is not None:
        query = query.where(Review.owner == owner)
    if status is not None:
        query = query.where(Review.status == status)
    return page_of(
        session,
        query,
        col(Review.created_at),
        col(Review.id),
        cursor=cursor,
        limit=limit,
        oldest_first=True,
    )


def accept(work: UnitOfWork, review_id: UUID, by: str, owner: str | None = None) -> Review | None:
    """Accept the extraction as it is; None if there is no such review.

    Raises:
        Decided: the review was already decided.
    """
    review = _open(work, review_id, owner)
    if review is None:
        return None
    _decide(work, review, "accepted", by)
    work.record("review.accepted", review.id, extraction_id=str(review.extraction_id))
    return review


def correct(
    work: UnitOfWork, review_id: UUID, by: str, correction: Correction, owner: str | None = None
) -> Review | None:
    """Store a person's correction of what was extracted; None if there is no such review.

    Raises:
        Decided: the review was already decided.
        Unsupported: a field that the extraction does not have, a span outside the text, or a value
            that does not stand in its span.
    """
    review = _open(work, review_id, owner)
    if review is None:
        return None
    row = work.session.get_one(ExtractionRow, review.extraction_id)
    known = (row.result or {}).get("fields", {})
    body: dict[str, Any] = {}
    for field, values in correction.items():
        if field not in known:
            raise Unsupported(None, "names a field that the extraction does not have")
        body[field] = None if values is None else [_checked(field, value, row) for value in values]
    review.corrected = body
    _decide(work, review, "corrected", by)
    work.record(
        "review.corrected",
        review.id,
        extraction_id=str(review.extraction_id),
        fields=sorted(body),
        corrected_hash=json_hash(body, row.hash_key),
    )
    return review


def _open(work: UnitOfWork, review_id: UUID, owner: str | None) -> Review | None:
    query = select(Review).where(Review.id == review_id).with_for_update()
    review = work.session.exec(query).first()
    if review is None or (owner is not None and review.owner != owner):
        return None
    if review.status != "open":
        raise Decided(f"the review was {review.status} before; it stays so")
    return review


def _decide(work: UnitOfWork, review: Review, status: str, by: str) -> None:
    review.status, review.decided_by, review.decided_at = status, by, now()
    work.session.add(review)
    work.notify(EXTRACTIONS.kind, review.extraction_id)


def _checked(field: str, one: Stated, row: ExtractionRow) -> dict[str, Any]:
    """The value with the words at its span, which must hold it but for case and spaces."""
    text = row.text or ""
    if not 0 <= one.start < one.end <= len(text):
        raise Unsupported(field, "the span does not lie in the document")
    words = text[one.start : one.end]
    if not one.value.strip() or _plain(one.value) not in _plain(words):
        raise Unsupported(field, "the value does not stand in the words of its span")
    return {"value": one.value, "start": one.start, "end": one.end, "words": words}


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())
