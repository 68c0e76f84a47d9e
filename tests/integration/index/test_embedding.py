"""What the embed stage writes: chunks that are their spans, windows that leave nothing out."""

from collections import defaultdict
from itertools import pairwise

import pytest
import sqlalchemy as sa

from store.index import dense
from store.index.sizes import HNSW_INDEX
from store.index.terms import term_set
from store.models import DocumentVersion
from tests.servers import TRIAL, ask, get_question, ingest
from workers.inline import InlineWorker
from workers.retrieve.search import search

ODD = (
    "Dose 5 µg/m² — naïve 👩‍⚕️ arm: e\u0301tude of 𝒳-ray therapy, 10⁹ cells.\n\n"
    "Second paragraph with ﬁne ligatures and a non\u00a0breaking space in colon cancer.\n"
)


def test_dense_windows_cover_every_chunk_without_a_gap(minilm: InlineWorker) -> None:
    long = " ".join(
        f"Sentence {n} reports recurrence in cohort {n} of the trial." for n in range(90)
    )
    ingest(minilm.store, {"title": "Long", "text": long})
    minilm.run()
    with minilm.store.reading() as session:
        chunks = session.execute(sa.text('SELECT id, start, "end" FROM chunk')).all()
        rows = session.execute(
            sa.text('SELECT chunk_id, start, "end" FROM chunk_vector ORDER BY chunk_id, start')
        ).all()
    windows = defaultdict(list)
    for row in rows:
        windows[row.chunk_id].append((row.start, row.end))
    assert max(map(len, windows.values())) > 1, "1,500 characters are more than 256 tokens"
    for chunk in chunks:
        found = windows[chunk.id]
        assert (found[0][0], found[-1][1]) == (chunk.start, chunk.end)
        assert all(before[1] == after[0] for before, after in pairwise(found))


def test_a_passage_tells_which_words_of_the_question_it_holds(minilm: InlineWorker) -> None:
    question = (
        "Does clearance of IL-6 predict naïve recurrence in Dukes' C colon cancer, µg or not?"
    )
    ingest(
        minilm.store,
        {
            "title": "Colon cancer and IL6",
            "text": f"# Methods\n\n{ODD}\n# Results\n\nNothing here.",
        },
        {"title": "Another", "text": "Recurrences were predicted; clearance was not."},
    )
    minilm.run()
    vector = minilm.context.encoder.encode([question])[0]
    with minilm.store.reading() as session:
        passages = search(session, question, vector, {}).passages
    assert len(passages) >= 2
    for one in passages:
        words = f"{one.title}\n{one.section}\n{one.text}"
        assert one.terms == term_set(question) & term_set(words), one.title
    assert all(one.terms for one in passages)


@pytest.mark.requirement("CN-4.1")
def test_cn_4_1_postgresql_and_python_count_the_same_characters(inline: InlineWorker) -> None:
    ingest(inline.store, {"title": "Odd", "text": ODD})
    inline.run()
    vector = inline.context.encoder.encode(["ligatures in colon cancer"])[0]
    with inline.store.reading() as session:
        version = session.execute(sa.select(DocumentVersion)).scalar_one()
        passages = search(session, "ligatures in colon cancer", vector, {}).passages
    assert passages
    for passage in passages:
        assert passage.text == version.text[passage.start : passage.end]


def test_vectors_of_two_encoders_are_never_mixed(
    inline: InlineWorker, minilm: InlineWorker
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    question_id = ask(minilm.store, "What is the endpoint?")
    minilm.run()
    question = get_question(minilm.store, question_id)
    assert question.status == "failed"
    assert question.error is not None
    assert "ATTEST_ENCODER" in question.error


def test_filtered_dense_search_never_returns_fewer_rows_than_exist(inline: InlineWorker) -> None:
    """pgvector 259: an HNSW index that is filtered after the search loses rows."""
    for state in ("Old words about colon cancer.", "New words about colon cancer."):
        ingest(
            inline.store,
            *({"title": f"T{n}", "source_key": f"k{n}", "text": f"{state} {n}"} for n in range(80)),
        )
        inline.run()
    with inline.store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(
            sa.text(
                f"CREATE INDEX {HNSW_INDEX} ON chunk_vector USING hnsw (embedding halfvec_ip_ops)"
            )
        )
    vector = inline.context.encoder.encode(["words about colon cancer"])[0]
    with inline.store.reading() as session:
        session.execute(sa.text("SET LOCAL enable_seqscan = off"))
        found = dense.search(session, vector, 80)
    assert len(found) == 80


def test_as_of_finds_what_was_current_then(inline: InlineWorker) -> None:
    ingest(
        inline.store, {**TRIAL, "text": "The ctDNA trial enrols 100 patients with colon cancer."}
    )
    inline.run()
    with inline.store.engine.connect() as db:
        then = db.execute(sa.text("SELECT clock_timestamp()")).scalar_one()
    ingest(
        inline.store, {**TRIAL, "text": "The ctDNA trial enrols 200 patients with colon cancer."}
    )
    inline.run()
    vector = inline.context.encoder.encode(["enrols patients"])[0]
    with inline.store.reading() as session:
        before = search(session, "enrols patients", vector, {}, as_of=then).passages
        today = search(session, "enrols patients", vector, {}).passages
    assert [passage.n for passage in before] == [1]
    assert [passage.n for passage in today] == [2]
