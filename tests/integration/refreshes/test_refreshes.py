"""A refresh from the request to the cursor: kept, promised, stored, and only then complete."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from knowledge.scenarios import scenarios
from messages import IngestV1, RefreshV1
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents import publication_status
from store.documents.citation_query import known
from store.models import IngestItem, Refresh, Watch
from store.sources import freshness, refreshes, source_states, watches
from tests.fakes.crossref import Crossref, update
from tests.fakes.europepmc import EuropePmc, abstract
from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply, Request
from workers.ingest import refresh_stage
from workers.ingest import stage as ingest_stage
from workers.inline import InlineWorker

QUERY = "article"


@dataclass
class Following:
    """A watch on the fake Europe PMC and the worker that refreshes it."""

    clock: Clock
    pmc: EuropePmc
    crossref: Crossref
    web: FakeWeb
    worker: InlineWorker

    @property
    def store(self) -> Store:
        return self.worker.store

    def request(self, source: str = "europepmc", query: str = QUERY) -> UUID:
        """Ask for a refresh; gives its id."""
        with self.store.unit_of_work("test") as work:
            watch = watches.follow(work, source, query, "user", self.clock())
            return refreshes.request(work, watch, "user", self.clock()).id

    def refresh(self, source: str = "europepmc", query: str = QUERY) -> Refresh:
        """Refresh to the end."""
        refresh_id = self.request(source, query)
        self.worker.run()
        return self.get(refresh_id)

    def get(self, refresh_id: UUID) -> Refresh:
        with self.store.reading() as session:
            return session.get_one(Refresh, refresh_id)

    def watch(self, source: str = "europepmc") -> Watch:
        with self.store.reading() as session:
            return watches.listing(session, source)[0]

    def rows(self, query: str, **parameters: Any) -> list[Any]:
        with self.store.reading() as session:
            return list(session.execute(sa.text(query), parameters))

    def versions(self, key: str) -> list[tuple[int, str]]:
        """Number and status of a document's versions."""
        return [
            (row.n, row.status)
            for row in self.rows(
                "SELECT v.n, v.status FROM document_version v JOIN document d "
                "ON d.id = v.document_id WHERE d.source_key = :key ORDER BY v.n",
                key=key,
            )
        ]


@pytest.fixture
def following(settings: Settings, engine: sa.Engine) -> Iterator[Following]:
    clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    pmc, crossref = EuropePmc(clock), Crossref(clock)
    for number in range(1001, 1004):
        pmc.put(str(number), abstractText=abstract(Results=f"Invented result {number}, one."))
    with FakeWeb(pmc, crossref) as web:
        mirrored = settings.model_copy(update={"source_mirrors": web.mirrors})
        worker = InlineWorker(mirrored, Store(engine), now=clock, sleep=clock.sleep)
        yield Following(clock, pmc, crossref, web, worker)
        worker.close()


def test_the_first_refresh_stores_everything_and_moves_the_cursor_to_when_it_began(
    following: Following,
) -> None:
    began = following.clock()
    refresh = following.refresh()
    assert (refresh.status, refresh.records, refresh.fresh) == ("complete", 3, 3)
    assert following.watch().cursor_at == began
    assert following.versions("pmid:1001") == [(1, "current")]
    events = following.rows("SELECT event FROM audit_event WHERE subject = :id", id=str(refresh.id))
    assert [row.event for row in events] == ["refresh.requested", "refresh.complete"]


def test_a_later_refresh_asks_for_changes_since_the_cursor_less_the_overlap(
    following: Following,
) -> None:
    following.refresh()
    following.clock.advance(hours=30)
    following.pmc.change("1002", abstractText=abstract(Results="Invented result, two."))
    refresh = following.refresh()
    assert refresh.since == datetime(2026, 1, 3, 9, tzinfo=UTC)
    assert refresh.fresh == 1
    assert following.versions("pmid:1002") == [(1, "superseded"), (2, "current")]
    assert "UPDATE_DATE:[2026-01-03" in following.web.requests[-1].params["query"]


