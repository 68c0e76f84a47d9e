"""Adds partitions of the index, moves segments between servers, tells what is where (ADR 0050).

Questions run meanwhile. Each step may be repeated after a crash.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from uuid import UUID

import numpy as np
import psycopg
import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import Store, UnitOfWork
from store.index import merging
from store.index.dense import require_encoder
from store.index.partitions import PartitionAway, WrongServer
from store.index.writing import NEW_CHUNKS

MAIN = "main"
"""The first server, which is no partition and holds what is on none."""
State = Literal["adding", "active", "rebuilding", "off"]

SCHEMA = """
    CREATE EXTENSION IF NOT EXISTS vector;
    CREATE TABLE IF NOT EXISTS index_partition (
        name varchar PRIMARY KEY, state varchar NOT NULL, moves bigint NOT NULL);
    CREATE TABLE IF NOT EXISTS chunk (id bigint PRIMARY KEY, version_id uuid NOT NULL);
    CREATE INDEX IF NOT EXISTS chunk_version ON chunk (version_id);
    CREATE TABLE IF NOT EXISTS chunk_vector (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        chunk_id bigint NOT NULL REFERENCES chunk ON DELETE CASCADE,
        start integer NOT NULL, "end" integer NOT NULL, embedding halfvec(384) NOT NULL);
    CREATE INDEX IF NOT EXISTS chunk_vector_chunk ON chunk_vector (chunk_id);
    CREATE TABLE IF NOT EXISTS index_encoder (
        "only" boolean PRIMARY KEY CHECK ("only"), name varchar NOT NULL,
        dimensions integer NOT NULL);
    CREATE TABLE IF NOT EXISTS lex_segment (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, level integer NOT NULL,
        term_rule varchar NOT NULL, chunks integer NOT NULL, length_sum bigint NOT NULL,
        chunk_ids bytea NOT NULL, lengths bytea NOT NULL);
    CREATE TABLE IF NOT EXISTS lex_posting (
        term integer NOT NULL, segment_id bigint NOT NULL REFERENCES lex_segment ON DELETE CASCADE,
        chunks integer NOT NULL, ordinals bytea NOT NULL, frequencies bytea NOT NULL,
        PRIMARY KEY (term, segment_id));
    CREATE INDEX IF NOT EXISTS lex_posting_segment ON lex_posting (segment_id);
    ALTER TABLE lex_posting ALTER ordinals SET STORAGE EXTERNAL,
        ALTER frequencies SET STORAGE EXTERNAL;
