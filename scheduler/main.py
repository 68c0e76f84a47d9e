"""The scheduler process: refreshes, relay, reconciler and index upkeep on APScheduler's clock."""

import os
import signal
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

import redis
import structlog
from apscheduler.events import EVENT_JOB_ERROR, JobExecutionEvent
from apscheduler.schedulers.background import BackgroundScheduler

from knowledge.operation.retention import keep_days
from scheduler import jobs, mailing, refreshing
from scheduler.intervals import Every, catch_up
from store.core.database import passes_by_itself
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.models import now
from workers.main import build_store, wait_for_schema
from workers.runtime import liveness
from workers.runtime.broker import WokenBroker
from workers.runtime.errors import describe
from workers.runtime.logs import configure_logs

log = structlog.get_logger(__name__)

RECONCILE_SECONDS = 2.0
CIRCUIT_SECONDS = 2.0
COPY_DEAD_SECONDS = 5.0
MERGE_SECONDS = 10.0
RENEW_SECONDS = 15.0
INDEX_SECONDS = 60.0
STATISTICS_SECONDS = 10.0
"""PostgreSQL analyzes once a minute; by then the first fill of a new database is over."""
RETAG_SECONDS = 15.0
PLAN_SECONDS = 5.0
SLA_SECONDS = 30.0
ERASE_SECONDS = 600.0
WEEKLY_REPORT_SECONDS = 3600.0
"""Hourly: the report is written at the first run after the week has ended."""
MAIL_SECONDS = 60.0
FORGET_TICKS_SECONDS = 3600.0
"""Hourly, not daily: the interval restarts with the process, which may not run for a day."""


def _report(event: JobExecutionEvent) -> None:
    """Log which job failed, and where unless it was an outage.

    APScheduler's own log is silenced: it has the error's text, which may quote values.
    """
    error = event.exception
    if passes_by_itself(error) or isinstance(error, (redis.ConnectionError, redis.TimeoutError)):
        log.warning("job_failed", job=event.job_id, error=type(error).__name__)
    else:
        log.error("job_broke", job=event.job_id, cause=describe(error))


def _as_of_now(job: Callable[[Store, datetime], int], store: Store) -> None:
    """Run a job that takes the current time."""
    job(store, now())


def build_scheduler(settings: Settings, store: Store, broker: WokenBroker) -> BackgroundScheduler:
    """A scheduler with all jobs; missed ticks are run once, and late ones still run."""
    scheduler = BackgroundScheduler(
        timezone="UTC",
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
    )
    timed: list[tuple[str, float, Callable[..., None], tuple[Any, ...]]] = [
        ("relay", settings.relay_seconds, jobs.relay, (store, broker)),
        (
            "reconcile",
            RECONCILE_SECONDS,
            jobs.find_lost,
            (store, broker, settings.lost_after_seconds),
        ),
        ("bring_back", RECONCILE_SECONDS, jobs.bring_back, (store, settings.lease_seconds)),
        ("watch_circuits", CIRCUIT_SECONDS, jobs.watch_circuits, (store,)),
        ("say_alive", liveness.SAY_SECONDS, liveness.say, (broker,)),
        ("copy_dead", COPY_DEAD_SECONDS, jobs.copy_dead, (broker,)),
        ("merge_segments", MERGE_SECONDS, jobs.merge_segments, (store,)),
        ("renew_segments", RENEW_SECONDS, jobs.renew_segments, (store,)),
        ("index_vectors", INDEX_SECONDS, jobs.index_vectors, (store,)),
        ("retag_versions", RETAG_SECONDS, jobs.retag_versions, (store,)),
        ("look_at_tables", STATISTICS_SECONDS, jobs.look_at_tables, (store,)),
        ("plan_refreshes", PLAN_SECONDS, _as_of_now, (refreshing.plan_refreshes, store)),
        ("watch_slas", SLA_SECONDS, _as_of_now, (refreshing.watch_slas, store)),
        ("erase_old", ERASE_SECONDS, jobs.erase_old, (store, keep_days(settings.keep_days))),
        (
            "write_weekly_report",
            WEEKLY_REPORT_SECONDS,
            jobs.write_weekly_report,
            (store, settings.data_dir / "reports"),
        ),
        ("mail_changes", MAIL_SECONDS, mailing.mail_changes, (store, settings)),
        ("forget_ticks", FORGET_TICKS_SECONDS, _as_of_now, (refreshing.forget_ticks, store)),
    ]
    for name, seconds, job, args in timed:
        scheduler.add_job(job, Every(seconds), args=args, id=name)
    scheduler.add_listener(_report, EVENT_JOB_ERROR)
    return scheduler


def run_scheduler(settings: Settings) -> None:
    """Run the jobs until SIGTERM or SIGINT."""
    configure_logs(settings, "scheduler")
    store, broker = build_store(settings, pool_size=4)
    wait_for_schema(store.engine, 60)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    scheduler = build_scheduler(settings, store, broker)
    scheduler.start()
    log.info("scheduler_ready")
    while not stop.wait(1.0):
        if late := catch_up(scheduler, now()):
            log.warning("clock_set_back", jobs=late)
    if not _ended(scheduler, settings.shutdown_seconds):
        log.warning("scheduler_cut_off", means="a job hangs; what it did not commit is done again")
        os._exit(0)  # the interpreter would wait for the job's thread
    broker.close()
    store.engine.dispose()
    log.info("scheduler_stopped")


def _ended(scheduler: BackgroundScheduler, seconds: float) -> bool:
    """Shut down; False if a running job has not ended within `seconds` because a server hangs."""
    ending = threading.Thread(target=scheduler.shutdown, kwargs={"wait": True}, daemon=True)
    ending.start()
    ending.join(seconds)
    return not ending.is_alive()
