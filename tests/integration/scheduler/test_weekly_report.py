"""The weekly report: of each week once, of figures only, and of nothing but itself."""

import json
import os
import re
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from scheduler import weekly as writing
from store.core.settings import Settings
from store.core.unit_of_work import Store
from tests.integration.operation.test_quality import put
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest
from workers.inline import InlineWorker

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
WEDNESDAY = MONDAY + timedelta(days=2, hours=5)
CANARY = "zebrafishoma"


def seal(store: Store, at: datetime, **changed: object) -> None:
    """A question that was accepted and sealed at a moment."""
    question_id = ask(store, f"Does {CANARY} recur?")
    with store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE question SET created_at = :at WHERE id = :id"),
            {"at": at, "id": question_id},
        )
    put(store, question_id, at, **changed)


@pytest.mark.parametrize(
    "at", [MONDAY, WEDNESDAY, MONDAY + timedelta(days=7) - timedelta(microseconds=1)]
)
def test_a_week_ends_on_monday_at_midnight(at: datetime) -> None:
    assert writing.week_end(at) == MONDAY


@pytest.mark.requirement("MC-4.2c")
def test_mc_4_2c_the_report_shows_misses_first_and_how_figures_moved(
    store: Store, tmp_path: Path
) -> None:
    for day in range(1, 8):
        seal(store, MONDAY - timedelta(days=day) + timedelta(hours=3), routing_compliant=day > 3)
    seal(store, MONDAY + timedelta(hours=1), routing_compliant=False)
    path = writing.write_weekly(store, tmp_path, WEDNESDAY)
    assert path is not None
    assert path.name == "week-2026-46.md"
    text = path.read_text("utf-8")
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert sections[:3] == ["Targets missed", "All metrics", "Day by day"]
    assert "| routing_compliance_rate | 0.5714 | ≥ 0.9 | 7 |" in text
    assert "marc.final_score | unknown" in text
    assert "quote_anchor_coverage | nothing held" in text
    assert "quote_anchor_coverage" not in text.partition("## All metrics")[0]
    by_day = dict(re.findall(r"^\| (2026-11-\d\d) \| (\d+) ", text, re.MULTILINE))
    assert by_day == {f"2026-11-{day:02d}": "1" for day in range(9, 16)}


@pytest.mark.requirement("OP-5.4")
def test_op_5_4_no_word_of_a_question_is_in_a_report(store: Store, tmp_path: Path) -> None:
    seal(store, MONDAY - timedelta(days=1))
    path = writing.write_weekly(store, tmp_path, WEDNESDAY)
    assert path is not None
    assert CANARY not in path.read_text("utf-8")


def test_many_schedulers_write_a_week_once(store: Store, tmp_path: Path) -> None:
    seal(store, MONDAY - timedelta(days=1))
    folders = [tmp_path / str(n) for n in range(4)]
    threads = [
        threading.Thread(target=writing.write_weekly, args=(store, one, WEDNESDAY))
        for one in folders
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    written = [path.name for folder in folders if folder.exists() for path in folder.iterdir()]
    assert sorted(written) == ["week-2026-46.md"]
    assert writing.write_weekly(store, tmp_path, WEDNESDAY + timedelta(days=1)) is None
    assert writing.write_weekly(store, tmp_path, WEDNESDAY + timedelta(days=7)) is not None


def test_a_week_that_could_not_be_written_is_written_later(store: Store, tmp_path: Path) -> None:
    seal(store, MONDAY - timedelta(days=1))
    blocked = tmp_path / "reports"
    blocked.write_text("a file is in the way")
    with pytest.raises(FileExistsError):
        writing.write_weekly(store, blocked, WEDNESDAY)
    blocked.unlink()
    written = writing.write_weekly(store, blocked, WEDNESDAY)
    assert list(blocked.iterdir()) == [written], "no half of a file is left"


def test_a_new_system_has_no_week_to_tell_of(store: Store, tmp_path: Path) -> None:
    seal(store, MONDAY + timedelta(hours=1))
    assert writing.write_weekly(store, tmp_path, WEDNESDAY) is None
    assert writing.write_weekly(store, tmp_path, WEDNESDAY + timedelta(days=7))


def test_the_command_writes_it(inline: InlineWorker, settings: Settings, tmp_path: Path) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    ask(inline.store, TRIAL_QUESTION)
    inline.run()
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "report", "--days", "3", "--out", str(out), "--json"],
        env={
            **os.environ,
            "ATTEST_DATABASE_URL": settings.database_url,
            "ATTEST_REDIS_URL": settings.redis_url,
            "ATTEST_DATA_DIR": str(settings.data_dir),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert "quote_anchor_coverage" in body["missed"]
    (written,) = body["files"]
    text = Path(written).read_text("utf-8")
    assert "1 answer sealed" in text
    assert TRIAL_QUESTION not in text
