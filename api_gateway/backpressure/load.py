"""Overload: decides whether there is more work than can be done in time, before accepting any.

Two rules apply to each kind of work by itself, so that an import of documents refuses no question:
at most `backlog_max` pieces may wait, and where a person waits for the result, a new piece may not
have to wait longer than `backlog_seconds`. The expected wait is the number of waiting pieces over
the recent speed. Without a known speed (nothing was done: no worker runs, or a stage is paused)
only the first rule applies, as accepted work is safe in PostgreSQL.
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
"""Our choice: so many may wait on a system that keeps up; with fewer, none is refused as slow."""
ENOUGH = 8
"""Our choice: the pieces that must have ended before a speed is trusted."""
FRESH_SECONDS = 0.25
"""Our choice: how long a reading is valid; what this gateway admitted since is added to it."""
CALM_SECONDS = 2.0
"""Our choice: the same for a reading below `FEW`, so that an idle system is rarely queried."""
RETRY_SECONDS = 10
LONGEST_RETRY_SECONDS = 60
"""Our choice: `Retry-After` where no speed is known, and its maximum."""


class Work(StrEnum):
    """The kinds of work that clients submit."""

    QUESTIONS = "questions"
    VERIFICATIONS = "verifications"
    NOTES = "notes"
    EXTRACTIONS = "extractions"
    DOCUMENTS = "documents"


@dataclass(frozen=True)
class Lane:
    """The stages of a kind of work in order, and whether a person waits for the result."""

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
    """The reason why no more work is accepted now."""

    work: Work
    rule: Literal["full", "slow"]
    waiting: int
    wait_seconds: float | None
    retry_seconds: int


def overload(
    work: Work, found: Backlog, *, most: int, longest_seconds: float, awaited: bool
) -> Overload | None:
    """The overload that one more piece would meet, or None if there is room. Pure."""
    wait = found.wait_seconds(ENOUGH)
    too_slow = awaited and found.waiting >= FEW and wait is not None and wait > longest_seconds
    if found.waiting < most and not too_slow:
        return None
    retry = RETRY_SECONDS if wait is None else round(wait - longest_seconds)
    if wait is not None and found.waiting >= most:  # until a tenth of the backlog is done
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
    """The last reading of a lane's backlog by this gateway."""

    lock: Lock = field(default_factory=Lock)
    found: Backlog | None = None
    read_at: float = 0.0
    admitted: int = 0
    """Pieces admitted since the reading."""

    def now(self, at: float) -> Backlog | None:
        """The reading plus the pieces admitted since; None if there is none or it is too old."""
        if self.found is None:
            return None
        waiting = self.found.waiting + self.admitted
        if at - self.read_at > (CALM_SECONDS if waiting < FEW else FRESH_SECONDS):
            return None
        return replace(self.found, waiting=waiting)


class Load:
    """Admits work while there is room. One per gateway; safe to share between threads."""

    def __init__(
        self, engine: sa.Engine, settings: Settings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._most = settings.backlog_max
        self._seconds = settings.backlog_seconds
        self._clock = clock
        self._lanes = {work: _Lane() for work in Work}

    def admit_known(self, work: Work) -> bool:
        """Admit a piece if a valid reading leaves room; queries no server. If not, use `admit`."""
        lane = self._lanes[work]
        if not lane.lock.acquire(blocking=False):
            return False
        try:
            reading = lane.now(self._clock())
            return reading is not None and self._decide(work, reading) is None
        finally:
            lane.lock.release()

    def admit(self, work: Work) -> Overload | None:
        """Admit a piece, or return why not. May query PostgreSQL: not for the event loop."""
        lane = self._lanes[work]
        with lane.lock:
            reading = lane.now(self._clock())
            if reading is None:
                reading = self._read(work)
                lane.found, lane.read_at, lane.admitted = reading, self._clock(), 0
            return self._decide(work, reading)

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
