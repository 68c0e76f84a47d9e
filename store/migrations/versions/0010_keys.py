"""Keys of callers, and whose each question, verification and note is."""

from pathlib import Path

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add keys and owners. What is there already belongs to `local`."""
    op.execute(Path(__file__).with_name("0010_keys.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take both away again: every row is then everybody's, and only loopback may ask.

    Of questions that share an idempotency key the first one keeps it.
    """
    op.execute(
        """
        UPDATE question q SET idempotency_key = NULL
        WHERE EXISTS (
            SELECT FROM question o WHERE o.idempotency_key = q.idempotency_key
            AND (o.created_at, o.id) < (q.created_at, q.id)
        );
        ALTER TABLE question DROP COLUMN owner;
        ALTER TABLE question ADD CONSTRAINT question_idempotency_key_key UNIQUE (idempotency_key);
        ALTER TABLE verification DROP COLUMN owner;
        ALTER TABLE note DROP COLUMN owner;
        DROP TABLE access_key
        """
    )
