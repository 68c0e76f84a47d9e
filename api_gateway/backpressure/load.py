"""When there is more work than can be done in time: decided before any of it is accepted.

Two rules, for each kind of work of its own, so that an import of documents refuses no question:
not more than `backlog_max` pieces may wait, and for work that somebody sits in front of, a new
piece may not have to wait for longer than `backlog_seconds`. How long that would be is what waits
over the speed at which it was done so far. With no speed to go by (nothing was done: no worker
runs, or a stage is paused) only the first rule holds: what is accepted is kept in PostgreSQL.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Lock
from typing import Literal

import sqlalchemy as sa
from sqlmodel import Session

from messages import DOCUMENT_STAGES, EVIDENCE_STAGES, QUESTION_STAGES, Stage
from store.core.settings import Settings
from store.pipeline.backlog import Backlog, backlog

FEW = 16
"""Ours: so many wait at times on a system that keeps up; nothing is refused below it."""
ENOUGH = 8
"""Ours: pieces that ended before a speed is believed."""
FRESH_SECONDS = 0.25
"""Ours: for how long a reading holds; what this gateway let in since is added to it."""
CALM_SECONDS = 2.0
"""Ours: the same for a reading of fewer than `FEW`, so that an idle system is hardly ever asked."""
RETRY_SECONDS = 10
LONGEST_RETRY_SECONDS = 60
"""Ours: when to come back where no speed is known, and at the latest."""


class Work(StrEnum):
    """Kinds of work that are accepted from outside."""

    QUESTIONS = "questions"
    VERIFICATIONS = "verifications"
    NOTES = "notes"
    EXTRACTIONS = "extractions"
    DOCUMENTS = "documents"


@dataclass(frozen=True)
class Lane:
    """The way of a kind of work: its stages in order, and whether somebody waits for the end."""

    stages: tuple[Stage, ...]
    awaited: bool


LANES: Mapping[Work, Lane] = {
    Work.QUESTIONS: Lane(QUESTION_STAGES, awaited=True),
    Work.VERIFICATIONS: Lane((Stage.CHECK,), awaited=True),
    Work.NOTES: Lane((Stage.SUMMARIZE,), awaited=True),
    Work.EXTRACTIONS: Lane(DOCUMENT_STAGES, awaited=False),
    Work.DOCUMENTS: Lane(EVIDENCE_STAGES, awaited=False),
}


@dataclass(frozen=True)
class Overload:
    """Why no more is accepted now."""

    work: Work
    rule: Literal["full", "slow"]
    waiting: int
    wait_seconds: float | None
    retry_seconds: int


def overload(
    work: Work, found: Backlog, *, most: int, longest_seconds: float, awaited: bool
) -> Overload | None:
    """Whether one more piece is too much; None: there is room. Pure."""
    wait = found.wait_seconds(ENOUGH)
    too_slow = awaited and found.waiting >= FEW and wait is not None and wait > longest_seconds
    if found.waiting < most and not too_slow:
        return None
    retry = RETRY_SECONDS if wait is None else round(wait - longest_seconds)
    if wait is not None and found.waiting >= most:  # until a tenth of them is done
        retry = max(retry, round(wait / 10))
    return Overload(
        work,
        "slow" if too_slow else "full",
        found.waiting,
        wait,
        min(max(retry, 1), LONGEST_RETRY_SECONDS),
    )


@dataclass
class _Lane:
    """What this gateway knows of a lane."""

    lock: Lock = field(default_factory=Lock)
    found: Backlog | None = None
    read_at: float = 0.0
    admitted: int = 0
    """Pieces that were let in since."""

    def now(self, at: float) -> Backlog | None:
        """The reading with what was let in since; None: it is too old, or there is none."""
        if self.found is None:
            return None
        waiting = self.found.waiting + self.admitted
        if at - self.read_at > (CALM_SECONDS if waiting < FEW else FRESH_SECONDS):
            return None
        return replace(self.found, waiting=waiting)


class Load:
    """Lets work in while there is room. One for each gateway; safe to share between threads."""

    def __init__(
        self, engine: sa.Engine, settings: Settings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._most = settings.backlog_max
        self._seconds = settings.backlog_seconds
        self._clock = clock
        self._lanes = {work: _Lane() for work in Work}

    def admit_known(self, work: Work) -> bool:
        """Let a piece in if what is known leaves room for it; asks no server. False: `admit`."""
        lane = self._lanes[work]
        if not lane.lock.acquire(blocking=False):
            return False
        try:
            found = lane.now(self._clock())
            return found is not None and self._decide(work, found) is None
        finally:
            lane.lock.release()

    def admit(self, work: Work) -> Overload | None:
        """Let a piece in, or say why not. May ask PostgreSQL, so it may not run in the loop."""
        lane = self._lanes[work]
        with lane.lock:
            found = lane.now(self._clock())
            if found is None:
                found = self._read(work)
                lane.found, lane.read_at, lane.admitted = found, self._clock(), 0
            return self._decide(work, found)

    def _decide(self, work: Work, found: Backlog) -> Overload | None:
        refused = overload(
            work,
            found,
            most=self._most,
            longest_seconds=self._seconds,
            awaited=LANES[work].awaited,
        )
        if refused is None:
            self._lanes[work].admitted += 1
        return refused

    def _read(self, work: Work) -> Backlog:
        stages = [stage.value for stage in LANES[work].stages]
        with Session(self._engine) as session:
            return backlog(session, stages, most=self._most, few=min(FEW, self._most))
