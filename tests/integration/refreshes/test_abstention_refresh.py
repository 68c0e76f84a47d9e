"""Invariant 9: an abstention that a refresh could cure asks for it, and tells nothing by it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from knowledge.questions.cures import cure_policy
from messages import Stage
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.models import Answer, Refresh, Watch
from store.sources import refreshes, source_states, watches
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb
from tests.servers import TRIAL, ask, get_question, ingest
from workers.ingest import refresh_stage
from workers.inline import InlineWorker
from workers.runtime.stage import StageSpec

TODAY = "What is currently the primary endpoint of the ctDNA-guided trial in stage II colon cancer?"
UNKNOWN = "Does Xyzomab by Mrs Smith help in heart failure with atrial fibrillation?"
"""Two terms of the vocabulary, and words that must go nowhere."""
NO_TERMS = "Which dose of metformin is recommended in pregnancy?"


class Case:
    """A worker whose refreshes stay queued: nothing is contacted."""

    def __init__(self, worker: InlineWorker, clock: Clock) -> None:
        self.worker, self.clock, self.store = worker, clock, worker.store

    def follow(self, source: str, query: str = "followed", *, refreshed: bool = True) -> UUID:
        """A user follows a query; it was refreshed completely two days ago."""
        with self.store.unit_of_work("test") as work:
            watch = watches.follow(work, source, query, "user", self.clock())
            if refreshed:
                self._complete(work.session, watch, -48)
            return watch.id

    def _complete(self, session: Any, watch: Watch, hours: float) -> None:
        self.clock.advance(hours=hours)
        watch.cursor_at = self.clock()
        session.add(watch)
        self.clock.advance(hours=-hours)

    def hold(self, *watch_ids: UUID, source_type: str = "clinicaltrials") -> UUID:
        """The trial is held and followed by these watches; it was checked ten days ago."""
        self.clock.advance(hours=-240)
        seen = self.clock()
        self.clock.advance(hours=240)
        record = {**TRIAL, "fetched_at": seen.isoformat(), "source_type": source_type}
        ingest(self.store, record)
        self.worker.run()
        with self.store.unit_of_work("test") as work:
            found = work.session.execute(sa.text("SELECT id FROM document")).scalar_one()
            for watch_id in watch_ids:
                watch = work.session.get_one(Watch, watch_id)
                watch.cursor_at = seen
                work.session.add(watch)
                watches.vouch(work.session, watch_id, watch.source, [found], seen)
            return UUID(str(found))

    def ask(self, text: str, **options: Any) -> Any:
        question_id = ask(self.store, text, **options)
        self.worker.run()
        assert get_question(self.store, question_id).status == "answered"
        with self.store.reading() as session:
            return session.get_one(Answer, question_id).body

    def refreshes(self) -> list[tuple[str, str, str]]:
        """Source, query and reason of what abstentions asked for, in the order of the sources; not
        what asks for the works of a pack."""
        return [
            (row.source, row.query, row.reason)
            for row in self.rows(
                "SELECT w.source, w.query, r.reason FROM refresh r JOIN watch w "
                "ON w.id = r.watch_id ORDER BY w.source, w.query, r.requested_at"
            )
            if not re.match(r"NCT\d{8}|\d+\[uid\]", row.query)
        ]

    def rows(self, query: str, **parameters: Any) -> list[Any]:
        with self.store.reading() as session:
            return list(session.execute(sa.text(query), parameters))

    def end(self, *, failed: bool = False) -> None:
        """All refreshes under way end now."""
        with self.store.unit_of_work("test") as work:
            for row in self.rows("SELECT id FROM refresh WHERE status = 'queued'"):
                refresh = refreshes.locked(work.session, row.id)
                assert refresh is not None
                if failed:
                    refreshes.fail(work, refresh, "the source was down", self.clock())
                else:
                    refresh.status, refresh.started_at = "storing", self.clock()
                    refreshes.finish_if_stored(work, refresh, self.clock())


@pytest.fixture
def case(settings: Settings, engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    spec: Any = StageSpec(Stage.REFRESH, lambda context, message: None, refresh_stage.commit)
    monkeypatch.setattr(refresh_stage, "SPEC", spec)
    clock = Clock(datetime.now(UTC))
    worker = InlineWorker(settings, Store(engine), now=clock, sleep=clock.sleep)
    yield Case(worker, clock)
    worker.close()


def named(body: Any) -> list[str]:
    return [one["source"] for one in body["cure_refreshes"]]


# --- stale ----------------------------------------------------------------------------------------


@pytest.mark.requirement("SP-6.3")
def test_invariant_9_a_stale_abstention_refreshes_the_watches_of_the_stale_documents(
    case: Case,
) -> None:
    mine = case.follow("clinicaltrials", "ctDNA")
    case.follow("clinicaltrials", "something else")
    case.hold(mine)
    body = case.ask(TODAY)
    assert body["abstain_reason"] == "stale"
    assert case.refreshes() == [("clinicaltrials", "ctDNA", "abstention")]
    with case.store.reading() as session:
        refresh = session.get_one(Refresh, UUID(body["cure_refreshes"][0]["refresh_id"]))
    assert (refresh.watch_id, refresh.status) == (mine, "queued")
    assert named(body) == ["clinicaltrials"]
    assert "A refresh of ClinicalTrials.gov is under way" in body["cure"]["detail"]
    promised = case.rows("SELECT payload FROM outbox WHERE stage = 'refresh'")
    assert str(refresh.id) in [row.payload["refresh_id"] for row in promised]


def test_invariant_9_the_refresh_is_asked_for_in_the_transaction_that_stores_the_answer(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.hold(case.follow("clinicaltrials"))

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("store.questions.bodies.put_answer", broken)
    ask(case.store, TODAY)
    for _ in range(3):
        case.worker.run()
    assert case.rows("SELECT 1 FROM stage_run WHERE stage = 'verify' AND error IS NOT NULL")
    assert case.rows("SELECT 1 FROM answer") == []
    assert case.refreshes() == []


def test_the_same_question_again_asks_for_nothing_new_while_the_refresh_is_under_way(
    case: Case,
) -> None:
    case.hold(case.follow("clinicaltrials"))
    first = case.ask(TODAY)["cure_refreshes"]
    for _ in range(5):
        assert case.ask(TODAY)["cure_refreshes"] == first
    assert len(case.refreshes()) == 1


def test_a_watch_that_was_refreshed_within_the_hour_is_not_asked_again(case: Case) -> None:
    watch_id = case.follow("clinicaltrials")
    document_id = case.hold(watch_id)
    case.ask(TODAY)
    case.end()
    with case.store.unit_of_work("test") as work:  # the source did not have the document
        watches.account_for(work.session, watch_id, [str(document_id)], case.clock(), case.clock())
    body = case.ask(TODAY)
    assert (body["abstain_reason"], body["cure_refreshes"]) == ("stale", [])
    assert "The next refresh is one of ClinicalTrials.gov, planned for" in body["cure"]["detail"]
    assert body["cure"]["next_refresh"]["source"] == "clinicaltrials"
    case.clock.advance(hours=cure_policy().quiet_hours + 0.1)
    assert named(case.ask(TODAY)) == ["clinicaltrials"]


@pytest.mark.requirement("SP-6.3")
def test_sp_6_3_a_refresh_that_failed_lately_waits_for_its_own_next_try(case: Case) -> None:
    watch_id = case.follow("clinicaltrials")
    case.hold(watch_id)
    case.ask(TODAY)
    case.end(failed=True)
    body = case.ask(TODAY)
    with case.store.reading() as session:
        retry_at = session.get_one(Watch, watch_id).retry_at
    assert body["cure_refreshes"] == []
    assert datetime.fromisoformat(body["cure"]["next_refresh"]["at"]) == retry_at
    assert len(case.refreshes()) == 1


def test_a_source_that_wants_to_be_left_alone_is(case: Case) -> None:
    case.hold(case.follow("clinicaltrials"))
    with case.store.unit_of_work("test") as work:
        error = type("Refused", (Exception,), {})("no")
        source_states.failed(work.session, "clinicaltrials", error, case.clock())
    assert case.ask(TODAY)["cure_refreshes"] == []


def test_a_watch_that_somebody_stopped_stays_stopped(case: Case) -> None:
    watch_id = case.follow("clinicaltrials")
    case.hold(watch_id)
    with case.store.unit_of_work("test") as work:
        watches.stop(work, watch_id, case.clock())
    body = case.ask(TODAY)
    assert (body["abstain_reason"], body["cure_refreshes"], case.refreshes()) == ("stale", [], [])
    assert "Nothing is followed that could bring it" in body["cure"]["detail"]


@pytest.mark.parametrize("followed", [True, False])
def test_a_watch_that_an_abstention_made_is_asked_as_long_as_its_source_is_followed(
    case: Case, followed: bool
) -> None:
    if followed:
        case.follow("clinicaltrials", "something else")
    with case.store.unit_of_work("test") as work:
        made = watches.follow(work, "clinicaltrials", "terms", "abstention", case.clock()).id
    case.hold(made)
    assert named(case.ask(TODAY)) == (["clinicaltrials"] if followed else [])


def test_a_question_about_the_past_is_not_cured_by_what_is_fetched_today(case: Case) -> None:
    case.follow("pubmed")
    for as_of in ("2020-01-01", "2020-01-01T00:00:00Z"):
        body = case.ask(UNKNOWN, as_of=as_of)
        assert (body["abstain_reason"], body["cure_refreshes"]) == ("no_evidence", [])
        assert "ask without as_of" in body["cure"]["detail"]
    assert case.refreshes() == []
    today = case.clock().date().isoformat()
    assert named(case.ask(UNKNOWN, as_of=today)) == ["pubmed"]


# --- no evidence ----------------------------------------------------------------------------------


@pytest.mark.requirement("SP-6.3")
def test_invariant_9_without_evidence_the_followed_sources_are_asked_once_for_the_terms(
    case: Case,
) -> None:
    case.follow("pubmed")
    case.follow("clinicaltrials")
    case.follow("news")
    body = case.ask(UNKNOWN)
    assert (body["abstain_reason"], sorted(named(body))) == (
        "no_evidence",
        ["clinicaltrials", "pubmed"],
    )
    asked = {source: query for source, query, _ in case.refreshes()}
    assert asked["clinicaltrials"] == '"heart failure" AND "atrial fibrillation"'
    headings = ('("heart failure"[ti] OR "Heart Failure"[mh])', '"Atrial Fibrillation"[mh])')
    assert all(group in asked["pubmed"] for group in headings)
    made = case.rows("SELECT origin, active FROM watch WHERE origin = 'abstention'")
    assert {(row.origin, row.active) for row in made} == {("abstention", False)}
    assert "PubMed, ClinicalTrials.gov is under way" in body["cure"]["detail"]


def test_adr_0011_a_source_that_nobody_follows_is_never_contacted(case: Case) -> None:
    stopped = case.follow("pubmed")
    with case.store.unit_of_work("test") as work:
        watches.stop(work, stopped, case.clock())
    case.follow("news")
    case.follow("openfda-label")
    for question in (UNKNOWN, NO_TERMS):
        body = case.ask(question)
        assert (body["abstain_reason"], body["cure_refreshes"]) == ("no_evidence", [])
    assert case.refreshes() == []
    assert case.rows("SELECT 1 FROM watch WHERE origin = 'abstention'") == []


@pytest.mark.requirement("SP-6.3")
def test_a_work_that_the_question_names_is_asked_for_and_nothing_else(case: Case) -> None:
    case.follow("pubmed")
    case.follow("clinicaltrials")
    body = case.ask("What does PMID 999 report on stroke in heart failure?")
    assert (body["abstain_reason"], named(body)) == ("no_evidence", ["pubmed"])
    assert "PubMed is under way" in body["cure"]["detail"]
    asked = case.rows("SELECT source, query FROM watch WHERE origin = 'abstention'")
    assert [(row.source, row.query) for row in asked] == [("pubmed", "999[uid]")]
    assert named(case.ask("Summarize PMID 999", as_of="2020-01-01")) == []


@pytest.mark.parametrize("question", [NO_TERMS, "Does Xyzomab help in heart failure?"])
def test_with_too_few_terms_what_is_followed_is_refreshed(case: Case, question: str) -> None:
    case.follow("pubmed", "one")
    case.follow("pubmed", "two")
    case.follow("news", "three")
    body = case.ask(question)
    assert named(body) == ["pubmed", "pubmed"]
    assert [query for _, query, _ in case.refreshes()] == ["one", "two"]


def test_invariant_11_no_word_of_question_or_patient_leaves_or_is_written_down(
    case: Case,
) -> None:
    case.follow("pubmed")
    case.follow("europepmc")
    question = "Is Xyzomab by Mrs Smith safe for adjuvant use in melanoma?"
    assert len(case.ask(question, patient_context="She has sepsis; a cousin of Jones.")) > 0
    for table in ("watch", "refresh", "outbox", "audit_event"):
        told = case.rows(
            f"SELECT count(*) AS n FROM {table} AS t WHERE row_to_json(t)::text ~* "
            "'xyzomab|smith|safe|cousin|jones|sepsis'"
        )
        assert told[0].n == 0, table
    assert all("melanoma" in query for _, query, _ in case.refreshes())
    assert len(case.refreshes()) == 2


def test_the_same_question_asked_again_makes_no_second_watch(case: Case) -> None:
    case.follow("pubmed")
    first = case.ask(UNKNOWN)["cure_refreshes"]
    assert case.ask(UNKNOWN)["cure_refreshes"] == first
    case.end()
    body = case.ask(UNKNOWN)
    assert body["cure_refreshes"] == []
    assert body["cure"]["next_refresh"]["source"] == "pubmed"
    case.clock.advance(hours=cure_policy().quiet_hours + 0.1)
    assert named(case.ask(UNKNOWN)) == ["pubmed"]
    assert len(case.rows("SELECT 1 FROM watch")) == 2
    assert len(case.refreshes()) == 2


def test_many_different_questions_do_not_become_a_flood(case: Case) -> None:
    case.follow("clinicaltrials")
    diseases = ("melanoma", "sepsis", "pneumonia", "leukemia", "lymphoma", "prostate cancer")
    for one in diseases:
        for other in ("screening", "surveillance", "adjuvant therapy"):
            case.ask(f"Does Xyzomab change {other} in {one}?")
    assert len(case.refreshes()) == cure_policy().most_an_hour
    case.clock.advance(hours=1.1)
    assert named(case.ask("Does Xyzomab change surveillance in heart failure?"))


@pytest.mark.requirement("SP-6.3")
def test_sp_6_3_low_trust_alone_names_the_next_refresh_and_asks_for_none(case: Case) -> None:
    case.follow("pubmed")
    case.hold(source_type="news")
    body = case.ask("What is the primary endpoint of the ctDNA-guided trial in colon cancer?")
    assert (body["abstain_reason"], body["cure_refreshes"]) == ("low_trust_only", [])
    assert "The next refresh is one of PubMed, planned for" in body["cure"]["detail"]
    assert case.refreshes() == []


def test_where_nothing_is_followed_the_cure_is_to_add_sources(case: Case) -> None:
    body = case.ask(UNKNOWN)
    assert (body["cure"]["action"], body["cure_refreshes"]) == ("add_sources", [])
    assert body["cure"]["next_refresh"] is None


# --- to the end -----------------------------------------------------------------------------------


def test_invariant_9_what_the_abstention_asked_for_answers_the_question_next_time(
    settings: Settings, engine: sa.Engine
) -> None:
    clock = Clock(datetime.now(UTC))
    pubmed = Eutils(clock)
    question = "Does Xyzomab lower mortality in heart failure with atrial fibrillation?"
    finding = "In heart failure with atrial fibrillation, Xyzomab lowered made-up mortality by 12%."
    for pmid, kind in enumerate(
        ("Systematic Review", "Randomized Controlled Trial", "Practice Guideline"), start=1
    ):
        pubmed.put(
            pmid,
            title="Xyzomab in heart failure with atrial fibrillation, a made-up work.",
            abstract=[("RESULTS", "RESULTS", finding)],
            types=[kind],
        )
    with FakeWeb(pubmed) as web:
        mirrored = settings.model_copy(update={"source_mirrors": web.mirrors})
        worker = InlineWorker(mirrored, Store(engine), now=clock, sleep=clock.sleep)
        case = Case(worker, clock)
        case.follow("pubmed")
        assert case.ask(question)["abstain_reason"] == "no_evidence"
        assert [row.status for row in case.rows("SELECT status FROM refresh")] == ["complete"]
        body = case.ask(question)
        worker.close()
    assert not body["abstained"], body["abstain_detail"]
    assert finding in {claim["text"] for claim in body["claims"]}
    assert not any("xyzomab" in str(request).lower() for request in web.requests)
