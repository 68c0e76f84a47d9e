"""Writes the weekly report into a folder: once a week, however many schedulers run."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa
import structlog
from sqlmodel import Session

from scheduler.weekly.forms import html, markdown
from store.core.unit_of_work import Store
from store.pipeline import schedule_ticks
from store.reports import week_report
from store.reports.week_report import WeekReport

log = structlog.get_logger(__name__)

JOB = "weekly_report"
WEEK = timedelta(days=7)


def week_end(at: datetime) -> datetime:
    """The last Monday, 00:00 UTC, at or before `at`; a report covers the seven days before it."""
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())


def write_weekly(store: Store, folder: Path, at: datetime) -> list[Path]:
    """Write the report of the last whole week unless it exists; returns the files.

    The tick is taken first and committed only after both files are written: if the disk is full the
    next run tries again, and a second scheduler waits for the outcome of this one.

    Raises:
        OSError: the files cannot be written.
    """
    until = week_end(at)
    with Session(store.engine) as session:
        if not _existed(session, until) or not schedule_ticks.take(session, JOB, until, at):
            return []
        with store.reading() as snapshot:
            report = week_report.report(snapshot, until - WEEK, until, at)
        year, week, _ = (until - WEEK).isocalendar()
        written = write(report, folder, f"week-{year}-{week:02d}")
        session.commit()
    log.info("weekly_report_written", week=f"{year}-{week:02d}", missed=len(report.quality.missed))
    return written


def _existed(session: Session, until: datetime) -> bool:
    """Whether any question was asked before the week ended: a new system has nothing to report."""
    asked: bool = session.execute(
        sa.text("SELECT EXISTS (SELECT FROM question WHERE created_at < :until)"), {"until": until}
    ).scalar_one()
    return asked


def write(report: WeekReport, folder: Path, name: str) -> list[Path]:
    """Write both forms as `name`.md and `name`.html, each atomically.

    Raises:
        OSError: the files cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for path, text in (
        (folder / f"{name}.md", markdown(report)),
        (folder / f"{name}.html", html(report)),
    ):
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        written.append(path)
    return written
