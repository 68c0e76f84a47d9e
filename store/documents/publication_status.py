"""Publication status of works: retractions, withdrawals, corrections, and which sources were asked.

A notice belongs to the document, not to a version: it changes no text. A notice that ends the work
(`ENDING_NOTICES`) makes its current version retracted, one that a newer edition replaces it makes
it superseded, in the same transaction; either source suffices (WIRE 5). The latest statement of a
source counts, however late it is stored.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.core.copying import copy_rows, timestamptz, uuid_array
from store.core.unit_of_work import UnitOfWork
from store.documents.records import ENDING_NOTICES, Notice
from store.recalls import recalls

_ENDING = ", ".join(f"'{kind}'" for kind in sorted(ENDING_NOTICES))
STANDS = f"""
    NOT EXISTS (SELECT FROM notice WHERE notice.document_id = d.document_id
                AND notice.gone_at IS NULL AND notice.kind IN ({_ENDING}))
"""
"""SQL: the work of version `d` has not ended. Its older versions are no evidence after
the end either, though only the one that was current is marked as retracted."""

State = Literal["none", "corrected", "expression_of_concern", "superseded", "retracted"]


@dataclass(frozen=True)
class Asked:
    """One source's answer about a document: when it was asked, whether it knows the work, and how
    many works cite it, if it ever said so."""

    source: str
    asked_at: datetime
    known: bool
    cited_by: int | None = None


@dataclass(frozen=True)
class HeldNotice:
    """A notice in force, with the source that reports it."""

    source: str
    kind: str
    notice_id: str
    stated_on: date | None
    first_seen_at: datetime


@dataclass(frozen=True)
class Standing:
    """The publication status of a document. `asked`: the sources that report on it at all."""

    notices: Sequence[HeldNotice] = ()
    asked: Sequence[Asked] = ()

    @property
    def state(self) -> State:
        """The gravest status that the notices state."""
        kinds = {notice.kind for notice in self.notices}
        if kinds & ENDING_NOTICES:
            return "retracted"
        if "supersession" in kinds:
            return "superseded"
        if "expression_of_concern" in kinds:
            return "expression_of_concern"
        return "corrected" if kinds else "none"

    @property
    def cited_by(self) -> int | None:
        """How many works cite it: the largest count reported; None if no source reports one."""
        return max(
            (check.cited_by for check in self.asked if check.cited_by is not None), default=None
        )


def lock(session: Session, document_ids: Collection[UUID]) -> None:
    """Keep others from storing versions or notices of these documents until the transaction ends.

    Locks in the order of the keys, as `documents.put_versions` does.
    """
    session.execute(
        sa.text(
            "SELECT FROM document WHERE id = ANY(CAST(:ids AS uuid[])) "
            "ORDER BY source_key FOR UPDATE"
        ),
        {"ids": list(document_ids)},
    )


def share(session: Session, document_ids: Collection[UUID]) -> None:
    """Keep these documents unchanged until the transaction ends; the lock is shared."""
    session.execute(
        sa.text(
            "SELECT FROM document WHERE id = ANY(CAST(:ids AS uuid[])) "
            "ORDER BY source_key FOR SHARE"
        ),
        {"ids": list(document_ids)},
    )


def put_notices(
    work: UnitOfWork, source: str, notices: Mapping[UUID, Sequence[Notice]], at: datetime
) -> None:
    """Replace the notices of `source` about these documents by `notices`, as stated at `at`.

    A notice that is no longer reported is kept with the time it went. Documents with a later
    statement of the source are left out. Hold their locks; call `asked` next, and `settle` once
    their versions are written.
    """
    later = _heard_after(work.session, source, notices, at)
    notices = {key: some for key, some in notices.items() if key not in later}
    ids = list(notices)
    held = {
        (row.document_id, row.kind, row.notice_id): row.id
        for row in work.session.execute(
            sa.text(
                "SELECT id, document_id, kind, notice_id FROM notice "
                "WHERE document_id = ANY(:ids) AND source = :source AND gone_at IS NULL"
            ),
            {"ids": ids, "source": source},
        )
    }
    stated = {
        (document_id, notice.kind, notice.notice_id or ""): notice
        for document_id, some in notices.items()
        for notice in some
    }
    fresh = [key for key in stated if key not in held]
    gone = [row_id for key, row_id in held.items() if key not in stated]
    if fresh:
        work.session.execute(
            _PUT,
            [
                {
                    "document_id": document_id,
                    "source": source,
                    "kind": kind,
                    "notice_id": notice_id,
                    "stated_on": stated[document_id, kind, notice_id].stated_on,
                    "at": at,
                }
                for document_id, kind, notice_id in fresh
            ],
        )
    if gone:
        work.session.execute(
            sa.text("UPDATE notice SET gone_at = :at WHERE id = ANY(:ids)"),
            {"at": at, "ids": gone},
        )
    for document_id, kind, notice_id in fresh:
        work.record("document.notice", document_id, source=source, kind=kind, notice_id=notice_id)
    for key in held.keys() - stated.keys():
        work.record("document.notice_gone", key[0], source=source, kind=key[1], notice_id=key[2])
    if fresh:
        recalls.noticed(work, source, [(*key, stated[key].stated_on) for key in fresh])


def _heard_after(
    session: Session, source: str, document_ids: Collection[UUID], at: datetime
) -> set[UUID]:
    rows = session.execute(
        sa.text(
            "SELECT document_id FROM standing_check WHERE source = :source AND asked_at > :at "
            "AND document_id = ANY(CAST(:ids AS uuid[]))"
        ),
        {"source": source, "at": at, "ids": uuid_array(document_ids)},
    )
    return set(rows.scalars())


_PUT = sa.text(
    """
    INSERT INTO notice (document_id, source, kind, notice_id, stated_on, first_seen_at)
    VALUES (:document_id, :source, :kind, :notice_id, :stated_on, :at)
    ON CONFLICT (document_id, source, kind, notice_id)
    DO UPDATE SET gone_at = NULL, stated_on = excluded.stated_on
    """
)


def asked(
    session: Session,
    source: str,
    known: Mapping[UUID, bool],
    at: datetime,
    cited_by: Mapping[UUID, int | None] = MappingProxyType({}),
) -> None:
    """Record that `source` was asked about these documents, and whether it knows them.

    This is also the clock of its statements, even for sources that report no status.
    `cited_by`: how many works cite each; where None, the count from before stays.
    """
    session.execute(
        sa.text(
            """
            INSERT INTO standing_check (document_id, source, asked_at, known, cited_by)
            SELECT id, :source, :at, known, cited_by
            FROM unnest(CAST(:ids AS uuid[]), CAST(:known AS boolean[]),
                CAST(:cited_by AS integer[])) AS given (id, known, cited_by)
            ON CONFLICT (document_id, source)
            DO UPDATE SET asked_at = excluded.asked_at, known = excluded.known,
                cited_by = coalesce(excluded.cited_by, standing_check.cited_by)
            WHERE standing_check.asked_at <= excluded.asked_at
            """
        ),
        {
            "source": source,
            "at": at,
            "ids": uuid_array(known),
            "known": list(known.values()),
            "cited_by": [cited_by.get(document_id) for document_id in known],
        },
    )


def first_asked(session: Session, source: str, made: Collection[UUID], at: datetime) -> None:
    """Record that `source` knows documents that were created in this transaction. Nobody was asked
    about them before, so no earlier row needs to be looked for."""
    moment = timestamptz(at)
    copy_rows(
        session,
        "standing_check",
        ("document_id", "source", "asked_at", "known"),
        [(document_id.bytes, source, moment, b"\x01") for document_id in made],
    )


def ended(session: Session, document_ids: Collection[UUID]) -> set[UUID]:
    """Those of these documents that some source reports as retracted, withdrawn or removed."""
    return {key for key, status in closed(session, document_ids).items() if status == "retracted"}


def closed(session: Session, document_ids: Collection[UUID]) -> dict[UUID, str]:
    """The status of the newest versions of those of these documents that have no current one any
    more: `retracted` if the work ended, `superseded` if a newer edition replaces it."""
    rows = session.execute(
        sa.text(
            "SELECT document_id, bool_or(kind = ANY(:kinds)) AS ended FROM notice "
            "WHERE document_id = ANY(:ids) AND gone_at IS NULL "
            "AND (kind = ANY(:kinds) OR kind = 'supersession') GROUP BY document_id"
        ),
        {"ids": list(document_ids), "kinds": sorted(ENDING_NOTICES)},
    )
    return {row.document_id: "retracted" if row.ended else "superseded" for row in rows}


_STILL_CITABLE = sa.text(
    """
    SELECT NOT EXISTS (SELECT FROM notice WHERE document_id = ANY(CAST(:documents AS uuid[]))
                       AND gone_at IS NULL AND kind = ANY(:kinds))
       AND NOT EXISTS (SELECT FROM document_version WHERE id = ANY(CAST(:versions AS uuid[]))
                       AND status <> ALL(:allowed))
    """
)


def still_citable(
    session: Session,
    document_ids: Collection[UUID],
    version_ids: Collection[UUID],
    allowed: Sequence[str],
) -> bool:
    """True if none of these documents has ended and all these versions have an allowed status.

    It stays so until the transaction ends if `share` was called before, in its own statement: a
    statement that waits for a lock reads the snapshot from before it waited.
    """
    parameters = {
        "documents": uuid_array(document_ids),
        "versions": uuid_array(version_ids),
        "allowed": list(allowed),
        "kinds": sorted(ENDING_NOTICES),
    }
    return bool(session.execute(_STILL_CITABLE, parameters).scalar_one())


def settle(work: UnitOfWork, document_ids: Collection[UUID]) -> list[UUID]:
    """Take the current versions of documents that ended or were replaced out of the evidence;
    returns the versions' ids."""
    statuses = closed(work.session, document_ids)
    rows = work.session.execute(
        sa.text(
            "UPDATE document_version SET status = given.status, superseded_at = clock_timestamp() "
            "FROM unnest(CAST(:ids AS uuid[]), CAST(:statuses AS varchar[])) "
            "AS given (document_id, status) WHERE document_version.status = 'current' "
            "AND document_version.document_id = given.document_id "
            "RETURNING document_version.id, given.document_id, n, given.status"
        ),
        {"ids": list(statuses), "statuses": list(statuses.values())},
    ).all()
    for row in rows:
        work.record(f"version.{row.status}", row.document_id, version_id=str(row.id), n=row.n)
    return [row.id for row in rows]


