"""Works that a newer edition replaces, questions to operators on which of two does so, and the kind
of each work."""

from alembic import op

revision = "0023"
down_revision = "0022"

_NOTICES = (
    *("retraction", "withdrawal", "removal", "expression_of_concern", "correction"),
    "republication",
)
_HAS_EDITIONS = """
    source_type IN ('nccn', 'asco', 'esmo', 'guideline', 'payer')
    OR evidence_level IN ('guideline', 'consensus statement')
    OR identifiers ->> 'doi' LIKE '10.1002/14651858.%' OR facts ? 'update_of'
"""  # as store.documents.editions asks for them
_FINDINGS = (
    *("malformed", "conflict", "mismatch", "nonexistent", "unreadable", "unmapped"),
    "claimed",
)


def upgrade() -> None:
    """Editions are looked for by the words of their titles, among works that have editions."""
    _allow("notice", *_NOTICES, "supersession")
    _allow("finding", *_FINDINGS, "edition")
    op.execute("ALTER TABLE version_tags ADD kind varchar")
    op.execute("CREATE INDEX version_tags_kind ON version_tags (kind)")
    op.execute(
        "CREATE INDEX document_version_editions ON document_version "
        f"USING gin (to_tsvector('simple', title)) WHERE status = 'current' AND ({_HAS_EDITIONS})"
    )


def downgrade() -> None:
    """An older release knows no editions: what one replaced stays superseded, and its source's next
    record makes it current."""
    op.execute("DROP INDEX document_version_editions")
    op.execute("ALTER TABLE version_tags DROP kind")
    op.execute("DELETE FROM notice WHERE kind = 'supersession'")
    op.execute("DELETE FROM finding WHERE kind = 'edition'")
    _allow("notice", *_NOTICES)
    _allow("finding", *_FINDINGS)


def _allow(table: str, *kinds: str) -> None:
    """Which kinds of rows the table may hold."""
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_kind_check")
    op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_kind_check CHECK (kind IN ({listed}))")
