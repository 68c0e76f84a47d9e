"""Plain SQL past SQLAlchemy: the same rows, the same errors, the same transaction."""

from collections.abc import Iterator
from datetime import UTC, date
from typing import cast

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.pq import TransactionStatus
from sqlmodel import Session

from store.direct import DirectSession
from store.models import LexSegment
from store.silence import Impatient
from store.unit_of_work import Store

_TYPES = {
    "int": st.integers(-(2**31), 2**31 - 1),
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "text": st.text(st.characters(blacklist_characters="\x00", blacklist_categories=("Cs",))),
    "boolean": st.booleans(),
    "float8": st.floats(allow_nan=False),
    "numeric": st.decimals(allow_nan=False, allow_infinity=False, places=6),
    "uuid": st.uuids(),
    "date": st.dates(min_value=date(1, 1, 1)),
    "timestamptz": st.datetimes(timezones=st.just(UTC)),
    "bytea": st.binary(),
    "int[]": st.lists(st.integers(0, 9)),
    "text[]": st.lists(st.text(alphabet="a,{}\"\\'é%:", max_size=4)),
    "uuid[]": st.lists(st.uuids(), max_size=3),
}
_ANYTHING = sa.text(
    "SELECT "
    + ", ".join(f'CAST(:p{n} AS {name}) AS "{name}"' for n, name in enumerate(_TYPES))
    + ", '100%' AS percent, '{\"a\": [1.5, null]}'::jsonb AS body"
)


@pytest.fixture
def both(store: Store) -> Iterator[tuple[Session, DirectSession]]:
    with Session(store.engine) as usual, DirectSession(store.engine) as direct:
        yield usual, direct


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.tuples(*(one | st.none() for one in _TYPES.values())))
def test_rows_are_those_of_sqlalchemy(
    both: tuple[Session, DirectSession], values: tuple[object, ...]
) -> None:
    named = {f"p{n}": one for n, one in enumerate(values)}
    usual, direct = (one.execute(_ANYTHING, named).one() for one in both)
    assert tuple(usual) == tuple(direct)
    assert usual._mapping == direct._mapping
    assert [type(one) for one in usual] == [type(one) for one in direct]
    assert direct.percent == "100%"


def test_results_are_read_in_every_way(both: tuple[Session, DirectSession]) -> None:
    series = sa.text("SELECT n, n * :times AS m FROM generate_series(1, :last) AS n ORDER BY n")
    for session in both:

        def rows(last: int, session: Session = session) -> sa.Result[tuple[int, int]]:
            return session.execute(series, {"times": 2, "last": last})

        assert [(row.n, row.m) for row in rows(3)] == [(1, 2), (2, 4), (3, 6)]
        assert rows(2).scalars().all() == [1, 2]
        assert rows(1).scalar_one() == 1
        assert rows(0).one_or_none() is None
        assert rows(0).first() is None
        assert rows(0).scalar_one_or_none() is None
        assert [dict(one) for one in rows(1).mappings()] == [{"n": 1, "m": 2}]
        with pytest.raises(sa.exc.MultipleResultsFound):
            rows(2).one()
        with pytest.raises(sa.exc.NoResultFound):
            rows(0).one()
        with pytest.raises(AttributeError):
            rows(1).one().o  # noqa: B018


def test_a_statement_without_rows(both: tuple[Session, DirectSession]) -> None:
    _, direct = both
    direct.execute(sa.text("SET LOCAL statement_timeout = '9s'"))
    assert direct.execute(sa.text("SHOW statement_timeout")).scalar_one() == "9s"


def test_rows_without_a_column_are_rows(both: tuple[Session, DirectSession]) -> None:
    """ "SELECT FROM ... FOR SHARE" asks whether a row is there, and locks it."""
    for session in both:
        assert [tuple(one) for one in session.execute(sa.text("SELECT FROM (VALUES (1)) t"))] == [
            ()
        ]
        assert session.execute(sa.text("SELECT FROM (VALUES (1)) t")).one_or_none() is not None
        assert session.execute(sa.text("SELECT WHERE false")).one_or_none() is None


def test_what_sqlalchemy_has_a_part_in_goes_through_it(store: Store) -> None:
    typed = sa.text("SELECT :body AS body").bindparams(sa.bindparam("body", type_=sa.JSON))
    given_already = sa.text("SELECT CAST(:n AS int)").bindparams(n=4)
    with DirectSession(store.engine) as direct:
        assert direct.execute(typed, {"body": {"a": 1}}).scalar_one() == {"a": 1}
        assert direct.execute(given_already).scalar_one() == 4
        assert direct.execute(sa.select(sa.literal(5))).scalar_one() == 5


def test_both_ways_are_one_transaction(store: Store) -> None:
    segment = LexSegment(level=0, term_rule="r", chunks=0, length_sum=0, chunk_ids=b"", lengths=b"")
    count = sa.text("SELECT count(*) FROM lex_segment WHERE term_rule = 'r'")
    with DirectSession(store.engine) as direct:
        direct.add(segment)
        direct.flush()
        assert direct.execute(count).scalar_one() == 1
        direct.rollback()
        assert direct.execute(count).scalar_one() == 0


def test_errors_are_sqlalchemys_and_name_no_values(store: Store) -> None:
    """Callers catch those; values are words of people (invariant 11)."""
    with DirectSession(store.engine) as direct:
        with pytest.raises(sa.exc.DataError) as caught:
            direct.execute(sa.text("SELECT CAST(CAST(:words AS text) AS int)"), {"words": "Mrs X"})
        assert isinstance(caught.value.orig, psycopg.errors.InvalidTextRepresentation)
        assert "SQL parameters hidden" in str(caught.value)
        assert not caught.value.connection_invalidated
        direct.rollback()
        assert direct.execute(sa.text("SELECT 1")).scalar_one() == 1


def test_what_changes_nothing_is_not_asked_for_and_what_does_is_done(store: Store) -> None:
    connection = store.engine.raw_connection()
    sent = cast(Impatient, connection.driver_connection)
    sent.commit()
    sent.rollback()
    sent.autocommit = True
    sent.execute("CREATE TEMP TABLE one (n int)")
    assert sent.info.transaction_status == TransactionStatus.IDLE
    sent.autocommit = False
    sent.execute("INSERT INTO one VALUES (1)")
    with pytest.raises(psycopg.ProgrammingError, match="autocommit"):
        sent.autocommit = True
    sent.commit()
    sent.execute("INSERT INTO one VALUES (2)")
    sent.rollback()
    assert sent.execute("SELECT n FROM one").fetchall() == [(1,)]
    connection.close()


def test_a_lost_connection_is_given_up_and_the_next_one_stands(store: Store) -> None:
    with DirectSession(store.engine) as direct:
        with pytest.raises(sa.exc.OperationalError) as caught:
            direct.execute(sa.text("SELECT pg_terminate_backend(pg_backend_pid())"))
        assert caught.value.connection_invalidated
    with DirectSession(store.engine) as direct:
        assert direct.execute(sa.text("SELECT 1")).scalar_one() == 1
