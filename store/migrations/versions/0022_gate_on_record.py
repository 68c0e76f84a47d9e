"""What the gate did is measured, its name is kept, and held answers are verified again."""

from pathlib import Path

from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add what is measured from now on; of answers sealed before it is not known."""
    op.execute(Path(__file__).with_name("0022_gate_on_record.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take it away: what fell is recalled already, and stays so."""
    op.execute(Path(__file__).with_name("0022_gate_on_record_down.sql").read_text(encoding="utf-8"))