def test_a_page_is_kept_as_it_came_until_it_is_read(following: Following) -> None:
    refresh_id = following.request()
    message = RefreshV1(request_id=refresh_id, refresh_id=refresh_id, step=0)
    step = refresh_stage.work(following.worker.context, message)
    with following.store.unit_of_work("test") as work:
        refresh_stage.commit(work, message, step)
    with following.store.reading() as session:
        item = session.exec(sa.select(IngestItem)).scalars().one()  # type: ignore[call-overload]
    assert b"Invented result 1001, one." in item.content
    assert (item.source, item.refresh_id, item.status) == ("europepmc", refresh_id, "pending")
    assert following.get(refresh_id).status == "storing"
    assert following.watch().cursor_at is None


def test_a_step_is_taken_no_earlier_than_its_refresh_began_whoever_takes_it(
    following: Following,
) -> None:
    """The clock of another worker may be behind; what it saw now would count as not seen since."""
    refresh_id = following.request()
    began = following.clock() + timedelta(minutes=2)
    with following.store.unit_of_work("test") as work:
        refresh = work.session.get_one(Refresh, refresh_id)
        refresh.status, refresh.started_at = "fetching", began
        work.session.add(refresh)
    message = RefreshV1(request_id=refresh_id, refresh_id=refresh_id, step=0)
    step = refresh_stage.work(following.worker.context, message)
    assert step is not None
    assert step.at == began
    following.clock.advance(hours=1)
    later = refresh_stage.work(following.worker.context, message)
    assert later is not None
    assert later.at == following.clock()


def test_a_step_delivered_twice_is_taken_once(following: Following) -> None:
    refresh_id = following.request()
    message = RefreshV1(request_id=refresh_id, refresh_id=refresh_id, step=0)
    first = refresh_stage.work(following.worker.context, message)
    second = refresh_stage.work(following.worker.context, message)
    for step in (first, second):
        with following.store.unit_of_work("test") as work:
            refresh_stage.commit(work, message, step)
    assert len(following.rows("SELECT id FROM ingest_item")) == 1
    assert refresh_stage.work(following.worker.context, message) is None


def test_two_requests_at_once_share_one_refresh(following: Following) -> None:
    assert following.request() == following.request()
    following.worker.run()
    assert len(following.rows("SELECT id FROM refresh")) == 1


def test_a_source_that_is_down_is_a_result_with_a_cause_and_no_dead_letter(
    following: Following,
) -> None:
    following.web.fault = lambda request: DROPPED
    refresh = following.refresh()
    assert refresh.status == "failed"
    assert refresh.error is not None
    assert "Europe PMC" in refresh.error
    watch = following.watch()
    assert watch.failures == 1
    assert watch.last_error == refresh.error
    assert watch.retry_at is not None
    assert watch.retry_at > following.clock()
    assert following.rows("SELECT id FROM dead_letter") == []


def test_a_source_that_asks_for_days_of_rest_is_asked_again_within_one(
    following: Following,
) -> None:
    """As its state says, or a week's Retry-After would let every SLA pass without a look."""
    following.web.fault = lambda request: Reply(429, b"", {"Retry-After": "518400"})
    assert following.refresh().status == "failed"
    retry_at = following.watch().retry_at
    assert retry_at is not None
    assert retry_at <= following.clock() + timedelta(hours=24)
    following.web.fault = lambda request: None
    following.clock.advance(hours=24)
    assert following.refresh().status == "complete"


def test_the_circuit_opens_after_three_failures_and_closes_when_a_trial_works(
    following: Following,
) -> None:
    following.web.fault = lambda request: Reply(503, b"maintenance")
    for _ in range(3):
        following.refresh()
    with following.store.reading() as session:
        state = source_states.state(session, "europepmc")
    assert state is not None
    assert state.status == "degraded"
    assert state.reason
    asked = len(following.web.requests)
    refresh = following.refresh()
    assert refresh.status == "failed"
    assert "degraded" in (refresh.error or "")
    assert len(following.web.requests) == asked, "a degraded source is left alone"
    following.web.fault = lambda request: None
    following.clock.advance(hours=7)
    assert following.refresh().status == "complete"
    with following.store.reading() as session:
        state = source_states.state(session, "europepmc")
    assert state is not None
    assert state.status == "ok"


