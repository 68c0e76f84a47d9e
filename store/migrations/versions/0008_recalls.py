"""What became of answers when something they cite changed."""

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the table. Answers of before are current until something they cite changes."""
    op.execute(Path(__file__).with_name("0008_recalls.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take it away; the questions that were asked anew stay."""
    op.execute("DROP TABLE answer_recall")
