"""Clinical notes: a text, and its summary and plan once they are made."""

from pathlib import Path

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the table."""
    op.execute(Path(__file__).with_name("0009_notes.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take it away again, with the notes in it."""
    op.execute("DROP TABLE note")
