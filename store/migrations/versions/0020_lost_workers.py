"""The ledger counts the workers that a piece of work has cost, and knows how long it may take."""

from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Nothing that runs now is suspected; until it is claimed again it has no limit."""
    op.execute("ALTER TABLE stage_run ADD COLUMN losses integer NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE stage_run ADD COLUMN deadline timestamptz")


def downgrade() -> None:
    """The release before counts attempts alone."""
    op.execute("ALTER TABLE stage_run DROP COLUMN deadline")
    op.execute("ALTER TABLE stage_run DROP COLUMN losses")
