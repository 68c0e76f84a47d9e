"""Clinical documents: extractions, their iterations and replies, reviews, remembered prompts."""

from pathlib import Path

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the tables."""
    op.execute(Path(__file__).with_name("0012_extractions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take them away again, with the documents in them."""
    op.execute(
        "DROP TABLE prompt_memory; DROP TABLE review; DROP TABLE extraction_reply; "
        "DROP TABLE extraction_iteration; DROP TABLE extraction"
    )
