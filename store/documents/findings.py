"""Findings: statements of a record that do not hold. They are kept for people, and for references,
which leave out any identifier that is in doubt."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlmodel import Session

from store.core.copying import text_array, uuid_array
from store.core.unit_of_work import UnitOfWork

Kind = Literal[
    "malformed",
    "conflict",
    "claimed",
    "edition",
    "mismatch",
    "nonexistent",
    "unreadable",
    "unmapped",
]

MAX_SUBJECT_CHARS = 500


@dataclass(frozen=True)
class NewFinding:
    """`subject` is what is in doubt: an identifier (`doi:10.1/x`), a key, a field's path.

    `detail` holds ids, field names and counts, but no words of a document. `source`: whose record
    it is, if not that of the source being read.
    """

    kind: Kind
    subject: str
    document_id: UUID | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    source: str | None = None


def put(work: UnitOfWork, source: str, findings: Sequence[NewFinding], at: datetime) -> int:
    """Write findings; returns how many are new. One seen before only moves its `last_seen_at`.

    A resolved finding that is seen again is open again, unless it was seen before it was resolved
    and is written late.
    """
    by_key = {
        (
            finding.kind,
            finding.source or source,
            finding.subject[:MAX_SUBJECT_CHARS],
            finding.document_id,
        ): finding
        for finding in findings
    }
    if not by_key:
        return 0
    # In a fixed order, so that two packets with the same findings wait instead of deadlocking.
    keys = sorted(by_key, key=lambda key: (*key[:3], str(key[3])))
    rows = work.session.execute(
        _PUT,
        {
            "kinds": [key[0] for key in keys],
            "sources": [key[1] for key in keys],
            "subjects": [key[2] for key in keys],
            "documents": [key[3] for key in keys],
            "details": [by_key[key].detail for key in keys],
            "at": at,
        },
    )
    new = 0
    for row in rows:
        new += row.is_new
        if row.is_new or row.is_back:
            event = "finding.new" if row.is_new else "finding.reopened"
            subject = row.document_id or row.subject[:200]
            work.record(event, subject, kind=row.kind, source=row.source)
    return new


_PUT = sa.text(
    """
    WITH given AS (
        SELECT * FROM unnest(CAST(:kinds AS varchar[]), CAST(:sources AS varchar[]),
            CAST(:subjects AS varchar[]), CAST(:documents AS uuid[]), CAST(:details AS jsonb[]))
            AS g (kind, source, subject, document_id, detail)
    ), closed AS (
        SELECT f.id FROM finding f JOIN given g ON f.kind = g.kind AND f.source = g.source
            AND f.subject = g.subject AND f.document_id IS NOT DISTINCT FROM g.document_id
        WHERE f.resolved_at IS NOT NULL
    )
    INSERT INTO finding AS held
        (kind, source, subject, document_id, detail, first_seen_at, last_seen_at)
    SELECT kind, source, subject, document_id, detail, :at, :at FROM given
    ON CONFLICT (kind, source, subject, document_id) DO UPDATE
    SET last_seen_at = greatest(held.last_seen_at, excluded.last_seen_at),
        detail = CASE WHEN excluded.last_seen_at >= held.last_seen_at
                      THEN excluded.detail ELSE held.detail END,
        resolved_at = CASE WHEN excluded.last_seen_at >= held.resolved_at
                           THEN NULL ELSE held.resolved_at END
    RETURNING kind, source, subject, document_id, xmax = 0 AS is_new,
              resolved_at IS NULL AND id IN (SELECT id FROM closed) AS is_back
    """
).bindparams(sa.bindparam("details", type_=ARRAY(JSONB)))


def restate(
    work: UnitOfWork,
    source: str,
    kind: Kind,
    document_ids: Collection[UUID],
    findings: Sequence[NewFinding],
    at: datetime,
    *,
    of_all: bool = False,
) -> int:
    """Replace the findings of `kind` about these documents by `findings`, as of `at`.

    Earlier findings that are not among them are resolved: those of `source`, or of all sources with
    `of_all`. Returns how many are new.
    """
    new = put(work, source, findings, at)
    rows = work.session.execute(
        sa.text(
            """
            UPDATE finding SET resolved_at = :at
            WHERE document_id = ANY(CAST(:ids AS uuid[])) AND kind = :kind
              AND (:of_all OR source = :source) AND resolved_at IS NULL AND last_seen_at <= :at
              AND NOT EXISTS (
                  SELECT FROM unnest(CAST(:still_subjects AS varchar[]),
                      CAST(:still_documents AS uuid[])) AS still (subject, document_id)
                  WHERE still.subject = finding.subject
                    AND still.document_id = finding.document_id)
            RETURNING source, document_id
            """
        ),
        {
            "ids": list(document_ids),
            "kind": kind,
            "of_all": of_all,
            "source": source,
            "at": at,
            "still_subjects": [finding.subject[:MAX_SUBJECT_CHARS] for finding in findings],
            "still_documents": [finding.document_id for finding in findings],
        },
    )
    for row in rows:
        work.record("finding.resolved", row.document_id, kind=kind, source=row.source)
    return new


def readable(work: UnitOfWork, source: str, keys: Collection[str], at: datetime) -> None:
    """Resolve the `unreadable` findings of records with these keys: they were readable at `at`."""
    rows = work.session.execute(
        sa.text(
            "UPDATE finding SET resolved_at = :at WHERE kind = 'unreadable' AND source = :source "
            "AND subject = ANY(CAST(:keys AS varchar[])) AND resolved_at IS NULL "
            "AND last_seen_at <= :at "
            "RETURNING subject"
        ),
        {"source": source, "keys": text_array(keys), "at": at},
    )
    for row in rows:
        work.record("finding.resolved", row.subject[:200], kind="unreadable", source=source)


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


def collisions(session: Session, document_ids: Collection[UUID]) -> list[Collision]:
    """Documents that share a PMID, PMCID, DOI or registry number with one of these documents."""
    rows = session.execute(_COLLISIONS, {"ids": uuid_array(document_ids)})
    return [Collision(**row._mapping) for row in rows]


_SAME: Mapping[str, tuple[str, str]] = {
    "pmid": ("({v}.identifiers ->> 'pmid')", "true"),
    "pmcid": ("({v}.identifiers ->> 'pmcid')", "true"),
    "doi": ("lower({v}.identifiers ->> 'doi')", "true"),
    # A publication that names a trial's number is about that trial, and is not the trial.
    "nct_id": ("({v}.identifiers ->> 'nct_id')", "{v}.source_type = 'clinicaltrials'"),
}
"""Identifier → how it is compared, and for which versions it names the document itself."""


_GIVEN = """
    WITH a AS MATERIALIZED (
        SELECT document_id, title, source, source_type, identifiers FROM document_version
        WHERE document_id = ANY(CAST(:ids AS uuid[])) AND status = 'current')
