"""Idempotency keys of notes, texts to check, extractions and documents; first lines of packets."""

from pathlib import Path

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the columns. Nothing has a key before it but questions."""
    op.execute(Path(__file__).with_name("0018_idempotency.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take them away: a repeated submission is a new one again, but for questions."""
    op.execute(Path(__file__).with_name("0018_idempotency_down.sql").read_text(encoding="utf-8"))