def test_a_watch_whose_degraded_source_is_left_alone_has_not_failed_itself(
    following: Following,
) -> None:
    following.web.fault = lambda request: Reply(503, b"maintenance")
    for _ in range(3):
        following.refresh()
    assert "degraded" in (following.refresh().error or "")
    assert following.watch().failures == 3
    assert following.watch().retry_at is not None


def test_an_answer_that_cannot_be_read_fails_the_refresh_and_leaves_the_cursor(
    following: Following,
) -> None:
    following.refresh()
    before = following.watch().cursor_at
    following.clock.advance(hours=30)
    following.pmc.change("1002", abstractText=abstract(Results="Invented result, two."))

    def garbled(request: Request) -> Reply:
        reply = following.pmc.answer(request)
        return Reply(200, reply.body.replace(b'"resultList"', b'"resultList" '), reply.headers)

    following.web.fault = garbled
    assert following.refresh().status == "complete", "white space is harmless"
    following.clock.advance(hours=30)
    following.web.fault = lambda request: Reply(
        200, following.pmc.answer(request).body[:-40], {"Content-Type": "application/json"}
    )
    refresh = following.refresh()
    assert refresh.status == "failed"
    assert following.watch().cursor_at == before + timedelta(hours=30)  # type: ignore[operator]


def test_a_record_that_cannot_be_read_loses_its_own_clock_and_no_other(
    following: Following,
) -> None:
    following.refresh()
    began = following.clock()
    following.clock.advance(hours=30)
    following.pmc.change("1002", title={"article": "is no string"})
    refresh = following.refresh()
    assert (refresh.status, refresh.problems) == ("complete", 1)
    ids = {row.source_key: row.id for row in following.rows("SELECT id, source_key FROM document")}
    with following.store.reading() as session:
        clocks = {one: work.checked_at for one, work in known(session, ids.values()).items()}
    assert clocks[ids["pmid:1001"]] == following.clock()
    assert clocks[ids["pmid:1002"]] == began
    assert following.rows("SELECT subject FROM finding WHERE kind = 'unreadable'")[0].subject


def test_a_record_missing_twice_is_removed_and_once_only_loses_its_clock(
    following: Following,
) -> None:
    following.refresh()
    following.pmc.delete("1003")
    following.clock.advance(hours=200)
    following.refresh()
    assert following.versions("pmid:1003") == [(1, "current")]
    following.clock.advance(hours=1)
    following.refresh()
    assert following.versions("pmid:1003") == [(1, "current")], "an hour later is the same hiccup"
    following.clock.advance(hours=24)
    following.refresh()
    assert following.versions("pmid:1003") == [(1, "retracted")]
    kinds = following.rows("SELECT kind FROM notice WHERE gone_at IS NULL")
    assert [row.kind for row in kinds] == ["removal"]


def test_a_record_that_comes_back_under_another_key_is_superseded_and_not_retracted(
    following: Following,
) -> None:
    words = {"title": "A made-up article of PMC.", "abstractText": abstract(Results="Made up.")}
    following.pmc.put("PMC77", source="PMC", **words)
    following.pmc.put("PMC78", source="PMC", **words)
    following.refresh()
    following.pmc.delete("PMC77", source="PMC")
    following.pmc.delete("PMC78", source="PMC")
    following.pmc.put("7777", pmcid="PMC77", **words)
    for _ in range(10):
        following.clock.advance(hours=24)
        assert following.refresh().status == "complete"
    assert following.versions("pmcid:pmc77") == [(1, "superseded")]
    assert following.versions("pmid:7777") == [(1, "current")]
    assert following.versions("pmcid:pmc78") == [(1, "retracted")]
    assert following.rows("SELECT count(*) FROM notice") == [(1,)]
    assert following.rows("SELECT 1 FROM audit_event WHERE event = 'document.renamed'")
    following.pmc.put("PMC77", source="PMC", **words)
    following.clock.advance(hours=24)
    following.refresh()
    assert following.versions("pmcid:pmc77") == [(1, "superseded"), (2, "current")]