"""
_COLLISIONS = sa.text(
    _GIVEN
    + " UNION ALL ".join(
        f"""
        SELECT '{kind}' AS kind, {expression.format(v="a")} AS value, a.document_id, a.title,
               a.source, b.document_id AS other_id, b.title AS other_title,
               b.source AS other_source
        FROM a JOIN document_version b
          ON {expression.format(v="b")} = {expression.format(v="a")}
         AND b.status = 'current' AND b.identifiers ? '{kind}' AND {applies.format(v="b")}
         AND b.document_id <> a.document_id
        WHERE a.identifiers ? '{kind}' AND {applies.format(v="a")}
        """  # noqa: S608  our own fragments
        for kind, (expression, applies) in _SAME.items()
    )
)


def conflicting_with(session: Session, document_ids: Collection[UUID]) -> set[UUID]:
    """The documents that share an identifier with one of these, according to open findings."""
    rows = session.execute(
        sa.text(
            "SELECT DISTINCT CAST(jsonb_array_elements_text(detail -> 'also_on') AS uuid) AS other "
            "FROM finding WHERE kind = 'conflict' AND resolved_at IS NULL "
            "AND document_id = ANY(CAST(:ids AS uuid[]))"
        ),
        {"ids": list(document_ids)},
    )
    return set(rows.scalars())


def doubts_of(document: str) -> str:
    """SQL for the identifiers of a document that must not be shown, as an array: `doi:10.1/x`.

    They are in lower case, because sources write one DOI in several ways.

    Args:
        document: the SQL expression for its id.
    """
    return f"""
        ARRAY(SELECT lower(subject) FROM finding
              WHERE finding.document_id = {document} AND resolved_at IS NULL
                AND kind IN ('malformed', 'conflict', 'claimed', 'mismatch', 'nonexistent'))
    """  # noqa: S608  our own names
