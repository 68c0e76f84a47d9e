"""What is written down of every answer that is sealed, and the figures over a window of them."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
import structlog

from knowledge.operation.quality import UNKNOWN, Figure
from store.core.unit_of_work import Store
from store.models import Answer, AnswerQuality, ModelUsage, now
from store.questions import questions, states
from store.reports import model_usage, quality
from store.reports.day_figures import KEPT, LastDay
from store.reports.usage_totals import UsageTotals
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker

NOTHING_HELD = "Does zebrafishoma respond to ctDNA-guided chemotherapy?"


def row_of(store: Store, question_id: UUID) -> AnswerQuality:
    """What was measured of the question's answer."""
    with store.reading() as session:
        return session.get_one(AnswerQuality, question_id)


@pytest.mark.requirement("MC-4.2a")
def test_mc_4_2a_every_sealed_answer_has_a_row_and_a_line_of_the_same_figures(
    inline: InlineWorker,
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    question_id = ask(inline.store, TRIAL_QUESTION)
    with structlog.testing.capture_logs(
        processors=[structlog.contextvars.merge_contextvars]
    ) as lines:
        inline.run()
    row, question = row_of(inline.store, question_id), get_question(inline.store, question_id)
    assert question.status == "answered"
    assert (row.query_type, row.abstain_reason) == ("clinical_trials", None)
    assert row.source_types == {"clinicaltrials": 1}
    assert (row.sources, row.trials, row.trial_sources, row.nccn) == (1, 1, 1, 0)
    assert row.first_section == "CLINICAL TRIALS"
    assert row.routing_compliant is True
    assert row.verified >= 1
    assert row.citations >= 1
    assert row.unanchored == 0
    assert row.quotations >= row.citations
    assert row.sealed_at == question.finished_at
    assert row.response_ms > 0
    assert set(row.stage_ms) == {"retrieve", "generate", "verify", "audit"}
    (line,) = [one for one in lines if one["event"] == "question_complete"]
    assert line["request_id"] == str(question.request_id)
    told = row.model_dump(exclude={"sealed_at", "question_id", "cost_usd"})
    assert {key: line[key] for key in told} == told
    assert TRIAL_QUESTION.lower() not in str(line).lower()


def test_the_times_of_an_answer_are_those_of_its_question_and_its_stages(
    inline: InlineWorker,
) -> None:
    question_id = ask(inline.store, NOTHING_HELD)
    inline.run()
    row, question = row_of(inline.store, question_id), get_question(inline.store, question_id)
    assert question.finished_at is not None
    took = question.finished_at - question.created_at
    assert row.response_ms == round(took.total_seconds() * 1000, 1)
    with inline.store.reading() as session:
        steps = questions.progress(session, question_id)
        assert session.get_one(Answer, question_id).sealed_at == question.finished_at
    assert row.stage_ms == {one.stage: one.ms for one in steps}


@pytest.mark.parametrize("microseconds", [1_250, 1_249, 1_350, 0])
def test_a_stage_takes_as_long_in_the_log_as_in_the_answer(store: Store, microseconds: int) -> None:
    """PostgreSQL rounds a half up, and Python to the even digit."""
    question_id = ask(store, NOTHING_HELD)
    with store.unit_of_work("test") as work:
        work.session.execute(
            sa.text(
                "INSERT INTO stage_run (stage, subject, input_hash, status, attempts, token, "
                "worker, started_at, finished_at) VALUES ('retrieve', :id, :hash, 'done', 1, "
                "nextval('fencing_token'), 'w', '2026-01-01', "
                "timestamptz '2026-01-01' + make_interval(secs => :us / 1000000.0))"
            ),
            {"id": str(question_id), "hash": "0" * 64, "us": microseconds},
        )
    with store.reading() as session:
        [step] = questions.progress(session, question_id)
        logged = session.execute(
            sa.text(
                "SELECT round(1000 * extract(epoch FROM finished_at - started_at), 1) "
                "FROM stage_run WHERE subject = :id"
            ),
            {"id": str(question_id)},
        ).scalar_one()
    assert step.ms == float(logged)


def test_invariant_6_an_answer_that_is_another_one_by_now_is_not_sealed(
    inline: InlineWorker,
) -> None:
    question_id = ask(inline.store, NOTHING_HELD)
    inline.run()
    before = get_question(inline.store, question_id)
    with inline.store.unit_of_work("test") as work:
        assert states.seal(work, question_id, "0" * 64) is None
    assert get_question(inline.store, question_id) == before


@pytest.mark.requirement("MC-4.2b")
def test_mc_4_2b_routing_is_unknown_where_nothing_is_shown(inline: InlineWorker) -> None:
    question_id = ask(inline.store, NOTHING_HELD)
    inline.run()
    row = row_of(inline.store, question_id)
    assert row.abstain_reason is not None
    assert (row.first_section, row.routing_compliant) == (None, None)
    assert (row.sources, row.citations, row.quotations) == (0, 0, 0)


def test_a_seal_that_is_rolled_back_leaves_no_row_and_no_line(
    inline: InlineWorker, engine: sa.Engine
) -> None:
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'refused'; END $$; "
                "CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON answer_quality "
                "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
        )
    question_id = ask(inline.store, NOTHING_HELD)
    with structlog.testing.capture_logs() as lines:
        inline.run()
    assert "question_complete" not in {one["event"] for one in lines}
    with inline.store.reading() as session:
        assert session.get(AnswerQuality, question_id) is None


