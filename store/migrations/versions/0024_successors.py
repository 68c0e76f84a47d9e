"""Works that say which other work they update, or which article a preprint became, are found by
what they name."""

from alembic import op

revision = "0024"
down_revision = "0023"

_LINKS = """
    coalesce(facts -> 'update_of', '[]') || coalesce(facts -> 'preprints', '[]')
    || coalesce(facts -> 'update_in', '[]') || coalesce(facts -> 'preprint_of', '[]')
"""  # as store.documents.successors asks for them


def upgrade() -> None:
    """Only current versions with such a link are in the index."""
    op.execute(
        f"CREATE INDEX document_version_links ON document_version USING gin (({_LINKS})) "
        "WHERE status = 'current' "
        "AND facts ?| array['update_of', 'preprints', 'update_in', 'preprint_of']"
    )


def downgrade() -> None:
    """What was superseded stays so, as after 0023."""
    op.execute("DROP INDEX document_version_links")
