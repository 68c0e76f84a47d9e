"""Submitted documents: one row for each file or packet of records, until and after it is read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from messages import IngestV1, Stage
from store.clock import database_now
from store.idempotency import keep
from store.models import LOCAL_OWNER, IngestItem, StageRun
from store.unit_of_work import UnitOfWork


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is: items by status."""

    pending: int
    done: int
    failed: int

    @property
    def total(self) -> int:
        """All items of the batch."""
        return self.pending + self.done + self.failed


@dataclass(frozen=True)
class Origin:
    """Where a payload comes from: the connector, when it was fetched, and in which refresh."""

    source: str
    fetched_at: datetime
    refresh_id: UUID | None = None


def submit_item(
    work: UnitOfWork,
    *,
    filename: str,
    media_type: str | None,
    content: bytes,
    source_type: str | None,
    batch_id: UUID,
    request_id: UUID | None = None,
    origin: Origin | None = None,
    first_line: int = 1,
    owner: str = LOCAL_OWNER,
    idempotency_key: str | None = None,
) -> IngestItem:
    """Keep `content` and promise to read it: row, audit event, message to the ingest stage.

    The same idempotency key with the same request gives the first item again
    (`store.idempotency`).

    Args:
        source_type: for records that name none themselves.
        batch_id: items submitted together share one, see `batch_progress`.
        request_id: of the request that asks; the unit of work's, or a new one, if left out.
        origin: the source that sent `content`; None for what a user submits.
        first_line: of `content` in its file, where it is a packet of lines.
        owner: who submits it, whose the key is.

    Raises:
        KeyReused: the key stands for another request.
    """
    item = IngestItem(
        id=uuid4(),
        batch_id=batch_id,
        filename=filename,
        media_type=media_type,
        source_type=source_type,
        content=content,
        content_hash=hashlib.sha256(content).hexdigest(),
        source=origin.source if origin else None,
        refresh_id=origin.refresh_id if origin else None,
        fetched_at=origin.fetched_at if origin else None,
        created_at=database_now(work.session),  # orders uploads that several hosts take
        first_line=first_line,
        owner=owner,
        idempotency_key=idempotency_key,
    )
    request = {
        "filename": filename,
        "media_type": media_type,
        "source_type": source_type,
        "content": item.content_hash,
    }
    kept = keep(work.session, item, request)
    if kept is not item:
        return kept
    work.record("document.submitted", item.id, content_hash=item.content_hash, bytes=len(content))
    work.emit(
        IngestV1(
            request_id=request_id or work.request_id or uuid4(),
            item_id=item.id,
            content_hash=item.content_hash,
        )
    )
    return item


def was_read(session: Session, item_id: UUID) -> bool:
    """Whether the ingest stage came to an end with the item. If one that failed was not, a stage
    died over it, and its error is a cause for operators."""
    query = select(StageRun.id).where(
        StageRun.stage == Stage.INGEST,
        StageRun.subject == str(item_id),
        StageRun.status == "done",
    )
    return session.exec(query).first() is not None


def batch_progress(session: Session, batch_id: UUID) -> BatchProgress:
    """How many items of the batch are pending, done and failed; all 0 for an unknown batch."""
    status = col(IngestItem.status)
    rows = session.execute(
        sa.select(status, sa.func.count())
        .where(col(IngestItem.batch_id) == batch_id)
        .group_by(status)
    )
    counts: Mapping[str, int] = {row[0]: row[1] for row in rows}
    return BatchProgress(counts.get("pending", 0), counts.get("done", 0), counts.get("failed", 0))
