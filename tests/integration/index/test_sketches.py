"""Sketches leave out what is far, never what exists: the exact comparison decides as before."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from store.core.unit_of_work import Store
from store.documents import publication_status
from store.documents.records import Notice
from store.index import dense, lexical, sketches
from store.index.filters import Filter
from tests.integration.index.test_dense_index import Matrix, nearest, put, units

LABELS = Filter(source_types=frozenset({"label"}))


@pytest.fixture(autouse=True)
def worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred chunks count as many; otherwise the numbers of tests would be those of days."""
    monkeypatch.setattr(sketches, "WORTH", 1)
    monkeypatch.setattr(sketches, "CANDIDATES", 4)
    monkeypatch.setattr(sketches, "LEAST", 1)


def clustered(count: int, seed: int = 5) -> Matrix:
    """Unit vectors around a few dozen middles, as topics lie."""
    middles = units(24, seed=seed)
    beside = np.random.default_rng(seed).standard_normal((count, 384)).astype(np.float32) / 30
    vectors = middles[np.arange(count) % 24] + beside
    found: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def found(store: Store, query: Matrix, k: int = 10) -> list[int]:
    with store.reading() as session:
        return [key for key, _ in dense.search(session, query, k, only=LABELS)]


def analyzed(store: Store) -> None:
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(sa.text("ANALYZE"))


def retract(store: Store, chunk_id: int) -> None:
    """Retract the document of this chunk."""
    notice = (Notice(kind="retraction", notice_id="n1"),)
    with store.unit_of_work("test") as work:
        document_id = work.session.execute(
            sa.text(
                "SELECT document_id FROM document_version WHERE id = "
                "(SELECT version_id FROM chunk WHERE id = :id)"
            ),
            {"id": chunk_id},
        ).scalar_one()
        publication_status.lock(work.session, [document_id])
        publication_status.put_notices(work, "pubmed", {document_id: notice}, datetime.now(UTC))
        publication_status.settle(work, [document_id])


def test_the_nearest_are_among_the_candidates(store: Store) -> None:
    vectors = clustered(480)
    keys = put(store, vectors, kind="label")
    analyzed(store)
    shares = []
    for query in clustered(40, seed=5) + units(40, seed=6) / 2:
        right = nearest(vectors, keys, query, 10)
        shares.append(len(set(right) & set(found(store, query))) / 10)
    assert np.mean(shares) >= 0.95
    with store.reading() as session:
        held = sketches.sketches(session).candidates(session, query, 10, np.array(sorted(keys)))
    assert len(held) == 40, "most were left out before PostgreSQL compared"


def test_a_library_without_an_index_is_searched_by_sketches_too(store: Store) -> None:
    vectors = clustered(480)
    keys = put(store, vectors, kind="label")
    analyzed(store)
    whole, shares = lexical.Segment(np.array(sorted(keys)), np.ones(480, np.int32)), []
    for query in clustered(40, seed=5) + units(40, seed=6) / 2:
        with store.reading() as session:
            exact = dense.search(session, query, 10)
            session.info["segments"] = [whole]  # as once their words were looked at
            near = dense.search(session, query, 10)
        assert len(near) == 10
        shares.append(len({key for key, _ in exact} & {key for key, _ in near}) / 10)
    assert np.mean(shares) >= 0.95
    with store.reading() as session:
        held = sketches.sketches(session)._held
    assert len(held.chunks) == 480


def test_vectors_that_differ_in_every_direction_get_longer_sketches(store: Store) -> None:
    put(store, units(900, seed=2), kind="label")
    few = clustered(480)
    put(store, few, kind="pubmed")
    analyzed(store)
    with store.reading() as session:
        many = sketches._axes(session, 1)
    assert len(many) > sketches.LEAST_AXES
    kept = ((units(900, seed=2) @ many.T) ** 2).sum(axis=1).mean()
    assert kept >= 0.7, "of the length of these vectors"


