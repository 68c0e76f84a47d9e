"""The checker itself: it must see what the chaos tests trust it to see."""

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import Store
from tests.chaos.checker import broken_rules
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest
from workers.inline import InlineWorker

_WATCH = (
    "WITH w AS (INSERT INTO watch VALUES (gen_random_uuid(), 'pubmed', 'q', 'user', true, '{}', "
    "NULL, 0, NULL, NULL, NULL, now(), now()) RETURNING id), r AS (INSERT INTO refresh (id, "
    "watch_id, reason, status, step, restarts, rechecked, marks, looked, payloads, records, fresh, "
    "problems, requested_at) SELECT gen_random_uuid(), id, 'user', 'complete', 0, 0, '[]', '{}', "
    "false, 0, 0, 0, 0, now() FROM w RETURNING id) "
)
_CHANGES = {
    "a refresh has not ended": _WATCH.replace("'complete'", "'fetching'") + "SELECT 1",
    "a complete refresh has an item": _WATCH
    + "UPDATE ingest_item SET status = 'failed', refresh_id = (SELECT id FROM r)",
    "a watch is fresher": _WATCH.replace("NULL, 0,", "now(), 0,") + "SELECT 1",
    "a question ended neither": "UPDATE question SET status = 'running'",
    "has no sealed answer": "UPDATE answer SET sealed_at = NULL",
    "a failed question has no open dead letter": "UPDATE question SET status = 'failed'",
    "a question took a step other than once": "DELETE FROM audit_event WHERE event = "
    "'question.drafted'",
    "an item was not read": "UPDATE ingest_item SET status = 'pending'",
    "has not one current version": "UPDATE document_version SET status = 'superseded'",
    "stored without its event": "UPDATE audit_event SET event = 'x' WHERE event = 'version.new'",
    "was not indexed": "UPDATE audit_event SET event = 'x' WHERE event = 'versions.indexed'",
    "a chunk has no vector": "DELETE FROM chunk_vector",
    "the lexical index counts": "UPDATE lex_segment SET chunks = chunks + 1",
    "a promise is neither kept nor dead": "UPDATE outbox SET status = 'published'",
    "a dead promise has no open": "UPDATE outbox SET status = 'dead'",
    "work is neither done nor dead": "UPDATE stage_run SET status = 'waiting'",
    "a stage worked on one subject more": "INSERT INTO stage_run (stage, subject, input_hash, "
    "status, attempts, token, worker, started_at) SELECT stage, subject, 'x', status, 1, 0, 'w', "
    "now() FROM stage_run",
    "a citation is not its span": "UPDATE answer SET body = jsonb_set(body, "
    "'{claims,0,citations,0,start}', '0')",
    "a stored citation is not its span": "UPDATE citation SET start = start + 1",
    "citations were stored more or less": "DELETE FROM citation",
    "the audit chain is broken": "UPDATE audit_event SET actor = 'x' WHERE seq = 2",
}


@pytest.fixture
def answered(inline: InlineWorker) -> Store:
    """One trial and one answered question."""
    ingest(inline.store, TRIAL)
    inline.run()
    ask(inline.store, TRIAL_QUESTION)
    inline.run()
    return inline.store


def findings(store: Store, change: str) -> list[str]:
    """What the checker says after `change`, which is undone."""
    with Session(store.engine) as session:
        for table in ("audit_event", "document_version", "answer"):
            session.execute(sa.text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        session.execute(sa.text(change))
        return list(broken_rules(session))


def test_the_checker_finds_each_kind_of_damage(answered: Store) -> None:
    with answered.reading() as session:
        assert list(broken_rules(session)) == []
    for expected, change in _CHANGES.items():
        assert any(expected in found for found in findings(answered, change)), expected
