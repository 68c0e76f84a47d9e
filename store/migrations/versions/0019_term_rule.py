"""Each segment of the lexical index says by which rules for terms it was built."""

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """What there is was built by the rules of the releases before; from now on each write says."""
    op.execute(
        "ALTER TABLE lex_segment ADD COLUMN term_rule varchar NOT NULL DEFAULT 'snowball-parts-2'"
    )
    op.execute("ALTER TABLE lex_segment ALTER COLUMN term_rule DROP DEFAULT")


def downgrade() -> None:
    """Those releases take all segments for their own: go back with theirs only."""
    op.execute("ALTER TABLE lex_segment DROP COLUMN term_rule")
