"""The backbone: evidence, questions, the ledger, the outbox, dead letters and the audit chain."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table, index, check and trigger of the first release."""
    op.execute(Path(__file__).with_name("0001_backbone.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Refused: going back would drop the audit chain and every attested answer."""
    raise RuntimeError("0001 is the first migration: to start over, use an empty database")