def put(store: Store, question_id: UUID, at: Any, **changed: Any) -> None:
    """A row as the audit stage writes it, sealed at a chosen moment."""
    values: dict[str, Any] = {
        "query_type": "clinical_trials",
        "sources": 4,
        "source_types": {"nccn": 1, "pubmed": 3},
        "nccn": 1,
        "trials": 0,
        "trial_sources": 3,
        "guidelines": 1,
        "over_caps": 0,
        "first_section": "CLINICAL TRIALS",
        "routing_compliant": True,
        "verified": 3,
        "partial": 1,
        "unverified": 0,
        "conflicting": 0,
        "citations": 4,
        "quotations": 5,
        "unanchored": 0,
        "response_ms": 100.0,
        "stage_ms": {},
    }
    with store.unit_of_work("test") as work:
        work.session.add(
            AnswerQuality(question_id=question_id, sealed_at=at, **{**values, **changed})
        )


@pytest.mark.requirement("MC-4.1a")
def test_mc_4_1a_figures_are_means_and_shares_over_the_window(store: Store) -> None:
    moment = now()
    put(store, ask(store, "one"), moment - timedelta(hours=1))
    put(
        store,
        ask(store, "two"),
        moment - timedelta(hours=2),
        nccn=0,
        guidelines=0,
        trial_sources=4,
        routing_compliant=False,
        verified=0,
        unverified=4,
        unanchored=5,
        citations=0,
    )
    put(store, ask(store, "three"), moment - timedelta(hours=3), query_type="general", nccn=1)
    put(store, ask(store, "old"), moment - timedelta(days=9), nccn=0, guidelines=0)
    with store.reading() as session:
        found = quality.figures(session, moment - timedelta(days=7), moment)
    assert found["avg_nccn_share_trial_queries"] == Figure(0.125, 2)
    assert found["avg_trial_sources_trial_queries"] == Figure(3.5, 2)
    assert found["routing_compliance_rate"] == Figure(2 / 3, 3)
    assert found["supported_claim_rate"] == Figure(6 / 13, 13)
    assert found["unanchored_quote_rate"] == Figure(5 / 15, 15)
    assert found["citations_per_response"] == Figure(8 / 3, 3)


@pytest.mark.requirement("MC-4.1b")
def test_mc_4_1b_nothing_measured_is_unknown_and_never_zero(store: Store) -> None:
    moment = now()
    with store.reading() as session:
        found = quality.figures(session, moment - timedelta(days=7), moment)
        counted = quality.counts(session, moment - timedelta(days=7), moment)
    assert set(found.values()) == {UNKNOWN}
    assert counted.response_ms_p50 is None
    assert (counted.answers, counted.failed) == (0, 0)


