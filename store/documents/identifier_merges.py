"""Works that go on under another key: a PMC article that gets a PMID, two trials that are merged.

The old record is missing at its source, but nothing was withdrawn: its content is in the record of
the new key. So the old document is superseded, where a deleted one is retracted.
"""

from collections.abc import Collection, Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import UnitOfWork
from store.documents import publication_status
from store.recalls import recalls
from store.recalls.recalls import Change


def successors(session: Session, document_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """The successor of each of these documents whose identifier another held document carries."""
    rows = session.execute(
        sa.text(
            """
            SELECT d.id, min(new.id::text)::uuid AS successor
            FROM document d
            JOIN document_version v ON v.status = 'current' AND v.document_id <> d.id
            JOIN document new ON new.id = v.document_id
            WHERE d.id = ANY(CAST(:ids AS uuid[])) AND (
                (d.source_key LIKE 'pmcid:%' AND new.source_key LIKE 'pmid:%'
                 AND v.identifiers ->> 'pmcid' = upper(substr(d.source_key, 7)))
                OR (d.source_key LIKE 'nct\\_id:%' AND new.source_key LIKE 'nct\\_id:%'
                    AND v.source_type = 'clinicaltrials'
                    AND v.facts -> 'nct_aliases' ? upper(substr(d.source_key, 8))))
            GROUP BY d.id
            """
        ),
        {"ids": list(document_ids)},
    )
    return {row.id: row.successor for row in rows}


def supersede(work: UnitOfWork, renamed: Mapping[UUID, UUID]) -> None:
    """Mark these documents as superseded by their successors (document → document)."""
    if not renamed:
        return
    publication_status.lock(work.session, renamed)
    rows = work.session.execute(
        sa.text(
            "UPDATE document_version SET status = 'superseded', superseded_at = clock_timestamp() "
            "WHERE document_id = ANY(CAST(:ids AS uuid[])) AND status = 'current' "
            "RETURNING document_id, n"
        ),
        {"ids": list(renamed)},
    ).all()
    for row in rows:
        work.record(
            "document.renamed", row.document_id, n=row.n, successor=str(renamed[row.document_id])
        )
    recalls.affect(
        work,
        [
            Change(
                row.document_id,
                "superseded",
                {"version": row.n, "successor": str(renamed[row.document_id])},
            )
            for row in rows
        ],
    )
