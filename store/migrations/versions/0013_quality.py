"""Quality: a row for each sealed answer, and how often work was taken over."""

from pathlib import Path

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add them. Answers from before have no row: quality is counted from here on."""
    op.execute(Path(__file__).with_name("0013_quality.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take them away again, with what was measured."""
    op.execute("DROP TRIGGER stage_run_taken_over ON stage_run")
    op.execute("DROP FUNCTION stage_run_is_taken_over()")
    op.execute("DROP TABLE stage_takeover")
    op.execute("DROP INDEX question_failed")
    op.execute("DROP TABLE answer_quality")
