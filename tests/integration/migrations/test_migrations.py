"""Migrations on filled databases, forward and back, one step at a time; and a process never starts
on a database that another release left."""

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from store.audit import audit
from store.core.database import connect
from store.core.schema import (
    SchemaAhead,
    SchemaOutdated,
    alembic_config,
    migrate,
    require_current_schema,
    revisions,
    schema_revision,
)
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents.findings import doubts_of
from store.documents.records import unlike
from store.embedded import EmbeddedServers
from store.models import now
from store.operations import erasure
from store.sources import refresh_requests
from store.texts import notes, verifications
from tests.servers import TRIAL, TRIAL_QUESTION, Fleet, ask, ingest
from workers.inline import InlineWorker

Rows = dict[str, list[dict[str, Any]]]
STEPS = [one.revision for one in ScriptDirectory.from_config(alembic_config()).walk_revisions()][
    ::-1
]
"""All migrations, the first one first."""
LOWEST = "0003"
"""Below it there is no way back: 0003 shortened the vectors, 0002 holds retractions."""


def step_to(engine: sa.Engine, revision: str) -> None:
    with engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        have = schema_revision(connection)
        forward = have is None or (revision != "base" and revision > have)
        go = command.upgrade if forward else command.downgrade
        go(config, revision)


def content(engine: sa.Engine) -> Rows:
    """Every row of every table, as JSON, in an order of its own."""
    with engine.connect() as connection:
        names = [one for one in sa.inspect(connection).get_table_names() if one[:7] != "alembic"]
        return {
            name: sorted(
                connection.execute(sa.text(f'SELECT to_jsonb(t) FROM "{name}" AS t')).scalars(),
                key=json.dumps,
            )
            for name in names
        }


def as_an_older_schema_has_it(rows: Rows, older: Rows) -> Rows:
    """Of `rows`, the tables and columns that there are in `older` too."""
    kept: Rows = {}
    for name, its in older.items():
        columns = set(its[0]) if its else set()
        found = [
            {key: value for key, value in row.items() if key in columns}
            for row in rows.get(name, [])
        ]
        kept[name] = sorted(found, key=json.dumps)
    return kept


def without_erasures(rows: Rows) -> Rows:
    """An older schema has no word for `erased`: there such a row is `failed`, and says why."""
    told = {
        name: [
            {**row, "status": "failed", "error": "its words were erased"}
            if row.get("status") == "erased"
            else row
            for row in its
        ]
        for name, its in rows.items()
    }
    return {name: sorted(its, key=json.dumps) for name, its in told.items()}


def with_unpacked_chunks(rows: Rows) -> Rows:
    """An older schema has the chunks of a version as an array."""
    told = [{**row, "chunk_ids": unpacked(row["chunk_ids"])} for row in rows["version_tags"]]
    return {**rows, "version_tags": sorted(told, key=json.dumps)}


def unpacked(chunk_ids: str) -> list[int]:
    """The numbers in these bytes, written as PostgreSQL writes bytes in JSON."""
    packed = bytes.fromhex(chunk_ids.removeprefix("\\x"))
    return [one for (one,) in struct.iter_unpack(">q", packed)]


def without_keys_of_callers(rows: Rows) -> Rows:
    """An older schema has one key for a work, whoever brought it."""
    told = [
        {**row, "source_key": row["source_key"].removeprefix("submission:")}
        for row in rows["document"]
    ]
    return {**rows, "document": sorted(told, key=json.dumps)}


