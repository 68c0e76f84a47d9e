"""`attest refresh`, `sources`, `watches` and `findings` over real servers.

The source that is asked is the folder of guideline files: it needs no network.
"""

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from knowledge.feeds.sources import connector_policies
from knowledge.feeds.watches import suggestions
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents import findings
from store.documents.findings import NewFinding
from store.sources import source_states, watches
from tests.commands import Attest, Done
from tests.servers import Fleet
from workers.http.errors import QuotaExhausted

SIDECAR = {
    "title": "Made-up guideline on residual disease",
    "organisation": "Society of Examples",
    "version": "1.2026",
    "effective_date": "2026-01-31",
    "licence_note": "made up for tests",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Guideline files: one is whole, one has a sidecar that says too little."""
    found = tmp_path / "guidelines"
    found.mkdir()
    (found / "whole.md").write_text("## Testing\n\nMade-up words on when to test.\n")
    (found / "whole.yaml").write_text(json.dumps(SIDECAR))
    (found / "broken.md").write_text("## Testing\n\nMade-up words that nobody vouches for.\n")
    (found / "broken.yaml").write_text(json.dumps({"title": "Only a title"}))
    return found


@pytest.fixture
def asking(settings: Settings, folder: Path) -> Settings:
    """The test's settings with the guideline folder."""
    return settings.model_copy(update={"guidelines_dir": folder})


@pytest.fixture
def attest(asking: Settings) -> Attest:
    """Commands on the test's instance, with the guideline folder."""
    return Attest.on(asking, ATTEST_GUIDELINES_DIR=str(asking.guidelines_dir))


@pytest.fixture
def working(asking: Settings, tmp_path: Path) -> Iterator[Fleet]:
    """A worker process for all stages, and a scheduler that sends again what was put back."""
    fleet = Fleet(asking, tmp_path / "fleet.log")
    try:
        fleet.scheduler()
        fleet.worker()
        yield fleet
    finally:
        fleet.stop()


def _count(engine: sa.Engine, table: str, where: str = "true") -> int:
    with engine.connect() as connection:
        return int(
            connection.execute(sa.text(f"SELECT count(*) FROM {table} WHERE {where}")).scalar_one()
        )


def _refused(done: Done) -> str:
    """One line on stderr, nothing else, exit code 1."""
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    [line] = done.stderr.splitlines()
    return line


# --- refresh --------------------------------------------------------------------------------------


@pytest.mark.requirement("DC-4")
@pytest.mark.usefixtures("working")
def test_a_refresh_waits_until_everything_is_stored_and_indexed_and_says_what_came(
    attest: Attest, engine: sa.Engine
) -> None:
    done = attest.process("refresh", "guidelines", "--query", "*")
    assert done.returncode == 0, done.stderr
    told = r"guidelines: 1 record, 1 new or changed, 1 problem, \d+\.\d s\n"
    assert re.fullmatch(told, done.stdout), done.stdout
    assert _count(engine, "outbox", "status <> 'done'") == 0
    assert _count(engine, "anchor") + _count(engine, "chunk") > 0

    again = attest("refresh", "guidelines", "--json")
    assert again.returncode == 0, again.stderr
    body = json.loads(again.stdout)
    assert (body["source"], body["dead"]) == ("guidelines", 0)
    [refresh] = body["refreshes"]
    assert (refresh["status"], refresh["query"], refresh["error"]) == ("complete", "*", None)
    assert (refresh["fresh"], refresh["retry_at"]) == (0, None)
    assert refresh["seconds"] >= 0

    listed = json.loads(attest("sources", "--json").stdout)
    [source] = listed["sources"]
    assert (source["name"], source["documents"], source["versions"]) == ("guidelines", 1, 1)
    assert (source["status"], source["last_error"]) == ("ok", None)
    assert source["watches"][0]["status"] == "complete"
    assert [held["source_type"] for held in listed["held"]] == ["guideline"]
    found = json.loads(attest("findings", "--source=guidelines", "--json").stdout)
    assert {one["kind"] for one in found} == {"unreadable"}


@pytest.mark.usefixtures("working")
def test_a_refresh_that_fails_says_why_and_when_the_next_try_is(
    attest: Attest, folder: Path, engine: sa.Engine
) -> None:
    shutil.rmtree(folder)
    done = attest.process("refresh", "guidelines", "--query", "*")
    line = _refused(done)
    assert line.startswith("guidelines: ")
    assert re.search(r"the next try is in \d+ min \(20\d\d-\d\d-\d\dT[\d:]+\+00:00\)$", line), line
    once = attest("refresh", "guidelines", "--query", "nccn", "--once", "--json")
    assert once.returncode == 1
    [refresh] = json.loads(once.stdout)["refreshes"]
    assert (refresh["status"], refresh["retry_at"]) == ("failed", None)
    assert once.stderr.rstrip().endswith("it is not tried again by itself")
    assert _count(engine, "watch", "active") == 1
    shown = attest("sources").stdout
    assert "degraded" in shown
    assert "asked again in" in shown


def test_what_cannot_work_is_refused_in_one_line_before_anything_is_written(
    attest: Attest, engine: sa.Engine
) -> None:
    refused = {
        ("refresh", "rumors"): "use one of clinicaltrials, cms, crossref",
        ("refresh", "cms"): "attest refresh cms --query QUERY",
        ("refresh", "cms", "--once"): "name it with --query",
        ("refresh", "pubmed", "--query", "(ctDNA"): "opens a bracket (",
        ("refresh", "pubmed", "--query", "http://10.0.0.1/"): "an address is no query",
        ("watches", "add", "dailymed", "setid:1"): "a set id is five groups",
        ("watches", "stop", "00000000-0000-4000-8000-000000000000"): "there is no watch",
        ("watches", "list", "--source", "rumors"): "there is no source 'rumors'",
        ("findings", "--kind", "odd"): "use one of malformed, conflict",
    }
    for arguments, why in refused.items():
        assert why in _refused(attest(*arguments)), arguments
    assert [_count(engine, table) for table in ("watch", "refresh", "outbox")] == [0, 0, 0]


# --- sources, watches, findings -------------------------------------------------------------------


def _age(store: Store, watch_id: UUID, **ago: float) -> None:
    """Make the watch as old as if its last complete refresh had begun so long ago."""
    moment = datetime.now(UTC) - timedelta(**ago)
    with store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE watch SET cursor_at = :at, followed_at = :at WHERE id = :id"),
            {"at": moment, "id": watch_id},
        )


