"""What claims are checked against: effect estimates, kinds of anchors, costs, pasted texts."""

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the tables; versions held already get their estimates by `attest anchors generate`."""
    op.execute(Path(__file__).with_name("0004_claims.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take them away again; all of it can be found anew, but for the costs and pasted texts."""
    op.execute("DROP TABLE verification, model_usage, effect_estimate")
    op.execute("ALTER TABLE anchor DROP COLUMN kinds")
