"""Refreshes that an abstention requests, to cure itself (invariant 9, `cures.yaml`).

Only sources that are already followed are asked (ADR 0011), and not so often that a question asked
again and again becomes a flood.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from knowledge.questions.cures import cure_policy, cure_query, record_query
from store.core.unit_of_work import UnitOfWork
from store.models import Refresh, Watch
from store.sources import refreshes, source_report, source_states, watches


@dataclass(frozen=True)
class CureRefresh:
    """A refresh that was requested, or was already under way."""

    refresh_id: UUID
    source: str


@dataclass(frozen=True)
class Planned:
    """The next refresh that the scheduler will begin, as far as that can be foreseen."""

    source: str
    at: datetime


def refresh_documents(
    work: UnitOfWork, document_ids: Collection[UUID], at: datetime
) -> list[CureRefresh]:
    """Request the refreshes that would make these documents fresh.

    A watch that somebody stopped is not changed; one that an abstention created is asked again as
    long as its source is followed.
    """
    followed = {watch.source for watch in _active(work.session)}
    chosen = [
        watch
        for watch_id in watches.watches_of(work.session, document_ids)
        if (watch := work.session.get_one(Watch, watch_id)).active
        or (watch.origin == "abstention" and watch.source in followed)
    ]
    return _ask(work, chosen, at)


def refresh_for_terms(
    work: UnitOfWork, recognized: Mapping[str, Sequence[str]], at: datetime
) -> list[CureRefresh]:
    """Ask the followed sources of the policy, once, for what these terms find.

    Where there are too few terms to search for, the queries followed there are refreshed.

    Args:
        recognized: tags of the vocabulary by kind, see `cure_query`.
    """
    requested: list[CureRefresh] = []
    for source in cure_policy().sources:
        active = _active(work.session, source)
        query = cure_query(source, recognized)
        if not active:
            continue
        if query is None:
            requested += _ask(work, active, at)
        elif _may_ask(work.session, source, at):
            requested += _ask(work, [watches.follow(work, source, query, "abstention", at)], at)
    return requested


def refresh_records(
    work: UnitOfWork, identifiers: Mapping[str, Sequence[str]], at: datetime
) -> list[CureRefresh]:
    """Request the records with these identifiers, once, where they are primary (EB-4.5): each kind
    at the first followed source of the policy that knows it. Nothing is asked of other sources.

    Args:
        identifiers: values by kind, such as {"pmid": ["123"]}; repeated values count once.
    """
    left = {kind: sorted(set(values)) for kind, values in identifiers.items()}
    requested: list[CureRefresh] = []
    for source, policy in cure_policy().sources.items():
        if left.keys().isdisjoint(policy.identifiers):
            continue
        if not _active(work.session, source):
            continue
        known: dict[str, list[str]] = {
            kind: left.pop(kind) for kind in policy.identifiers if kind in left
        }
        query = record_query(source, known)
        if query is not None and _may_ask(work.session, source, at):
            requested += _ask(work, [watches.follow(work, source, query, "abstention", at)], at)
    return requested


def next_planned(
    session: Session, at: datetime, source_types: Collection[str] | None = None
) -> Planned | None:
    """The next refresh of a followed query; None if nothing is followed.

    Args:
        source_types: only of sources that bring documents of these types.
    """
    planned = [
        Planned(report.name, report.next_run_at)
        for report in source_report.report(session, at)
        if report.next_run_at is not None
        and report.policy.source_type is not None
        and (source_types is None or report.policy.source_type in source_types)
    ]
    return min(planned, key=lambda refresh: refresh.at, default=None)


def _active(session: Session, source: str | None = None) -> list[Watch]:
    return [watch for watch in watches.listing(session, source) if watch.active]


def _ask(work: UnitOfWork, chosen: Iterable[Watch], at: datetime) -> list[CureRefresh]:
    results = (_refresh(work, watch, at) for watch in chosen)
    return [CureRefresh(refresh.id, source) for refresh, source in filter(None, results)]


def _refresh(work: UnitOfWork, watch: Watch, at: datetime) -> tuple[Refresh, str] | None:
    """The refresh under way, or a new one if the watch may be asked."""
    under_way = work.session.exec(
        select(Refresh).where(
            col(Refresh.watch_id) == watch.id, col(Refresh.status).in_(refreshes.ACTIVE)
        )
    ).one_or_none()
    if under_way is not None:
        return under_way, watch.source
    failed_lately = watch.retry_at is not None and watch.retry_at > at
    if failed_lately or _is_quiet(work.session, watch, at):
        return None
    if not _may_ask(work.session, watch.source, at):
        return None
    return refreshes.request(work, watch, "abstention", at), watch.source


def _is_quiet(session: Session, watch: Watch, at: datetime) -> bool:
    """True if the watch was completely refreshed within `quiet_hours`."""
    since = at - timedelta(hours=cure_policy().quiet_hours)
    rows = session.execute(
        sa.text(
            "SELECT 1 FROM refresh WHERE watch_id = :watch AND status = 'complete' "
            "AND finished_at > :since LIMIT 1"
        ),
        {"watch": watch.id, "since": since},
    )
    return rows.first() is not None


def _may_ask(session: Session, source: str, at: datetime) -> bool:
    """True if the source may be asked now, and abstentions have not asked it too often."""
    state = source_states.state(session, source)
    if state is not None and state.is_open(at):
        return False
    count = session.execute(
        sa.text(
            "SELECT count(*) FROM refresh r JOIN watch w ON w.id = r.watch_id "
            "WHERE w.source = :source AND r.reason = 'abstention' AND r.requested_at > :since"
        ),
        {"source": source, "since": at - timedelta(hours=1)},
    ).scalar_one()
    return int(count) < cure_policy().most_an_hour
