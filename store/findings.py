"""What about a record does not hold: kept for people, and for the references, which leave out any
identifier that is in doubt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.unit_of_work import UnitOfWork

Kind = Literal["malformed", "conflict", "mismatch", "nonexistent", "unreadable", "unmapped"]


@dataclass(frozen=True)
class NewFinding:
    """`subject` is what is in doubt: an identifier (`doi:10.1/x`), a key, a field's path.

    `detail` holds ids, names of fields and counts; no words of a document.
    """

    kind: Kind
    subject: str
    document_id: UUID | None = None
    detail: dict[str, Any] = field(default_factory=dict)


def put(work: UnitOfWork, source: str, findings: Sequence[NewFinding], at: datetime) -> int:
    """Write findings down; one seen before only moves its `last_seen_at`. Gives how many are new.

    One that was resolved and is seen again is open again.
    """
    new = 0
    for one in findings:
        row = work.session.execute(
            _PUT,
            {
                "kind": one.kind,
                "source": source,
                "subject": one.subject[:500],
                "document_id": one.document_id,
                "detail": one.detail,
                "at": at,
            },
        ).one()
        if row.first_seen_at == at:
            new += 1
            work.record(
                "finding.new", one.document_id or one.subject[:200], kind=one.kind, source=source
            )
    return new


_PUT = sa.text(
    """
    INSERT INTO finding (kind, source, subject, document_id, detail, first_seen_at, last_seen_at)
    VALUES (:kind, :source, :subject, :document_id, :detail, :at, :at)
    ON CONFLICT (kind, source, subject, document_id) DO UPDATE
    SET last_seen_at = greatest(finding.last_seen_at, excluded.last_seen_at),
        detail = excluded.detail, resolved_at = NULL
    RETURNING first_seen_at
    """
).bindparams(sa.bindparam("detail", type_=sa.dialects.postgresql.JSONB))


def resolve(
    session: Session, source: str, kinds: Collection[Kind], document_ids: Collection[UUID],
    at: datetime,
) -> None:  # fmt: skip
    """What `source` found about these documents was looked at again and does not hold any more:
    findings not seen again at `at` are closed."""
    session.execute(
        sa.text(
            "UPDATE finding SET resolved_at = :at WHERE source = :source AND kind = ANY(:kinds) "
            "AND document_id = ANY(:ids) AND resolved_at IS NULL AND last_seen_at < :at"
        ),
        {"source": source, "kinds": list(kinds), "ids": list(document_ids), "at": at},
    )


@dataclass(frozen=True)
class Collision:
    """Two current documents under one identifier."""

    kind: str
    value: str
    document_id: UUID
    title: str
    source: str | None
    other_id: UUID
    other_title: str
    other_source: str | None


def collisions(session: Session, version_ids: Sequence[UUID]) -> list[Collision]:
    """Where a PMID, PMCID, DOI or registry number of these versions names another document too."""
    found: list[Collision] = []
    for kind, expression in _SAME.items():
        rows = session.execute(
            sa.text(
                f"""
                SELECT {expression.format(v="a")} AS value, a.document_id, a.title, a.source,
                       b.document_id AS other_id, b.title AS other_title, b.source AS other_source
                FROM document_version a JOIN document_version b
                  ON {expression.format(v="b")} = {expression.format(v="a")}
                 AND b.status = 'current' AND b.identifiers ? '{kind}'
                 AND b.document_id <> a.document_id
                WHERE a.id = ANY(:ids) AND a.status = 'current' AND a.identifiers ? '{kind}'
                """  # noqa: S608  our own fragments
            ),
            {"ids": list(version_ids)},
        )
        found += [Collision(kind=kind, **row._mapping) for row in rows]
    return found


_SAME = {
    "pmid": "({v}.identifiers ->> 'pmid')",
    "pmcid": "({v}.identifiers ->> 'pmcid')",
    "doi": "lower({v}.identifiers ->> 'doi')",
    "nct_id": "({v}.identifiers ->> 'nct_id')",
}


def in_doubt(session: Session, document_ids: Collection[UUID]) -> dict[UUID, set[str]]:
    """Identifiers of these documents that must not be shown: `{id: {"doi:10.1/x", …}}`."""
    rows = session.execute(
        sa.text(
            "SELECT document_id, subject FROM finding WHERE document_id = ANY(:ids) "
            "AND resolved_at IS NULL AND kind IN ('malformed', 'conflict', 'mismatch', "
            "'nonexistent')"
        ),
        {"ids": list(document_ids)},
    )
    found: dict[UUID, set[str]] = {}
    for row in rows:
        found.setdefault(row.document_id, set()).add(row.subject)
    return found
