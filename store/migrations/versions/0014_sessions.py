"""Sign-in of browsers: sessions of keys."""

from pathlib import Path

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the table. Nobody is signed in before it."""
    op.execute(Path(__file__).with_name("0014_sessions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take it away: everybody is signed out."""
    op.execute("DROP TABLE page_session")
