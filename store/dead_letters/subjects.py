"""The subject of a message: a question, a pasted text, an item, a refresh, versions.

When a message dies outside any claim, its subject fails with it. Before a replay the subject must
still exist, and after it, it waits again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import UnitOfWork
from store.extractions.extractions import EXTRACTIONS
from store.models import IngestItem, now
from store.questions import states
from store.recalls import rechecks
from store.sources import refreshes
from store.sources.refreshes import ACTIVE
from store.texts.notes import NOTES
from store.texts.verifications import VERIFICATIONS


@dataclass(frozen=True)
class _Kind:
    """A table whose rows messages name, the status of a row that waits again, and where listeners
    wait for a row."""

    field: str
    table: str
    name: str
    waits: str | None
    fail: Callable[[UnitOfWork, UUID, str], None]
    channel: str | None = None


_NO_SENSE: Mapping[tuple[str, str], str] = {
    ("question", "answered"): "its question has its answer",
    ("verification", "done"): "its text has been checked",
    ("note", "done"): "its note has its summary",
    ("extraction", "done"): "its document has been extracted",
    ("refresh", "failed"): "its refresh has ended: the next one begins where it began",
    ("refresh", "complete"): "its refresh is complete",
    ("recheck", "failed"): "its run has ended: another `attest recheck` goes on from there",
    ("recheck", "done"): "its run has ended",
}


def _id(promised: Mapping[str, Any], field: str) -> UUID | None:
    """The id in `field` of a message; None if there is none, as in a message nobody could read."""
    try:
        return UUID(str(promised[field]))
    except (KeyError, ValueError):
        return None


def subject_of(promised: Mapping[str, Any]) -> str | None:
    """The id of the message's subject, if that is one row; else None."""
    for kind in _KINDS:
        if (row_id := _id(promised, kind.field)) is not None:
            return str(row_id)
    return None


def is_named(session: Session, promised: Mapping[str, Any]) -> bool:
    """True if the message names a subject that exists."""
    for kind in _KINDS:
        row_id = _id(promised, kind.field)
        if row_id is not None:
            query = sa.text(f"SELECT 1 FROM {kind.table} WHERE id = :id")  # noqa: S608  our own
            if session.execute(query, {"id": row_id}).one_or_none() is not None:
                return True
    versions = promised.get("version_ids")
    return isinstance(versions, list) and len(versions) > 0


def hindrance(session: Session, promised: Mapping[str, Any]) -> str | None:
    """Why a retry of `promised` cannot help, whatever the stage does; None if it may."""
    for kind in _KINDS:
        if promised.get(kind.field) is None:
            continue
        status = session.execute(
            sa.text(f"SELECT status FROM {kind.table} WHERE id = :id"),  # noqa: S608  our own
            {"id": _id(promised, kind.field)},
        ).scalar_one_or_none()
        if status is None:
            return f"the {kind.name} that it works for is gone"
        if (why := _NO_SENSE.get((kind.table, status))) is not None:
            return why
    wanted = {UUID(str(version_id)) for version_id in promised.get("version_ids", ())}
    if wanted:
        query = sa.text("SELECT count(*) FROM document_version WHERE id = ANY(:ids)")
        if session.execute(query, {"ids": list(wanted)}).scalar_one() < len(wanted):
            return "a document version that it names is gone"
    return None


def fail(work: UnitOfWork, promised: Mapping[str, Any], cause: str) -> None:
    """Fail the rows that waited for `promised`, as the stage's own `on_dead` would have done."""
    for kind in _KINDS:
        if (row_id := _id(promised, kind.field)) is not None:
            kind.fail(work, row_id, cause)


def _fail_item(work: UnitOfWork, item_id: UUID, cause: str) -> None:
    item = work.session.get(IngestItem, item_id)
    if item is None:
        return
    item.status, item.error, item.finished_at = "failed", cause, now()
    work.session.add(item)
    if item.refresh_id is not None:
        _fail_refresh(work, item.refresh_id, f"a page could not be stored: {cause}")


def _fail_refresh(work: UnitOfWork, refresh_id: UUID, cause: str) -> None:
    refresh = refreshes.locked(work.session, refresh_id)
    if refresh is not None and refresh.status in ACTIVE:
        refreshes.fail(work, refresh, cause, now())


_TEXTS = (
    (VERIFICATIONS, "pasted text"),
    (NOTES, "clinical note"),
    (EXTRACTIONS, "clinical document"),
)
_KINDS = (
    _Kind("question_id", "question", "question", "queued", states.failed, states.CHANNEL),
    *(
        _Kind(f"{table.kind}_id", table.kind, name, "queued", table.failed, table.kind)
        for table, name in _TEXTS
    ),
    _Kind("item_id", "ingest_item", "submitted item", "pending", _fail_item),
    _Kind("refresh_id", "refresh", "refresh", None, _fail_refresh),
    _Kind("recheck_id", "recheck", "recheck", None, rechecks.failed),
)


def revive(work: UnitOfWork, promised: Mapping[str, Any]) -> None:
    """Let the rows that failed with `promised` wait again, and wake listeners."""
    for kind in _KINDS:
        if kind.waits is None or (row_id := _id(promised, kind.field)) is None:
            continue
        work.session.execute(
            sa.text(
                f"UPDATE {kind.table} SET status = :waits, error = NULL, "  # noqa: S608  our own
                "finished_at = NULL WHERE id = :id AND status = 'failed'"
            ),
            {"id": row_id, "waits": kind.waits},
        )
        if kind.channel is not None:
            work.notify(kind.channel, row_id)
