"""A question on its way to evidence, with the real encoder, PostgreSQL and records of our own."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
import structlog
from sqlmodel import Session

from knowledge.scenarios import Entry, scenarios
from knowledge.subjects.tagging import vocabulary_version
from scheduler.jobs import retag_versions
from store.core.unit_of_work import Store
from store.documents.tags import retag
from store.models import Retrieval
from tests.integration.evidence.test_findings import Stub, page
from tests.servers import ask, ingest
from workers.inline import InlineWorker

SENTENCE = (
    "Apixaban against warfarin for anticoagulation in atrial fibrillation with chronic kidney "
    "disease: strokes, bleeding and its monitoring are told of in this made-up paragraph."
)
LONG = """
A 78-year-old woman with persistent atrial fibrillation diagnosed four years ago, chronic kidney
disease stage 4 with an eGFR of 24 mL/min/1.73 m2, hypertension and a body weight of 58 kg was
admitted nine weeks ago with a lower gastrointestinal bleed from angiodysplasia that needed two
units of red cells and endoscopic treatment. She had been taking warfarin with an INR that was
often above the target range, and it was stopped on admission. Her haemoglobin has been stable at
10.8 g/dL for six weeks. She has no history of stroke, no diabetes and no heart failure, and her
CHA2DS2-VASc score is 4 while her HAS-BLED score is 4 as well. Her family worries about another
bleed, but she is afraid of a stroke. Her cardiologist would like to restart anticoagulation, and
asks whether apixaban is preferable to warfarin or rivaroxaban at this kidney function, which dose
should be used, how soon after the gastrointestinal bleed treatment can be started again, how
kidney function and haemoglobin should be monitored afterwards, whether she needs any other
examination before that, and whether left atrial appendage occlusion would be a reasonable
alternative if she bleeds again on a reduced dose of the drug.
"""
SHORT = "Which anticoagulant is best in atrial fibrillation with chronic kidney disease?"


@pytest.fixture
def worker(minilm: InlineWorker) -> InlineWorker:
    return minilm


def entries() -> tuple[Entry, ...]:
    (pack,) = [one for one in scenarios() if one.name == "af_ckd"]
    return pack.usable()


def of_entry(entry: Entry) -> dict[str, Any]:
    """A record that is this work by its identifiers, in words of our own."""
    kinds = {
        "guideline": ("guideline", "Practice Guideline"),
        "systematic_review": ("pubmed", "Systematic Review"),
        "pivotal_trial": ("pubmed", "Randomized Controlled Trial"),
        "cohort": ("pubmed", "Observational Study"),
    }
    source_type, publication_type = kinds[entry.kind]
    identifiers = {
        kind: value for kind, value in entry.identifiers().items() if kind in ("pmid", "doi")
    }
    return {
        "source_type": source_type,
        "source_key": f"made-up:{entry.title}",
        "title": entry.title,
        "text": f"{SENTENCE} {entry.title}.",
        "identifiers": identifiers,
        "publication_type": publication_type,
        "published_at": f"{entry.year}-01-01T00:00:00Z",
    }


def retrieve(worker: InlineWorker, text: str, **options: Any) -> tuple[UUID, Mapping[str, Any]]:
    question_id = ask(worker.store, text, **options)
    worker.run()
    with worker.store.reading() as session:
        return question_id, session.get_one(Retrieval, question_id).body


@pytest.mark.requirement("EB-3.1")
@pytest.mark.requirement("EB-3.2")
@pytest.mark.requirement("EB-4.2")
@pytest.mark.requirement("EB-4.4")
@pytest.mark.requirement("EB-4.6")
def test_eb_4_6_a_long_question_with_held_guidelines_skips_the_outside_and_says_its_score(
    worker: InlineWorker,
) -> None:
    assert len(LONG.split()) >= 200
    ingest(worker.store, *map(of_entry, entries()))
    worker.run()
    with structlog.testing.capture_logs() as logs:
        _, body = retrieve(worker, LONG)
    assert body["classification"] == "cardiology/anticoagulation"
    assert set(body["mesh"]) == {
        "Atrial Fibrillation",
        "Anticoagulants",
        "Stroke",
        "Hemorrhage",
        "Kidney Failure, Chronic",
        "Renal Insufficiency, Chronic",
    }
    assert body["scenario"] == "af_ckd"
    score = body["sufficiency"]["score"]
    assert score >= 70
    line = f"Skipping Perplexity - internal evidence sufficient (score: {score}/100)"
    assert line in [entry["event"] for entry in logs]
    assert body["outside"] is None


@pytest.mark.requirement("EB-2.1")
@pytest.mark.requirement("EB-2.4")
@pytest.mark.requirement("EB-2.5")
def test_eb_2_4_a_long_question_is_searched_for_by_its_sub_queries_and_never_whole(
    worker: InlineWorker,
) -> None:
    only_in_question = {**of_entry(entries()[0]), "source_key": "made-up:odd", "identifiers": {}}
    only_in_question |= {
        "title": "Angiodysplasia",
        "text": "Endoscopic treatment of angiodysplasia.",
    }
    ingest(worker.store, of_entry(entries()[0]), only_in_question)
    worker.run()
    with structlog.testing.capture_logs() as logs:
        question_id, body = retrieve(worker, LONG)
    assert 3 <= len(body["sub_queries"]) <= 4
    assert all(len(one["text"].split()) <= 20 for one in body["sub_queries"])
    logged = [entry for entry in logs if entry["event"] == "sub_query"]
    assert [entry["text"] for entry in logged] == [one["text"] for one in body["sub_queries"]]
    assert all(entry["targets"] and entry["role"] for entry in logged)
    odd = [one for one in body["explain"] if one["on_topic"] is False]
    assert all(place["lexical"] is None for one in odd for place in one["passages"])
    assert odd
    assert not any("angiodysplasia" in str(entry).lower() for entry in logs)
    (told,) = [entry for entry in logs if entry["event"] == "question_retrieved"]
    assert told["question_id"] == str(question_id)


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_works_of_the_pack_come_first_though_others_say_the_same(
    worker: InlineWorker,
) -> None:
    others = [
        {
            "source_type": "pubmed",
            "source_key": f"made-up:{number}",
            "title": f"Anticoagulation in atrial fibrillation and chronic kidney disease {number}",
            "text": f"{SENTENCE} Report {number}.",
            "identifiers": {"pmid": str(90000000 + number)},
        }
        for number in range(6)
    ]
    guideline = next(one for one in entries() if one.kind == "guideline")
    ingest(worker.store, *others, of_entry(guideline))
    worker.run()
    _, body = retrieve(worker, SHORT)
    first = next(one for one in body["explain"])
    assert (first["decision"], first["anchor"]) == ("kept", "guideline")


def test_works_of_a_pack_that_no_source_brought_are_wanted_while_evidence_is_short(
    worker: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.ingest.stage.connector", lambda name, settings: Stub())
    held, brought, *others = entries()
    page(worker, "pubmed", 0, of_entry(held))
    ingest(worker.store, of_entry(brought))  # a caller's record does not stand for PubMed's
    worker.run()
    _, body = retrieve(worker, SHORT)
    assert body["sufficiency"]["score"] < 50
    wanted = {value for values in body["pack_wanted"].values() for value in values}
    assert wanted
    assert not wanted & set(held.identifiers().values())
    assert wanted & set(brought.identifiers().values())
    others = [brought, *others]
    named = {value.lower() for one in others for value in one.identifiers().values()}
    assert {value.lower() for value in wanted} <= named


def test_filters_confine_what_is_found(worker: InlineWorker) -> None:
    ingest(worker.store, *map(of_entry, entries()))
    worker.run()
    for filters in (
        {"source_types": ["guideline"]},
        {"source_types": ["guideline"], "published_from": "2024-01-01"},
        {"published_to": "2012-01-01"},
    ):
        _, body = retrieve(worker, SHORT, filters=filters)
        kept = [one for one in body["explain"] if one["decision"] == "kept"]
        assert kept
        years = {UUID(one["version_id"]) for one in kept}
        with worker.store.reading() as session:
            rows = session.execute(
                sa.text(
                    "SELECT source_type, published_at FROM document_version WHERE id = ANY(:i)"
                ),
                {"i": list(years)},
            ).all()
        if "source_types" in filters:
            assert {row.source_type for row in rows} == {"guideline"}
        if "published_from" in filters:
            assert min(row.published_at.year for row in rows) >= 2024
        if "published_to" in filters:
            assert max(row.published_at.year for row in rows) <= 2012


def tags_in(store: Store) -> list[tuple[list[str], list[str], str]]:
    with store.reading() as session:
        rows = session.execute(
            sa.text("SELECT focus, decisions, vocabulary FROM version_tags ORDER BY version_id")
        )
        return [(row.focus, row.decisions, row.vocabulary) for row in rows]


def test_versions_get_their_tags_with_the_index_and_anew_with_a_new_vocabulary(
    worker: InlineWorker,
) -> None:
    ingest(worker.store, *map(of_entry, entries()[:3]))
    worker.run()
    made = tags_in(worker.store)
    assert len(made) == 3
    assert all("anticoagulation" in decisions for _, decisions, _ in made)
    assert {vocabulary for *_, vocabulary in made} == {vocabulary_version()}
    with Session(worker.store.engine) as session:
        session.execute(
            sa.text("UPDATE version_tags SET focus = '{}', decisions = '{}', vocabulary = 'old'")
        )
        session.commit()
    with Session(worker.store.engine) as session:
        assert retag(session, 2) == 2
        session.commit()
    retag_versions(worker.store)
    assert tags_in(worker.store) == made
    with Session(worker.store.engine) as session:
        assert retag(session, 10) == 0
