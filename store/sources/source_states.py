"""The state of each source: a circuit breaker, one row per source.

    ok ── 3 failures in a row, or one that will not pass by itself ──> degraded
    degraded ── `retry_at` has come: one trial may go ──> ok, or degraded for twice as long

A degraded source is not asked before `retry_at`. The row holds the reason in the words of
`workers.http.errors`, so without keys.
"""

import random
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

import sqlalchemy as sa
from sqlmodel import Session

FAILURES = 3
"""Our choice: one failure is chance, two are bad luck."""
FIRST_PAUSE = timedelta(minutes=5)
LONGEST_PAUSE = timedelta(hours=1)
"""Both our choice: a source that is back is noticed within the hour, one that is down for days is
asked once an hour. The shortest SLA is 24 hours (sources.yaml)."""
LONGEST_QUOTA_PAUSE = timedelta(hours=24)
"""Budgets are renewed daily (WIRE 3, 5). A `retry_at` further ahead than this is left from a clock
that was set back, and is ignored."""
TRIAL = timedelta(minutes=1)
"""Our choice: a trial without a result for this long no longer keeps others back."""

AT_ONCE = frozenset({"Refused", "NotAllowed", "QuotaExhausted"})
"""Errors that trying again soon does not cure; names of `workers.http.errors`."""

_COLUMNS = (
    "source, status, reason, since, failures, retry_at, last_success_at, last_error, last_error_at"
)


@dataclass(frozen=True)
class SourceState:
    """The state of a source. `since` is when its status began."""

    source: str
    status: Literal["ok", "degraded"]
    reason: str | None
    since: datetime
    failures: int
    """Consecutive failures."""
    retry_at: datetime | None
    last_success_at: datetime | None
    last_error: str | None
    last_error_at: datetime | None

    def is_open(self, at: datetime) -> bool:
        """True if the source must be left alone at that time."""
        return self.retry_at is not None and at < self.retry_at <= at + LONGEST_QUOTA_PAUSE


def state(session: Session, source: str) -> SourceState | None:
    """The state of the source; None if it was never asked."""
    query = sa.text(f"SELECT {_COLUMNS} FROM source_state WHERE source = :source")  # noqa: S608
    row = session.execute(query, {"source": source}).one_or_none()
    return None if row is None else SourceState(**row._mapping)


def all_states(session: Session) -> dict[str, SourceState]:
    """The state of every source that was ever asked, by name."""
    rows = session.execute(sa.text(f"SELECT {_COLUMNS} FROM source_state ORDER BY source"))  # noqa: S608
    return {row.source: SourceState(**row._mapping) for row in rows}


def may_ask(session: Session, source: str, at: datetime) -> bool:
    """True if the source may be asked now. At the `retry_at` of a degraded source one caller is let
    through, as a trial; commit, so that the others see it."""
    now = state(session, source)
    if now is None or now.status == "ok":
        return True
    let_through = session.execute(
        sa.text(
            "UPDATE source_state SET retry_at = :trial "
            "WHERE source = :source AND status = 'degraded' "
            "AND (retry_at <= :at OR retry_at > :stray) RETURNING source"
        ),
        {"source": source, "at": at, "trial": at + TRIAL, "stray": at + LONGEST_QUOTA_PAUSE},
    ).one_or_none()
    return let_through is not None


def succeeded(session: Session, source: str, at: datetime) -> None:
    """Record that the source answered: it is ok, whatever it was before."""
    session.execute(
        sa.text(
            "INSERT INTO source_state AS old (source, status, since, failures, last_success_at) "
            "VALUES (:source, 'ok', :at, 0, :at) ON CONFLICT (source) DO UPDATE SET "
            "status = 'ok', reason = NULL, failures = 0, retry_at = NULL, last_success_at = :at, "
            "since = CASE old.status WHEN 'ok' THEN old.since ELSE :at END"
        ),
        {"source": source, "at": at},
    )


def noted(session: Session, source: str, error: Exception, at: datetime) -> None:
    """Record that one of the source's many hosts failed with `error`; the others may be asked."""
    session.execute(
        sa.text(
            "INSERT INTO source_state (source, status, since, failures, last_error, last_error_at) "
            "VALUES (:source, 'ok', :at, 0, :error, :at) ON CONFLICT (source) DO UPDATE "
            "SET last_error = excluded.last_error, last_error_at = excluded.last_error_at"
        ),
        {"source": source, "error": str(error), "at": at},
    )


def failed(
    session: Session,
    source: str,
    error: Exception,
    at: datetime,
) -> SourceState:
    """Record that the source failed with `error`, a source error; returns its new state.

    Requests already under way when the source became degraded count as one failure with the one
    that degraded it: several workers that fail together do not lengthen the pause.

    Args:
        session: the row is locked until its transaction ends, so that no failure is lost.
        source: its name.
        error: its text becomes the reason; if it has `seconds`, the source is left alone that long.
        at: when the request began.
    """
    session.execute(
        sa.text(
            "INSERT INTO source_state (source, status, since, failures) "
            "VALUES (:source, 'ok', :at, 0) ON CONFLICT DO NOTHING"
        ),
        {"source": source, "at": at},
    )
    locked = sa.text(f"SELECT {_COLUMNS} FROM source_state WHERE source = :source FOR UPDATE")  # noqa: S608
    old = SourceState(**session.execute(locked, {"source": source}).one()._mapping)
    new = _after(old, error, at)
    session.execute(
        sa.text(
            "UPDATE source_state SET status = :status, reason = :reason, since = :since, "
            "failures = :failures, retry_at = :retry_at, last_error = :last_error, "
            "last_error_at = :last_error_at WHERE source = :source"
        ),
        asdict(new),
    )
    return new


def _after(old: SourceState, error: Exception, at: datetime) -> SourceState:
    updated = replace(old, last_error=str(error), last_error_at=at)
    quota: float | None = getattr(error, "seconds", None)
    if quota is None and old.is_open(at + TRIAL):
        return updated
    failures = old.failures + 1
    at_once = type(error).__name__ in AT_ONCE
    if old.status == "ok" and not at_once and failures < FAILURES:
        return replace(updated, failures=failures)
    return replace(
        updated,
        status="degraded",
        reason=str(error),
        since=old.since if old.status == "degraded" else at,
        failures=failures,
        retry_at=at + _pause(failures, quota, at_once=at_once),
    )


def _pause(failures: int, quota: float | None, *, at_once: bool) -> timedelta:
    """How long the source is left alone after this many failures in a row."""
    if quota is not None:
        return min(timedelta(seconds=max(quota, 1.0)), LONGEST_QUOTA_PAUSE)
    doublings = max(0, failures - (1 if at_once else FAILURES))
    longest = LONGEST_PAUSE / FIRST_PAUSE
    pause = FIRST_PAUSE * min(2.0 ** min(doublings, 30), longest)
    return pause * random.uniform(0.8, 1.0)  # noqa: S311  jitter, no secret
