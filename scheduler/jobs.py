"""The scheduled jobs. Every job may run in any number of schedulers at once: rows are locked, or
skipped by the others, so a repeated tick changes nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import sqlalchemy as sa
import structlog
from sqlmodel import Session

from knowledge.operation.retention import TextKind
from scheduler.weekly import write_weekly
from store.core.clock import database_now
from store.core.unit_of_work import Promise, Store
from store.documents import tags
from store.index import dense, merging
from store.index.partitions import PartitionAway
from store.index.writing import ACTIVE
from store.models import now
from store.operations import retention, set_back_clock
from store.pipeline import circuits
from store.sources.imports import keep_statistics
from workers.runtime.broker import WokenBroker
from workers.runtime.relay import reconcile, sweep

log = structlog.get_logger(__name__)


def relay(store: Store, broker: WokenBroker) -> None:
    """Publish due outbox messages; each is logged with the id of its request."""

    def publish(promises: Sequence[Promise]) -> None:
        broker.publish(promises)
        for promise in promises:
            log.info(
                "relay_sent",
                stage=promise.stage,
                message_id=str(promise.id),
                request_id=promise.payload.get("request_id"),
            )

    while sent := sweep(store, publish):
        log.info("relay_published", messages=sent)


def watch_circuits(store: Store) -> None:
    """Pause stages with too many dead letters, and probe paused stages when it is time."""
    with store.unit_of_work("scheduler") as work:
        circuits.watch_deaths(work)
    with store.reading() as session:
        waiting = circuits.unsettled(session)
    for stage in waiting:
        with store.unit_of_work("scheduler") as work:
            circuits.settle(work, stage)


def find_lost(store: Store, broker: WokenBroker, lost_after: float) -> None:
    """Make lost messages (published, but in no queue) pending; the relay sends them again."""
    lost = reconcile(store, broker.backlog(), lost_after=lost_after, heads=broker.heads())
    if lost:
        log.warning("reconciler_found_lost", messages=lost)


def bring_back(store: Store, lease_seconds: float) -> None:
    """Correct rows with future times that remain after the database's clock was set back."""
    with Session(store.engine) as session:
        rows = set_back_clock.bring_back(session, lease_seconds)
        session.commit()
    if rows:
        log.warning("clock_of_the_database_set_back", rows=rows)


def copy_dead(broker: WokenBroker) -> None:
    """Copy dead messages from Redis that no worker could record as dead letters."""
    copied = broker.copy_dead()
    if copied:
        log.warning("dead_letters_copied", messages=copied)


def merge_segments(store: Store) -> None:
    """Merge segments of the lexical index, on each of its servers."""
    for engine in _servers(store):
        _as_long_as(merging.merge, engine)


def _servers(store: Store) -> Iterator[sa.Engine]:
    """The first server, and every partition that answers."""
    yield store.engine
    if not store.servers.urls:
        return
    with Session(store.engine) as session:
        names = session.execute(ACTIVE).scalars().all()
    for name in names:
        try:
            engine = store.servers.writing(name)
            with engine.connect():
                pass
        except (sa.exc.OperationalError, PartitionAway):
            log.warning("partition_away", partition=name)
        else:
            yield engine


def renew_segments(store: Store) -> None:
    """Rebuild segments that were built with other rules for terms: searches wait for this."""
    with Session(store.engine) as texts:
        for engine in _servers(store):
            if renewed := _as_long_as(lambda session: merging.renew(session, texts), engine):
                log.info("lexical_index_renewed", segments=renewed)
            texts.rollback()


def _as_long_as(step: Callable[[Session], bool], engine: sa.Engine) -> int:
    """Repeat `step`, each time in its own transaction, until none is left; returns how many."""
    taken, more = 0, True
    while more:
        with Session(engine) as session:
            more = step(session)
            session.commit()
        taken += more
    return taken


def retag_versions(store: Store) -> None:
    """Tag versions again that were tagged with another vocabulary."""
    made = _RETAGGED
    while made == _RETAGGED:
        with Session(store.engine) as session:
            made = tags.retag(session, _RETAGGED)
            session.commit()
        if made:
            log.info("versions_retagged", versions=made)


_RETAGGED = 200
"""Our choice: versions in one transaction, about a second of work."""


def index_vectors(store: Store) -> None:
    """Build the vector index once the table is large enough to need it."""
    for engine in _servers(store):
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if dense.ensure_index(connection):
                log.info("vector_index_built")


def erase_old(store: Store, days: Mapping[TextKind, int]) -> None:
    """Erase texts whose retention period is over, by both this clock and the database's: an
    erasure by a wrong clock could not be undone."""
    with store.reading() as session:
        at = min(now(), database_now(session))
    erased = retention.erase_old(store, days, at)
    if erased:
        log.info("words_erased", rows=dict(erased))


def write_weekly_report(store: Store, folder: Path) -> None:
    """Write the report of the last whole week; the first scheduler to run this writes it once."""
    write_weekly(store, folder, now())


def look_at_tables(store: Store) -> None:
    """Refresh PostgreSQL's statistics on tables that have grown."""
    keep_statistics(store.engine)
