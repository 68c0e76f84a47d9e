"""Look-up of held works by their identifiers."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

COMPARED: Mapping[str, str] = {
    "pmid": "identifiers ->> 'pmid'",
    "pmcid": "identifiers ->> 'pmcid'",
    "doi": "lower(identifiers ->> 'doi')",
    "nct_id": "identifiers ->> 'nct_id'",
    "registry_id": "lower(identifiers ->> 'registry_id')",
    "set_id": "lower(identifiers ->> 'set_id')",
    "lcd_id": "identifiers ->> 'lcd_id'",
}
"""Identifier → how it is compared; each has an index (migrations 0002 and 0016)."""

LOWERED = frozenset(kind for kind, compared in COMPARED.items() if compared.startswith("lower"))
"""Identifiers that are written in any case and compared in lower case."""


def normal(kind: str, value: str) -> str:
    """The identifier as it is compared: in lower case for `LOWERED`, otherwise in capitals."""
    return value.lower() if kind in LOWERED else value.upper()


def held(
    session: Session, wanted: Mapping[str, Collection[str]], *, by_a_source: bool = False
) -> dict[tuple[str, str], set[UUID]]:
    """The current versions that bear these identifiers: `{("pmid", "123"): {…}}`, without those
    that only claim to be a work that its source holds (`store.documents.claimed_works`).

    Args:
        wanted: values by kind, those of `LOWERED` in any case; these come back in lower case.
        by_a_source: leave out callers' documents: they do not show what a source would say.
    """
    versions: dict[tuple[str, str], set[UUID]] = defaultdict(set)
    from_whom = "AND source IS NOT NULL " if by_a_source else ""
    for kind, values in wanted.items():
        if values:
            rows = session.execute(
                sa.text(
                    f"SELECT id, {COMPARED[kind]} AS value FROM document_version "  # noqa: S608
                    f"WHERE status = 'current' AND identifiers ? '{kind}' "
                    f"AND ({COMPARED[kind]}) = ANY(:values) {from_whom}AND NOT EXISTS ("
                    "SELECT FROM finding WHERE finding.document_id = document_version.document_id "
                    "AND finding.kind = 'claimed' AND finding.resolved_at IS NULL "
                    f"AND lower(finding.subject) = '{kind}:' || lower({COMPARED[kind]}))"
                ),
                {"values": [value.lower() if kind in LOWERED else value for value in values]},
            )
            for row in rows:
                versions[kind, row.value].add(row.id)
    return dict(versions)
