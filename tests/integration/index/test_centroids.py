"""Where documents lie: at the mean of the windows of their found chunks, and of no others."""

import numpy as np
import pytest
import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import Store
from store.index.centroids import Centroids, centroids
from store.index.wire import Ids
from tests.integration.index.test_dense_index import put, units
from tests.servers import TRIAL, ingest
from workers.inline import InlineWorker
from workers.retrieve.search import search


def lie(session: Session, *keys: int) -> Centroids:
    return centroids(session, Ids(np.array(keys, np.int64)))()


def test_a_document_lies_at_the_mean_of_the_windows_of_its_found_chunks(store: Store) -> None:
    vectors = units(6)
    first, second, _ = put(store, vectors, windows=2)
    with store.reading() as session:
        rows, found = lie(session, second, first)
    mean = vectors[:4].mean(axis=0)
    assert rows == {first: 0, second: 0}
    assert found[0] == pytest.approx(mean / np.linalg.norm(mean), abs=2e-3), "half precision"


def test_each_chunk_knows_the_row_of_its_document(store: Store) -> None:
    vectors = units(3)
    (alone,), others = put(store, vectors[:1]), put(store, vectors[1:])
    with store.reading() as session:
        rows, found = lie(session, others[1], alone, others[0])
    assert found.shape == (2, 384)
    assert found[rows[alone]] == pytest.approx(vectors[0], abs=2e-3)
    assert rows[others[0]] == rows[others[1]] != rows[alone]


def test_chunks_without_vectors_lie_nowhere(store: Store) -> None:
    (key,) = put(store, units(1))
    with store.unit_of_work("test") as work:
        work.session.execute(sa.text("DELETE FROM chunk_vector"))
    with store.reading() as session:
        rows, found = lie(session, key)
        assert not lie(session)[1].any()
    assert rows == {key: 0}
    assert not found.any()


def test_a_name_is_found_as_it_is_written_elsewhere(inline: InlineWorker) -> None:
    ingest(
        inline.store,
        {**TRIAL, "source_key": "1", "title": "Cytokines", "text": "Levels of IL-6 fell."},
        {**TRIAL, "source_key": "2", "title": "Cytokines", "text": "Levels of TNF-α rose."},
    )
    inline.run()
    for asked, words in (("IL6", "IL-6"), ("TNFalpha TNF alpha", "TNF-α")):
        vector = inline.context.encoder.encode([asked])[0]
        with inline.store.reading() as session:
            best, *others = search(session, asked, vector, {}).passages
        assert words in best.text
        assert best.fused.lexical is not None
        assert all(other.fused.score <= best.fused.score for other in others)
