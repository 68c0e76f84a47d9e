"""Filters of a search: vectors in half precision, tags of versions, chunks by what is asked."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add what a filtered search looks up; vectors are rewritten, their index is built later."""
    op.execute(Path(__file__).with_name("0003_filters.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Refused: the bits that half precision cut off are gone."""
    raise RuntimeError("0003 cannot be undone: it shortened the vectors; restore a backup instead")
