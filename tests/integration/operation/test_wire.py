"""What a search sends arrives as it was sent, and what it asks together is answered in order."""

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.index.wire import Half, Ids, Link, ask, together

SAME_DATABASE = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)


@SAME_DATABASE
@given(ids=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50))
def test_ids_arrive_as_they_were_sent(store: Store, ids: list[int]) -> None:
    with store.reading() as session:
        rows = ask(
            session,
            "SELECT unnest(CAST(%(ids)s AS bigint[]))",
            {"ids": Ids(np.array(ids, np.int64))},
        ).fetchall()
    assert [key for (key,) in rows] == ids


def test_a_vector_arrives_in_half_precision(store: Store) -> None:
    vector = np.random.default_rng(1).standard_normal(384).astype(np.float32)
    with store.reading() as session:
        ((text,),) = ask(
            session,
            "SELECT CAST(CAST(%(vector)s AS halfvec) AS real[])",
            {"vector": Half(vector)},
        ).fetchall()
    assert text == vector.astype(np.float16).astype(np.float32).tolist()


def test_what_is_asked_together_is_answered_in_the_order_of_asking(store: Store) -> None:
    with store.reading() as session:
        with together(session):
            asked = [ask(session, "SELECT %(n)s::int", {"n": n}) for n in range(5)]
            answers = [cursor.fetchall() for cursor in reversed(asked)]
        assert answers == [[(n,)] for n in reversed(range(5))]
        assert ask(session, "SELECT 7").fetchall() == [(7,)], "and alone again afterwards"


def test_an_error_among_what_is_asked_together_is_raised(store: Store) -> None:
    def fail() -> None:
        with store.reading() as session, together(session):
            ask(session, "SELECT 1 / 0")
            ask(session, "SELECT 1").fetchall()

    with pytest.raises(psycopg.errors.DivisionByZero):
        fail()
    with store.reading() as session:
        assert ask(session, "SELECT 1").fetchall() == [(1,)]


def test_searches_do_not_keep_what_they_set(store: Store) -> None:
    """Settings of one search hold until its transaction ends, not for whom the connection serves
    next."""
    with store.reading() as session, together(session):
        ask(session, "SELECT set_config('hnsw.ef_search', '777', true)")
    with store.reading() as session:
        rows = ask(session, "SELECT current_setting('hnsw.ef_search', true)").fetchall()
    assert rows != [("777",)]


def test_a_link_reads_one_snapshot_until_it_rests_and_writes_nothing(settings: Settings) -> None:
    writer, reader = connect(settings.database_url), connect(settings.database_url, snapshots=True)
    count = "SELECT count(*) FROM lex_segment"
    link = Link(reader)
    assert ask(link, count).fetchall() == [(0,)]
    with writer.begin() as connection:
        connection.execute(
            sa.text("INSERT INTO lex_segment (level, term_rule, chunks, length_sum, chunk_ids, "
                    "lengths) VALUES (0, 'x', 0, 0, '', '')")
        )  # fmt: skip
    assert ask(link, count).fetchall() == [(0,)]
    last = ask(link, "SELECT 7")
    link.rest()
    assert last.fetchall() == [(7,)], "what was asked is there without waiting"
    assert ask(link, count).fetchall() == [(1,)]
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        ask(link, "DELETE FROM lex_segment").fetchall()
    link.drop()
    other = Link(reader)
    assert ask(other, count).fetchall() == [(1,)]
    other.close()
    writer.dispose()
    reader.dispose()
