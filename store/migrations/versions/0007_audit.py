"""The audit log's own guard, and what an answer was composed from."""

from pathlib import Path

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add them. Answers from before have no inputs, and cannot be replayed."""
    op.execute(Path(__file__).with_name("0007_audit.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take them away again; the log stays append-only as it was."""
    op.execute("DROP TABLE answer_inputs")
    op.execute("DROP TRIGGER audit_head_moves_on ON audit_head")
    op.execute("DROP TRIGGER audit_head_stays ON audit_head")
    op.execute("DROP FUNCTION audit_head_only_moves_on()")
    op.execute("ALTER TABLE audit_event ENABLE TRIGGER audit_event_append_only")