@pytest.fixture
def filled(inline: InlineWorker) -> sa.Engine:
    """A database with rows of all kinds, made by the product's own code."""
    store = inline.store
    ingest(store, TRIAL)
    inline.run()
    with store.unit_of_work("test") as work:
        refresh_requests.refresh_query(work, "pubmed", "ctDNA colon cancer", now())
    answered, gone = ask(store, TRIAL_QUESTION), ask(store, TRIAL_QUESTION)
    with store.unit_of_work("test", request_id=uuid4()) as work:
        text = "HPI\nA cough.\n\nPLAN\nChest X-ray.\n"
        kept, erased = (notes.submit(work, text, "A title").id for _ in range(2))
        verifications.submit(work, "The trial enrolled 455 patients.")
    inline.run()
    died = ask(Store(store.engine, lambda promises: None), TRIAL_QUESTION)
    with store.engine.begin() as connection:  # what was promised is no message any more
        connection.execute(
            sa.text(
                "UPDATE outbox SET payload = payload || '{\"x\": 1}', status = 'pending' "
                "WHERE payload ->> 'question_id' = :id"
            ),
            {"id": str(died)},
        )
    inline.run()
    with store.unit_of_work("test") as work:
        erasure.erase(work, "question", gone, "requested")
        erasure.erase(work, "note", erased, "requested")
    ingest(store, {**TRIAL, "text": TRIAL["text"].replace("recurrence-free", "overall")})
    inline.run()
    rows = content(store.engine)
    status = {row["id"]: row["status"] for row in rows["question"]}
    assert status[str(answered)] == "answered"
    assert status[str(gone)] == "erased"
    assert status[str(died)] == "failed"
    assert {row["id"]: row["status"] for row in rows["note"]} == {
        str(kept): "done",
        str(erased): "erased",
    }
    for name in ("answer", "answer_inputs", "citation", "answer_recall", "dead_letter", "watch"):
        assert rows[name], name
    return store.engine


@pytest.mark.requirement("OP-6.5")
def test_op_6_5_a_filled_database_goes_back_step_by_step_and_forward_again_without_loss(
    filled: sa.Engine,
) -> None:
    at_head = content(filled)
    for revision in reversed(STEPS[STEPS.index(LOWEST) : -1]):
        step_to(filled, revision)
        older = content(filled)
        told = with_unpacked_chunks(at_head) if revision < "0015" else at_head
        told = without_erasures(told) if revision < "0011" else told
        told = without_keys_of_callers(told) if revision < "0021" else told
        assert older == as_an_older_schema_has_it(told, older), revision
        require_whole(filled)
    migrate(filled)
    require_current_schema(filled)
    # Rows that the lowest schema could hold are as they were, also in the columns that came later,
    # but for what only those columns held.
    step_to(filled, LOWEST)
    lowest = content(filled)
    migrate(filled)
    again = content(filled)
    assert as_an_older_schema_has_it(again, lowest) == as_an_older_schema_has_it(at_head, lowest)
    assert all(row["source_key"].startswith("submission:") for row in again["document"])
    require_whole(filled)


@pytest.mark.requirement("OP-6.5")
def test_op_6_5_a_schema_is_the_same_whether_it_was_reached_from_below_or_from_above(
    engine: sa.Engine,
) -> None:
    steps, from_above = STEPS[STEPS.index(LOWEST) :], {}
    for revision in reversed(steps[:-1]):
        step_to(engine, revision)
        from_above[revision] = described(engine)
    step_to(engine, LOWEST)
    for revision in steps[1:-1]:
        step_to(engine, revision)
        assert described(engine) == from_above[revision], revision


def described(engine: sa.Engine) -> list[tuple[Any, ...]]:
    """Columns, constraints, indexes and triggers of the schema."""
    statements = (
        "SELECT table_name, column_name, data_type, is_nullable, column_default "
        "FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'public'::regnamespace AND contype <> 'n'",
        "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT tgrelid::regclass::text, tgname, tgenabled::text FROM pg_trigger "
        "WHERE NOT tgisinternal",
    )
    with engine.connect() as connection:
        return sorted(
            tuple(map(str, row))
            for one in statements
            for row in connection.execute(sa.text(one)).all()
        )


def require_whole(engine: sa.Engine) -> None:
    with Store(engine).reading() as session:
        report = audit.verify(session)
    assert report.whole, report.reason
    assert report.events > 20