def test_a_full_text_that_is_not_well_formed_loses_its_own_clock_and_no_other(
    following: Following,
) -> None:
    for number in (1, 2):
        following.pmc.change(f"100{number}", pmcid=f"PMC{number}")
        following.pmc.put_full_text(f"PMC{number}", "Good words.")
    following.pmc.full_texts["PMC2"] = b"<article><front>&nbsp;broken"
    refresh = following.refresh()
    assert (refresh.status, refresh.problems) == ("complete", 1)
    assert following.watch().cursor_at is not None
    assert following.versions("europepmc:fulltext:PMC1") == [(1, "current")]
    found = following.rows("SELECT subject FROM finding WHERE kind = 'unreadable'")
    assert found == [("europepmc:fulltext:PMC2",)]


def test_full_texts_that_come_slowly_take_more_steps_and_none_is_left_out(
    following: Following,
) -> None:
    for number in (1, 2, 3):
        following.pmc.change(f"100{number}", pmcid=f"PMC{number}")
        following.pmc.put_full_text(f"PMC{number}", f"Good words of {number}.")

    def slowly(request: Request) -> None:
        if request.path.endswith("fullTextXML"):
            following.clock.advance(seconds=70)

    following.web.fault = slowly
    for _ in range(2):
        refresh = following.refresh()
        assert refresh.status == "complete"
        assert refresh.step >= 4, "the list, and a step for each text"
        for number in (1, 2, 3):
            assert following.versions(f"europepmc:fulltext:PMC{number}") == [(1, "current")]
        following.clock.advance(hours=200)


def test_too_many_of_our_own_requests_are_no_fault_of_the_source(following: Following) -> None:
    with following.store.unit_of_work("test") as work:
        work.session.execute(
            sa.text("INSERT INTO rate_limit (host, next_at) VALUES ('www.ebi.ac.uk', :at)"),
            {"at": following.clock() + timedelta(seconds=45)},
        )
    refresh = following.refresh()
    assert refresh.status == "failed"
    assert not following.web.requests
    with following.store.reading() as session:
        assert source_states.state(session, "europepmc") is None
    watch = following.watch()
    assert (watch.active, watch.failures) == (True, 0)
    assert watch.retry_at is not None
    following.clock.advance(hours=1)
    assert following.refresh().status == "complete"


def test_a_query_that_cannot_work_ends_the_watch_and_blames_no_source(following: Following) -> None:
    refresh = following.refresh(query='"unbalanced')
    assert refresh.status == "failed"
    assert refresh.error
    assert following.watch().active is False
    with following.store.reading() as session:
        assert source_states.state(session, "europepmc") is None or (
            source_states.state(session, "europepmc").failures == 0  # type: ignore[union-attr]
        )


def test_invariant_11_what_a_source_says_of_its_query_stays_out_of_the_audit_log(
    following: Following,
) -> None:
    """A query may be words of a question, and an error repeats it: operators see it, and the log,
    which nobody can erase, its kind."""
    following.refresh()
    said = {"version": "6.9", "errCode": 404, "errMsg": f"Invalid query: {QUERY} wibble"}
    reply = Reply(200, json.dumps(said).encode(), {"Content-Type": "application/json"})
    following.web.fault = lambda request: reply
    following.clock.advance(hours=24)
    refused = following.refresh()
    assert "wibble" in (refused.error or "")
    following.clock.advance(hours=400)
    with following.store.unit_of_work("test") as work:
        assert freshness.notice_breach(work, following.watch(), following.clock())
    [breach] = following.rows("SELECT cause FROM sla_breach")
    assert "wibble" in breach.cause
    told = following.rows("SELECT event, payload FROM audit_event ORDER BY seq")
    assert not [one for one in told if "wibble" in json.dumps(one.payload)]
    [failed] = [one.payload for one in told if one.event == "refresh.failed"]
    assert failed["kind"] == "InvalidQuery"


