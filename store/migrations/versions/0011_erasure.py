"""Erasure: a state of its own for what lost its words, and keys for the hashes of words."""

from pathlib import Path

from alembic import op

revision = "0011"
down_revision = "0010"

_SEALED = """
CREATE OR REPLACE FUNCTION answer_is_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.sealed_at IS NOT NULL THEN
        RAISE EXCEPTION 'a sealed answer is never changed (question %)', OLD.question_id;
    END IF;
    RETURN NEW;
END $$
"""


def upgrade() -> None:
    """Add them. Hashes of words from before have no key, and go on without one."""
    op.execute(Path(__file__).with_name("0011_erasure.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take them away again. What was erased is `failed` meanwhile, and stays without its words.

    The keys go: answers given in between cannot be replayed, because nothing can show any more
    that their question's words are those whose hash the chain has.
    """
    for table, ended in (("question", "answered"), ("note", "done"), ("verification", "done")):
        op.execute(f"DROP INDEX {table}_kept")
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT {table}_erased_is_wordless, "
            f"DROP CONSTRAINT {table}_erased, DROP CONSTRAINT {table}_status_check"
        )
        op.execute(
            f"UPDATE {table} SET status = 'failed', error = 'its words were erased' "  # noqa: S608
            "WHERE status = 'erased'"
        )
        waiting = "'queued', 'running'" if table == "question" else "'queued'"
        op.execute(
            f"ALTER TABLE {table} DROP COLUMN hash_key, DROP COLUMN erased_at, "
            f"ADD CONSTRAINT {table}_status_check "
            f"CHECK (status IN ({waiting}, '{ended}', 'failed'))"
        )
    op.execute(_SEALED)
