"""What is known of a work besides its text, read in one statement for an answer."""

from collections.abc import Collection
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.feeds.sources import connector_policies
from store.documents.documents import CHECKED_AT
from store.documents.findings import doubts_of
from store.documents.publication_status import Asked, HeldNotice, Standing


class Known(NamedTuple):
    """How fresh a work is, which identifiers are in doubt, and its publication status."""

    checked_at: datetime
    """When it was last known to match its source: the later of its own fetch and the last complete
    refresh of a watch that follows it."""
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
    """The citation data of these documents. Of the sources asked, only those count that report
    publication status at all."""
    reporting = [name for name, policy in connector_policies().items() if policy.standing]
    rows = session.execute(_KNOWN, {"ids": list(document_ids), "sources": reporting})
    return {
        row.id: Known(
            row.checked_at,
            frozenset(row.doubts),
            Standing(
                [_notice(*values) for values in row.notices or ()],
                [_asked(*values) for values in row.asked or ()],
            ),
        )
        for row in rows
    }


def _notice(source: str, kind: str, notice_id: str, stated_on: str | None, seen: str) -> HeldNotice:
    stated = date.fromisoformat(stated_on) if stated_on else None
    return HeldNotice(source, kind, notice_id, stated, datetime.fromisoformat(seen))


def _asked(source: str, asked_at: str, *told: Any) -> Asked:
    return Asked(source, datetime.fromisoformat(asked_at), *told)
