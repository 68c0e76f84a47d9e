"""Refreshes of each kind of source: what is gone, moved, merged or without words."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa

from knowledge.feeds.news import feed
from scheduler import refreshing
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents.citation_query import known
from store.documents.documents import documents_with_keys
from store.sources import source_states, watches
from tests.fakes.clinicaltrials import ClinicalTrials
from tests.fakes.cms import Cms
from tests.fakes.crossref import Crossref
from tests.fakes.ema import Ema
from tests.fakes.europepmc import EuropePmc
from tests.fakes.news import NewsSite
from tests.fakes.web import Clock, FakeWeb, Reply, Service
from tests.integration.refreshes.test_refreshes import Following
from workers.inline import InlineWorker

FEEDS = ("fda-press", "fda-medwatch", "ema-news", "nih-news", "nci-news")


@contextmanager
def _at(
    settings: Settings, engine: sa.Engine, clock: Clock, *sites: Service
) -> Iterator[Following]:
    """As `following`, with these sites at the other end."""
    with FakeWeb(*sites) as web:
        mirrored = settings.model_copy(update={"source_mirrors": web.mirrors})
        worker = InlineWorker(mirrored, Store(engine), now=clock, sleep=clock.sleep)
        yield Following(clock, EuropePmc(clock), Crossref(clock), web, worker)
        worker.close()


@pytest.fixture
def press(settings: Settings, engine: sa.Engine) -> Iterator[Following]:
    """As `following`, with five feeds of four sites at the other end."""
    clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    sites = [NewsSite(clock, *FEEDS[:2]), *(NewsSite(clock, name) for name in FEEDS[2:])]
    for site in sites:
        for name in site.items:
            site.put(name, f"made-up-{name}", "A made-up title", "A made-up message.")
    with _at(settings, engine, clock, *sites) as agencies:
        yield agencies


@pytest.fixture
def trials() -> ClinicalTrials:
    return ClinicalTrials(Clock(datetime(2026, 1, 5, 9, tzinfo=UTC)))


@pytest.fixture
def registry(settings: Settings, engine: sa.Engine, trials: ClinicalTrials) -> Iterator[Following]:
    """As `following`, with ClinicalTrials.gov at the other end."""
    with _at(settings, engine, trials.clock, trials) as registry:
        yield registry


def test_feeds_that_are_dead_keep_no_other_feed_waiting(press: Following) -> None:
    dead = FEEDS[1:3]
    paths = {urlsplit(feed(name).url).path for name in dead}
    press.web.fault = lambda request: Reply(404, b"gone") if request.path in paths else None
    with press.store.unit_of_work("test") as work:
        for name in (*dead, *set(FEEDS) - set(dead)):
            watches.follow(work, "news", name, "user", press.clock())
    for _ in range(3 * 48):
        if refreshing.plan_refreshes(press.store, press.clock()):
            press.worker.run()
        refreshing.watch_slas(press.store, press.clock())
        press.clock.advance(minutes=30)
    late = press.rows("SELECT w.query FROM sla_breach b JOIN watch w ON w.id = b.watch_id")
    assert sorted(row.query for row in late) == sorted(dead)
    with press.store.reading() as session:
        state = source_states.state(session, "news")
    assert state is not None
    assert state.status == "ok"
    assert "404" in (state.last_error or "")


def test_a_trial_that_was_merged_into_another_is_superseded_and_not_retracted(
    registry: Following, trials: ClinicalTrials
) -> None:
    for nct_id in ("NCT00000001", "NCT00000002", "NCT00000003"):
        trials.put(nct_id)
    query = "NCT00000001 NCT00000002 NCT00000003"
    registry.refresh("clinicaltrials", query)
    trials.delete("NCT00000001")
    trials.delete("NCT00000003")
    trials.alias("NCT00000001", "NCT00000002")
    for _ in range(12):
        registry.clock.advance(hours=24)
        assert registry.refresh("clinicaltrials", query).status == "complete"
    assert registry.versions("nct_id:nct00000001") == [(1, "superseded")]
    assert registry.versions("nct_id:nct00000002")[-1][1] == "current"
    assert registry.versions("nct_id:nct00000003") == [(1, "retracted")]


def _clock_of(following: Following, key: str) -> datetime | None:
    with following.store.reading() as session:
        found = documents_with_keys(session, [key])
        return known(session, found.values())[found[key]].checked_at


def test_what_the_ema_lists_no_longer_loses_its_clock(
    settings: Settings, engine: sa.Engine
) -> None:
    clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    ema = Ema(clock)
    ema.put("EMEA/H/C/000001", "Alphamab")
    ema.put("EMEA/H/C/000002", "Betamab")
    with _at(settings, engine, clock, ema) as agency:
        began = clock()
        agency.refresh("ema", "colorectal")
        ema.delete("EMEA/H/C/000002")
        for day in range(3):
            clock.advance(hours=24)
            ema.change("EMEA/H/C/000001", revision_number=str(day))
            assert agency.refresh("ema", "colorectal").status == "complete"
        assert _clock_of(agency, "regulator:ema:EMEA/H/C/000002") == began
        assert _clock_of(agency, "regulator:ema:EMEA/H/C/000001") == clock()
        assert agency.rows("SELECT subject FROM finding WHERE resolved_at IS NULL")
        clock.advance(hours=24)
        ema.put("EMEA/H/C/000002", "Betamab")
        agency.refresh("ema", "colorectal")
        assert _clock_of(agency, "regulator:ema:EMEA/H/C/000002") == clock()
        assert not agency.rows("SELECT subject FROM finding WHERE resolved_at IS NULL")


def test_a_feed_vouches_for_the_items_that_it_shows(settings: Settings, engine: sa.Engine) -> None:
    clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    site = NewsSite(clock, "fda-press")
    site.put("fda-press", "first", "A made-up title", "A made-up message.")
    with _at(settings, engine, clock, site) as press:
        press.refresh("news", "fda-press")
        clock.advance(hours=24)
        press.refresh("news", "fda-press")
        shown = clock()
        assert _clock_of(press, "regulator:first") == shown
        site.put("fda-press", "newer", "A newer title", "A newer message.")
        site.delete("fda-press", "first")
        for _ in range(3):
            clock.advance(hours=24)
            assert press.refresh("news", "fda-press").status == "complete"
        assert _clock_of(press, "regulator:newer") == clock()
        gone = _clock_of(press, "regulator:first")
        assert gone is not None
        assert gone < shown + timedelta(hours=24)
        assert not press.rows("SELECT 1 FROM finding")


def test_an_ncd_whose_text_the_api_does_not_give_keeps_it_and_loses_its_clock(
    settings: Settings, engine: sa.Engine
) -> None:
    clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    cms = Cms(clock)
    cms.put("ncd", 371, "Made-up Sequencing", item_service_description="<p>Real words.</p>")
    with _at(settings, engine, clock, cms) as payer:
        began = clock()
        payer.refresh("cms", "sequencing")
        clock.advance(hours=24)
        cms.change("ncd", 371)
        payer.web.fault = lambda request: (
            Reply(200, b'{"meta": {}, "data": []}') if "/data/ncd" in request.path else None
        )
        assert payer.refresh("cms", "sequencing").status == "complete"
        assert payer.versions("payer:ncd:371") == [(1, "current")]
        assert _clock_of(payer, "payer:ncd:371") == began
        payer.web.fault = lambda request: None
        clock.advance(hours=24)
        payer.refresh("cms", "sequencing")
        assert payer.versions("payer:ncd:371") == [(1, "superseded"), (2, "current")]
        assert _clock_of(payer, "payer:ncd:371") == clock()
        assert payer.rows("SELECT 1 FROM document_version WHERE n = 2 AND text LIKE '%Real%'")


def test_an_ncd_that_never_had_a_text_is_held_as_its_row_and_is_not_fresh(
    settings: Settings, engine: sa.Engine
) -> None:
    clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    cms = Cms(clock)
    cms.put("ncd", 371, "Made-up Sequencing", item_service_description="<p>Real words.</p>")
    with _at(settings, engine, clock, cms) as payer:
        payer.web.fault = lambda request: (
            Reply(200, b'{"meta": {}, "data": []}') if "/data/ncd" in request.path else None
        )
        payer.refresh("cms", "sequencing")
        clock.advance(hours=24)
        payer.refresh("cms", "sequencing")
        assert payer.versions("payer:ncd:371") == [(1, "current")]
        assert payer.rows("SELECT broken FROM watch_document")[0].broken
        assert payer.rows(
            "SELECT subject FROM finding WHERE kind = 'unreadable' AND resolved_at IS NULL"
        ) == [("payer:ncd:371",)]
        payer.web.fault = lambda request: None
        clock.advance(hours=24)
        payer.refresh("cms", "sequencing")
        assert payer.versions("payer:ncd:371") == [(1, "superseded"), (2, "current")]
        assert not payer.rows(
            "SELECT subject FROM finding WHERE kind = 'unreadable' AND resolved_at IS NULL"
        )
        assert _clock_of(payer, "payer:ncd:371") == clock()


def test_a_guideline_that_moved_is_not_withdrawn_until_it_is_nowhere(
    settings: Settings, engine: sa.Engine, tmp_path: Path
) -> None:
    told = {
        "title": "Made-up tumours",
        "organisation": "NCCN",
        "version": "1.2026",
        "effective_date": "2026-01-01",
        "licence_note": "made up for tests",
    }
    for name in ("nccn", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "nccn/a.md").write_text("# Made up\n\nDo nothing.\n")
    (tmp_path / "nccn/a.md.yaml").write_text(json.dumps(told))
    clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    key = "nccn:nccn/made-up-tumours"
    here = settings.model_copy(update={"guidelines_dir": tmp_path})
    with _at(here, engine, clock) as folder:
        for query in ("", "nccn"):
            folder.refresh("guidelines", query)
        for name in ("a.md", "a.md.yaml"):
            (tmp_path / "nccn" / name).rename(tmp_path / "other" / name)
        for _ in range(2):
            clock.advance(hours=1)
            for query in ("", "nccn"):
                assert folder.refresh("guidelines", query).status == "complete"
        assert folder.versions(key)[-1][1] == "current"
        assert _clock_of(folder, key) == clock()
        for name in ("a.md", "a.md.yaml"):
            (tmp_path / "other" / name).unlink()
        clock.advance(hours=1)
        folder.refresh("guidelines", "nccn")
        assert folder.versions(key)[-1][1] == "retracted"
