"""Which versions a search may show: today's current ones, or those current at `as_of`.

A retracted version is never shown (DESIGN section 6).
"""

STANDING = """
    CASE WHEN CAST(:as_of AS timestamptz) IS NULL THEN d.status = 'current'
         ELSE d.status <> 'retracted' AND d.created_at <= CAST(:as_of AS timestamptz)
              AND (d.superseded_at IS NULL OR d.superseded_at > CAST(:as_of AS timestamptz))
    END
"""
