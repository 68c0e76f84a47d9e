"""EB-8.4: how often a work is cited is asked for, kept, and shown as a badge of its reference."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa

from knowledge.works.trust import badge_policy
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents.citation_query import known
from store.models import Answer
from store.sources import refreshes, watches
from tests.fakes.eutils import Eutils
from tests.fakes.openalex import OpenAlex
from tests.fakes.web import Clock, FakeWeb
from tests.integration.evidence.test_standing import ask as told
from tests.integration.evidence.test_standing import put_work
from tests.servers import TRIAL_QUESTION, ask
from workers.inline import InlineWorker

CITATIONS = badge_policy().highly_cited.citations
DOI = "10.5555/made-up"
TITLE = "A made-up report of the ctDNA-guided trial."
WEEK_HOURS = 8 * 24
"""Enough that OpenAlex is asked about the same work again."""


class Library:
    """One publication that PubMed sent, and a worker that asks OpenAlex about it."""

    def __init__(self, settings: Settings, engine: sa.Engine) -> None:
        self.clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
        self.pubmed, self.openalex = Eutils(self.clock), OpenAlex(self.clock)
        self.web = FakeWeb(self.pubmed, self.openalex)
        mirrored = settings.model_copy(update={"source_mirrors": self.web.mirrors})
        self.worker = InlineWorker(mirrored, Store(engine), now=self.clock, sleep=self.clock.sleep)

    def refresh(self, source: str, query: str) -> None:
        with self.worker.store.unit_of_work("test") as work:
            watch = watches.follow(work, source, query, "user", self.clock())
            refresh_id = refreshes.request(work, watch, "user", self.clock()).id
        self.worker.run()
        with self.worker.store.reading() as session:
            (row,) = session.execute(
                sa.text("SELECT status, error FROM refresh WHERE id = :id"), {"id": refresh_id}
            )
        assert (row.status, row.error) == ("complete", None)

    def tell(self, count: Any, title: str = TITLE) -> None:
        """OpenAlex is asked, a week later, and counts so many works that cite this one."""
        self.openalex.put(DOI, title=title, cited_by_count=count)
        self.clock.advance(hours=WEEK_HOURS)
        self.refresh("openalex", "*")

    def badges(self) -> list[str]:
        """Those of the one reference of an answer."""
        question_id = ask(self.worker.store, TRIAL_QUESTION)
        self.worker.run()
        with self.worker.store.reading() as session:
            (reference,) = session.get_one(Answer, question_id).body["references"]
        assert reference["pmid"] == "101"
        badges: list[str] = reference["badges"]
        return badges


@pytest.fixture
def library(settings: Settings, engine: sa.Engine) -> Iterator[Library]:
    one = Library(settings, engine)
    outcome = (
        "The primary endpoint of the ctDNA-guided trial in stage II colon cancer was "
        "recurrence-free survival at 2 years."
    )
    one.pubmed.put(101, doi=DOI, title=TITLE, abstract=[("METHODS", "", outcome)])
    with one.web:
        one.refresh("pubmed", "ctDNA-guided")
        yield one
    one.worker.close()


@pytest.mark.requirement("EB-8.4")
def test_eb_8_4_a_count_that_openalex_tells_earns_the_badge_and_its_silence_takes_none(
    library: Library,
) -> None:
    assert "Highly Cited" not in library.badges()  # nobody was asked
    library.tell(CITATIONS - 1)
    assert "Highly Cited" not in library.badges()
    library.tell(CITATIONS)
    assert "Highly Cited" in library.badges()
    library.tell(None)
    assert "Highly Cited" in library.badges()
    library.tell(10**30)  # no count, and more than a row could hold
    assert "Highly Cited" in library.badges()
    library.tell(CITATIONS - 1)  # counted anew
    assert "Highly Cited" not in library.badges()


@pytest.mark.requirement("EB-8.4")
def test_eb_8_4_the_count_of_a_doi_that_has_another_title_is_not_this_work_s(
    library: Library,
) -> None:
    library.tell(10 * CITATIONS, title="A made-up protocol of the ctDNA-guided study.")
    assert "Highly Cited" not in library.badges()
    library.tell(10 * CITATIONS)
    assert "Highly Cited" in library.badges()


def test_the_largest_count_told_is_taken_and_a_source_s_own_newest_one(store: Store) -> None:
    document_id = put_work(store, "pubmed", 0).document_id

    def cited_by() -> int | None:
        with store.reading() as session:
            return known(session, [document_id])[document_id].standing.cited_by

    assert cited_by() is None
    told(store, "openalex", document_id, 1, cited_by=7)
    told(store, "crossref", document_id, 1, cited_by=5)
    assert cited_by() == 7
    told(store, "crossref", document_id, 2, cited_by=9)
    assert cited_by() == 9
    told(store, "crossref", document_id, 3, cited_by=0)
    assert cited_by() == 7
    told(store, "openalex", document_id, 2, known=False)
    assert cited_by() == 7
    told(store, "openalex", document_id, 1.5, cited_by=99)  # stored late
    assert cited_by() == 7
