"""Submitted documents: one row for each file or packet of records, before and after reading."""

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
    """Store `content` and promise to read it: row, audit event, message to the ingest stage.

    The same idempotency key with the same request returns the first item again
    (`store.texts.idempotency`).

    Args:
        source_type: for records that name none themselves.
        batch_id: shared by items submitted together, see `sent_together`.
        request_id: of the request that asks; if left out, the unit of work's, or a new one.
        origin: the source that sent `content`; None for what a user submits.
        first_line: the line of its file at which `content` begins, if it is a packet of lines.
        owner: who submits it; the key is theirs.

    Raises:
        KeyReused: the key was used for another request.
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
        created_at=database_now(work.session),  # orders uploads taken by several hosts
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
    """The fields that must be equal for two requests with one key to be the same."""
    return {
        "filename": item.filename,
        "media_type": item.media_type,
        "source_type": item.source_type,
        "content": item.content_hash,
    }


def was_read(session: Session, item_id: UUID) -> bool:
    """True if the ingest stage finished with the item. If it did not with a failed item, a stage
    died over the item, and the error is a cause for operators."""
    query = select(StageRun.id).where(
        StageRun.stage == Stage.INGEST,
        StageRun.subject == str(item_id),
        StageRun.status == "done",
    )
    return session.exec(query).first() is not None


_OWN = frozenset({"new", "changed", "unchanged"})
"""Outcomes of a record whose version says what was sent, including the title."""


@dataclass(frozen=True)
class SentDocument:
    """What a record of an item became: the version that holds it, and whether it can be found.

    `outcome` is that of `store.documents.documents.Stored`, `status` the version's. `title`: as it
    was sent; empty if the held version is somebody else's. `work`: what is still to be done with
    its text; "dead": a stage gave up on it.
    """

    document_id: UUID
    n: int
    outcome: str
    title: str
    status: str
    work: Literal["open", "dead", "done"]


@dataclass(frozen=True)
class SentItem:
    """An item and its results. `read`: the ingest stage finished with it.

    `documents` are the first ones, `others` the number of the rest, `others_open` the number of
    those that cannot be found yet. `problems`: `line` and `reason` of lines that are no records.
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
    """Sentences about documents under the numbers of works that sources hold."""


def sent_together(
    session: Session, owner: str, batch_id: UUID, *, most: int = 20
) -> list[SentItem]:
    """The results of the items that this owner sent as one batch, in the order sent.

    Args:
        most: how many documents of each item are described.
    """
    rows = session.execute(
        sa.text(
            "SELECT id, filename, status, error, outcome FROM ingest_item "
            "WHERE batch_id = :batch AND owner = :owner ORDER BY created_at, id"
        ),
        {"batch": batch_id, "owner": owner},
    ).all()
    entries_of = {row.id: list((row.outcome or {}).get("documents", ())) for row in rows}
    work = indexing.undone(
        session, [entry["version_id"] for entries in entries_of.values() for entry in entries]
    )
    shown = [
        UUID(entry["version_id"]) for entries in entries_of.values() for entry in entries[:most]
    ]
    versions = _titles(session, shown)
    claimed = claims.of_documents(
        session,
        [UUID(entry["document_id"]) for entries in entries_of.values() for entry in entries[:most]],
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
                    document_id=UUID(entry["document_id"]),
                    n=entry["n"],
                    outcome=entry["outcome"],
                    title=versions[entry["version_id"]][0] if entry["outcome"] in _OWN else "",
                    status=versions[entry["version_id"]][1],
                    work=work.get(entry["version_id"], "done"),
                )
                for entry in entries_of[row.id][:most]
                if entry["version_id"] in versions
            ],
            others=max(0, len(entries_of[row.id]) - most),
            others_open=sum(
                work.get(entry["version_id"]) == "open" for entry in entries_of[row.id][most:]
            ),
            problems=list((row.outcome or {}).get("problems", ())),
            claims=[
                claims.in_words(claim)
                for entry in entries_of[row.id][:most]
                for claim in claimed.get(UUID(entry["document_id"]), ())
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
    """Items that were sent together, counted by status."""

    batch_id: UUID
    sent_at: datetime
    items: int
    pending: int
    failed: int
    filename: str


def sent_lately(session: Session, owner: str, key_prefix: str, *, limit: int) -> list[SentBatch]:
    """The newest batches that this owner sent under keys with this prefix."""
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
