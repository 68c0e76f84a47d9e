"""Indexes for works that a question names by a registry's, a label's or a policy's number."""

from alembic import op

revision = "0016"
down_revision = "0015"

_NAMES = {
    "registry": "lower(identifiers ->> 'registry_id')",
    "set": "lower(identifiers ->> 'set_id')",
    "lcd": "(identifiers ->> 'lcd_id')",
}


def upgrade() -> None:
    """As those of 0002, in the forms in which `store.documents.identifiers` compares them."""
    for name, compared in _NAMES.items():
        op.execute(
            f"CREATE INDEX document_version_{name} ON document_version ({compared}) "
            f"WHERE status = 'current' AND identifiers ? '{name}_id'"
        )


def downgrade() -> None:
    """Without them a question that names one reads all versions."""
    for name in _NAMES:
        op.execute(f"DROP INDEX document_version_{name}")
