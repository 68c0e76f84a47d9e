"""Packs are filled from the primary sources, and say of each work whether it is held."""

import html
import json
import signal
import subprocess
import sys
import zlib
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
from store.sources import packs, refresh_requests
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

    def put_unnumbered(self, entry: Entry, title: str) -> None:
        """A work without a confirmed number, under a number of its own."""
        day = {"pubYear": str(entry.year), "firstPublicationDate": f"{entry.year}-06-01"}
        number = str(60_000_000 + zlib.crc32(entry.title.encode()) % 10_000_000)
        self.europepmc.put(number, title=f"{title}.", journalInfo=None, **day)

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
    folder: Path

    def fill(self, *names: str) -> None:
        for name in names:
            with self.worker.store.unit_of_work("test") as work:
                packs.fill(work, pack_named(name), self.clock())
        self.worker.run()

    def file(self, *entries: Entry, title: str | None = None) -> None:
        """Put the works' files into the guideline folder and read it."""
        for number, entry in enumerate(entries):
            (self.folder / f"{number}.md").write_text("# A guideline\n\nRest is advised.\n")
            told = {"title": title or entry.title, "organisation": entry.organization}
            told |= {"version": "1", "effective_date": f"{entry.year}-02-01"}
            told |= {"licence_note": "made up for tests", "url": f"{entry.url}".rstrip("/") + "/"}
            (self.folder / f"{number}.md.yaml").write_text(json.dumps(told))
        with self.worker.store.unit_of_work("test") as work:
            refresh_requests.refresh_query(work, "guidelines", "*", self.clock())
        self.worker.run()

    def works(self, *names: str) -> list[WorkState]:
        chosen = [pack_named(name) for name in names]
        with self.worker.store.reading() as session:
            states = packs.work_states(session, chosen, self.clock(), differences)
        return [one for name in names for one in states[name]]


@pytest.fixture
def filling(settings: Settings, engine: sa.Engine, tmp_path: Path) -> Iterator[Filling]:
    clock = Clock(datetime(2026, 11, 27, 9, tzinfo=UTC))
    library = Library(clock)
    with library.open() as web:
        there = {"source_mirrors": web.mirrors, "guidelines_dir": tmp_path}
        mirrored = settings.model_copy(update=there)
        worker = InlineWorker(mirrored, Store(engine), now=clock, sleep=clock.sleep)
        yield Filling(clock, library, web, worker, tmp_path)
        worker.close()


@pytest.mark.requirement("EB-4.1")
@pytest.mark.requirement("EB-7.1")
def test_attest_packs_shows_every_pack_whole_once_all_were_filled(
    filling: Filling, settings: Settings
) -> None:
    names = [pack.name for pack in scenarios()]
    works = [one for pack in scenarios() for one in pack.entries]
    for entry in works:
        if not entry.confirmed:
            filling.library.put_unnumbered(entry, entry.title)
    assert {one.state for one in filling.works(*names)} == {"never", "no source"}
    filling.file(*[one for one in works if primary_source(one) is None])
    filling.fill(*names)

    attest = Attest.on(settings)
    listed = json.loads(attest("packs", "list", "--json").stdout)
    states = {pack["name"]: pack["states"] for pack in listed}
    assert states == {pack.name: {"held": len(pack.entries)} for pack in scenarios()}
    assert states["af_ckd"] == {"held": 11}
    heads, *rows = attest("packs").stdout.splitlines()
    assert heads.split() == ["pack", "works", "held"]
    assert "af_ckd 11 11" in [" ".join(row.split()) for row in rows]


def test_a_work_that_no_source_has_is_held_once_its_file_is_in_the_guideline_folder(
    filling: Filling,
) -> None:
    (page,) = [one.entry for one in filling.works("copd") if one.state == "no source"]
    filling.file(page, title="Bricks and their weight in seven imagined towns")
    (state,) = [one for one in filling.works("copd") if one.entry == page]
    assert (state.state, "another title: Bricks" in state.why) == ("another work", True)
    filling.file(page)
    (state,) = [one for one in filling.works("copd") if one.entry == page]
    assert (state.state, state.source) == ("held", "guidelines")


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


@pytest.mark.parametrize(
    "other",
    [
        "{} in Imagined Towns",
        "Protocol of {}",
        "{}: A Letter to the Editor",
        "Correction to: {}",
    ],
)
def test_a_work_without_a_number_is_not_one_whose_title_differs(
    filling: Filling, other: str
) -> None:
    unnumbered = [one for one in pack_named("af_ckd").entries if not one.confirmed]
    for entry in unnumbered:
        filling.library.put_unnumbered(entry, other.format(entry.title))
    filling.fill("af_ckd")
    found = [one for one in filling.works("af_ckd") if not one.entry.confirmed]
    assert {one.state for one in found} == {"missing"}, other


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
