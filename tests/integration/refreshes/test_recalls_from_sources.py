"""A retraction arrives through PubMed: within that refresh, what cites the work is corrected."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

import pytest
import sqlalchemy as sa

from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.sources import refreshes, watches
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb
from tests.integration.refreshes.test_recalls import answered, body, recall, state
from workers.inline import InlineWorker

QUERY = "zorbinib"
QUESTION = "What was recurrence-free survival with zorbinib in stage II colon cancer?"
OTHER_QUESTION = "What was overall survival with quuxinib in stage IV gastric cancer?"


class Followed:
    """A fake PubMed and the worker that follows it."""

    def __init__(self, settings: Settings, engine: sa.Engine) -> None:
        self.clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
        self.pubmed = Eutils(self.clock)
        self.web = FakeWeb(self.pubmed)
        mirrored = settings.model_copy(update={"source_mirrors": self.web.mirrors})
        self.worker = InlineWorker(mirrored, Store(engine), now=self.clock, sleep=self.clock.sleep)

    def refresh(self) -> None:
        """Refresh once, and do all that follows from it."""
        with self.worker.store.unit_of_work("test") as work:
            watch = watches.follow(work, "pubmed", QUERY, "user", self.clock())
            refreshes.request(work, watch, "user", self.clock())
        self.worker.run()


@pytest.fixture
def followed(settings: Settings, engine: sa.Engine) -> Iterator[Followed]:
    one = Followed(settings, engine)
    results = {
        101: "In stage II colon cancer, recurrence-free survival was 90% with zorbinib.",
        102: "In stage IV gastric cancer, overall survival was 40% with quuxinib, not zorbinib.",
    }
    for pmid, words in results.items():
        title = words.split(",")[0].replace("In ", "Zorbinib, a made-up drug, in ") + "."
        one.pubmed.put(pmid, title=title, abstract=[("RESULTS", "", words)])
    with one.web:
        one.refresh()
        yield one
    one.worker.close()


def cited(followed: Followed, question_id: UUID) -> set[str]:
    evidence = body(followed.worker.store, question_id)["evidence"]
    return {one["source"]["url"] for one in evidence}


def test_a_retraction_is_known_to_every_answer_that_cites_the_work_within_one_refresh(
    followed: Followed,
) -> None:
    store = followed.worker.store
    citing = [answered(followed.worker, QUESTION) for _ in range(3)]
    other = answered(followed.worker, OTHER_QUESTION)
    assert all(any("/101/" in url for url in cited(followed, one)) for one in citing)
    assert not any("/101/" in url for url in cited(followed, other))
    followed.clock.advance(hours=24)
    followed.pubmed.retract(101, notice=103)
    followed.refresh()
    for question_id in citing:
        row = recall(store, question_id)
        assert row is not None
        assert row.state == "superseded"
        (reason,) = [one for one in row.because if one["change"] == "retracted"]
        assert (reason["source"], reason["notice_id"]) == ("pubmed", "pmid:103")
        assert row.superseded_by is not None
        assert not any("/101/" in url for url in cited(followed, row.superseded_by))
        assert "recurrence-free survival was 90%" not in str(body(store, row.superseded_by))
    assert state(store, other) == "current"


def test_a_refresh_that_brings_nothing_new_touches_no_answer(followed: Followed) -> None:
    question_id = answered(followed.worker, QUESTION)
    followed.clock.advance(hours=24)
    followed.refresh()
    assert state(followed.worker.store, question_id) == "current"


def test_a_deleted_record_counts_as_removed(followed: Followed) -> None:
    question_id = answered(followed.worker, QUESTION)
    followed.clock.advance(hours=24)
    followed.pubmed.change(101, abstract=[("RESULTS", "", "Recurrence-free survival was 9%.")])
    followed.refresh()
    row = recall(followed.worker.store, question_id)
    assert row is not None
    assert row.state == "superseded"
    assert [one["change"] for one in row.because] == ["superseded"]
