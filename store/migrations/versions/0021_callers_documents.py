"""What a caller brought stands under a key of its own, so that no source's record becomes a version
of it, nor it one of a source's."""

from alembic import op

revision = "0021"
down_revision = "0020"

_KINDS = ("malformed", "conflict", "mismatch", "nonexistent", "unreadable", "unmapped")


def upgrade() -> None:
    """Documents no version of which a source brought are callers'. One that has versions of both
    keeps its key: the source's next record becomes its current version."""
    op.execute(
        "UPDATE document d SET source_key = 'submission:' || source_key "
        "WHERE NOT starts_with(source_key, 'submission:') AND EXISTS "
        "(SELECT FROM document_version v WHERE v.document_id = d.id) AND NOT EXISTS "
        "(SELECT FROM document_version v WHERE v.document_id = d.id AND v.source IS NOT NULL)"
    )
    _allow(*_KINDS, "claimed")
    op.execute(
        "CREATE INDEX finding_claimed ON finding (document_id) "
        "WHERE kind = 'claimed' AND resolved_at IS NULL"
    )
    op.execute(
        "CREATE INDEX document_version_ended ON document_version (document_id) "
        "WHERE status = 'retracted'"
    )


def downgrade() -> None:
    """An older release has one key for a work: where a source holds it, the caller's keeps its own,
    which that release takes for a document like any other."""
    op.execute("DROP INDEX document_version_ended")
    op.execute("DROP INDEX finding_claimed")
    op.execute("DELETE FROM finding WHERE kind = 'claimed'")
    _allow(*_KINDS)
    op.execute(
        "UPDATE document d SET source_key = substr(source_key, length('submission:') + 1) "
        "WHERE starts_with(source_key, 'submission:') AND NOT EXISTS (SELECT FROM document held "
        "WHERE held.source_key = substr(d.source_key, length('submission:') + 1))"
    )


def _allow(*kinds: str) -> None:
    """Which kinds of finding there are."""
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    op.execute("ALTER TABLE finding DROP CONSTRAINT finding_kind_check")
    op.execute(f"ALTER TABLE finding ADD CONSTRAINT finding_kind_check CHECK (kind IN ({listed}))")
