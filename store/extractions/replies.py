"""Replies of a language model in an iteration: stored at once, looked up before asking.

A request is stored as `asked` before it is sent. A step that begins again finds the reply, or finds
that the outcome of the request is unknown, though it may have been paid for.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.models import ExtractionReply, now


class Erased(RuntimeError):
    """The words of the extraction are erased: no more of them is sent or stored."""


@dataclass(frozen=True)
class Request:
    """Names a request: an iteration of a part, a purpose, and the hash of all that is sent.

    `voice` tells apart several requests of one prompt, such as the opinions of a median.
    """

    extraction_id: UUID
    part: int
    n: int
    purpose: str
    prompt_hash: str
    voice: int = 0

    def where(self) -> list[sa.ColumnElement[bool]]:
        """SQL conditions for the rows of this request."""
        return [
            col(ExtractionReply.extraction_id) == self.extraction_id,
            col(ExtractionReply.part) == self.part,
            col(ExtractionReply.n) == self.n,
            col(ExtractionReply.purpose) == self.purpose,
            col(ExtractionReply.voice) == self.voice,
            col(ExtractionReply.prompt_hash) == self.prompt_hash,
        ]


@dataclass(frozen=True)
class Known:
    """What is known of a request: its reply, or (`lost`) that it was sent, outcome unknown."""

    reply: dict[str, Any] | None
    lost: bool


def known(session: Session, request: Request) -> Known:
    """What is known of earlier tries of the request."""
    rows = session.exec(
        select(ExtractionReply).where(*request.where()).order_by(col(ExtractionReply.id))
    ).all()
    for row in rows:
        if row.status == "answered":
            return Known(row.reply, lost=False)
    return Known(None, lost=any(row.status == "asked" for row in rows))


def asked(session: Session, request: Request) -> int:
    """Record that the request is sent; returns the id to end it by.

    This is outside the commit that a lease fences: a worker stalled beyond its lease may ask after
    the words were erased. The lock makes an erasure wait, which then takes this row too.

    Raises:
        Erased: there is nothing to ask about any more.
    """
    alive = session.execute(
        sa.text("SELECT FROM extraction WHERE id = :id AND status <> 'erased' FOR KEY SHARE"),
        {"id": request.extraction_id},
    ).one_or_none()
    if alive is None:
        raise Erased(f"the words of extraction {request.extraction_id} were erased")
    row = ExtractionReply(
        extraction_id=request.extraction_id,
        part=request.part,
        n=request.n,
        purpose=request.purpose,
        voice=request.voice,
        prompt_hash=request.prompt_hash,
        asked_at=now(),
    )
    session.add(row)
    session.flush()
    return row.id


def answered(session: Session, reply_id: int, reply: dict[str, Any]) -> None:
    """Store the reply. Of two replies to one request the first is kept."""
    row = session.get_one(ExtractionReply, reply_id)
    first = session.exec(
        select(ExtractionReply.id).where(
            col(ExtractionReply.status) == "answered",
            *Request(
                row.extraction_id, row.part, row.n, row.purpose, row.prompt_hash, row.voice
            ).where(),
        )
    ).first()
    row.ended_at = now()
    if first is None:
        row.status, row.reply = "answered", reply
    else:
        row.status = "failed"
    session.add(row)


def failed(session: Session, reply_id: int) -> None:
    """Record that nothing usable came; the request may be sent again."""
    row = session.get_one(ExtractionReply, reply_id)
    row.status, row.ended_at = "failed", now()
    session.add(row)


def refuse(session: Session, request: Request) -> None:
    """Discard a reply that is of no use after all; the request may be sent again."""
    session.execute(
        sa.update(ExtractionReply)
        .where(*request.where(), col(ExtractionReply.status) == "answered")
        .values(status="failed", reply=None)
    )


def cost_of(session: Session, extraction_id: UUID, part: int, n: int) -> Decimal | None:
    """The cost of one iteration's replies in US dollars; None if one of them is not known."""
    query = select(ExtractionReply.reply).where(
        col(ExtractionReply.extraction_id) == extraction_id,
        col(ExtractionReply.part) == part,
        col(ExtractionReply.n) == n,
        col(ExtractionReply.status) == "answered",
    )
    costs = [reply["usage"]["cost_usd"] for reply in session.exec(query) if reply is not None]
    if any(cost is None for cost in costs):
        return None
    return sum((Decimal(cost) for cost in costs), Decimal(0))