"""
"""The tables of an index as the migrations leave them, without the texts: chunks are ids."""


class NoPartition(LookupError):
    """There is no such partition."""


@dataclass(frozen=True)
class Listed:
    """A partition: how many versions are recorded there, and how many chunks it has; None: away."""

    name: str
    state: str
    versions: int
    chunks: int | None


def listed(store: Store) -> list[Listed]:
    """All partitions, by name."""
    with store.reading() as session:
        rows = session.execute(
            sa.text(
                "SELECT p.name, p.state, (SELECT count(*) FROM version_partition v "
                "WHERE v.name = p.name) AS versions FROM index_partition p ORDER BY p.name"
            )
        ).all()
    return [Listed(row.name, row.state, row.versions, _chunks(store, row.name)) for row in rows]


def _chunks(store: Store, name: str) -> int | None:
    try:
        with Session(store.servers.reading(name)) as session:
            found: int = session.execute(_COUNT).scalar_one()
            return found
    except (PartitionAway, sa.exc.DBAPIError):  # no server, or no table yet
        return None


_COUNT = sa.text("SELECT coalesce(sum(chunks), 0) FROM lex_segment")


def add(store: Store, name: str, actor: str) -> None:
    """Make a database a partition, or turn one on again; `ATTEST_PARTITIONS` has its URL.

    Raises:
        PartitionAway: it does not answer, or no URL is set.
        WrongServer: it is another partition.
    """
    store.servers.writing(name)  # no row of a name that has no URL
    with store.unit_of_work(actor) as work:
        work.session.execute(
            sa.text(
                "INSERT INTO index_partition (name, state) VALUES (:name, 'adding') "
                "ON CONFLICT DO NOTHING"
            ),
            {"name": name},
        )
    prepare(store, name)
    set_state(store, name, "active", actor)


def prepare(store: Store, name: str) -> None:
    """Make the tables of a partition where they are lacking. Raises as `add` does."""
    with store.servers.transaction(name) as session:
        session.execute(sa.text(SCHEMA))
        session.execute(
            sa.text(
                "INSERT INTO index_partition SELECT :name, 'active', 0 "
                "WHERE NOT EXISTS (SELECT FROM index_partition)"
            ),
            {"name": name},
        )
        known = session.execute(sa.text("SELECT name FROM index_partition")).scalar_one()
        if known != name:
            raise WrongServer(f"ATTEST_PARTITIONS: the URL of {name} leads to {known}")


def set_state(store: Store, name: str, state: State, actor: str) -> None:
    """Change what a partition takes part in; the audit log tells.

    Raises:
        NoPartition: there is none of this name.
    """
    with store.unit_of_work(actor) as work:
        changed = work.session.execute(
            sa.text("UPDATE index_partition SET state = :state WHERE name = :name RETURNING name"),
            {"state": state, "name": name},
        ).one_or_none()
        if changed is None:
            raise NoPartition(f"there is no partition {name}: `attest partitions list` has all")
        work.record(f"partition.{state}", name)


def move(
    store: Store,
    source: str,
    target: str,
    actor: str,
    *,
    most: int | None = None,
    told: Callable[[int], None] = lambda _: None,
) -> int:
    """Move segments with their vectors from one server to another, oldest first; returns how many
    chunks went. `main` is the first server.

    A segment is copied and committed there, then counted as a move, then deleted here. A search
    counts what it sees twice once, and begins again if a move was counted while it began.

    Args:
        most: about how many chunks, at most; None: all.
        told: is told of the chunks that went so far.

    Raises:
        PartitionAway: one of the servers does not answer.
        EncoderMismatch: the target has vectors of another encoder.
        ValueError: both are the same.
    """
    if source == target:
        raise ValueError("a move is between two servers")
    gone = 0
    with _unmerged(store, source), _unmerged(store, target):
        while most is None or gone < most:
            chunks = _move_oldest(store, source, target, actor)
            if not chunks:
                break
            gone += chunks
            told(gone)
    return gone


@contextmanager
def _unmerged(store: Store, name: str) -> Iterator[None]:
    """No segments of a server are merged until the block ends: it knows them by their chunks."""
    engine = store.engine if name == MAIN else store.servers.writing(name)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        key = {"key": merging.MERGE_LOCK}
        connection.execute(sa.text("SELECT pg_advisory_lock(:key)"), key)
        try:
            yield
        finally:
            connection.execute(sa.text("SELECT pg_advisory_unlock(:key)"), key)


@contextmanager
def _transaction(store: Store, name: str) -> Iterator[Session]:
    if name != MAIN:
        with store.servers.transaction(name) as session:
            yield session
        return
    with Session(store.engine) as session:
        yield session
        session.commit()


def _move_oldest(store: Store, source: str, target: str, actor: str) -> int:
    with _transaction(store, source) as here:
        segment = here.execute(_OLDEST).one_or_none()
        if segment is None:
            return 0
        ids = np.frombuffer(segment.chunk_ids, np.int64).tolist()
        with _transaction(store, target) as there:
            if not there.execute(_HELD, {"ids": ids[:1]}).scalar_one():
                _copy(here, there, segment, ids, known=target == MAIN)
        with store.unit_of_work(actor) as work:
            versions = list(here.execute(_VERSIONS, {"ids": ids}).scalars())
            _record(work, versions, {source, target} - {MAIN}, target)
        here.execute(_FORGET_VECTORS, {"ids": ids})
        if source != MAIN:
            here.execute(sa.text("DELETE FROM chunk WHERE id = ANY(:ids)"), {"ids": ids})
        here.execute(sa.text("DELETE FROM lex_segment WHERE id = :id"), {"id": segment.id})
    return len(ids) or 1


_OLDEST = sa.text("SELECT * FROM lex_segment ORDER BY id LIMIT 1")
_HELD = sa.text("SELECT EXISTS (SELECT FROM chunk_vector WHERE chunk_id = ANY(:ids))")
_VERSIONS = sa.text("SELECT DISTINCT version_id FROM chunk WHERE id = ANY(:ids)")
_FORGET_VECTORS = sa.text("DELETE FROM chunk_vector WHERE chunk_id = ANY(:ids)")


def _record(work: UnitOfWork, versions: list[UUID], names: set[str], target: str) -> None:
    values: Mapping[str, Any] = {"versions": versions, "name": target, "names": sorted(names)}
    if target == MAIN:
        work.session.execute(
            sa.text("DELETE FROM version_partition WHERE version_id = ANY(:versions)"), values
        )
    else:
        work.session.execute(
            sa.text(
                "INSERT INTO version_partition SELECT unnest(CAST(:versions AS uuid[])), :name "
                "ON CONFLICT (version_id) DO UPDATE SET name = excluded.name"
            ),
            values,
        )
    work.session.execute(
        sa.text("UPDATE index_partition SET moves = moves + 1 WHERE name = ANY(:names)"), values
    )
    work.record("partition.moved", target, versions=len(versions))


def _copy(here: Session, there: Session, segment: Any, ids: list[int], *, known: bool) -> None:
    """Copy a segment, its vectors and, unless they are `known` there, its chunks."""
    encoder = here.execute(sa.text("SELECT name, dimensions FROM index_encoder")).one()
    require_encoder(there, encoder.name, encoder.dimensions)
    if not known:
        rows = here.execute(
            sa.text("SELECT id, version_id FROM chunk WHERE id = ANY(:ids)"), {"ids": ids}
        ).all()
        there.execute(
            NEW_CHUNKS,
            {"ids": [row.id for row in rows], "versions": [row.version_id for row in rows]},
        )
    values = {
        name: value
        for name, value in segment._asdict().items()
        if name in ("level", "term_rule", "chunks", "length_sum", "chunk_ids", "lengths")
    }
    new = there.execute(
        sa.text(
            "INSERT INTO lex_segment (level, term_rule, chunks, length_sum, chunk_ids, lengths) "
            "VALUES (:level, :term_rule, :chunks, :length_sum, :chunk_ids, :lengths) RETURNING id"
        ),
        values,
    ).scalar_one()
    stream = partial(_stream, _driver(here), _driver(there))
    listed = ",".join(map(str, ids))
    stream(
        'SELECT chunk_id, start, "end", embedding FROM chunk_vector '  # noqa: S608  numbers
        f"WHERE chunk_id = ANY('{{{listed}}}') ORDER BY id",
        'chunk_vector (chunk_id, start, "end", embedding)',
    )
    stream(
        f"SELECT term, CAST({int(new)} AS bigint), chunks, ordinals, frequencies "  # noqa: S608
        f"FROM lex_posting WHERE segment_id = {int(segment.id)} ORDER BY term",
        "lex_posting (term, segment_id, chunks, ordinals, frequencies)",
    )


def _stream(
    here: psycopg.Connection[Any], there: psycopg.Connection[Any], query: str, table: str
) -> None:
    """Copy rows from one server into a table of another, without keeping them."""
    with (
        here.cursor() as reader,
        there.cursor() as writer,
        reader.copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)") as rows,
        writer.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy,
    ):
        for part in rows:
            copy.write(part)


def _driver(session: Session) -> psycopg.Connection[Any]:
    driver = session.connection().connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver
