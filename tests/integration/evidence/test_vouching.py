"""Which watch vouches for which document, and when one counts as gone at its source."""

import json
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from store.documents.citation_query import known
from store.documents.submissions import Origin, submit_item
from store.models import Watch
from store.sources import refreshes, watches
from tests.integration.evidence.test_findings import Stub, record
from tests.integration.evidence.test_versions import at, put
from workers.inline import InlineWorker


class Following:
    """A watch on a source whose pages these tests write, and a work that it follows."""

    def __init__(self, worker: InlineWorker, source: str) -> None:
        self.worker, self.store, self.source = worker, worker.store, source
        with self.store.unit_of_work("test") as work:
            self.watch_id = watches.follow(work, source, "made-up", "user", at(0)).id

    def refresh(
        self, hour: float, *records: Any, problems: Any = (), asked: Collection[UUID] = ()
    ) -> None:
        """A complete refresh of one page; `asked` were asked for by id, all of them in it."""
        self.worker.context = replace(self.worker.context, now=lambda: at(hour))
        with self.store.unit_of_work("test", request_id=uuid4()) as work:
            watch = work.session.get_one(Watch, self.watch_id)
            refresh = refreshes.request(work, watch, "user", at(hour))
            work.session.flush()
            refresh.status, refresh.started_at = "storing", at(hour)
            refresh.rechecked = [str(one) for one in asked]
            work.session.add(refresh)
            work._outbox.clear()  # no step is taken: the page below is all of it
            submit_item(
                work,
                filename="page.json",
                media_type=None,
                content=json.dumps({"records": records, "problems": problems}).encode(),
                source_type=None,
                batch_id=uuid4(),
                origin=Origin(self.source, at(hour), refresh.id),
            )
        self.worker.run()
        with self.store.reading() as session:
            statuses = session.execute(sa.text("SELECT DISTINCT status FROM refresh")).scalars()
            assert list(statuses) == ["complete"]

    def document_id(self) -> UUID:
        with self.store.reading() as session:
            found = session.execute(sa.text("SELECT id FROM document")).scalar_one()
            return UUID(str(found))

    def clock(self) -> datetime:
        with self.store.reading() as session:
            document_id = self.document_id()
            return known(session, [document_id])[document_id].checked_at

    def state(self) -> str:
        with self.store.reading() as session:
            document_id = self.document_id()
            return known(session, [document_id])[document_id].standing.state


@pytest.fixture
def reader(inline: InlineWorker, monkeypatch: pytest.MonkeyPatch) -> InlineWorker:
    """All stages; pages of sources are read by the stub."""
    monkeypatch.setattr("workers.ingest.stage.connector", lambda name, settings: Stub())
    return inline


@pytest.fixture
def pubmed(reader: InlineWorker) -> Following:
    following = Following(reader, "pubmed")
    following.refresh(0, record("1"))
    return following


KEY = "pubmed:1"


def test_a_complete_refresh_vouches_for_what_it_saw_before(pubmed: Following) -> None:
    pubmed.refresh(24)
    assert pubmed.clock() == at(24)


def test_a_document_missing_twice_a_day_apart_is_removed(pubmed: Following) -> None:
    one = pubmed.document_id()
    pubmed.refresh(24, asked=[one])
    assert (pubmed.state(), pubmed.clock()) == ("none", at(0))  # but nobody vouches for it
    pubmed.refresh(30, asked=[one])
    assert pubmed.state() == "none"  # six hours are no two answers
    pubmed.refresh(48, asked=[one])
    assert pubmed.state() == "retracted"
    pubmed.refresh(72, record("1"))
    assert (pubmed.state(), pubmed.clock()) == ("none", at(72))


def test_a_record_that_cannot_be_read_is_not_vouched_for_and_not_missing(
    pubmed: Following,
) -> None:
    one = pubmed.document_id()
    for hour in (24, 48, 72):
        pubmed.refresh(hour, problems=[[KEY, "no title"]], asked=[one])
        assert (pubmed.state(), pubmed.clock()) == ("none", at(0))
    pubmed.refresh(96, record("1"))
    pubmed.refresh(120)
    assert pubmed.clock() == at(120)


def test_a_record_that_was_left_out_is_not_missing(reader: InlineWorker) -> None:
    following = Following(reader, "europepmc")
    mine = {**record("1"), "source_key": None, "identifiers": {"pmid": "123"}}
    following.refresh(0, mine)
    # PubMed's own record comes from a file, without a watch.
    put(following.store, "pubmed", "PubMed's words.", 10)
    following.refresh(24)
    assert following.clock() == at(10), "Europe PMC vouches for no words of PubMed"
    for hour in (48, 72, 96):
        following.refresh(hour, mine, asked=[following.document_id()])
        assert (following.state(), following.clock()) == ("none", at(10))


def test_a_watch_that_an_abstention_made_is_followed_once_a_user_asks_for_it(
    pubmed: Following,
) -> None:
    with pubmed.store.unit_of_work("test") as work:
        made = watches.follow(work, "pubmed", "terms", "abstention", at(0))
        assert (made.active, made.origin) == (False, "abstention")
        again = watches.follow(work, "pubmed", "terms", "user", at(1))
        assert (again.id, again.active, again.origin) == (made.id, True, "user")
        watches.stop(work, made.id, at(2))
        assert not watches.follow(work, "pubmed", "terms", "abstention", at(3)).active
