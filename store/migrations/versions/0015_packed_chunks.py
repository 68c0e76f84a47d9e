"""The chunks of a version as packed bytes, which a filter lists three times as fast."""

from pathlib import Path

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Pack what is there."""
    op.execute(Path(__file__).with_name("0015_packed_chunks.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Back to arrays, as 0003 had them."""
    op.execute(Path(__file__).with_name("0015_packed_chunks_down.sql").read_text(encoding="utf-8"))