def _rows(printed: str) -> dict[str, list[str]]:
    """The rows of a table by their first cell; cells are two spaces apart."""
    cells = [re.split(r" {2,}", line.strip()) for line in printed.splitlines() if line.strip()]
    return {row[0]: row[1:] for row in cells}


def test_ages_stand_against_their_sla_in_words_and_not_in_colour_alone(
    attest: Attest, store: Store
) -> None:
    assert "nothing is followed yet" in attest("sources").stdout
    at = datetime.now(UTC)
    with store.unit_of_work("test") as work:
        fresh = watches.follow(work, "pubmed", "ctDNA", "user", at)
        late = watches.follow(work, "news", "fda-press", "user", at)
        watches.follow(work, "guidelines", "*", "user", at)
        source_states.failed(work.session, "news", QuotaExhausted("news: 403", 7200), at)
    _age(store, fresh.id, hours=5)
    _age(store, late.id, hours=30)
    done = attest("sources")
    rows = _rows(done.stdout)
    assert rows["source"][:4] == ["state", "age / SLA", "last success", "next run"]
    assert rows["pubmed"][:3] == ["ok", "5 h / 7 d in time", "never"]
    assert rows["news"][:4] == ["degraded", "30 h / 24 h LATE", "never", "in 2 h"]
    assert rows["guidelines"] == ["ok", "never / no SLA", "never", "now", "0 / 0"]
    assert "news is degraded: news: 403; asked again in 2 h" in done.stdout
    assert "news is older than its SLA since" in done.stdout
    assert "\x1b[" not in done.stdout, "no colours where nobody sees them"
    every = json.loads(attest("sources", "--all", "--json").stdout)["sources"]
    assert [source["name"] for source in every] == list(connector_policies())


