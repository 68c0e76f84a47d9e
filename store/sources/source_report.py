"""State of every source: its watches against the SLA, its last error, what is held and in doubt.

One snapshot for people (`attest sources`), programs (`GET /v1/sources`) and Prometheus: all three
agree, because all three read it here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.feeds.sources import (
    ConnectorPolicy,
    connector_policies,
    connector_sla_hours,
)
from knowledge.feeds.sources import source_policy as policy_of_type
from store.documents import browse
from store.models import Watch
from store.sources import freshness, refreshes, source_states, watches
from store.sources.plan import followed, next_run
from store.sources.source_states import SourceState

Status = Literal["ok", "degraded", "idle"]


@dataclass(frozen=True)
class WatchReport:
    """One followed query. `age_hours` counts from the start of its last complete refresh."""

    id: UUID
    query: str
    origin: str
    active: bool
    cursor_at: datetime | None
    age_hours: float | None
    in_sla: bool | None
    """None: it is not followed now, or its source has no SLA."""
    breached_since: datetime | None
    refresh_id: UUID | None
    """Its latest refresh; `status` is the status of that one."""
    status: str | None
    last_success_at: datetime | None
    last_error: str | None
    last_error_at: datetime | None
    next_run_at: datetime | None


@dataclass(frozen=True)
class Holdings:
    """What a connector brought: current documents, and all versions ever stored."""

    documents: int = 0
    versions: int = 0
    findings_open: int = 0
    breaches: int = 0
    """How often one of its watches has exceeded its SLA so far."""


@dataclass(frozen=True)
class SourceReport:
    """One connector with all its watches. `age_hours` is that of the oldest active one."""

    name: str
    policy: ConnectorPolicy
    tier: str | None
    badge: str | None
    sla_hours: float | None
    state: SourceState | None
    held: Holdings
    watches: Sequence[WatchReport]

    @property
    def active(self) -> list[WatchReport]:
        """The watches that are followed now."""
        return [watch for watch in self.watches if watch.active]

    @property
    def status(self) -> Status:
        """`idle`: nothing is followed. A failing source is degraded, followed or not."""
        if self.state is not None and self.state.status == "degraded":
            return "degraded"
        return "ok" if self.active else "idle"

    @property
    def reason(self) -> str | None:
        """Why it is degraded."""
        return self.state.reason if self.state and self.status == "degraded" else None

    @property
    def retry_at(self) -> datetime | None:
        """Until when a degraded source is left alone."""
        return self.state.retry_at if self.state and self.status == "degraded" else None

    @property
    def age_hours(self) -> float | None:
        """The age of the oldest active watch that was ever complete; None if none was."""
        return max(
            (watch.age_hours for watch in self.active if watch.age_hours is not None), default=None
        )

    @property
    def in_sla(self) -> bool | None:
        """True if all active watches are in SLA; None if nothing is followed or has an SLA."""
        judged = [watch.in_sla for watch in self.active if watch.in_sla is not None]
        return all(judged) if judged else None

    @property
    def breached_since(self) -> datetime | None:
        """Since when one of its active watches has been older than the SLA."""
        return _earliest(watch.breached_since for watch in self.active)

    @property
    def next_run_at(self) -> datetime | None:
        """When the next of its watches is due."""
        return _earliest(watch.next_run_at for watch in self.active)

    @property
    def last_success_at(self) -> datetime | None:
        """When a refresh was last complete."""
        return max(
            (watch.last_success_at for watch in self.watches if watch.last_success_at), default=None
        )

    @property
    def last_failure(self) -> tuple[datetime, str] | None:
        """The last error and its time, of the source itself or of one of its watches."""
        errors = [(watch.last_error_at, watch.last_error) for watch in self.watches]
        if self.state is not None:
            errors.append((self.state.last_error_at, self.state.last_error))
        return max(((at, error) for at, error in errors if at and error), default=None)

    @property
    def is_known(self) -> bool:
        """True if it was ever followed, or brought anything."""
        return bool(self.watches) or self.held != Holdings()


def _earliest(moments: Iterable[datetime | None]) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)


def report(session: Session, at: datetime) -> list[SourceReport]:
    """Every connector, in the order of the policy, as it stands at `at`."""
    states = source_states.all_states(session)
    held = _holdings(session)
    by_source = _watches(session, states, at)
    return [
        SourceReport(
            name,
            policy,
            policy_of_type(policy.source_type).tier if policy.source_type else None,
            policy_of_type(policy.source_type).badge if policy.source_type else None,
            connector_sla_hours(name),
            states.get(name),
            held.get(name, Holdings()),
            by_source.get(name, []),
        )
        for name, policy in connector_policies().items()
    ]


_COUNTS = sa.text(
    """
    SELECT source, sum(documents) AS documents, sum(versions) AS versions,
           sum(findings_open) AS findings_open, sum(breaches) AS breaches
    FROM (
        SELECT source, count(*) FILTER (WHERE status = 'current') AS documents,
               count(*) AS versions, 0 AS findings_open, 0 AS breaches
        FROM document_version WHERE source IS NOT NULL GROUP BY source
        UNION ALL
        SELECT source, 0, 0, count(*), 0 FROM finding WHERE resolved_at IS NULL GROUP BY source
        UNION ALL
        SELECT w.source, 0, 0, 0, count(*) FROM sla_breach b JOIN watch w ON w.id = b.watch_id
        GROUP BY w.source
    ) AS counted GROUP BY source
    """
)


def _holdings(session: Session) -> dict[str, Holdings]:
    return {
        row.source: Holdings(
            int(row.documents), int(row.versions), int(row.findings_open), int(row.breaches)
        )
        for row in session.execute(_COUNTS)
    }


_RUNS = sa.text(
    """
    SELECT w.id, latest.id AS refresh_id, latest.status, latest.requested_at,
           complete.finished_at AS last_success_at, b.began_at AS breached_since
    FROM watch w
    LEFT JOIN LATERAL (
        SELECT id, status, requested_at FROM refresh WHERE watch_id = w.id
        ORDER BY requested_at DESC LIMIT 1) latest ON true
    LEFT JOIN LATERAL (
        SELECT finished_at FROM refresh WHERE watch_id = w.id AND status = 'complete'
        ORDER BY requested_at DESC LIMIT 1) complete ON true
    LEFT JOIN sla_breach b ON b.watch_id = w.id AND b.ended_at IS NULL
    """
)


def _watches(
    session: Session, states: Mapping[str, SourceState], at: datetime
) -> dict[str, list[WatchReport]]:
    runs = {row.id: row for row in session.execute(_RUNS)}
    by_source: dict[str, list[WatchReport]] = {}
    for watch in watches.listing(session):
        if watch.source not in connector_policies():
            continue  # of a connector that this release no longer has
        watch_report = _watch(watch, runs[watch.id], states.get(watch.source), at)
        by_source.setdefault(watch.source, []).append(watch_report)
    return by_source


def _watch(watch: Watch, run: Any, state: SourceState | None, at: datetime) -> WatchReport:
    ends = freshness.deadline(watch) if watch.active else None
    late = ends is not None and at > ends
    return WatchReport(
        id=watch.id,
        query=watch.query,
        origin=watch.origin,
        active=watch.active,
        cursor_at=watch.cursor_at,
        age_hours=_hours(watch.cursor_at, at),
        in_sla=None if ends is None else not late,
        # The scheduler records a breach a little after it began.
        breached_since=(run.breached_since or ends) if late else None,
        refresh_id=run.refresh_id,
        status=run.status,
        last_success_at=run.last_success_at,
        last_error=watch.last_error,
        last_error_at=watch.last_error_at if watch.last_error else None,
        next_run_at=_next_run(watch, run, state, at) if watch.active else None,
    )


def _next_run(watch: Watch, run: Any, state: SourceState | None, at: datetime) -> datetime:
    """When the watch is due, but not before its source may be asked again."""
    facts = followed(watch, run.requested_at, under_way=run.status in refreshes.ACTIVE)
    due = next_run(facts, at)
    if state is not None and state.retry_at is not None and state.is_open(at):
        return max(due, state.retry_at)
    return due


def _hours(since: datetime | None, at: datetime) -> float | None:
    return None if since is None else max(0.0, (at - since).total_seconds() / 3600)


def body(one: SourceReport) -> dict[str, Any]:
    """The source as programs read it, by field name."""
    failed_at, error = one.last_failure or (None, None)
    return {
        "name": one.name,
        "title": one.policy.name,
        "source_type": one.policy.source_type,
        "tier": one.tier,
        "badge": one.badge,
        "sla_hours": one.sla_hours,
        "status": one.status,
        "reason": one.reason,
        "retry_at": one.retry_at,
        "age_hours": one.age_hours,
        "in_sla": one.in_sla,
        "breached_since": one.breached_since,
        "last_success_at": one.last_success_at,
        "last_error": error,
        "last_error_at": failed_at,
        "next_run_at": one.next_run_at,
        "documents": one.held.documents,
        "versions": one.held.versions,
        "findings_open": one.held.findings_open,
        "watches": [asdict(watch) for watch in one.watches],
    }


def held_body(state: browse.SourceState) -> dict[str, Any]:
    """What is held of one kind of source, as programs read it."""
    policy = policy_of_type(state.source_type)
    return {
        "source_type": state.source_type,
        "name": policy.name,
        "tier": policy.tier,
        "badge": policy.badge,
        "sla_hours": policy.sla_hours,
        "documents": state.documents,
        "latest_fetch_at": state.latest_fetch_at,
        "oldest_check_at": state.oldest_check_at,
        "stale": policy.is_stale(browse.age_hours(state.oldest_check_at)),
    }
