"""Two more scopes of keys: one manages keys, one reads the feed of changed answers."""

from alembic import op

revision = "0025"
down_revision = "0024"

_BEFORE = ("ask", "read", "documents", "operate", "audit")


def upgrade() -> None:
    """No key gets a scope that it did not have."""
    _allow(*_BEFORE, "keys", "feed")


def downgrade() -> None:
    """A key for nothing but the new scopes goes; any other keeps the scopes that it had besides."""
    op.execute("DELETE FROM access_key WHERE scopes <@ ARRAY['keys', 'feed']::varchar[]")
    op.execute(
        "UPDATE access_key SET scopes = array_remove(array_remove(scopes, 'keys'), 'feed') "
        "WHERE scopes && ARRAY['keys', 'feed']::varchar[]"
    )
    _allow(*_BEFORE)


def _allow(*scopes: str) -> None:
    listed = ", ".join(f"'{scope}'" for scope in scopes)
    op.execute("ALTER TABLE access_key DROP CONSTRAINT access_key_scopes_check")
    op.execute(
        "ALTER TABLE access_key ADD CONSTRAINT access_key_scopes_check "
        f"CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY[{listed}]::varchar[])"
    )