def test_figures_of_the_gate_are_shares_of_what_it_was_asked_and_older_rows_count_not(
    store: Store,
) -> None:
    moment = now()
    gate = {
        "gate": "abc",
        "drafted": 8,
        "own_words": 6,
        "source_words": 1,
        "mended": 2,
        "repaired": 1,
        "doubts": 10,
        "doubts_answered": 9,
        "doubts_standing": 3,
        "both_judged": 5,
        "disagreed": 1,
        "controls": 2,
        "controls_missed": 0,
        "believed": True,
        "stops": {"number": 1, "doubt arm": 2},
    }
    put(store, ask(store, "one"), moment - timedelta(hours=1), **gate)
    lied = {"own_words": 0, "controls_missed": 2, "believed": False, "stops": {"doubt arm": 1}}
    put(store, ask(store, "two"), moment - timedelta(hours=2), **{**gate, **lied})
    put(store, ask(store, "by an earlier release"), moment - timedelta(hours=3))
    with store.reading() as session:
        found = quality.figures(session, moment - timedelta(days=7), moment)
        counted = quality.counts(session, moment - timedelta(days=7), moment)
    assert found["own_words_rate"] == Figure(6 / 16, 16)
    assert found["source_words_rate"] == Figure(2 / 16, 16)
    assert found["repair_success_rate"] == Figure(2 / 4, 4)
    assert found["doubts_answered_rate"] == Figure(18 / 20, 20)
    assert found["doubts_standing_rate"] == Figure(6 / 20, 20)
    assert found["judges_disagree_rate"] == Figure(2 / 10, 10)
    assert found["judge_not_believed_rate"] == Figure(1 / 2, 2)
    assert counted.stops == {"doubt arm": 3, "number": 1}
    assert list(counted.stops) == ["doubt arm", "number"], "the most frequent first"


def test_requests_to_models_have_quantiles_of_what_is_known(store: Store) -> None:
    moment = now()
    rows = [
        ("judge", 100.0, Decimal("0.01")),
        ("judge", 300.0, Decimal("0.03")),
        ("judge", None, None),
        ("repair", None, None),
    ]
    with store.unit_of_work("test") as work:
        for purpose, ms, cost in rows:
            work.session.add(
                ModelUsage(
                    at=moment, purpose=purpose, model="m", outcome="proposed", ms=ms, cost_usd=cost
                )
            )
    with store.reading() as session:
        judge, repair = model_usage.asked(session, moment, moment + timedelta(hours=1))
        nothing = model_usage.asked(session, moment + timedelta(hours=1), moment)
    assert (judge.purpose, judge.requests, judge.unpriced) == ("judge", 3, 1)
    assert (judge.ms_p50, judge.ms_p95) == (200.0, 290.0)
    assert (judge.cost_p50, judge.cost_p95) == pytest.approx((0.02, 0.029))
    assert (repair.purpose, repair.ms_p50, repair.cost_p95, repair.cost_usd) == (
        *("repair", None, None),
        0,
    )
    assert nothing == []


def test_anchors_are_unknown_where_nothing_is_held_and_none_where_a_document_has_none(
    inline: InlineWorker,
) -> None:
    with inline.store.reading() as session:
        assert quality.anchors(session) == UNKNOWN
    ingest(inline.store, {"title": "A note", "text": "Lunch is at noon."})
    inline.run()
    with inline.store.reading() as session:
        assert quality.anchors(session) == Figure(0.0, 1)
    ingest(inline.store, TRIAL)
    inline.run()
    with inline.store.reading() as session:
        found = quality.anchors(session)
    assert found.value is not None
    assert found.value > 0


def test_a_window_takes_its_first_moment_and_not_its_last(store: Store) -> None:
    moment = now()
    put(store, ask(store, "one"), moment)
    with store.reading() as session:
        assert quality.counts(session, moment, moment + timedelta(days=1)).answers == 1
        assert quality.counts(session, moment - timedelta(days=1), moment).answers == 0


def test_a_scrape_reads_the_figures_of_a_day_anew_after_a_minute(store: Store) -> None:
    moment, day = now(), LastDay()
    for number, (at, answers) in enumerate(
        [(moment, 0), (moment + KEPT / 2, 0), (moment + KEPT, 2)]
    ):
        with store.reading() as session:
            assert day.figures(session, at).counts.answers == answers
        put(store, ask(store, str(number)), moment - timedelta(hours=1))


def test_costs_of_settled_days_and_of_today_are_told_together(store: Store) -> None:
    moment, kept = now(), UsageTotals()
    for days, cost in ((9, "0.5"), (3, None), (0, "0.25")):
        with store.unit_of_work("test") as work:
            work.session.add(
                ModelUsage(
                    at=moment - timedelta(days=days),
                    purpose="judge",
                    model="m",
                    outcome="proposed",
                    cost_usd=None if cost is None else Decimal(cost),
                )
            )
    for at in (moment, moment + timedelta(seconds=15), moment + timedelta(days=3)):
        with store.reading() as session:
            assert kept.totals(session, at) == UsageTotals().totals(session, at)
            (only,) = kept.totals(session, at)
    assert (only.requests, only.cost_usd, only.unpriced) == (3, Decimal("0.75"), 1)
