"""Intervals that survive a change of the clock.

APScheduler uses the wall clock. If that is set back by six hours, it sleeps for six hours; if it is
set ahead by a month, or the host sleeps that long, it lists every missed half second before it runs
a job once.
"""

from datetime import datetime, timedelta
from typing import Any

from apscheduler.schedulers.base import BaseScheduler
from apscheduler.triggers.base import BaseTrigger


class Every(BaseTrigger):  # type: ignore[misc]  # it carries no types
    """Fires every `seconds`. Missed runs are not repeated: the job runs once."""

    def __init__(self, seconds: float) -> None:
        self.interval = timedelta(seconds=seconds)

    def get_next_fire_time(
        self, previous_fire_time: datetime | None, now: datetime
    ) -> datetime | None:
        """One interval after the last run, or after now if the last run is over an interval off."""
        if previous_fire_time is None or abs(previous_fire_time - now) > self.interval:
            return now + self.interval
        return previous_fire_time + self.interval


def catch_up(scheduler: BaseScheduler, at: datetime) -> list[Any]:
    """Run the jobs now that are due more than two intervals ahead: the clock was set back. Returns
    their names."""
    ahead = [
        job
        for job in scheduler.get_jobs()
        if isinstance(job.trigger, Every)
        and job.next_run_time is not None
        and job.next_run_time - at > 2 * job.trigger.interval
    ]
    for job in ahead:
        job.modify(next_run_time=at)
    return [job.id for job in ahead]
