"""Exact BM25 in PostgreSQL: the same scores as the formula, whatever was merged or deleted."""

import math
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from scheduler.jobs import merge_segments, renew_segments
from store.core.spans import Section, Structure
from store.core.unit_of_work import Store
from store.documents.documents import put_versions
from store.documents.records import SourceRecord
from store.index import lexical, merging
from store.index.bm25 import K1, B
from store.index.terms import terms
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker

WORDS = [f"w{number}" for number in range(60)]


def chunk_ids(store: Store, count: int) -> list[int]:
    """Rows for `count` chunks, because a segment drops the ids that do not exist."""
    record = SourceRecord(title="t", text="x" * (count + 1), source_key=str(uuid4()))
    structure = Structure(
        sections=(Section(title="", start=0, end=count + 1),), paragraphs=(), sentences=()
    )
    with store.unit_of_work("test") as work:
        (stored,) = put_versions(work, [(record, structure)])
        rows = work.session.execute(
            sa.text(
                'INSERT INTO chunk (version_id, ordinal, section, start, "end") '
                "SELECT :version, n, '', n, n + 1 FROM generate_series(0, :last) AS n RETURNING id"
            ),
            {"version": stored.version_id, "last": count - 1},
        )
        return [row.id for row in rows]


def write(store: Store, chunks: list[tuple[int, Counter[int]]]) -> None:
    with store.unit_of_work("test") as work:
        lexical.write_segment(work.session, chunks)


def expected(chunks: list[tuple[int, Counter[int]]], query: list[int]) -> dict[int, float]:
    """BM25 as Robertson and Zaragoza write it, the slow way."""
    mean = sum(sum(counts.values()) for _, counts in chunks) / len(chunks)
    scores = {}
    for key, counts in chunks:
        score = 0.0
        for term in query:
            df = sum(term in other for _, other in chunks)
            idf = math.log(1 + (len(chunks) - df + 0.5) / (df + 0.5))
            tf = counts[term]
            norm = K1 * (1 - B + B * sum(counts.values()) / mean)
            score += idf * tf * (K1 + 1) / (tf + norm)
        if score > 0:
            scores[key] = score
    return scores


def found(store: Store, query: list[int]) -> dict[int, float]:
    with store.reading() as session:
        return dict(lexical.search(session, query, 1000, {}))


@pytest.fixture
def filled(store: Store) -> list[tuple[int, Counter[int]]]:
    """120 chunks in 40 segments."""
    rng = random.Random(7)
    chunks = [
        (key, terms(" ".join(rng.choices(WORDS, k=rng.randint(3, 40)))))
        for key in chunk_ids(store, 120)
    ]
    for first in range(0, 120, 3):
        write(store, chunks[first : first + 3])
    return chunks


QUERY = list(terms("w1 w7 w30 w31 absent"))


def test_scores_equal_the_formula_over_many_segments(
    store: Store, filled: list[tuple[int, Counter[int]]]
) -> None:
    assert found(store, QUERY) == pytest.approx(expected(filled, QUERY), rel=1e-4)


def test_merging_changes_no_score_and_leaves_few_segments(
    store: Store, filled: list[tuple[int, Counter[int]]]
) -> None:
    before = found(store, QUERY)
    merged = True
    while merged:
        with store.unit_of_work("test") as work:
            merged = merging.merge(work.session)
    assert found(store, QUERY) == pytest.approx(before, rel=1e-5)
    with store.reading() as session:
        count = session.execute(sa.text("SELECT count(*) FROM lex_segment")).scalar_one()
    assert count < merging.MERGE_FACTOR


def test_merging_drops_chunks_that_are_gone(
    store: Store, filled: list[tuple[int, Counter[int]]]
) -> None:
    gone = {key for key, _ in filled[:10]}
    with store.unit_of_work("test") as work:
        work.session.execute(sa.text("DELETE FROM chunk WHERE id = ANY(:ids)"), {"ids": list(gone)})
    merged = True
    while merged:
        with store.unit_of_work("test") as work:
            merged = merging.merge(work.session)
    left = [(key, counts) for key, counts in filled if key not in gone]
    with store.reading() as session:
        total = session.execute(sa.text("SELECT sum(chunks) FROM lex_segment")).scalar_one()
    assert total == len(left)
    assert found(store, QUERY) == pytest.approx(expected(left, QUERY), rel=1e-4)


def test_chunks_without_a_term_are_chunks_like_others(store: Store) -> None:
    """A page of signs or of words of grammar alone: its message died in embed."""
    keys = chunk_ids(store, 20)
    silent = [(key, terms("of the — ≥")) for key in keys[:16]]
    for one in silent:
        write(store, [one])
    assert found(store, QUERY) == {}
    while merge_once(store):
        pass
    assert found(store, QUERY) == {}
    telling = [(key, terms("w1 w7 w7")) for key in keys[16:]]
    write(store, telling)
    assert found(store, QUERY) == pytest.approx(expected([*silent, *telling], QUERY), rel=1e-4)


def merge_once(store: Store) -> bool:
    with store.unit_of_work("test") as work:
        return merging.merge(work.session)


def test_a_rolled_back_write_leaves_nothing(store: Store) -> None:
    keys = chunk_ids(store, 2)

    def fail() -> None:
        with store.unit_of_work("test") as work:
            lexical.write_segment(work.session, [(key, terms("w1 w2")) for key in keys])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert found(store, QUERY) == {}


