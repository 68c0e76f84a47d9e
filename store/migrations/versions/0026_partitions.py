"""Which servers hold parts of the index, and which versions are where."""

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """There is none: all of the index is here."""
    op.execute(
        "CREATE TABLE index_partition (name varchar PRIMARY KEY, state varchar NOT NULL "
        "CHECK (state IN ('adding', 'active', 'rebuilding', 'off')), "
        "moves bigint NOT NULL DEFAULT 0)"
    )
    op.execute(
        "CREATE TABLE version_partition (version_id uuid PRIMARY KEY REFERENCES document_version, "
        "name varchar NOT NULL REFERENCES index_partition)"
    )
    op.execute("CREATE INDEX version_partition_name ON version_partition (name, version_id)")


def downgrade() -> None:
    """Refused while a partition holds anything: this release's predecessor would not find it."""
    op.execute(
        "DO $$ BEGIN IF EXISTS (SELECT FROM version_partition) THEN RAISE EXCEPTION "
        "'move the partitions back first: attest partitions move NAME main'; END IF; END $$"
    )
    op.execute("DROP TABLE version_partition")
    op.execute("DROP TABLE index_partition")
