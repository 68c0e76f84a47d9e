"""Packs are filled from the primary sources, and say of each work whether it is held."""

import html
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os import environ
from pathlib import Path

import pytest
import sqlalchemy as sa

from clinical_text.packs import differences
from knowledge.feeds.packs import pack_named, primary_source
from knowledge.scenarios import Entry, scenarios
from scheduler import refreshing
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents import finding_log
from store.sources import packs
from store.sources.packs import WorkState
from tests.commands import Attest
from tests.fakes.clinicaltrials import ClinicalTrials
from tests.fakes.europepmc import EuropePmc
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb, Reply
from tests.servers import Fleet, wait_until
from workers.inline import InlineWorker


class Library:
    """The three sources, with every confirmed work of every pack under its own title."""

    def __init__(self, clock: Clock) -> None:
        self.pubmed, self.registry = Eutils(clock), ClinicalTrials(clock)
        self.europepmc = EuropePmc(clock)
        for pack in scenarios():
            for entry in pack.usable():
                self.put(entry, entry.title, entry.year)

    def put(self, entry: Entry, title: str, year: int) -> None:
        """The work as its sources have it."""
        if entry.nct_id:
            self.registry.put(entry.nct_id, title=title)
        if entry.pmid:
            written = html.escape(title, quote=False)
            self.pubmed.put(int(entry.pmid), title=written, pub_date=f"<Year>{year}</Year>")
        elif entry.doi:
            day = {"pubYear": str(year), "firstPublicationDate": f"{year}-06-01"}
            number = str(70_000_000 + abs(hash(entry.doi)) % 10_000_000)
            self.europepmc.put(number, doi=entry.doi.lower(), title=title, journalInfo=None, **day)

    @contextmanager
    def open(self) -> Iterator[FakeWeb]:
        """The three at the other end of the wire."""
        with FakeWeb(self.pubmed, self.registry, self.europepmc) as web:
            yield web


@dataclass
class Filling:
    """A store, its sources and a worker."""

    clock: Clock
    library: Library
    web: FakeWeb
    worker: InlineWorker

    def fill(self, *names: str) -> None:
        for name in names:
            with self.worker.store.unit_of_work("test") as work:
                packs.fill(work, pack_named(name), self.clock())
        self.worker.run()

    def works(self, *names: str) -> list[WorkState]:
        chosen = [pack_named(name) for name in names]
        with self.worker.store.reading() as session:
            states = packs.work_states(session, chosen, self.clock(), differences)
        return [one for name in names for one in states[name]]


@pytest.fixture
def filling(settings: Settings, engine: sa.Engine) -> Iterator[Filling]:
    clock = Clock(datetime(2026, 11, 27, 9, tzinfo=UTC))
    library = Library(clock)
    with library.open() as web:
        mirrored = settings.model_copy(update={"source_mirrors": web.mirrors})
        worker = InlineWorker(mirrored, Store(engine), now=clock, sleep=clock.sleep)
        yield Filling(clock, library, web, worker)
        worker.close()


@pytest.mark.requirement("EB-4.1")
@pytest.mark.requirement("EB-7.1")
def test_every_pack_is_whole_once_it_was_filled(filling: Filling) -> None:
    names = [pack.name for pack in scenarios()]
    assert {one.state for one in filling.works(*names) if one.source} == {"never"}
    filling.fill(*names)
    wrong = [
        (one.entry.title, one.state, one.why)
        for one in filling.works(*names)
        if one.state != ("held" if one.entry.identifiers() else "missing")
        and primary_source(one.entry)
    ]
    assert wrong == []
    (page,) = [one for one in filling.works("copd") if one.state == "no source"]
    assert "guideline folder" in page.why


def test_a_work_without_a_number_is_found_by_its_whole_title_and_year_only(
    filling: Filling,
) -> None:
    named, other = [one for one in pack_named("af_ckd").entries if not one.confirmed]
    put = filling.library.europepmc.put
    put("71", title=f"{named.title}.", doi="10.5555/found", pubYear=str(named.year),
        firstPublicationDate=f"{named.year}-11-06")  # fmt: skip
    put("72", title=f"{other.title}.", pubYear="2011", firstPublicationDate="2011-01-01")
    filling.fill("af_ckd")
    found = {one.entry.title: one for one in filling.works("af_ckd") if not one.entry.confirmed}
    assert found[named.title].state == "held"
    assert "doi 10.5555/found" in found[named.title].why
    assert found[other.title].state == "missing", found[other.title]


