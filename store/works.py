"""Held works by their identifiers."""

from collections.abc import Collection, Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

_COMPARED: Mapping[str, str] = {
    "pmid": "identifiers ->> 'pmid'",
    "pmcid": "identifiers ->> 'pmcid'",
    "doi": "lower(identifiers ->> 'doi')",
    "nct_id": "identifiers ->> 'nct_id'",
}
"""Identifier → how the index on it compares (0002_sources.sql)."""


def held(session: Session, wanted: Mapping[str, Collection[str]]) -> set[UUID]:
    """The current versions that bear one of these identifiers, such as {"pmid": {"123"}}."""
    found: set[UUID] = set()
    for kind, values in wanted.items():
        if values:
            rows = session.execute(
                sa.text(
                    "SELECT id FROM document_version WHERE status = 'current' "  # noqa: S608
                    f"AND identifiers ? '{kind}' AND ({_COMPARED[kind]}) = ANY(:values)"
                ),
                {"values": [one.lower() if kind == "doi" else one for one in values]},
            )
            found.update(rows.scalars())
    return found
