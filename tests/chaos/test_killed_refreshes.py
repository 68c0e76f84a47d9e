"""Workers and schedulers are killed while they refresh a source: nothing is lost or doubled."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

import pytest
import sqlalchemy as sa

from messages import Stage
from store.core.unit_of_work import Store
from store.models import Refresh, now
from store.sources import refreshes, watches
from tests.chaos.checker import check, wait_quiet
from tests.chaos.hold import Hold
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb, Reply, Request
from tests.servers import Fleet, wait_until

pytestmark = pytest.mark.requirement("DC-4")

ARTICLES = 450
"""Three pages of PubMed."""


@pytest.fixture
def pubmed() -> Iterator[tuple[Eutils, FakeWeb]]:
    fake = Eutils(Clock(datetime.now(UTC)))
    for pmid in range(1, ARTICLES + 1):
        fake.put(pmid, title=f"Invented article {pmid}.", abstract=[("", "", f"Words of {pmid}.")])
    with FakeWeb(fake) as web:
        yield fake, web


def follow(fleet: Fleet, web: FakeWeb, store: Store) -> UUID:
    """Follow the fake PubMed with processes of a short lease; gives the refresh's id."""
    fleet.settings = fleet.settings.model_copy(
        update={"lease_seconds": 2.5, "source_mirrors": web.mirrors}
    )
    with store.unit_of_work("test") as work:
        watch = watches.follow(work, "pubmed", "invented", "user", now())
        return refreshes.request(work, watch, "user", now()).id


def complete(store: Store, refresh_id: UUID) -> None:
    """Wait until the refresh is complete and everything it brought is indexed; check it all."""

    def ended() -> bool:
        with store.reading() as session:
            return session.get_one(Refresh, refresh_id).status in ("complete", "failed")

    wait_until(ended, 60, "the refresh ended")
    wait_quiet(store)
    check(store, answered=0)
    with store.reading() as session:
        refresh = session.get_one(Refresh, refresh_id)
        assert (refresh.status, refresh.error) == ("complete", None)
        versions = session.execute(
            sa.text(
                "SELECT d.source_key, max(v.n) AS n FROM document d "
                "JOIN document_version v ON v.document_id = d.id GROUP BY d.source_key"
            )
        ).all()
        assert {(row.source_key, row.n) for row in versions} == {
            (f"pmid:{pmid}", 1) for pmid in range(1, ARTICLES + 1)
        }


def test_kill_9_in_the_commit_of_a_page(
    fleet: Fleet, published: Store, hold: Hold, pubmed: tuple[Eutils, FakeWeb]
) -> None:
    refresh_id = follow(fleet, pubmed[1], published)
    hold.commit_of(Stage.REFRESH)
    victim = fleet.start("worker", "--threads=2")
    fleet.start("scheduler")
    hold.wait_for()
    victim.kill()
    victim.wait()
    hold.release()
    fleet.start("worker", "--threads=2")
    complete(published, refresh_id)


def test_kill_9_while_the_source_answers(
    fleet: Fleet, published: Store, pubmed: tuple[Eutils, FakeWeb]
) -> None:
    web = pubmed[1]
    asked, go_on = threading.Event(), threading.Event()

    def slow(request: Request) -> Reply | None:
        if "efetch" in request.path:
            asked.set()
            go_on.wait(30)
        return None

    web.fault = slow
    refresh_id = follow(fleet, web, published)
    victim = fleet.start("worker", "--threads=2")
    fleet.start("scheduler")
    assert asked.wait(60)
    victim.kill()
    victim.wait()
    web.fault = lambda request: None
    go_on.set()
    fleet.start("worker", "--threads=2")
    complete(published, refresh_id)


def test_kill_9_of_the_scheduler_that_began_the_refresh(
    fleet: Fleet, published: Store, pubmed: tuple[Eutils, FakeWeb]
) -> None:
    fleet.settings = fleet.settings.model_copy(
        update={"lease_seconds": 2.5, "source_mirrors": pubmed[1].mirrors}
    )
    with published.unit_of_work("test") as work:
        watch = watches.follow(work, "pubmed", "invented", "user", now())

    def begun() -> list[UUID]:
        with published.reading() as session:
            return list(session.execute(sa.text("SELECT id FROM refresh")).scalars())

    victim = fleet.start("scheduler")
    wait_until(lambda: bool(begun()), 60, "the scheduler began a refresh")
    victim.kill()
    victim.wait()
    for _ in range(2):
        fleet.start("scheduler")
    fleet.start("worker", "--threads=2")
    (refresh_id,) = begun()
    complete(published, refresh_id)
    with published.reading() as session:
        assert watches.listing(session)[0].id == watch.id
        assert len(session.execute(sa.text("SELECT job FROM tick")).all()) == 1
