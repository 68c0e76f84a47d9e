"""Which versions a search may show: today's current ones, or those current at `as_of`.

A retracted version is never shown, nor an older one of a work that has ended (DESIGN section 6).
"""

from store.documents.publication_status import STANDS

CURRENT = "d.status = 'current'"
"""A work that has ended has no current version: `store.documents.publication_status.settle`."""

CURRENT_THEN = f"""
    d.status <> 'retracted' AND d.created_at <= CAST(%(as_of)s AS timestamptz)
    AND (d.superseded_at IS NULL OR d.superseded_at > CAST(%(as_of)s AS timestamptz)) AND {STANDS}
"""
