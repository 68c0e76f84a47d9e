"""What is followed becomes evidence: stored with its identifiers and facts, embedded, found."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa

from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.index import lexical
from store.sources import refreshes, watches
from tests.fakes.clinicaltrials import ClinicalTrials
from tests.fakes.eutils import Eutils
from tests.fakes.openfda import OpenFda
from tests.fakes.web import Clock, FakeWeb
from workers.inline import InlineWorker
from workers.retrieve.search import search

STATUSES = ("RECRUITING", "COMPLETED", "WITHDRAWN", "TERMINATED", "UNKNOWN", "NOT_YET_RECRUITING")


class Followed:
    """A little web, and a worker that follows it."""

    def __init__(self, settings: Settings, engine: sa.Engine) -> None:
        self.clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
        self.pubmed, self.trials = Eutils(self.clock), ClinicalTrials(self.clock)
        self.fda = OpenFda(self.clock)
        self.web = FakeWeb(self.pubmed, self.trials, self.fda)
        mirrored = settings.model_copy(update={"source_mirrors": self.web.mirrors})
        self.worker = InlineWorker(mirrored, Store(engine), now=self.clock, sleep=self.clock.sleep)

    def refresh(self, source: str, query: str) -> str:
        """Follow `query` and refresh it to the end; gives how it ended."""
        with self.worker.store.unit_of_work("test") as work:
            watch = watches.follow(work, source, query, "user", self.clock())
            refresh_id = refreshes.request(work, watch, "user", self.clock()).id
        self.worker.run()
        rows = self.rows("SELECT status, error FROM refresh WHERE id = :id", id=refresh_id)
        return rows[0].error or rows[0].status

    def rows(self, query: str, **parameters: Any) -> list[Any]:
        with self.worker.store.reading() as session:
            return list(session.execute(sa.text(query), parameters))

    def find(self, words: str) -> list[str]:
        """The titles of the best passages."""
        vector = self.worker.context.encoder.encode([words])[0]
        segments: dict[int, lexical.Segment] = {}
        with self.worker.store.reading() as session:
            return [one.title for one in search(session, words, vector, segments).passages]


@pytest.fixture
def followed(settings: Settings, engine: sa.Engine) -> Iterator[Followed]:
    one = Followed(settings, engine)
    with one.web:
        yield one
    one.worker.close()


@pytest.mark.requirement("MC-1.1a")
@pytest.mark.requirement("MC-1.1b")
def test_mc_1_1_every_trial_that_matches_is_a_document_and_embedded_whatever_its_status(
    followed: Followed,
) -> None:
    for number in range(230):
        status = STATUSES[number % len(STATUSES)]
        followed.trials.put(f"NCT{90000000 + number}", title=f"Trial {number}", status=status)
    assert followed.refresh("clinicaltrials", "made-up") == "complete"
    embedded = followed.rows(
        "SELECT DISTINCT v.identifiers ->> 'nct_id' AS nct_id FROM document_version v "
        "JOIN chunk c ON c.version_id = v.id JOIN chunk_vector e ON e.chunk_id = c.id"
    )
    assert {row.nct_id for row in embedded} == {f"NCT{90000000 + n}" for n in range(230)}


@pytest.mark.requirement("MC-1.1c")
def test_mc_1_1_c_a_trial_carries_number_endpoints_arms_status_and_results(
    followed: Followed,
) -> None:
    followed.trials.put("NCT90000001", title="Trial with results", results=True)
    followed.refresh("clinicaltrials", "made-up")
    (row,) = followed.rows("SELECT text, facts, identifiers, url FROM document_version")
    assert row.identifiers == {"nct_id": "NCT90000001"}
    assert row.url == "https://clinicaltrials.gov/study/NCT90000001"
    assert row.facts["status"]
    assert row.facts["primary_endpoints"]
    assert row.facts["enrollment"] == 1234
    assert row.facts["has_results"] is True
    for heading in ("## Status", "## Design", "## Primary outcomes", "## Primary outcome result"):
        assert heading in row.text, row.text


@pytest.mark.requirement("SP-7")
def test_sp_7_pubmed_openfda_and_clinicaltrials_are_followed_and_what_they_bring_is_found(
    followed: Followed,
) -> None:
    followed.pubmed.put(
        101, title="Invented pulse oximetry.", abstract=[("RESULTS", "", "Zorbium rose by 12%.")]
    )
    followed.trials.put("NCT90000001", title="An invented trial of quuxinib")
    label = {
        "set_id": "00000000-0000-4000-8000-000000000001",
        "id": "00000000-0000-4000-8000-000000000002",
        "version": "3",
        "effective_time": "20260101",
        "indications_and_usage": ["1 INDICATIONS AND USAGE Frobnix is made up for tests."],
        "openfda": {"brand_name": ["Frobnix"], "generic_name": ["frobnixumab"]},
    }
    followed.fda.put("label", label)
    assert followed.refresh("pubmed", "invented") == "complete"
    assert followed.refresh("clinicaltrials", "made-up") == "complete"
    assert followed.refresh("openfda-label", 'openfda.brand_name:"Frobnix"') == "complete"
    assert followed.find("zorbium")[0] == "Invented pulse oximetry."
    assert followed.find("quuxinib")[0] == "An invented trial of quuxinib"
    assert "Frobnix" in followed.find("frobnixumab indications")[0]
    sources = followed.rows("SELECT DISTINCT source FROM document_version ORDER BY source")
    assert [row.source for row in sources] == ["clinicaltrials", "openfda-label", "pubmed"]