@pytest.mark.requirement("EB-7.5")
def test_another_work_under_a_packs_number_is_a_finding_and_never_the_packs_work(
    filling: Filling,
) -> None:
    wrong_title, wrong_year = [one for one in pack_named("ahre").usable() if one.pmid][:2]
    filling.library.put(wrong_title, "Bricks and their weight in seven imagined towns", 2024)
    filling.library.put(wrong_year, wrong_year.title, wrong_year.year - 5)
    filling.fill("ahre")
    states = {one.entry.pmid: one for one in filling.works("ahre")}
    assert "another title: Bricks" in states[wrong_title.pmid].why
    assert "another year" in states[wrong_year.pmid].why
    assert Counter(one.state for one in states.values())["another work"] == 2
    with filling.worker.store.reading() as session:
        found = finding_log.query(session, kind="mismatch").rows
    said = {one.subject: one.detail["disagrees"] for one in found if one.source == "pubmed"}
    assert said[f"pmid:{wrong_title.pmid}"] == ["title"]
    assert said[f"pmid:{wrong_year.pmid}"] == ["year"]

    filling.library.put(wrong_title, wrong_title.title, wrong_title.year)
    filling.fill("ahre")
    assert {one.entry.pmid: one.state for one in filling.works("ahre")}[wrong_title.pmid] == "held"


def test_what_a_source_does_not_have_hides_no_other_work(filling: Filling) -> None:
    gone = next(one for one in pack_named("ahre").usable() if one.pmid)
    filling.library.pubmed.delete(int(gone.pmid or 0))
    filling.fill("ahre")
    states = {one.entry.title: one for one in filling.works("ahre")}
    missing = states.pop(gone.title)
    assert (missing.state, missing.why) == ("missing", "pubmed has no such work under its number")
    assert {one.state for one in states.values()} == {"held"}


def test_a_source_that_fails_is_named_with_its_reason_and_asked_again_by_itself(
    filling: Filling,
) -> None:
    filling.web.fault = lambda request: Reply(503, b"") if "ebi.ac.uk" in request.origin else None
    filling.fill("af_ckd")
    failed = [one for one in filling.works("af_ckd") if one.source == "europepmc"]
    assert {one.state for one in failed} == {"failed"}
    assert all(one.why and one.next_at and one.next_at > filling.clock() for one in failed)
    assert {one.state for one in filling.works("af_ckd") if one.source == "pubmed"} == {"held"}
    filling.web.fault = lambda request: None
    for _ in range(8):
        filling.clock.advance(minutes=30)
        refreshing.plan_refreshes(filling.worker.store, filling.clock())
        filling.worker.run()
    states = Counter(one.state for one in filling.works("af_ckd") if one.entry.confirmed)
    assert states == {"held": 9}


def test_a_pack_that_was_filled_stays_fresh_and_notices_a_retraction(filling: Filling) -> None:
    filling.fill("ahre")
    trial = next(one for one in pack_named("ahre").usable() if one.pmid)
    filling.library.pubmed.retract(int(trial.pmid or 0), notice=99)
    filling.clock.advance(hours=25)
    assert refreshing.plan_refreshes(filling.worker.store, filling.clock())
    filling.worker.run()
    (state,) = [one for one in filling.works("ahre") if one.entry == trial]
    assert (state.state, state.why) == ("ended", "it is retracted")


@pytest.mark.usefixtures("engine")
def test_a_fill_that_was_killed_goes_on_and_asks_nothing_twice(
    settings: Settings, engine: sa.Engine, tmp_path: Path
) -> None:
    attest = Attest.on(settings)

    def asked() -> int:
        with engine.connect() as connection:
            return int(connection.execute(sa.text("SELECT count(*) FROM refresh")).scalar_one())

    with Library(Clock(datetime.now(UTC))).open() as web:
        command = [sys.executable, "-m", "cli.main", "packs", "fill", "af_ckd"]
        first = subprocess.Popen(command, env={**environ, **attest.environment})
        wait_until(lambda: asked() == 3, what="the refreshes are promised")
        first.send_signal(signal.SIGKILL)
        first.wait()
        mirrored = settings.model_copy(update={"source_mirrors": web.mirrors})
        fleet = Fleet(mirrored, tmp_path / "fleet.log")
        try:
            fleet.scheduler()
            fleet.worker()
            done = attest("packs", "fill", "af_ckd")
        finally:
            fleet.stop()
    assert done.returncode == 0, done.stderr
    assert asked() == 3
    (shown,) = json.loads(attest("packs", "list", "af_ckd", "--json").stdout)
    assert shown["states"] == {"held": 9, "missing": 2}
    told = attest("packs").stdout
    assert "af_ckd" in told
    assert "never" in told
    refused = attest("packs", "fill", "no_such_pack")
    assert (refused.returncode, "there is no pack no_such_pack" in refused.stderr) == (1, True)
