"""Submitted documents: one row for each file or packet of records, until and after it is read."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, select

from messages import IngestV1, Stage
from store.core.clock import database_now
from store.core.unit_of_work import UnitOfWork
from store.documents import claimed_works as claims
from store.documents import indexing
from store.models import LOCAL_OWNER, IngestItem, StageRun
from store.texts.idempotency import keep


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
    (`store.texts.idempotency`).

    Args:
        source_type: for records that name none themselves.
        batch_id: items submitted together share one, see `sent_together`.
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
    kept = keep(work.session, item, _asked(item))
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


def _asked(item: IngestItem) -> dict[str, str | None]:
    """What makes one request of two with the same key."""
    return {
        "filename": item.filename,
        "media_type": item.media_type,
        "source_type": item.source_type,
        "content": item.content_hash,
    }


def was_read(session: Session, item_id: UUID) -> bool:
    """Whether the ingest stage came to an end with the item. If one that failed was not, a stage
    died over it, and its error is a cause for operators."""
    query = select(StageRun.id).where(
        StageRun.stage == Stage.INGEST,
        StageRun.subject == str(item_id),
        StageRun.status == "done",
    )
    return session.exec(query).first() is not None


_OWN = frozenset({"new", "changed", "unchanged"})
"""Outcomes of a record whose version says what was sent, title and all."""


@dataclass(frozen=True)
class SentDocument:
    """What a record of an item became: the version that holds it, and whether it can be found.

    `outcome` is that of `store.documents.documents.Stored`, `status` the version's. `title`: as it
    was sent; empty where the version that is held is somebody else's. `work`: what is still to be
    done with its words; "dead": a stage gave up on them.
    """

    document_id: UUID
    n: int
    outcome: str
    title: str
    status: str
    work: Literal["open", "dead", "done"]


@dataclass(frozen=True)
class SentItem:
    """An item with what came of it. `read`: the ingest stage came to an end with it.

    `documents` are the first ones, `others` how many there are besides, `others_open` how many of
    those cannot be found yet. `problems`: `line` and `reason` of lines that are no records.
    """

    id: UUID
    filename: str
    status: str
    error: str | None
    read: bool
    documents: Sequence[SentDocument]
    others: int
    others_open: int
    problems: Sequence[Mapping[str, Any]]
    claims: Sequence[str] = ()
    """What is told of documents under the numbers of works that sources hold."""


def sent_together(
    session: Session, owner: str, batch_id: UUID, *, most: int = 20
) -> list[SentItem]:
    """What became of the items that this owner sent as one batch, in their order.

    Args:
        most: documents of each item to be described.
    """
    rows = session.execute(
        sa.text(
            "SELECT id, filename, status, error, outcome FROM ingest_item "
            "WHERE batch_id = :batch AND owner = :owner ORDER BY created_at, id"
        ),
        {"batch": batch_id, "owner": owner},
    ).all()
    found = {row.id: list((row.outcome or {}).get("documents", ())) for row in rows}
    work = indexing.undone(session, [one["version_id"] for each in found.values() for one in each])
    shown = [UUID(one["version_id"]) for each in found.values() for one in each[:most]]
    versions = _titles(session, shown)
    told = claims.of_documents(
        session, [UUID(one["document_id"]) for each in found.values() for one in each[:most]]
    )
    return [
        SentItem(
            id=row.id,
            filename=row.filename,
            status=row.status,
            error=row.error,
            read=row.status != "failed" or was_read(session, row.id),
            documents=[
                SentDocument(
                    document_id=UUID(one["document_id"]),
                    n=one["n"],
                    outcome=one["outcome"],
                    title=versions[one["version_id"]][0] if one["outcome"] in _OWN else "",
                    status=versions[one["version_id"]][1],
                    work=work.get(one["version_id"], "done"),
                )
                for one in found[row.id][:most]
                if one["version_id"] in versions
            ],
            others=max(0, len(found[row.id]) - most),
            others_open=sum(work.get(one["version_id"]) == "open" for one in found[row.id][most:]),
            problems=list((row.outcome or {}).get("problems", ())),
            claims=[
                claims.in_words(claim)
                for one in found[row.id][:most]
                for claim in told.get(UUID(one["document_id"]), ())
            ],
        )
        for row in rows
    ]


def _titles(session: Session, version_ids: Sequence[UUID]) -> dict[str, tuple[str, str]]:
    """Title and status by version."""
    rows = session.execute(
        sa.text("SELECT id, title, status FROM document_version WHERE id = ANY(:ids)"),
        {"ids": list(version_ids)},
    )
    return {str(row.id): (row.title, row.status) for row in rows}


@dataclass(frozen=True)
class SentBatch:
    """Items that were sent together, by how many there are of each status."""

    batch_id: UUID
    sent_at: datetime
    items: int
    pending: int
    failed: int
    filename: str


def sent_lately(session: Session, owner: str, key_prefix: str, *, limit: int) -> list[SentBatch]:
    """The newest batches that this owner sent under keys of this kind."""
    rows = session.execute(
        sa.text(
            "SELECT batch_id, min(created_at) AS sent_at, count(*) AS items, "
            "count(*) FILTER (WHERE status = 'pending') AS pending, "
            "count(*) FILTER (WHERE status = 'failed') AS failed, "
            "(array_agg(filename ORDER BY created_at, id))[1] AS filename FROM ingest_item "
            "WHERE owner = :owner AND idempotency_key IS NOT NULL "
            "AND starts_with(idempotency_key, :prefix) "
            "GROUP BY batch_id ORDER BY 2 DESC, 1 LIMIT :limit"
        ),
        {"owner": owner, "prefix": key_prefix, "limit": limit},
    )
    return [SentBatch(**row._mapping) for row in rows]
