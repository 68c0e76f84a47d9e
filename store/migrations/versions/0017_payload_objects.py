"""A promise is an object: any other payload stopped the relay for everybody."""

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Refuse it where it would be written."""
    op.execute(
        "ALTER TABLE outbox ADD CONSTRAINT outbox_payload_object "
        "CHECK (jsonb_typeof(payload) = 'object')"
    )


def downgrade() -> None:
    """Any JSON again."""
    op.execute("ALTER TABLE outbox DROP CONSTRAINT outbox_payload_object")
