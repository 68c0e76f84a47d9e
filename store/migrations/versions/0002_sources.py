"""Sources that stay fresh: watches, refreshes, ticks, standing, findings."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what follows sources to what holds evidence."""
    op.execute(Path(__file__).with_name("0002_sources.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Refused: going back would forget which works were retracted."""
    raise RuntimeError("0002 cannot be undone: it holds retractions; restore a backup instead")
