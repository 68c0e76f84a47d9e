"""Imports of bulk files, with their progress: a killed import continues where it stopped.

A file is cut into the same slices each time. Its row counts the promised slices, in the
transaction that promises each: none is lost and none comes twice, wherever the import dies.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import UnitOfWork
from store.documents.submissions import Origin, submit_item
from store.models import now


class ImportedElsewhere(RuntimeError):
    """Another process is importing the file at the same time."""


@dataclass(frozen=True)
class ImportFile:
    """A bulk file and its import so far. `finished_at`: since when all of it is promised."""

    source: str
    fingerprint: str
    filename: str
    slices: int
    records: int
    batch_id: UUID
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class Progress:
    """The results of a file's slices. `outcomes` counts records (`documents.Outcome`)."""

    unread: int
    outcomes: Counter[str]
    failed: list[tuple[str, str]]
    """Slices that could not be read, each with the reason."""


def begin(work: UnitOfWork, source: str, fingerprint: str, filename: str) -> ImportFile:
    """The import of the file with this fingerprint: the one already begun, or a new one."""
    made = work.session.execute(
        sa.text(
            """
            INSERT INTO import_file
                (source, fingerprint, filename, slices, records, batch_id, created_at)
            VALUES (:source, :fingerprint, :filename, 0, 0, :batch, :at)
            ON CONFLICT DO NOTHING RETURNING batch_id
            """
        ),
        {
            "source": source,
            "fingerprint": fingerprint,
            "filename": filename,
            "batch": uuid4(),
            "at": now(),
        },
    ).scalar_one_or_none()
    if made is not None:
        work.record("import.begun", made, source=source, fingerprint=fingerprint)
    row = work.session.execute(
        sa.text("SELECT * FROM import_file WHERE source = :source AND fingerprint = :fingerprint"),
        {"source": source, "fingerprint": fingerprint},
    ).one()
    return ImportFile(**row._mapping)


def put_slice(
    work: UnitOfWork, file: ImportFile, content: bytes, records: int, fetched_at: datetime
) -> ImportFile:
    """Store the next slice and promise to read it; returns the import after that.

    Args:
        content: a payload of the source's connector.
        records: how many it holds.
        fetched_at: the time as of which the source said so.

    Raises:
        ImportedElsewhere: another process has put this slice meanwhile.
    """
    row = work.session.execute(
        sa.text(
            """
            UPDATE import_file SET slices = slices + 1, records = records + :records
            WHERE source = :source AND fingerprint = :fingerprint AND slices = :slices
              AND finished_at IS NULL RETURNING *
            """
        ),
        {
            "records": records,
            "source": file.source,
            "fingerprint": file.fingerprint,
            "slices": file.slices,
        },
    ).one_or_none()
    if row is None:
        raise ImportedElsewhere(f"{file.filename} is imported by another process: let it finish")
    submit_item(
        work,
        filename=f"{file.filename}.slice-{file.slices + 1}",
        media_type=None,
        content=content,
        source_type=None,
        batch_id=file.batch_id,
        request_id=file.batch_id,
        origin=Origin(file.source, fetched_at),
    )
    return ImportFile(**row._mapping)


def finish(work: UnitOfWork, file: ImportFile) -> ImportFile:
    """Mark the import as finished: all slices of the file are promised.

    Raises:
        ImportedElsewhere: another process has put more of it meanwhile.
    """
    row = work.session.execute(
        sa.text(
            """
            UPDATE import_file SET finished_at = :at
            WHERE source = :source AND fingerprint = :fingerprint AND slices = :slices
              AND finished_at IS NULL RETURNING *
            """
        ),
        {
            "at": now(),
            "source": file.source,
            "fingerprint": file.fingerprint,
            "slices": file.slices,
        },
    ).one_or_none()
    if row is None:
        raise ImportedElsewhere(f"{file.filename} is imported by another process: let it finish")
    work.record("import.finished", file.batch_id, slices=file.slices, records=file.records)
    return ImportFile(**row._mapping)


def unread(session: Session, batch_id: UUID) -> int:
    """The number of slices that are promised and not read yet."""
    count: int = session.execute(
        sa.text("SELECT count(*) FROM ingest_item WHERE batch_id = :batch AND status = 'pending'"),
        {"batch": batch_id},
    ).scalar_one()
    return count


def progress(session: Session, batch_id: UUID) -> Progress:
    """The results of the slices of an import."""
    outcomes = session.execute(
        sa.text(
            """
            SELECT one ->> 'outcome' AS outcome, count(*) AS records
            FROM ingest_item, jsonb_array_elements(outcome -> 'documents') AS one
            WHERE batch_id = :batch GROUP BY 1
            """
        ),
        {"batch": batch_id},
    )
    failed = session.execute(
        sa.text(
            "SELECT filename, error FROM ingest_item WHERE batch_id = :batch "
            "AND status = 'failed' ORDER BY created_at, id"
        ),
        {"batch": batch_id},
    )
    return Progress(
        unread(session, batch_id),
        Counter({row.outcome: row.records for row in outcomes}),
        [(row.filename, row.error) for row in failed],
    )


_GROWN = sa.text(
    """
    SELECT relname FROM pg_class
    WHERE oid IN (CAST('document' AS regclass), CAST('document_version' AS regclass))
      AND pg_relation_size(oid) > (8 + relpages * 2) * CAST(current_setting('block_size') AS int)
    """
)


_STATISTICS_TARGET = 10
"""PostgreSQL reads 300 rows for each (its manual, "ANALYZE"): 3,000 rows show that identifiers are
unique as well as the 30,000 of the default, at a tenth of the work. Its own run comes later."""


def keep_statistics(engine: sa.Engine) -> None:
    """Run ANALYZE on the tables that have doubled since it last ran.

    PostgreSQL plans by these statistics and updates them by itself only once a minute. A first fill
    is faster: without statistics, looking a record up by its identifiers reads the whole table.
    """
    with engine.begin() as connection:
        grown = connection.execute(_GROWN).scalars().all()
        if grown:
            connection.execute(
                sa.text(f"SET LOCAL default_statistics_target = {_STATISTICS_TARGET}")
            )
        for table in grown:
            connection.execute(sa.text(f"ANALYZE {table}"))
