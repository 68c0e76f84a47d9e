"""What is known of a work beside its words, in one statement: an answer asks for all of it."""

from collections.abc import Collection
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.sources import connector_policies
from store.documents.documents import CHECKED_AT
from store.documents.findings import doubts_of
from store.documents.publication_status import Asked, HeldNotice, Standing


class Known(NamedTuple):
    """How fresh a work is, what of it is in doubt, and what became of it."""

    checked_at: datetime
    """When it was last known to be what its source says: when it was fetched itself, or when a
    watch that follows it was last completely refreshed, whichever is later."""
    doubts: frozenset[str]
    """Its identifiers that must not be shown (`store.documents.findings.doubts_of`)."""
    standing: Standing


_KNOWN = sa.text(
    f"""
    SELECT d.id, {CHECKED_AT} AS checked_at, {doubts_of("d.id")} AS doubts,
           (SELECT jsonb_agg(jsonb_build_array(source, kind, notice_id, stated_on, first_seen_at)
                             ORDER BY first_seen_at, id)
            FROM notice WHERE document_id = d.id AND gone_at IS NULL) AS notices,
           (SELECT jsonb_agg(jsonb_build_array(source, asked_at, known, cited_by) ORDER BY source)
            FROM standing_check WHERE document_id = d.id AND source = ANY(:sources)) AS asked
    FROM document d WHERE d.id = ANY(:ids)
    """  # noqa: S608  our own fragments
)


def known(session: Session, document_ids: Collection[UUID]) -> dict[UUID, Known]:
    """What is known of each of these documents; of the sources that were asked those count that
    report what became of a work at all."""
    reporting = [name for name, policy in connector_policies().items() if policy.standing]
    rows = session.execute(_KNOWN, {"ids": list(document_ids), "sources": reporting})
    return {
        row.id: Known(
            row.checked_at,
            frozenset(row.doubts),
            Standing(
                [_notice(*one) for one in row.notices or ()],
                [_asked(*one) for one in row.asked or ()],
            ),
        )
        for row in rows
    }


def _notice(source: str, kind: str, notice_id: str, stated_on: str | None, seen: str) -> HeldNotice:
    stated = date.fromisoformat(stated_on) if stated_on else None
    return HeldNotice(source, kind, notice_id, stated, datetime.fromisoformat(seen))


def _asked(source: str, asked_at: str, *told: Any) -> Asked:
    return Asked(source, datetime.fromisoformat(asked_at), *told)
