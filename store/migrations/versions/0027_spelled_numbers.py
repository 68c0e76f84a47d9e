"""Numbers that callers brought in another spelling than their registrar's are in doubt: an earlier
release took them, and led readers to the work whose number they look like."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_WHY = json.dumps({"why": "its registrar spells it otherwise: bring the document again with that"})
# As store.documents.records.unlike had it when it began to refuse such numbers.
_UNLIKE = """
    SELECT v.document_id, own.kind, own.value
    FROM document_version v CROSS JOIN LATERAL jsonb_each_text(v.identifiers) AS own (kind, value)
    WHERE v.status = 'current' AND v.source IS NULL AND (
        own.value ~ '[^!-~]'
        OR own.kind = 'doi' AND own.value ~ '^10[.]0|[?#]|[.,;:]$|//'
        OR own.kind = 'set_id' AND own.value !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
           AND length(regexp_replace(own.value, '[^0-9A-Fa-f]', '', 'g')) >= 32)
"""
_PUT = sa.text(
    "INSERT INTO finding (kind, source, subject, document_id, detail, first_seen_at, last_seen_at) "
    "VALUES ('malformed', 'submission', :subject, :document, CAST(:why AS jsonb), now(), now()) "
    "ON CONFLICT (kind, source, subject, document_id) DO UPDATE SET resolved_at = NULL"
)


def upgrade() -> None:
    """`attest findings --kind malformed` lists them; references and links leave them out.

    They are written in small letters here, as databases do not know those of all scripts.
    """
    connection = op.get_bind()
    for row in connection.exec_driver_sql(_UNLIKE).all():
        subject = f"{row.kind}:{row.value}".lower()[:500]
        given = {"subject": subject, "document": row.document_id, "why": _WHY}
        connection.execute(_PUT, given)


def downgrade() -> None:
    """An older release knows such findings, and they still hold."""
