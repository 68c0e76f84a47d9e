"""`attest migrate` on servers that cannot serve: one line says why, and nothing was changed."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from cli.commands.operation.migrate import unfitness
from store.embedded import EmbeddedServers
from tests.commands import Attest
from tests.servers import url_of


@pytest.fixture
def made(servers: EmbeddedServers, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty database, made as the test's parameter says."""
    with psycopg.connect(servers.conninfo, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE unfit {request.param}")
        connection.execute("CREATE ROLE nobodys LOGIN")
    yield url_of(servers, "unfit")
    with psycopg.connect(servers.conninfo, autocommit=True) as connection:
        connection.execute("DROP DATABASE unfit WITH (FORCE)")
        connection.execute("DROP ROLE nobodys")


def said(servers: EmbeddedServers, url: str) -> str:
    attest = Attest({"ATTEST_DATABASE_URL": url, "ATTEST_REDIS_URL": servers.redis_url})
    done = attest("migrate")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


LATIN = "ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0"


@pytest.mark.parametrize("made", [LATIN], indirect=True)
def test_a_database_that_cannot_hold_every_text_is_refused(
    servers: EmbeddedServers, made: str
) -> None:
    assert "encoded in LATIN1" in said(servers, made)


@pytest.mark.parametrize("made", [""], indirect=True)
def test_who_may_not_migrate_is_told_so(servers: EmbeddedServers, made: str) -> None:
    weak = sa.make_url(made).set(username="nobodys").render_as_string(False)
    assert "the user in ATTEST_DATABASE_URL may not do this" in said(servers, weak)


@pytest.mark.parametrize("made", [""], indirect=True)
def test_a_database_that_takes_no_writes_says_so(servers: EmbeddedServers, made: str) -> None:
    with psycopg.connect(servers.conninfo, autocommit=True) as connection:
        connection.execute("ALTER DATABASE unfit SET default_transaction_read_only = on")
    assert "the database takes no writes" in said(servers, made)


@pytest.mark.parametrize("made", [""], indirect=True)
def test_a_step_that_the_data_refuses_is_told_in_one_line(
    servers: EmbeddedServers, made: str
) -> None:
    with psycopg.connect(made.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE TABLE document (title text)")
        connection.execute("INSERT INTO document VALUES ('Mrs Smith')")
    line = said(servers, made)
    assert 'a migration was refused (relation "document" already exists)' in line
    assert "nothing was changed" in line
    assert "Smith" not in line


@pytest.mark.parametrize("made", [LATIN], indirect=True)
def test_whoever_starts_an_instance_reads_why_it_ended_and_where_more_of_it_stands(
    servers: EmbeddedServers, made: str, tmp_path: Path
) -> None:
    attest = Attest({"ATTEST_DATABASE_URL": made, "ATTEST_REDIS_URL": servers.redis_url})
    done = attest.process("--data-dir", str(tmp_path / "data"), "up", "--port", "1")
    assert done.returncode == 1
    (line,) = [one for one in done.stderr.splitlines() if "migrate exited" in one]
    assert "exited with code 1: attest: the database is encoded in LATIN1" in line
    assert line.endswith(f"(see {tmp_path / 'data' / 'log' / 'migrate.log'})")


def test_a_server_that_would_fail_at_the_first_document_is_refused_before_it() -> None:
    assert unfitness(180004, "UTF8", "0.8.5") == ""
    assert unfitness(190000, "UTF8", "0.10") == ""
    assert "PostgreSQL 16: Attest needs 18" in unfitness(160014, "UTF8", "0.8.5")
    assert "no extension pgvector" in unfitness(180004, "UTF8", "")
    assert "has pgvector 0.7.4 and needs 0.8" in unfitness(180004, "UTF8", "0.7.4")
