"""A question through all stages: what comes back, and what the store says of it."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from store.audit import audit
from store.models import Answer
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker


@pytest.fixture
def answered(inline: InlineWorker) -> tuple[InlineWorker, Answer]:
    """The trial is ingested and the question about it is answered."""
    ingest(inline.store, TRIAL)
    inline.run()
    question_id = ask(inline.store, TRIAL_QUESTION)
    inline.run()
    assert get_question(inline.store, question_id).status == "answered"
    with inline.store.reading() as session:
        return inline, session.get_one(Answer, question_id)


@pytest.mark.requirement("DC-2")
def test_dc_2_a_question_travels_through_every_stage(
    answered: tuple[InlineWorker, Answer],
) -> None:
    worker, answer = answered
    with worker.store.reading() as session:
        done = session.execute(
            sa.text("SELECT stage FROM stage_run WHERE status = 'done' ORDER BY id")
        ).scalars()
        stages = list(done)
    assert stages == ["ingest", "embed", "anchor", "retrieve", "generate", "verify", "audit"]
    assert not answer.body["abstained"]
    assert answer.sealed_at is not None


@pytest.mark.requirement("SP-4.2")
def test_sp_4_2_every_claim_cites_a_span_that_is_its_quotation(
    answered: tuple[InlineWorker, Answer],
) -> None:
    worker, answer = answered
    claims = answer.body["claims"]
    assert claims
    for claim in claims:
        assert claim["verdict"] == "supported"
        for place in claim["citations"]:
            with worker.store.reading() as session:
                text = session.execute(
                    sa.text(
                        "SELECT text FROM document_version "
                        "WHERE document_id = CAST(:d AS uuid) AND n = :n"
                    ),
                    {"d": place["document_id"], "n": place["version"]},
                ).scalar_one()
            assert text[place["start"] : place["end"]] == place["quote"]
            assert place["citation"].endswith(
                f"{place['chunk_id']}:{place['start']}-{place['end']}"
            )


def test_invariant_8_every_evidence_record_carries_both_clocks(
    answered: tuple[InlineWorker, Answer],
) -> None:
    _, answer = answered
    for record in answer.body["evidence"]:
        clocks = record["clocks"]
        assert clocks["fetched_at"]
        assert clocks["sla_hours"] == 168
        assert clocks["stale"] is False
        assert clocks["published_at"].startswith("2022-06-04")


def test_invariant_9_a_question_without_evidence_abstains_with_reason_and_cure(
    inline: InlineWorker,
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    question_id = ask(inline.store, "Which dose of metformin is recommended in pregnancy?")
    inline.run()
    with inline.store.reading() as session:
        body = session.get_one(Answer, question_id).body
    assert body["abstained"]
    assert body["abstain_reason"] == "no_evidence"
    assert "Insufficient verified evidence" in body["abstain_detail"]
    assert body["cure"]["action"] == "add_sources"
    assert body["claims"] == []


@pytest.mark.parametrize(("days", "reason"), [(0, None), (-1, "no_evidence")])
def test_as_of_answers_from_what_was_held_at_the_end_of_that_day(
    inline: InlineWorker, days: int, reason: str | None
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    day = (datetime.now(UTC) + timedelta(days=days)).date().isoformat()
    question_id = ask(inline.store, TRIAL_QUESTION, as_of=day)
    inline.run()
    with inline.store.reading() as session:
        assert session.get_one(Answer, question_id).body["abstain_reason"] == reason


def test_invariant_10_every_step_is_in_the_audit_chain_and_the_chain_is_whole(
    answered: tuple[InlineWorker, Answer],
) -> None:
    worker, answer = answered
    with worker.store.reading() as session:
        events = session.execute(
            sa.text("SELECT event FROM audit_event WHERE subject = :id ORDER BY seq"),
            {"id": str(answer.question_id)},
        ).scalars()
        assert list(events) == [
            "question.submitted",
            "question.retrieved",
            "question.drafted",
            "question.verified",
            "answer.sealed",
        ]
        assert audit.verify(session).whole


def test_invariant_11_no_words_of_question_or_document_reach_audit_or_outbox(
    answered: tuple[InlineWorker, Answer],
) -> None:
    worker, _ = answered
    with worker.store.reading() as session:
        leaks = session.execute(
            sa.text(
                "SELECT count(*) FROM (SELECT payload FROM audit_event UNION ALL "
                "SELECT payload FROM outbox) AS p WHERE payload::text ~* 'colon|chemotherapy'"
            )
        ).scalar_one()
    assert leaks == 0