def test_where_there_is_no_way_back_nothing_changes_and_the_reason_is_said(
    store: Store,
) -> None:
    """What a step back would lose cannot be had again: it is refused, and that is the design."""
    ask(store, TRIAL_QUESTION)
    step_to(store.engine, LOWEST)
    for revision, below in (("0003", "0002"), ("0002", "0001"), ("0001", "base")):
        with store.engine.begin() as connection:  # as if it had come so far
            connection.execute(
                sa.text("UPDATE alembic_version SET version_num = :r"), {"r": revision}
            )
        before = content(store.engine)
        with pytest.raises(RuntimeError, match=r"backup|empty database"):
            step_to(store.engine, below)
        assert content(store.engine) == before


@pytest.fixture
def empty(servers: EmbeddedServers) -> Iterator[sa.Engine]:
    """A database without a schema."""
    name = f"test_{uuid4().hex[:12]}"
    with psycopg.connect(servers.conninfo, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    engine = connect(sa.make_url(servers.database_url).set(database=name).render_as_string(False))
    yield engine
    engine.dispose()
    with psycopg.connect(servers.conninfo, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


FIRST_ROWS = """
INSERT INTO document VALUES ('00000000-0000-4000-8000-000000000001', 'pubmed', 'k', now(), now());
INSERT INTO document_version (id, document_id, n, content_hash, title, text, structure, source_type,
    identifiers, authors, labels, published_precision, fetched_at, status, created_at)
VALUES ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001', 1, 'h', 't',
    'A made-up text.', '{}', 'pubmed', '{"pmid": "1"}', '[]', '[]', 'day', now(), 'current', now());
INSERT INTO chunk (version_id, ordinal, section, start, "end")
VALUES ('00000000-0000-4000-8000-000000000002', 0, 'BODY', 0, 15);
INSERT INTO chunk_vector (chunk_id, start, "end", embedding)
SELECT id, 0, 15, (SELECT array_agg(0.05)::vector(384) FROM generate_series(1, 384)) FROM chunk;
INSERT INTO anchor (version_id, start, "end", score, signals)
VALUES ('00000000-0000-4000-8000-000000000002', 0, 15, 3, '[]');
INSERT INTO ingest_item (id, batch_id, filename, content_hash, status, created_at)
VALUES (gen_random_uuid(), gen_random_uuid(), 'f', 'h', 'done', now());
INSERT INTO question (id, text, text_hash, options, status, request_id, idempotency_key,
    request_hash, created_at, finished_at)
VALUES ('00000000-0000-4000-8000-000000000003', 'Is it so?', 'h', '{}', 'answered',
    gen_random_uuid(), 'key', 'h', now(), now());
INSERT INTO retrieval VALUES ('00000000-0000-4000-8000-000000000003', '{}', 'h', now());
INSERT INTO draft VALUES ('00000000-0000-4000-8000-000000000003', '{}', 'h', now());
INSERT INTO answer VALUES ('00000000-0000-4000-8000-000000000003', '{"claims": []}', 'h', NULL,
    now(), now());
INSERT INTO citation (question_id, claim_id, version_id, start, "end", quote_hash)
VALUES ('00000000-0000-4000-8000-000000000003', 'c1', '00000000-0000-4000-8000-000000000002', 0, 15,
    'h');
INSERT INTO stage_run (stage, subject, input_hash, status, attempts, token, worker, started_at)
VALUES ('audit', '00000000-0000-4000-8000-000000000003', 'h', 'done', 1, 1, 'w', now());
INSERT INTO outbox VALUES (gen_random_uuid(), 'audit', '{}', gen_random_uuid(), 'done', now(), 1,
    now(), now(), now());
INSERT INTO dead_letter VALUES (gen_random_uuid(), NULL, 'verify', NULL, '{}', 'E', 'c', '', 'f', 1,
    '0.1', NULL, now(), now(), 'open', 0, NULL);
"""
"""Rows of every table of the first schema."""


@pytest.mark.requirement("OP-6.5")
def test_op_6_5_a_database_of_the_first_release_comes_to_the_newest_step_by_step(
    empty: sa.Engine,
) -> None:
    step_to(empty, STEPS[0])
    with empty.begin() as connection:
        connection.execute(sa.text(FIRST_ROWS))
    with Store(empty).unit_of_work("test") as work:
        work.record("thing.made", "one")
    before = content(empty)
    for revision in STEPS[1:]:
        step_to(empty, revision)
        with Store(empty).unit_of_work("test") as work:
            work.record("schema.at", revision)
    require_current_schema(empty)
    after = without_keys_of_callers(content(empty))
    for name in ("document", "chunk", "question", "answer", "citation", "outbox", "dead_letter"):
        kept = {name: before[name]}
        assert as_an_older_schema_has_it(after, kept) == kept, name
    with Store(empty).reading() as session:
        assert audit.verify(session).whole
        assert audit.verify(session).events == len(STEPS)


# Code and schema ---------------------------------------------------------------------------------


def test_an_empty_database_is_to_be_migrated(empty: sa.Engine) -> None:
    with pytest.raises(SchemaOutdated, match=r"at migration none.*`attest migrate`"):
        require_current_schema(empty)


def test_an_older_schema_is_to_be_migrated(engine: sa.Engine) -> None:
    step_to(engine, "0009")
    with pytest.raises(SchemaOutdated, match=rf"at migration 0009.*{STEPS[-1]}.*`attest migrate`"):
        require_current_schema(engine)
    migrate(engine)
    require_current_schema(engine)


def mark_as_newer(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))


def test_a_newer_schema_needs_a_newer_release_and_is_never_migrated(engine: sa.Engine) -> None:
    mark_as_newer(engine)
    with pytest.raises(SchemaAhead, match=r"9999.*newer release") as refused:
        require_current_schema(engine)
    assert "attest migrate" not in str(refused.value)
    with pytest.raises(SchemaAhead):
        migrate(engine)


@pytest.mark.requirement("OP-6.7")
@pytest.mark.parametrize("process", ["worker", "scheduler", "gateway"])
@pytest.mark.parametrize(
    ("revision", "says"), [("0009", "run `attest migrate`"), ("9999", "newer release")]
)
def test_op_6_7_no_process_starts_on_a_schema_that_is_not_its_own(
    settings: Settings, engine: sa.Engine, process: str, revision: str, says: str, fleet: Fleet
) -> None:
    if revision == "9999":
        mark_as_newer(engine)
    else:
        step_to(engine, revision)
    started = fleet.start(process)
    assert started.wait(60) == 1
    said = " ".join(fleet.text().split())
    assert f"attest: the database is at migration {revision}" in said
    assert says in said


def test_a_command_says_so_too(settings: Settings, engine: sa.Engine) -> None:
    mark_as_newer(engine)
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "dead-letters", "list"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={
            "PATH": "",
            "ATTEST_DATABASE_URL": settings.database_url,
            "ATTEST_REDIS_URL": settings.redis_url,
        },
    )
    assert done.returncode == 1
    assert "newer release" in done.stderr