def test_a_query_that_once_worked_stays_followed_whatever_its_source_says_of_it(
    following: Following,
) -> None:
    following.refresh()
    following.clock.advance(hours=24)
    refusal = json.dumps({"version": "6.9", "errCode": 404, "errMsg": "Invalid query"}).encode()
    following.web.fault = lambda request: Reply(200, refusal, {"Content-Type": "application/json"})
    refresh = following.refresh()
    watch = following.watch()
    assert (refresh.status, watch.active) == ("failed", True)
    assert watch.last_error == refresh.error
    assert "Invalid query" in (refresh.error or "")
    assert watch.retry_at is not None
    assert watch.retry_at - following.clock() <= timedelta(hours=1)
    following.web.fault = lambda request: None
    following.clock.advance(hours=1)
    assert following.refresh().status == "complete"


def test_a_retraction_that_crossref_reports_takes_the_work_out_of_the_evidence(
    following: Following,
) -> None:
    following.pmc.change("1001", doi="10.5555/made-up.1")
    following.refresh()
    following.crossref.put("10.5555/made-up.1", title=["A made-up article numbered 1001."])
    following.crossref.change(
        "10.5555/made-up.1", updated_by=[update("retraction", "10.5555/notice.1")]
    )
    refresh = following.refresh("crossref", "held")
    assert refresh.status == "complete"
    assert following.versions("pmid:1001") == [(1, "retracted")]
    following.clock.advance(hours=30)
    following.refresh()
    assert following.versions("pmid:1001") == [(1, "retracted")], "the same words, still retracted"


def _retract_all_but_the_first_due(following: Following) -> tuple[str, list[str]]:
    """30 held works, more than one step asks about: gives the DOI that comes first, and the keys
    of the others, which Crossref reports as retracted."""
    for number in range(1001, 1031):
        doi, results = f"10.5555/w.{number}", abstract(Results=f"Invented result {number}, one.")
        following.pmc.put(str(number), doi=doi, abstractText=results)
        following.crossref.put(doi, title=[f"A made-up article numbered {number}."])
    following.refresh()
    with following.store.reading() as session:
        first, *others = publication_status.due(session, "crossref", following.clock(), 30)
    for one in others:
        following.crossref.change(one.doi, updated_by=[update("retraction", "10.5555/notice")])
    return first.doi, [one.key for one in others]


@pytest.mark.parametrize(
    "fault",
    [
        Reply(400, b"bad doi", {"Content-Type": "text/plain"}),
        Reply(200, b"<html>welcome</html>"),
        Reply(502, b""),
    ],
)
def test_one_doi_that_a_register_does_not_answer_keeps_no_other_from_being_asked(
    following: Following, fault: Reply
) -> None:
    doi, others = _retract_all_but_the_first_due(following)
    following.web.fault = lambda request: fault if request.path.endswith(doi) else None
    for _ in range(2):
        assert following.refresh("crossref", "held").status == "complete"
        for key in others:
            assert following.versions(key) == [(1, "retracted")]
        assert following.rows("SELECT count(*) FROM standing_check WHERE source = 'crossref'") == [
            (len(others),)
        ]
        (found,) = following.rows("SELECT kind, subject FROM finding WHERE resolved_at IS NULL")
        assert found.kind == "unreadable"
        following.clock.advance(hours=24)
    following.web.fault = lambda request: None
    following.refresh("crossref", "held")
    assert not following.rows("SELECT 1 FROM finding WHERE resolved_at IS NULL")
    assert following.rows("SELECT count(*) FROM standing_check WHERE source = 'crossref'") == [
        (len(others) + 1,)
    ]


