"""Cheaper imports: versions are compressed less, and statistics are kept of what is asked for."""

from pathlib import Path

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Change settings only: rows that exist stay as they are, and no table is rewritten."""
    op.execute(Path(__file__).with_name("0005_cheaper_imports.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Give the settings back."""
    op.execute("ALTER TABLE document_version RESET (toast_tuple_target)")
    for column in ("text", "structure", "authors", "subjects", "facts"):
        op.execute(f"ALTER TABLE document_version ALTER {column} SET STATISTICS DEFAULT")
