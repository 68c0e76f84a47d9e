"""The operators' desk: what became of dead letters, and which stages are paused."""

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the tables. Dead letters that were resolved before have no resolution of their own."""
    op.execute(Path(__file__).with_name("0006_operators.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take them away again; what waited for a paused stage is due at once."""
    op.execute(
        "UPDATE outbox SET not_before = clock_timestamp() "
        "WHERE status = 'pending' AND not_before = '9000-01-01 00:00:00+00'"
    )
    for name in ("died", "fingerprint", "stage", "outbox"):
        op.execute(f"DROP INDEX dead_letter_{name}")
    op.execute("DROP INDEX stage_run_finished")
    op.execute("DROP TABLE stage_circuit, dead_letter_resolution")