def test_a_search_sees_one_snapshot_while_segments_are_merged(
    store: Store, filled: list[tuple[int, Counter[int]]]
) -> None:
    with store.reading() as session:
        before = dict(lexical.search(session, QUERY, 1000, {}))
        with store.unit_of_work("test") as work:
            assert merging.merge(work.session)
        assert dict(lexical.search(session, QUERY, 1000, {})) == before


def test_threads_that_share_a_cache_search_right_while_segments_are_merged(
    store: Store, filled: list[tuple[int, Counter[int]]]
) -> None:
    right = found(store, QUERY)
    cache: dict[int, lexical.Segment] = {}
    done = threading.Event()

    def search_on() -> list[dict[int, float]]:
        seen = []
        while not done.is_set():
            with store.reading() as session:
                seen.append(dict(lexical.search(session, QUERY, 1000, cache)))
        return seen

    with ThreadPoolExecutor(3) as pool:
        searching = [pool.submit(search_on) for _ in range(3)]
        for _ in range(2):
            for key, counts in filled[:16]:
                write(store, [(key + 10_000_000, counts)])  # no such chunk: merging drops it again
            merged = True
            while merged:
                with store.unit_of_work("test") as work:
                    merged = merging.merge(work.session)
        done.set()
        results = [scores for future in searching for scores in future.result()]
    assert results
    for scores in results:
        assert {key for key in scores if key < 10_000_000} == set(right)


def test_a_term_weighs_by_its_idf_and_one_that_no_chunk_has_the_most(
    store: Store, filled: list[tuple[int, Counter[int]]]
) -> None:
    with store.reading() as session:
        read = lexical.prepare(session, QUERY, {})
    weights = lexical.weights(read, QUERY)
    for term in QUERY:
        having = sum(term in counts for _, counts in filled)
        idf = math.log(1 + (len(filled) - having + 0.5) / (having + 0.5))
        assert weights[term] == pytest.approx(max(lexical.LEAST_TOLD, idf))
    (absent,) = terms("absent")
    assert weights[absent] == max(weights.values())


def test_an_empty_index_and_an_empty_question_find_nothing(store: Store) -> None:
    assert found(store, QUERY) == {}
    with Session(store.engine) as session:
        nothing = lexical.prepare(session, QUERY, {})
    assert lexical.weights(nothing, []) == {}
    assert lexical.weights(nothing, QUERY[:1]) == {QUERY[0]: lexical.LEAST_TOLD}


def test_nothing_is_remembered_of_a_segment_that_the_snapshot_does_not_hold(
    store: Store, filled: list[tuple[int, Counter[int]]]
) -> None:
    """A thread with an older snapshot may still read it, and would take no postings for none."""
    cache: dict[int, lexical.Segment] = {}
    with store.reading() as session:
        lexical.search(session, QUERY[:1], 1000, cache)
    before = dict(cache)
    with store.unit_of_work("test") as work:
        assert merging.merge(work.session)
    with store.reading() as session:
        after = lexical.search(session, QUERY, 1000, cache)
    assert dict(after) == pytest.approx(expected(filled, QUERY), rel=1e-4)
    gone = before.keys() - cache.keys()
    assert gone
    assert all(before[key].known(QUERY).keys() == {QUERY[0]} for key in gone)


def built_by_other_rules(store: Store) -> None:
    """Leave the index as another release's rules would: its terms are not those of this one."""
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE lex_segment SET term_rule = 'older'"))
        connection.execute(sa.text("UPDATE lex_posting SET term = -1 - term"))


def held(store: Store) -> dict[int, int]:
    """In how many chunks each term of the index is; under 0, how many terms all chunks have."""
    with store.reading() as session:
        rows = session.execute(
            sa.text(
                "SELECT term, sum(chunks) FROM lex_posting GROUP BY term "
                "UNION ALL SELECT -1, sum(length_sum) FROM lex_segment"
            )
        )
        return {term: int(count) for term, count in rows}


def test_an_index_of_other_rules_is_not_searched_until_it_is_written_anew(
    inline: InlineWorker,
) -> None:
    store = inline.store
    for number in range(merging.MERGE_FACTOR):
        words = f"Colectomy in {number} patients was followed by chemotherapy"
        ingest(store, {**TRIAL, "source_key": f"t{number}", "text": words})
        inline.run()
    query = list(terms("colectomy chemotherapy"))
    right, whole = found(store, query), held(store)
    assert right
    built_by_other_rules(store)
    merge_segments(store)  # what is of other rules stays so
    with pytest.raises(lexical.TermsMismatch, match="rules older, this release has"):
        found(store, query)
    renew_segments(store)
    assert found(store, query) == pytest.approx(right, rel=1e-5)
    assert held(store) == whole


def test_a_question_waits_while_the_index_is_of_other_rules_and_is_answered_then(
    inline: InlineWorker,
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    built_by_other_rules(inline.store)
    question_id = ask(inline.store, TRIAL_QUESTION)
    inline.run()
    assert get_question(inline.store, question_id).status in ("queued", "running")
    renew_segments(inline.store)
    with inline.store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE outbox SET not_before = now() WHERE status = 'pending'"))
    inline.run()
    assert get_question(inline.store, question_id).status == "answered"
    with inline.store.reading() as session:
        attempts = session.execute(
            sa.text("SELECT attempts FROM stage_run WHERE stage = 'retrieve'")
        ).scalar_one()
    assert attempts == 1