def test_a_register_that_falls_silent_keeps_what_it_said_and_is_the_one_to_blame(
    following: Following,
) -> None:
    _, others = _retract_all_but_the_first_due(following)
    answered: list[str] = []

    def fault(request: Request) -> Reply | None:
        if len(answered) == 5:
            return Reply(502, b"")
        answered.append(request.path)
        return None

    following.web.fault = fault
    refresh = following.refresh("crossref", "held")
    assert refresh.status == "failed"
    assert "502" in (refresh.error or "")
    assert following.rows("SELECT count(*) FROM standing_check WHERE source = 'crossref'") == [(5,)]
    assert sum(following.versions(key) == [(1, "retracted")] for key in others) == 4
    assert not following.rows("SELECT 1 FROM finding")


@pytest.mark.parametrize("status", [400, 403])
def test_a_register_that_refuses_everybody_is_the_one_to_blame(
    following: Following, status: int
) -> None:
    _retract_all_but_the_first_due(following)
    following.web.fault = lambda request: Reply(status, b"")
    assert following.refresh("crossref", "held").status == "failed"
    assert not following.rows("SELECT 1 FROM finding")
    assert following.rows("SELECT count(*) FROM standing_check WHERE source = 'crossref'") == [(0,)]
    assert following.rows("SELECT last_error FROM source_state WHERE source = 'crossref'")[0][0]


def test_a_title_of_another_work_under_the_doi_is_a_finding(following: Following) -> None:
    following.pmc.change("1001", doi="10.5555/made-up.1")
    following.refresh()
    following.crossref.put("10.5555/made-up.1", title=["Something else entirely, on glaciers"])
    following.refresh("crossref", "held")
    found = following.rows("SELECT kind, subject, detail FROM finding ORDER BY subject")
    assert {row.kind for row in found} == {"mismatch"}
    assert found[0].subject == "doi:10.5555/made-up.1"
    assert found[0].detail == {"disagrees": ["title"], "title_match_percent": 0}


@pytest.mark.requirement("EB-7.3")
@pytest.mark.parametrize(
    ("title", "in_doubt"),
    [
        ("Something else entirely, on glaciers", ["doi:10.5555/made-up.1", "pmid:1001"]),
        ("A made-up article numbered by somebody else", ["doi:10.5555/made-up.1"]),
        ("A made-up article numbered 1001.", []),
    ],
)
def test_eb_7_3_below_half_of_a_title_in_common_nothing_that_names_the_record_is_trusted(
    following: Following, title: str, in_doubt: list[str]
) -> None:
    following.pmc.change("1001", doi="10.5555/made-up.1")
    following.refresh()
    following.crossref.put("10.5555/made-up.1", title=[title])
    following.refresh("crossref", "held")
    found = following.rows("SELECT subject FROM finding ORDER BY subject")
    assert [row.subject for row in found] == in_doubt
    following.crossref.put("10.5555/made-up.1", title=["A made-up article numbered 1001."])
    following.clock.advance(hours=200)
    following.refresh("crossref", "held")
    assert not following.rows("SELECT subject FROM finding WHERE resolved_at IS NULL")


@pytest.mark.requirement("EB-7.1")
@pytest.mark.parametrize(
    ("source_says", "registry_says"), [("pack", "pack"), ("pack", "glaciers"), ("glaciers", "pack")]
)
def test_eb_7_1_a_work_of_a_pack_is_what_the_pack_its_source_and_its_registry_say(
    following: Following, source_says: str, registry_says: str
) -> None:
    entry = next(one for pack in scenarios() for one in pack.usable() if one.doi)
    assert entry.doi is not None
    titles = {"pack": entry.title, "glaciers": "Something else entirely, on glaciers"}
    following.pmc.change(
        "1001",
        doi=entry.doi,
        title=titles[source_says],
        pubYear=str(entry.year),
        firstPublicationDate=f"{entry.year}-01-01",
        abstractText="An article.",
    )
    following.refresh()
    issued = {"date-parts": [[entry.year, 1]]}
    following.crossref.put(entry.doi, title=[titles[registry_says]], issued=issued)
    following.refresh("crossref", "held")
    found = following.rows("SELECT DISTINCT subject FROM finding")
    expected = [] if source_says == registry_says else [f"doi:{entry.doi}"]
    assert [row.subject for row in found] == expected


