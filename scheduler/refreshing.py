"""Refreshes watches when they are due, and records those past their SLA.

Like all jobs, these may run in any number of schedulers at once.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from sqlmodel import Session, col, select

from knowledge.feeds.sources import connector_policies
from store.core.unit_of_work import Store, UnitOfWork
from store.models import SlaBreach, Watch
from store.pipeline import schedule_ticks
from store.sources import freshness, refreshes, source_states
from store.sources.plan import STRAY, Due, choose, due, followed

log = structlog.get_logger(__name__)

ACTOR = "scheduler"
TICKS_ARE_KEPT = timedelta(days=90)
FORGET_AT_A_TIME = 5000


def plan_refreshes(store: Store, at: datetime) -> int:
    """Request a refresh of each watch that is due at `at`; returns how many were requested.

    Tick, refresh, message and audit event of a watch are one transaction: a scheduler that dies
    leaves all or nothing, and a second one that does the same at the same time changes nothing.
    """
    with store.reading() as session:
        chosen = _due(session, at)
    if any(tick.deadline is not None and tick.deadline < at for tick in chosen):
        watch_slas(store, at)  # first, or the refresh requested below would count as the cause
    requested = 0
    for tick in chosen:
        if _ask(store, tick, at):
            requested += 1
            log.info(
                "refresh_due", job=tick.job, source=tick.source, fire_at=tick.fire_at.isoformat()
            )
    return requested


def _due(session: Session, at: datetime) -> list[Due]:
    watches = _active(session)
    last = schedule_ticks.last_asked(session, [watch.id for watch in watches], at + STRAY)
    facts = [
        followed(one, last[one.id].requested_at, under_way=last[one.id].under_way)
        for one in watches
    ]
    ticks = [tick for one in facts if (tick := due(one, at))]
    if not ticks:
        return []
    taken = schedule_ticks.taken(session, [(tick.job, tick.fire_at) for tick in ticks])
    states = source_states.all_states(session)
    resting = {name for name, state in states.items() if state.is_open(at)}
    return choose(
        [tick for tick in ticks if (tick.job, tick.fire_at) not in taken],
        resting=resting,
        on_trial={name for name, state in states.items() if state.status == "degraded"} - resting,
        under_way=schedule_ticks.under_way(session),
    )


def _active(session: Session) -> list[Watch]:
    """The active watches, without those of sources that this version does not know."""
    known = col(Watch.source).in_(connector_policies())
    return list(session.exec(select(Watch).where(col(Watch.active), known)))


def _ask(store: Store, one: Due, at: datetime) -> bool:
    """Take the tick and request the refresh; False if the watch is inactive or the tick is taken.

    The watch is not locked: a refresh that ends locks itself and then its watch.
    """
    with store.unit_of_work(ACTOR) as work:
        watch = work.session.get_one(Watch, one.watch_id)
        if not watch.active or not schedule_ticks.take(work.session, one.job, one.fire_at, at):
            return False
        refresh = refreshes.request(work, watch, one.reason, at)
        schedule_ticks.began(work.session, one.job, one.fire_at, refresh.id)
        return True


def watch_slas(store: Store, at: datetime) -> int:
    """Open a breach for each active watch that is past its deadline at `at`; returns how many.

    A breach begins at the deadline, no matter when it is noticed.
    """
    with store.reading() as session:
        noticed = set(
            session.exec(select(SlaBreach.watch_id).where(col(SlaBreach.ended_at).is_(None)))
        )
        late = [
            watch.id
            for watch in _active(session)
            if watch.id not in noticed and _is_late(watch, at)
        ]
    if not late:
        return 0
    with store.unit_of_work(ACTOR) as work:
        opened = [
            held.source for held in _held(work, late) if freshness.notice_breach(work, held, at)
        ]
    for source in opened:
        log.warning("sla_breached", source=source)
    return len(opened)


def _held(work: UnitOfWork, watch_ids: Collection[UUID]) -> Sequence[Watch]:
    """The watches that are still active, locked, in their current state.

    A watch locked by others is skipped: most likely a refresh is ending, which itself checks
    whether it was late.
    """
    rows = (
        select(Watch)
        .where(col(Watch.id).in_(watch_ids), col(Watch.active))
        .order_by(col(Watch.id))
        .with_for_update(skip_locked=True, key_share=True)
    )
    return work.session.exec(rows).all()


def _is_late(watch: Watch, at: datetime) -> bool:
    deadline = freshness.deadline(watch)
    return deadline is not None and deadline < at


def forget_ticks(store: Store, at: datetime) -> int:
    """Delete ticks from more than 90 days before `at`, in batches; returns how many."""
    forgotten = 0
    while True:
        with Session(store.engine) as session:
            batch = schedule_ticks.forget(session, at - TICKS_ARE_KEPT, FORGET_AT_A_TIME)
            session.commit()
        forgotten += batch
        if batch < FORGET_AT_A_TIME:
            return forgotten