# What callers brought (0021) ----------------------------------------------------------------------

BROUGHT = """
INSERT INTO document (id, source_type, source_key, created_at)
VALUES ('{id}', 'pubmed', '{key}', now());
INSERT INTO document_version (id, document_id, n, content_hash, title, text, structure, source_type,
    identifiers, authors, labels, published_precision, fetched_at, source, status, created_at)
VALUES (gen_random_uuid(), '{id}', 1, 'h', 't', 'Words.', '{{}}', 'pubmed', '{{"pmid": "1"}}', '[]',
    '[]', 'day', now(), {source}, 'current', now());
"""


def keys(engine: sa.Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.execute(sa.text("SELECT source_key FROM document")).scalars())


def bring(engine: sa.Engine, key: str, source: str | None) -> None:
    written = BROUGHT.format(id=uuid4(), key=key, source=f"'{source}'" if source else "NULL")
    with engine.begin() as connection:
        connection.exec_driver_sql(written)


def test_what_callers_brought_steps_aside_and_a_source_s_stays(engine: sa.Engine) -> None:
    step_to(engine, "0020")
    bring(engine, "pmid:1", None)
    bring(engine, "pmid:2", "pubmed")
    migrate(engine)
    assert keys(engine) == {"submission:pmid:1", "pmid:2"}
    # The source's own record came meanwhile: an older release would have one key for both.
    bring(engine, "pmid:1", "pubmed")
    step_to(engine, "0020")
    assert keys(engine) == {"submission:pmid:1", "pmid:1", "pmid:2"}
    migrate(engine)
    assert keys(engine) == {"submission:pmid:1", "pmid:1", "pmid:2"}


