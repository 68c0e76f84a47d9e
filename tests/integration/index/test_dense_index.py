"""The dense index: exact among few windows, HNSW among many, and never fewer rows than exist."""

import threading
from collections.abc import Iterator, Sequence
from uuid import uuid4

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlmodel import Session

from store.core.spans import Structure
from store.core.unit_of_work import Store
from store.documents.documents import put_versions
from store.documents.records import SourceRecord
from store.index import dense
from store.index.filters import Filter
from store.index.sizes import HNSW_INDEX, sizes
from tests.servers import wait_until

EMPTY = Structure(sections=(), paragraphs=(), sentences=())
Matrix = NDArray[np.float32]


def units(count: int, seed: int = 3, toward: Matrix | float = 0.0) -> Matrix:
    """Random unit vectors, those with `toward` in its half of the space."""
    vectors = np.random.default_rng(seed).standard_normal((count, 384)).astype(np.float32)
    vectors += 20 * toward
    found: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def put(store: Store, vectors: Matrix, *, windows: int = 1, kind: str = "pubmed") -> list[int]:
    """One document whose chunks have `windows` windows each; gives the chunks' ids."""
    record = SourceRecord(source_type=kind, title="t", text="x", source_key=str(uuid4()))
    with store.unit_of_work("test") as work:
        (stored,) = put_versions(work, [(record, EMPTY)])
        keys = (
            work.session.execute(
                sa.text(
                    'INSERT INTO chunk (version_id, ordinal, section, start, "end") '
                    "SELECT :id, n, '', n, n + 1 FROM generate_series(1, :count) AS n RETURNING id"
                ),
                {"id": stored.version_id, "count": len(vectors) // windows},
            )
            .scalars()
            .all()
        )
        owners = np.repeat(keys, windows).tolist()
        rows = [(key, 0, 1, vector) for key, vector in zip(owners, vectors, strict=True)]
        dense.write_vectors(work.session, rows)
    return list(keys)


def autocommit(store: Store) -> sa.Connection:
    return store.engine.connect().execution_options(isolation_level="AUTOCOMMIT")


def build(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the index built though the table is small."""
    monkeypatch.setattr(dense, "EXACT_ROWS", 1)
    with autocommit(store) as db:
        db.execute(sa.text("ANALYZE"))
        assert dense.ensure_index(db)


def by_index(store: Store) -> Iterator[Session]:
    """A session whose searches use the index."""
    with store.reading() as session:
        session.execute(sa.text("SET LOCAL enable_seqscan = off"))
        yield session


def nearest(vectors: Matrix, keys: Sequence[int], query: Matrix, k: int) -> list[int]:
    order = np.argsort(-(vectors @ query), kind="stable")
    return [keys[place] for place in order[:k]]


def test_a_chunk_counts_once_with_its_best_window(store: Store) -> None:
    vectors = units(60)
    keys = put(store, vectors, windows=3)
    query = units(1, seed=4)[0]
    best = (vectors @ query).reshape(20, 3).max(axis=1)
    with store.reading() as session:
        found = dense.search(session, query, 20)
    assert [key for key, _ in found] == [keys[place] for place in np.argsort(-best)]
    assert [similarity for _, similarity in found] == pytest.approx(
        np.sort(best)[::-1].tolist(), abs=2e-3
    )


def test_the_index_is_built_once_and_only_where_there_are_many_windows(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, units(30))
    with autocommit(store) as db:
        db.execute(sa.text("ANALYZE"))
        assert not dense.ensure_index(db)
        monkeypatch.setattr(dense, "EXACT_ROWS", 30)
        assert dense.ensure_index(db)
        assert not dense.ensure_index(db)


def interrupted(store: Store) -> None:
    """Leave the index as a CREATE INDEX CONCURRENTLY that was cut short leaves it."""
    with autocommit(store) as db:
        db.execute(
            sa.text(
                "UPDATE pg_index SET indisvalid = false "
                f"WHERE indexrelid = '{HNSW_INDEX}'::regclass"
            )
        )


def test_an_index_whose_building_was_interrupted_is_built_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, units(30))
    build(store, monkeypatch)
    interrupted(store)
    with store.reading() as session:
        assert not sizes(session).indexed
    with autocommit(store) as db:
        assert dense.ensure_index(db)
        assert not dense.ensure_index(db)
    with store.reading() as session:
        assert sizes(session).indexed


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_index_that_somebody_is_building_is_left_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch, by_hand: bool
) -> None:
    """It is not valid until the building ends, and that waits here for an open transaction."""
    put(store, units(30))
    monkeypatch.setattr(dense, "EXACT_ROWS", 1)
    built: list[bool] = []
    with autocommit(store) as db, store.engine.connect() as holding:
        db.execute(sa.text("ANALYZE"))
        holding.execute(sa.text("LOCK TABLE chunk_vector IN ROW EXCLUSIVE MODE"))

        def build_it() -> None:
            with autocommit(store) as other:
                if by_hand:
                    other.execute(sa.text(dense.CREATE_INDEX))
                built.append(by_hand or dense.ensure_index(other))

        builder = threading.Thread(target=build_it)
        builder.start()
        there = sa.text(f"SELECT to_regclass('{HNSW_INDEX}') IS NOT NULL")
        wait_until(lambda: bool(db.execute(there).scalar_one()), 60, "the building has begun")
        assert not dense.ensure_index(db)
        holding.rollback()
        builder.join(timeout=30)
    assert built == [True]
    with store.reading() as session:
        assert sizes(session).indexed


def test_the_index_finds_what_a_look_at_every_window_finds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = units(600)
    keys = put(store, vectors)
    build(store, monkeypatch)
    right = found = 0
    for session in by_index(store):
        for query in units(20, seed=5):
            got = [key for key, _ in dense.search(session, query, 10)]
            right += len(set(got) & set(nearest(vectors, keys, query, 10)))
            found += len(got)
        plan = "\n".join(
            session.execute(
                sa.text(
                    "EXPLAIN SELECT chunk_id FROM chunk_vector "
                    f"ORDER BY embedding <#> '{units(1)[0].tolist()}' LIMIT 10"
                )
            ).scalars()
        )
    assert HNSW_INDEX in plan
    assert found == 200
    assert right >= 190


def test_where_the_index_gives_up_the_rest_is_compared_one_by_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pgvector 259: what an index scan leaves out must not be missing from the answer."""
    query = units(1, seed=6)[0]
    others = put(store, units(400, toward=query))
    far = put(store, units(25, seed=7, toward=-query), kind="label")
    build(store, monkeypatch)
    labels = Filter(source_types=frozenset({"label"}))
    monkeypatch.setattr(dense, "few", _many_at_first)
    for session in by_index(store):
        session.execute(sa.text("SET LOCAL hnsw.max_scan_tuples = 1"))
        found = dense.search(session, query, 20, only=labels)
        everything = dense.search(session, query, 425)
    assert len(found) == 20
    assert {key for key, _ in found} <= set(far)
    assert {key for key, _ in everything} == {*others, *far}


def _many_at_first(*_: object, likely: bool = False) -> None:
    """A planner that expects many, and too many to list when it comes to it."""


def test_without_an_index_what_is_no_longer_current_is_passed_over_however_much_is_near(
    store: Store,
) -> None:
    query = units(1, seed=6)[0]
    near, far = units(400, toward=query), units(9, seed=7)
    gone, held = put(store, near, windows=2), put(store, far)
    with store.unit_of_work("test") as work:
        work.session.execute(
            sa.text(
                "UPDATE document_version SET status = 'superseded' "
                "WHERE id = (SELECT version_id FROM chunk WHERE id = :one)"
            ),
            {"one": gone[0]},
        )
    with store.reading() as session:
        found = [key for key, _ in dense.search(session, query, 5)]
        everything = [key for key, _ in dense.search(session, query, 50)]
    assert found == nearest(far, held, query, 5)
    assert everything == nearest(far, held, query, 9)


def test_vectors_written_after_the_index_was_built_are_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, units(300))
    build(store, monkeypatch)
    fresh = units(1, seed=8)
    (key,) = put(store, fresh)
    for session in by_index(store):
        assert dense.search(session, fresh[0], 1)[0][0] == key


def test_a_rolled_back_write_leaves_nothing(store: Store) -> None:
    keys = put(store, units(2))

    def fail() -> None:
        with store.unit_of_work("test") as work:
            dense.write_vectors(work.session, [(keys[0], 0, 1, units(1, seed=9)[0])])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.reading() as session:
        similarities = [score for _, score in dense.search(session, units(1, seed=9)[0], 5)]
    assert max(similarities) < 0.9