def remove(work: UnitOfWork, source: str, document_ids: Collection[UUID], at: datetime) -> None:
    """Mark documents that the source deleted: they stay held, but are no longer evidence."""
    lock(work.session, document_ids)
    put_notices(
        work, source, {document_id: (Notice(kind="removal"),) for document_id in document_ids}, at
    )
    asked(work.session, source, dict.fromkeys(document_ids, False), at)
    settle(work, document_ids)


@dataclass(frozen=True)
class DueWork:
    """A held work that a source has not been asked about for long."""

    document_id: UUID
    key: str
    doi: str
    in_vain: bool = False
    """True if the source was last asked about it in vain (an open finding says so)."""


def due(
    session: Session,
    source: str,
    before: datetime,
    limit: int,
    *,
    but_not: Collection[str] = (),
) -> list[DueWork]:
    """Held works with a DOI that `source` was last asked about before `before`, never asked first.
    Works asked about in vain come last, or one of them would keep all others waiting.

    Retracted works are included: only asking shows that a notice was taken back. Works that a user
    submitted are not asked about. `but_not`: ids of documents to leave out.
    """
    rows = session.execute(
        sa.text(
            """
            SELECT d.id AS document_id, d.source_key AS key, v.identifiers ->> 'doi' AS doi,
                   f.id IS NOT NULL AS in_vain
            FROM document_version v JOIN document d ON d.id = v.document_id
            LEFT JOIN standing_check c ON c.document_id = d.id AND c.source = :source
            LEFT JOIN finding f ON f.kind = 'unreadable' AND f.source = :source
              AND f.subject = d.source_key AND f.document_id = d.id AND f.resolved_at IS NULL
            WHERE v.status <> 'superseded' AND v.identifiers ? 'doi' AND v.source IS NOT NULL
              AND (v.status = 'current' OR NOT EXISTS (
                  SELECT FROM document_version newer
                  WHERE newer.document_id = v.document_id AND newer.n > v.n))
              AND (c.asked_at IS NULL OR c.asked_at < :before)
              AND d.id <> ALL(CAST(:but_not AS uuid[]))
            ORDER BY f.last_seen_at NULLS FIRST, c.asked_at NULLS FIRST, d.id LIMIT :limit
            """
        ),
        {"source": source, "before": before, "limit": limit, "but_not": list(but_not)},
    )
    return [DueWork(**row._mapping) for row in rows]
