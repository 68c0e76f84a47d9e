"""What must be true of the database after any catastrophe, read from PostgreSQL only."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlmodel import Session

from store.audit import audit
from store.core.unit_of_work import Store
from tests.servers import wait_until

_RULES = {
    "a question ended neither answered nor failed": """
        SELECT id FROM question WHERE status NOT IN ('answered', 'failed')""",
    "an answered question has no sealed answer": """
        SELECT q.id FROM question q LEFT JOIN answer a ON a.question_id = q.id
        WHERE q.status = 'answered' AND a.sealed_at IS NULL""",
    "a failed question has no open dead letter, or an answer that is sealed": """
        SELECT q.id FROM question q LEFT JOIN answer a ON a.question_id = q.id
        WHERE q.status = 'failed' AND (a.sealed_at IS NOT NULL OR NOT EXISTS (
            SELECT FROM dead_letter d WHERE d.subject = q.id::text AND d.status = 'open'))""",
    "a question took a step other than once": """
        SELECT q.id, wanted.event FROM question q
        CROSS JOIN (VALUES ('question.submitted'), ('question.retrieved'), ('question.drafted'),
                           ('question.verified'), ('answer.sealed')) AS wanted (event)
        WHERE q.status = 'answered' AND 1 <> (
            SELECT count(*) FROM audit_event e
            WHERE e.subject = q.id::text AND e.event = wanted.event)""",
    "an item was not read, or more than once": """
        SELECT i.id FROM ingest_item i WHERE i.status <> 'done' OR 1 <> (
            SELECT count(*) FROM audit_event e
            WHERE e.subject = i.id::text AND e.event = 'document.ingested')""",
    "a document has not one current version": """
        SELECT d.id FROM document d WHERE 1 <> (
            SELECT count(*) FROM document_version v
            WHERE v.document_id = d.id AND v.status = 'current')""",
    "a version was stored without its event, or with two": """
        SELECT v.id FROM document_version v WHERE 1 <> (
            SELECT count(*) FROM audit_event e
            WHERE e.event IN ('version.new', 'version.changed')
              AND e.payload->>'version_id' = v.id::text)""",
    "a version was not indexed, or more than once": """
        SELECT v.id FROM document_version v WHERE 1 <> (
            SELECT count(*) FROM audit_event e WHERE e.event = 'versions.indexed'
              AND e.payload->'version_ids' ? v.id::text)""",
    "a version has no chunk": """
        SELECT v.id FROM document_version v
        WHERE NOT EXISTS (SELECT FROM chunk c WHERE c.version_id = v.id)""",
    "a chunk has no vector": """
        SELECT c.id FROM chunk c
        WHERE NOT EXISTS (SELECT FROM chunk_vector w WHERE w.chunk_id = c.id)""",
    "the lexical index counts other chunks than there are": """
        SELECT 1 WHERE (SELECT count(*) FROM chunk)
                    <> (SELECT coalesce(sum(chunks), 0) FROM lex_segment)""",
    "a promise is neither kept nor dead": """
        SELECT id, stage, status FROM outbox WHERE status NOT IN ('done', 'dead')""",
    "a dead promise has no open dead letter": """
        SELECT o.id FROM outbox o WHERE o.status = 'dead' AND NOT EXISTS (
            SELECT FROM dead_letter d WHERE d.outbox_id = o.id AND d.status = 'open')""",
    "work is neither done nor dead": """
        SELECT stage, subject, status FROM stage_run WHERE status NOT IN ('done', 'dead')""",
    "a stage worked on one subject more than once": """
        SELECT stage, subject FROM stage_run WHERE stage NOT IN ('refresh', 'recall')
        GROUP BY stage, subject HAVING count(*) > 1""",
    "a refresh has not ended, or took a step more or less than once": """
        SELECT r.id, r.status FROM refresh r WHERE r.status NOT IN ('complete', 'failed')
            OR (r.status = 'complete' AND r.step <> (
                SELECT count(*) FROM stage_run s
                WHERE s.stage = 'refresh' AND s.subject = r.id::text AND s.status = 'done'))""",
    "a complete refresh has an item that was not read": """
        SELECT r.id FROM refresh r JOIN ingest_item i ON i.refresh_id = r.id
        WHERE r.status = 'complete' AND i.status <> 'done'""",
    "a watch is fresher than its last complete refresh": """
        SELECT w.id FROM watch w WHERE w.cursor_at IS DISTINCT FROM (
            SELECT max(r.started_at) FROM refresh r
            WHERE r.watch_id = w.id AND r.status = 'complete' AND r.looked)""",
    "a citation is not its span": """
        SELECT a.question_id, place FROM answer a
        CROSS JOIN jsonb_array_elements(a.body->'claims') AS claim
        CROSS JOIN jsonb_array_elements(claim->'citations') AS place
        LEFT JOIN document_version v ON v.document_id = (place->>'document_id')::uuid
                                    AND v.n = (place->>'version')::int
        WHERE substr(v.text, (place->>'start')::int + 1,
                     (place->>'end')::int - (place->>'start')::int)
              IS DISTINCT FROM place->>'quote'""",
    "a stored citation is not its span": """
        SELECT c.id FROM citation c JOIN document_version v ON v.id = c.version_id
        WHERE encode(sha256(convert_to(substr(v.text, c.start + 1, c."end" - c.start), 'UTF8')),
                     'hex') <> c.quote_hash""",
    "an answer's citations were stored more or less than once": """
        SELECT a.question_id FROM answer a
        WHERE (SELECT count(*) FROM citation c WHERE c.question_id = a.question_id)
           <> (SELECT count(*) FROM jsonb_array_elements(a.body->'claims') AS claim
               CROSS JOIN jsonb_array_elements(claim->'citations'))""",
}


def broken_rules(session: Session) -> Iterator[str]:
    """Each rule that does not hold, with the rows that break it; nothing if all is well."""
    for rule, query in _RULES.items():
        found = session.execute(sa.text(query)).all()
        if found:
            yield f"{rule}: {[tuple(row) for row in found[:5]]}"
    report = audit.verify(session)
    if not report.whole:
        yield f"the audit chain is broken: {report.reason}"


def check(store: Store, *, answered: int | None = None) -> None:
    """Fail the test if a rule is broken, or if not exactly `answered` questions were answered."""
    with store.reading() as session:
        assert list(broken_rules(session)) == []
        if answered is not None:
            query = sa.text("SELECT count(*) FROM answer WHERE sealed_at IS NOT NULL")
            assert session.execute(query).scalar_one() == answered


def wait_quiet(store: Store, seconds: float = 150.0) -> None:
    """Wait until every promise is kept or dead, which is when nothing more will happen."""

    def quiet() -> bool:
        with Session(store.engine) as session:
            query = sa.text("SELECT 1 FROM outbox WHERE status IN ('pending', 'published') LIMIT 1")
            return session.execute(query).one_or_none() is None

    wait_until(quiet, seconds, "every promise kept or dead")
