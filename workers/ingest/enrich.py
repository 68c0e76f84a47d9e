"""What other sources say about held works: standing and identity."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from store import findings, standing
from store.findings import NewFinding
from store.unit_of_work import UnitOfWork
from workers.ingest.enrichment import Statement
from workers.ingest.identity import Named, disagreements

OTHERS = {"crossref": "openalex", "openalex": "crossref"}
"""A DOI that both do not know does not exist; one alone may lack another agency's DOIs."""


def take(
    work: UnitOfWork,
    source: str,
    statements: Sequence[tuple[standing.DueWork, Statement]],
    at: datetime,
) -> None:
    """Write down what `source` says about each work: notices, who was asked, what disagrees."""
    if not statements:
        return
    ids = [one.document_id for one, _ in statements]
    said = {due.document_id: statement for due, statement in statements if statement.known}
    standing.put_notices(work, source, {one: s.notices for one, s in said.items()}, at)
    standing.asked(work.session, source, {one: one in said for one in ids}, at)
    standing.settle(work, ids)
    held = _held(work, ids)
    doubts: list[NewFinding] = []
    for due, statement in statements:
        if due.document_id not in held:
            continue
        if not statement.known:
            doubts += _unknown(work, source, due)
            continue
        fields = disagreements(held[due.document_id], statement)
        # A DOI that belongs to another title, or to another PMID, is not this work's DOI.
        if fields:
            detail = {"disagrees": fields}
            doubts.append(NewFinding("mismatch", f"doi:{due.doi}", due.document_id, detail))
    findings.put(work, source, doubts, at)
    findings.resolve(work.session, source, ("mismatch", "nonexistent"), ids, at)


def _held(work: UnitOfWork, ids: Sequence[UUID]) -> dict[UUID, Named]:
    rows = work.session.execute(
        sa.text(
            "SELECT document_id, title, identifiers, extract(year FROM published_at) AS year "
            "FROM document_version WHERE document_id = ANY(:ids) AND status = 'current'"
        ),
        {"ids": list(ids)},
    )
    return {
        row.document_id: Named(row.title, int(row.year) if row.year else None, row.identifiers)
        for row in rows
    }


def _unknown(work: UnitOfWork, source: str, due: standing.DueWork) -> list[NewFinding]:
    """A finding only if the other source does not know the DOI either."""
    other = work.session.execute(
        sa.text("SELECT known FROM standing_check WHERE document_id = :id AND source = :source"),
        {"id": due.document_id, "source": OTHERS[source]},
    ).scalar_one_or_none()
    if other is not False:
        return []
    detail = {"asked": sorted(OTHERS)}
    return [NewFinding("nonexistent", f"doi:{due.doi}", due.document_id, detail)]
