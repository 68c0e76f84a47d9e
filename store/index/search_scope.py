"""The versions that a search may show: those current now, or those current at `as_of`.

A retracted version is never shown, nor an older version of an ended work (DESIGN section 6).
"""

from store.documents.publication_status import STANDS

CURRENT = "d.status = 'current'"
"""An ended work has no current version: see `store.documents.publication_status.settle`."""

CURRENT_THEN = f"""
    d.status <> 'retracted' AND d.created_at <= CAST(%(as_of)s AS timestamptz)
    AND (d.superseded_at IS NULL OR d.superseded_at > CAST(%(as_of)s AS timestamptz)) AND {STANDS}
"""
