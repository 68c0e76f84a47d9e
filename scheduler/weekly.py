"""Writes the weekly report into a folder, as Markdown: once a week, however many schedulers run."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa
import structlog
from sqlmodel import Session

from store.core.printable import printable
from store.core.unit_of_work import Store
from store.pipeline import schedule_ticks
from store.reports import week_report
from store.reports.week_report import WeekReport
from store.reports.week_tables import Table, summary, tables, title

log = structlog.get_logger(__name__)

JOB = "weekly_report"
WEEK = timedelta(days=7)


def week_end(at: datetime) -> datetime:
    """The last Monday, 00:00 UTC, at or before `at`; a report covers the seven days before it."""
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())


def write_weekly(store: Store, folder: Path, at: datetime) -> Path | None:
    """Write the report of the last whole week unless it exists; returns the file.

    The tick is taken first and committed only after the file is written: if the disk is full the
    next run tries again, and a second scheduler waits for the outcome of this one.

    Raises:
        OSError: the file cannot be written.
    """
    until = week_end(at)
    with Session(store.engine) as session:
        if not _existed(session, until) or not schedule_ticks.take(session, JOB, until, at):
            return None
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


def write(report: WeekReport, folder: Path, name: str) -> Path:
    """Write it as `name`.md, atomically.

    Raises:
        OSError: the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.md"
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(markdown(report), encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def markdown(report: WeekReport) -> str:
    """The report as Markdown."""
    parts = [f"# {title(report)}", summary(report)]
    for table in tables(report):
        parts.append(f"## {table.title}")
        parts.append(_table(table) if table.rows else table.empty)
    parts.append(
        f"Written {report.made_at:%Y-%m-%d %H:%M} (UTC). Figures only: no question, answer or "
        "document."
    )
    return printable("\n\n".join(parts) + "\n", lines=True)


def _table(one: Table) -> str:
    lines = [one.header, ["---"] * len(one.header), *one.rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in lines)


def _cell(text: str) -> str:
    """The text of a cell, escaped so that it cannot end its row or its column."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())