def test_a_thousand_failures_are_counted_and_the_next_try_is_within_the_hour(
    following: Following,
) -> None:
    following.web.fault = lambda request: DROPPED
    following.refresh()
    with following.store.unit_of_work("test") as work:
        work.session.execute(sa.text("UPDATE watch SET failures = 2000"))
        work.session.execute(sa.text("DELETE FROM source_state"))
    following.refresh()
    watch = following.watch()
    assert watch.failures == 2001
    assert watch.retry_at is not None
    assert watch.retry_at - following.clock() <= timedelta(hours=1)


def test_a_clock_that_once_ran_ahead_leaves_no_cursor_in_the_future(following: Following) -> None:
    following.clock.advance(hours=400)
    following.refresh()
    following.clock.advance(hours=-400)
    following.refresh()  # its turn at the source is still in the future, for an hour at most
    following.clock.advance(hours=2)
    assert following.refresh().status == "complete"
    assert following.watch().cursor_at == following.clock()


def test_no_sla_counts_the_time_in_which_nobody_followed(following: Following) -> None:
    following.refresh()
    with following.store.unit_of_work("test") as work:
        watches.stop(work, following.watch().id, following.clock())
    following.clock.advance(hours=1000)
    following.refresh()
    assert following.rows("SELECT * FROM sla_breach") == []


def test_a_breach_ends_when_its_watch_is_stopped(following: Following) -> None:
    following.refresh()
    following.clock.advance(hours=400)
    with following.store.unit_of_work("test") as work:
        assert freshness.notice_breach(work, following.watch(), following.clock())
        watches.stop(work, following.watch().id, following.clock())
    assert [row.ended_at for row in following.rows("SELECT ended_at FROM sla_breach")] == [
        following.clock()
    ]


def test_a_source_that_showed_too_little_is_the_cause_of_the_breach(following: Following) -> None:
    following.pmc.missing_hits = 2
    assert following.refresh().status == "complete"
    assert following.watch().cursor_at is None
    assert "did not show all" in (following.watch().last_error or ""), "it is told at once"
    following.clock.advance(hours=400)
    with following.store.unit_of_work("test") as work:
        freshness.notice_breach(work, following.watch(), following.clock())
    (breach,) = following.rows("SELECT cause FROM sla_breach")
    assert "did not show all" in breach.cause
    following.pmc.missing_hits = 0
    following.refresh()
    assert following.watch().last_error is None


def test_items_of_one_refresh_are_stored_at_once_without_a_deadlock(
    following: Following, settings: Settings
) -> None:
    for number in range(2000, 2600):
        following.pmc.put(str(number), abstractText=abstract(Results=f"Invented result {number}."))
    refresh_id = following.request()
    fetched = following.worker.context
    for step in range(20):
        message = RefreshV1(request_id=refresh_id, refresh_id=refresh_id, step=step)
        taken = refresh_stage.work(fetched, message)
        if taken is None:
            break
        with following.store.unit_of_work("test") as work:
            refresh_stage.commit(work, message, taken)
    rows = following.rows("SELECT id, content_hash FROM ingest_item")
    assert len(rows) > 4
    messages = [
        IngestV1(request_id=refresh_id, item_id=row.id, content_hash=row.content_hash)
        for row in rows
    ]

    def store_one(message: IngestV1) -> None:
        read = ingest_stage.work(fetched, message)
        with following.store.unit_of_work("test") as work:
            ingest_stage.commit(work, message, read)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(store_one, messages))
    assert following.get(refresh_id).status == "complete"
    assert following.get(refresh_id).records == 603
