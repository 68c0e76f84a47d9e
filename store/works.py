"""Held works by their identifiers."""

from collections import defaultdict
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


def held(
    session: Session, wanted: Mapping[str, Collection[str]]
) -> dict[tuple[str, str], set[UUID]]:
    """The current versions that bear these identifiers: `{("pmid", "123"): {…}}`.

    Args:
        wanted: values by kind; DOIs in any case are given, and come back, in lower case.
    """
    found: dict[tuple[str, str], set[UUID]] = defaultdict(set)
    for kind, values in wanted.items():
        if values:
            rows = session.execute(
                sa.text(
                    f"SELECT id, {_COMPARED[kind]} AS value FROM document_version "  # noqa: S608
                    f"WHERE status = 'current' AND identifiers ? '{kind}' "
                    f"AND ({_COMPARED[kind]}) = ANY(:values)"
                ),
                {"values": [one.lower() if kind == "doi" else one for one in values]},
            )
            for row in rows:
                found[kind, row.value].add(row.id)
    return dict(found)