# Numbers that only look like a work's (0027) ------------------------------------------------------

SPELLED = {
    "pmid": ("35657320",),
    "pmcid": ("PMC9701449",),
    "nct_id": ("NCT04120701",),
    "lcd_id": ("L38779",),
    "doi": (
        *("10.1056/NEJMoa2200075", "10.1016/S0140-6736(20)31288-5", "10.1002/(SICI)1-2<3::AID>"),
        *("10.1056/NEJMoa2200075\u200b", "10.1056/ＮＥＪＭoa2200075", "10.1016/S0140‐6736"),
        *("10.1056/NEJMoa2200075.", "10.1056/NEJMoa2200075;", "10.1056/NEJMoa2200075,"),
        *("10.1056/a?q=1", "10.1056/a#b", "10.1056//a", "10.0123/a", "10.1056/\u0430bc"),
    ),
    "registry_id": (
        *("jRCT1031200006", "ACTRN12615000381583", "EUCTR2004-000446-20"),
        *("jRCT１031200006", "EUCTR2004-00٠446-20", "jRCT\u0661031200006"),
    ),
    "set_id": (
        *("0d8ef0d0-1c1f-4c6b-9c3c-1f2f3a4b5c6d", "0D8EF0D0-1C1F-4C6B-9C3C-1F2F3A4B5C6D"),
        *("samples-1", "{0d8ef0d0-1c1f-4c6b-9c3c-1f2f3a4b5c6d}", "a b"),
        *("0d8ef0d01c1f4c6b9c3c1f2f3a4b5c6d", "0d8ef0d0‑1c1f-4c6b-9c3c-1f2f3a4b5c6d", "ｓｅｔ"),
    ),
}
"""Numbers as registrars spell them, and in spellings that releases before took (ADR 0062)."""


def test_numbers_that_only_look_like_a_work_s_are_listed_and_in_doubt_after_an_upgrade(
    engine: sa.Engine,
) -> None:
    step_to(engine, "0026")
    given = {(kind, value): uuid4() for kind, values in SPELLED.items() for value in values}
    for (kind, value), document_id in given.items():
        written = json.dumps({kind: value}, ensure_ascii=False)
        row = BROUGHT.format(id=document_id, key=f"submission:{document_id}", source="NULL")
        with engine.begin() as connection:
            connection.exec_driver_sql(row.replace('{"pmid": "1"}', written))
    with engine.begin() as connection:  # what a source gave is not ours to judge
        row = BROUGHT.format(id=uuid4(), key="doi:x", source="'pubmed'")
        connection.exec_driver_sql(row.replace('{"pmid": "1"}', '{"doi": "10.1056/a."}'))
    migrate(engine)
    with Store(engine).reading() as session:
        doubts = sa.text(f"SELECT id, {doubts_of('document.id')} AS doubts FROM document")
        told = {row.id: set(row.doubts) for row in session.execute(doubts)}
    wrong = {
        (kind, value)
        for (kind, value), document_id in given.items()
        if told.pop(document_id) != ({f"{kind}:{value}".lower()} if unlike(kind, value) else set())
    }
    assert wrong == set()
    assert list(told.values()) == [set()]
    step_to(engine, "0026")
    migrate(engine)
    with Store(engine).reading() as session:
        count = session.execute(sa.text("SELECT count(*) FROM finding")).scalar_one()
    assert count == sum(unlike(*one) is not None for one in given)


def test_the_files_of_the_migrations_are_numbered_as_they_follow() -> None:
    assert list(revisions()) == STEPS
