"""Texts of callers that one stage works on: a row is accepted once, and is done or failed once.

Notes, pasted texts and clinical documents are such rows; their modules add what is their own. Words
of a text stand in its row and nowhere else (invariant 11).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from knowledge.operation.retention import TextKind
from store.core.hashes import json_hash
from store.core.paging import Page, page_of
from store.core.unit_of_work import Publishable, UnitOfWork
from store.models import ExtractionRow, Note, Verification, now
from store.texts.idempotency import keep

R = TypeVar("R", bound=Note | Verification | ExtractionRow)


@dataclass(frozen=True)
class TextTable(Generic[R]):
    """The rows of one kind. `kind` is also the prefix of their audit events, and the LISTEN/NOTIFY
    channel whose payload is the id of the row that took a step or ended."""

    model: type[R]
    kind: TextKind

    def accept(
        self,
        work: UnitOfWork,
        row: R,
        request: Mapping[str, Any],
        message: Publishable,
        **attested: Any,
    ) -> R:
        """Write a new row, the audit event of its submission, and the message to its stage. The
        same idempotency key with the same request returns the first row (`store.texts.idempotency`)
        and promises nothing new.

        Args:
            request: what was asked for, as JSON values.
            attested: the payload of the audit event: hashes and names, no words.

        Raises:
            KeyReused: the key was used for another request.
        """
        kept = keep(work.session, row, request)
        if kept is row:
            work.record(f"{self.kind}.submitted", row.id, **attested)
            work.emit(message)
        return kept

    def get(self, session: Session, row_id: UUID) -> R | None:
        """The row with this id, if there is one."""
        return session.get(self.model, row_id)

    def listing(
        self,
        session: Session,
        *,
        owner: str,
        status: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[R]:
        """An owner's rows, newest first.

        Raises:
            InvalidCursor: `cursor` was not given out by this function.
        """
        query = select(self.model).where(col(self.model.owner) == owner)
        if status is not None:
            query = query.where(col(self.model.status) == status)
        return page_of(
            session,
            query,
            col(self.model.created_at),
            col(self.model.id),
            cursor=cursor,
            limit=limit,
        )

    def done(self, work: UnitOfWork, row_id: UUID, result: Mapping[str, Any]) -> str:
        """Store the result and notify its listeners; returns its hash."""
        key = work.session.execute(
            sa.select(col(self.model.hash_key)).where(col(self.model.id) == row_id)
        )
        digest = json_hash(result, key.scalar_one_or_none())
        self._end(work, row_id, status="done", error=None, result=dict(result), result_hash=digest)
        return digest

    def failed(self, work: UnitOfWork, row_id: UUID, cause: str) -> None:
        """Record that the stage gave up: there is no result until an operator replays it. A row
        that is missing, done or erased stays as it is."""
        self._end(work, row_id, status="failed", error=cause)
        work.record(f"{self.kind}.failed", row_id)

    def _end(self, work: UnitOfWork, row_id: UUID, **values: Any) -> None:
        work.session.execute(
            sa.update(self.model)
            .where(
                col(self.model.id) == row_id,
                col(self.model.status).not_in(("done", "erased")),
            )
            .values(finished_at=now(), **values)
        )
        work.notify(self.kind, row_id)
