"""The search outside, from the choice to a record of a primary source (EB-4.4 to 4.6)."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest
import sqlalchemy as sa
import structlog

from contracts.retrieval import Outside
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.questions import remedies
from store.sources import source_states, watches
from tests.fakes.clinicaltrials import ClinicalTrials
from tests.fakes.eutils import Eutils
from tests.fakes.perplexity import Perplexity
from tests.fakes.web import Clock, FakeWeb, Reply
from workers.inline import InlineWorker
from workers.retrieve import perplexity
from workers.retrieve.outside import Choice, may_search_outside
from workers.retrieve.sufficiency import Sufficiency

KEY = "made-up-key-4711"
RECOGNIZED = {"diseases": ["sepsis"], "decisions": ["anticoagulation"]}
YES = Choice(True, "Asking Perplexity - made up")
FOUND = [
    "https://pubmed.ncbi.nlm.nih.gov/101/",
    "https://clinicaltrials.gov/study/NCT90000001",
    "https://doi.org/10.5555/x",
    "https://example.org/blog",
]


class World:
    """A little web with the service in it, and a worker that has its key."""

    def __init__(self, settings: Settings, engine: sa.Engine) -> None:
        self.clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
        self.pubmed, self.trials = Eutils(self.clock), ClinicalTrials(self.clock)
        self.service = Perplexity({KEY})
        self.service.found = FOUND
        self.web = FakeWeb(self.pubmed, self.trials, self.service)
        update = {"source_mirrors": self.web.mirrors, "perplexity_api_key": KEY}
        mirrored = settings.model_copy(update=update)
        self.worker = InlineWorker(mirrored, Store(engine), now=self.clock, sleep=self.clock.sleep)
        self.store = self.worker.store

    def consult(self, choice: Choice = YES) -> Any:
        return perplexity.consult(self.worker.context, choice, RECOGNIZED)

    def follow(self, *sources: str) -> None:
        with self.store.unit_of_work("test") as work:
            for source in sources:
                watches.follow(work, source, "followed", "user", self.clock())

    def ask_for(self, outside: Any) -> list[str]:
        wanted = perplexity.wanted(Outside.model_validate(outside) if outside else None)
        with self.store.unit_of_work("test") as work:
            asked = remedies.refresh_records(work, wanted, self.clock())
        return [one.source for one in asked]

    def rows(self, query: str) -> list[Any]:
        with self.store.reading() as session:
            return list(session.execute(sa.text(query)))

    def state(self) -> source_states.SourceState | None:
        with self.store.reading() as session:
            return source_states.state(session, perplexity.SERVICE)


@pytest.fixture
def world(settings: Settings, engine: sa.Engine) -> Iterator[World]:
    one = World(settings, engine)
    with one.web:
        yield one
    one.worker.close()


@pytest.mark.requirement("EB-4.6")
def test_eb_4_6_skips_the_outside_search_with_the_logged_score(world: World) -> None:
    enough = Sufficiency(78, "good", "made up")
    choice = may_search_outside(enough, None, 0, date(2026, 1, 5), key_set=True)
    with structlog.testing.capture_logs() as logs:
        assert world.consult(choice) is None
    assert [line["event"] for line in logs] == [
        "Skipping Perplexity - internal evidence sufficient (score: 78/100)"
    ]
    assert world.web.requests == []


@pytest.mark.requirement("EB-4.5")
def test_eb_4_5_a_lead_counts_only_once_its_record_came_from_a_primary_source(
    world: World,
) -> None:
    world.follow("pubmed", "clinicaltrials")
    world.pubmed.put(101, title="An invented trial of anticoagulation in sepsis.")
    world.pubmed.put(102, title="Another invented trial of anticoagulation in sepsis.")
    world.trials.put("NCT90000001", title="An invented registration")
    outside = world.consult()
    assert outside["leads"] == [
        {"kind": "pmid", "value": "101", "where": FOUND[0]},
        {"kind": "nct_id", "value": "NCT90000001", "where": FOUND[1]},
        {"kind": "doi", "value": "10.5555/x", "where": FOUND[2]},
    ]
    assert (outside["dropped"], outside["failure"], outside["cost_usd"]) == (1, None, "0.00612")
    assert world.rows("SELECT 1 FROM document") == []
    assert world.ask_for(outside) == ["pubmed", "clinicaltrials"]
    world.worker.run()
    held = world.rows("SELECT identifiers, source FROM document_version ORDER BY source")
    assert [(one.source, one.identifiers.get("pmid")) for one in held] == [
        ("clinicaltrials", None),
        ("pubmed", "101"),
    ]
    assert {one.status for one in world.rows("SELECT status FROM refresh")} == {"complete"}


def test_the_same_leads_again_are_one_watch_that_nobody_follows(world: World) -> None:
    world.follow("pubmed")
    world.pubmed.put(101, title="An invented trial.")
    assert world.ask_for(world.consult()) == ["pubmed"]
    world.worker.run()
    assert world.ask_for(world.consult()) == [], "it was asked for just now"
    made = world.rows("SELECT query, active FROM watch WHERE origin = 'abstention'")
    assert [(one.query, one.active) for one in made] == [("101[uid]", False)]


def test_a_source_that_nobody_follows_is_asked_for_nothing(world: World) -> None:
    world.follow("clinicaltrials")
    assert world.ask_for(world.consult()) == ["clinicaltrials"]
    assert world.ask_for(None) == []
    assert [one.source for one in world.rows("SELECT source FROM watch GROUP BY source")] == [
        "clinicaltrials"
    ]


def test_a_lead_is_asked_for_at_one_source_even_if_two_know_its_kind(world: World) -> None:
    world.follow("pubmed", "europepmc")
    assert world.ask_for(world.consult()) == ["pubmed", "europepmc"]
    made = world.rows("SELECT query FROM watch WHERE origin = 'abstention' ORDER BY source")
    assert [one.query for one in made] == ['DOI:"10.5555/x"', "101[uid]"]


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (Reply(401, b'{"error": {"message": "Made-up"}}'), "Refused"),
        (Reply(429, b""), "QuotaExhausted"),
        (Reply(200, b"Made-up"), "Malformed"),
        (Reply(500, b"Made-up"), "Unreachable"),
    ],
)
def test_a_failure_is_told_by_its_kind_and_the_question_goes_on(
    world: World, reply: Reply, failure: str
) -> None:
    world.web.fault = lambda _: reply
    with structlog.testing.capture_logs() as logs:
        outside = world.consult()
    assert outside["failure"] == failure
    assert (outside["leads"], outside["dropped"], outside["cost_usd"]) == ([], 0, None)
    assert {"event": "outside_search_failed", "kind": failure, "log_level": "warning"} in logs
    assert "sepsis" not in repr(logs)
    assert "Made-up" not in repr((outside, logs))


def test_a_service_that_refuses_is_left_alone_until_its_pause_is_over(world: World) -> None:
    world.web.fault = lambda _: Reply(401, b"")
    world.consult()
    assert world.consult()["failure"] == "LeftAlone"
    assert len(world.web.requests) == 1
    world.web.fault = lambda _: None
    world.clock.advance(hours=1)
    assert world.consult()["failure"] is None
    state = world.state()
    assert state is not None
    assert state.status == "ok"


def test_too_few_terms_ask_nobody(world: World) -> None:
    with structlog.testing.capture_logs():
        assert perplexity.consult(world.worker.context, YES, {"diseases": ["sepsis"]}) is None
    assert world.web.requests == []