def test_the_directions_are_found_anew_once_there_is_much_else(store: Store) -> None:
    put(store, clustered(200, seed=5), kind="label")
    analyzed(store)
    query = units(1, seed=9)[0]
    found(store, query)
    with store.reading() as session:
        before = sketches.sketches(session)._held
    more = clustered(1_000, seed=77)
    keys = put(store, more, kind="label")
    analyzed(store)
    shares = []
    for one in clustered(30, seed=77):
        right = nearest(more, keys, one, 10)
        shares.append(len(set(right) & set(found(store, one))) / 10)
    assert np.mean(shares) >= 0.95
    with store.reading() as session:
        after = sketches.sketches(session)._held
    assert after.axes is not before.axes
    assert len(after.chunks) == 1_200


def test_what_was_stored_after_the_sketches_is_found(store: Store) -> None:
    put(store, clustered(480), kind="label")
    analyzed(store)
    query = units(1, seed=9)[0]
    found(store, query)
    (fresh,) = put(store, query[None, :], kind="label")
    assert found(store, query)[0] == fresh


def test_more_windows_than_one_of_a_chunk_count_with_the_best(store: Store) -> None:
    vectors = clustered(480)
    keys = put(store, vectors, windows=2, kind="label")
    analyzed(store)
    for place in (0, 7, 301):
        assert found(store, vectors[place])[0] == keys[place // 2]


def test_where_the_candidates_do_not_stand_the_others_are_compared(store: Store) -> None:
    """A filter leaves no fewer rows than exist, whatever was thought to be near."""
    query = units(1, seed=3)[0]
    gone = put(store, units(400, seed=4, toward=query), kind="label")
    stay = put(store, units(30, seed=7, toward=-query), kind="label")
    analyzed(store)
    retract(store, gone[0])
    assert set(found(store, query)) <= set(stay)
    assert len(found(store, query)) == 10


def test_threads_that_grow_it_at_once_find_the_same(store: Store) -> None:
    vectors = clustered(480)
    put(store, vectors, kind="label")
    analyzed(store)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: found(store, vectors[11]), range(8)))
    assert all(answer == answers[0] for answer in answers)


def test_a_full_memory_is_begun_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketches, "MOST_BYTES", 500 * 384)
    vectors = clustered(480)
    keys = put(store, vectors, kind="label")
    others = put(store, units(480, seed=8), kind="pubmed")
    analyzed(store)
    pubmed = Filter(source_types=frozenset({"pubmed"}))
    for _ in range(2):
        assert found(store, vectors[3])[0] == keys[3]
        with store.reading() as session:
            search = dense.search(session, units(480, seed=8)[3], 10, only=pubmed)
            held = sketches.sketches(session)
        assert search[0][0] == others[3]
        assert held._held.codes.size <= 500 * 384


@given(
    windows=st.dictionaries(st.integers(1, 60), st.integers(1, 3), max_size=30),
    listed=st.sets(st.integers(1, 70), max_size=40),
)
def test_the_windows_of_chunks_are_those_that_were_put_there(
    windows: dict[int, int], listed: set[int]
) -> None:
    chunks = np.repeat(np.array(list(windows), np.int64), np.array(list(windows.values()), int))
    codes = np.arange(len(chunks), dtype=np.int8)[:, None].repeat(sketches.LEAST_AXES, axis=1)
    axes = np.eye(sketches.LEAST_AXES, dtype=np.float32)
    held = sketches.held_of(chunks, codes, axes, len(chunks))
    asked = np.array(sorted(listed), np.int64)
    rows, owners, unknown = held.rows(asked)
    right = {key: {n for n, one in enumerate(chunks.tolist()) if one == key} for key in windows}
    got: dict[int, set[int]] = {}
    for row, owner in zip(rows, owners, strict=True):
        got.setdefault(int(asked[owner]), set()).add(int(held.codes[row, 0]))
    assert got == {key: right[key] for key in listed & set(windows)}
    assert set(unknown.tolist()) == listed - set(windows)