def test_a_query_that_was_never_complete_is_not_hidden_by_one_that_was(
    attest: Attest, store: Store
) -> None:
    at = datetime.now(UTC)
    with store.unit_of_work("test") as work:
        whole = watches.follow(work, "pubmed", "ctDNA", "user", at)
        failing = watches.follow(work, "pubmed", "gout", "user", at)
        watches.follow(work, "news", "fda-press", "user", at)  # its first refresh is to come
    _age(store, whole.id, hours=5)
    with store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE watch SET last_error = '404', last_error_at = now() WHERE id = :id"),
            {"id": failing.id},
        )
    told = "pubmed: 1 of 2 queries was never complete, see attest watches list --source pubmed"
    shown = attest("sources").stdout
    assert told in shown
    assert "news:" not in shown


def test_watches_are_added_listed_and_stopped(attest: Attest, engine: sa.Engine) -> None:
    added = json.loads(attest("watches", "add", "ema", "Atezolizumab", "--json").stdout)
    assert added["query"] == "atezolizumab", "in the connector's own spelling"
    again = json.loads(attest("watches", "add", "ema", " atezolizumab ", "--json").stdout)
    assert again["id"] == added["id"]
    [listed] = json.loads(attest("watches", "list", "--json").stdout)
    assert (listed["id"], listed["source"], listed["active"]) == (added["id"], "ema", True)
    assert listed["next_run_at"] is not None
    assert attest("watches", "list", "--source=cms", "--json").stdout == "[]\n"
    stopped = attest("watches", "stop", added["id"])
    assert stopped.stdout == "ema is no longer followed: atezolizumab\n"
    assert "stopped" in _rows(attest("watches", "list").stdout)[added["id"]]
    assert _count(engine, "audit_event", "event IN ('watch.added', 'watch.stopped')") == 2


def test_nothing_that_is_suggested_is_followed_until_the_user_says_so(
    attest: Attest, engine: sa.Engine
) -> None:
    shown = json.loads(attest("watches", "suggested", "--json").stdout)
    assert [(one["source"], one["query"]) for one in shown] == [
        (one.source, one.query) for one in suggestions()
    ]
    assert "none is followed by this" in attest("watches", "suggested").stdout
    assert _count(engine, "watch") == 0
    done = attest("watches", "suggested", "--source=cms", "--follow")
    assert done.returncode == 0, done.stderr
    of_cms = sum(one.source == "cms" for one in suggestions())
    assert _count(engine, "watch", "source = 'cms' AND origin = 'suggested' AND active") == of_cms
    assert _count(engine, "watch") == of_cms
    assert _count(engine, "refresh") == 0, "the scheduler begins them"


def test_findings_are_filtered_and_say_when_there_are_more(attest: Attest, store: Store) -> None:
    at = datetime.now(UTC)
    with store.unit_of_work("test") as work:
        new = [NewFinding("unmapped", f"field[{n}]", detail={"seen": n}) for n in range(3)]
        findings.put(work, "pubmed", new, at)
        findings.put(work, "ema", [NewFinding("malformed", "doi:10.1/x")], at)

    def listed(*arguments: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(attest("findings", *arguments, "--json").stdout)
        return found

    assert [one["subject"] for one in listed("--source=pubmed")] == [
        "field[2]",
        "field[1]",
        "field[0]",
    ]
    assert [one["source"] for one in listed("--kind=malformed")] == ["ema"]
    assert listed("--resolved") == []
    shown = attest("findings", "--limit=1").stdout
    assert "doi:10.1/x" in shown
    assert "there are more" in shown
    assert "field[2]" in attest("findings").stdout, "brackets are no markup"
