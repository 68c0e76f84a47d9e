"""What runs on a clock. Every job may run in any number of schedulers at once: rows are locked or
skipped by the others, so a tick done twice changes nothing."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import structlog
from sqlmodel import Session

from knowledge.retention import TextKind
from scheduler.weekly.writing import write_weekly
from store.core.clock import database_now
from store.core.unit_of_work import Promise, Store
from store.documents import tags
from store.index import dense, lexical
from store.models import now
from store.operations import retention, set_back_clock
from store.pipeline import circuits
from store.sources.imports import keep_statistics
from workers.runtime.broker import WokenBroker
from workers.runtime.relay import reconcile, sweep

log = structlog.get_logger(__name__)


def relay(store: Store, broker: WokenBroker) -> None:
    """Publish what is due; each message is logged with the id of its request."""

    def publish(promises: Sequence[Promise]) -> None:
        broker.publish(promises)
        for one in promises:
            log.info(
                "relay_sent",
                stage=one.stage,
                message_id=str(one.id),
                request_id=one.payload.get("request_id"),
            )

    while sent := sweep(store, publish):
        log.info("relay_published", messages=sent)


def watch_circuits(store: Store) -> None:
    """Pause stages of which too much dies, and try the paused ones when it is time."""
    with store.unit_of_work("scheduler") as work:
        circuits.watch_deaths(work)
    with store.reading() as session:
        waiting = circuits.unsettled(session)
    for stage in waiting:
        with store.unit_of_work("scheduler") as work:
            circuits.settle(work, stage)


def find_lost(store: Store, broker: WokenBroker, lost_after: float) -> None:
    """Take back what was published but is nowhere; the relay sends it again."""
    found = reconcile(store, broker.backlog(), lost_after=lost_after, heads=broker.heads())
    if found:
        log.warning("reconciler_found_lost", messages=found)


def bring_back(store: Store, lease_seconds: float) -> None:
    """Let nothing wait for a time that was before the database's clock was set back."""
    with Session(store.engine) as session:
        found = set_back_clock.bring_back(session, lease_seconds)
        session.commit()
    if found:
        log.warning("clock_of_the_database_set_back", rows=found)


def copy_dead(broker: WokenBroker) -> None:
    """Copy the deaths that a worker could not write down."""
    copied = broker.copy_dead()
    if copied:
        log.warning("dead_letters_copied", messages=copied)


def merge_segments(store: Store) -> None:
    """Keep the lexical index compact."""
    _as_long_as(lexical.merge, store)


def renew_segments(store: Store) -> None:
    """Write anew what other rules for terms built: until then whoever searches it waits."""
    if renewed := _as_long_as(lexical.renew, store):
        log.info("lexical_index_renewed", segments=renewed)


def _as_long_as(step: Callable[[Session], bool], store: Store) -> int:
    """Take the step, each in a transaction, until there is none left; says how many there were."""
    taken, more = 0, True
    while more:
        with Session(store.engine) as session:
            more = step(session)
            session.commit()
        taken += more
    return taken


def retag_versions(store: Store) -> None:
    """Tag again what was tagged with another vocabulary."""
    made = _RETAGGED
    while made == _RETAGGED:
        with Session(store.engine) as session:
            made = tags.retag(session, _RETAGGED)
            session.commit()
        if made:
            log.info("versions_retagged", versions=made)


_RETAGGED = 200
"""Ours: versions a transaction; a second or so of work."""


def index_vectors(store: Store) -> None:
    """Build the vector index once the table is large enough to need one."""
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if dense.ensure_index(connection):
            log.info("vector_index_built")


def erase_old(store: Store, days: Mapping[TextKind, int]) -> None:
    """Erase the words that are older than they are kept, by this clock and by the database's: what
    one that is wrong erases does not come back."""
    with store.reading() as session:
        at = min(now(), database_now(session))
    erased = retention.erase_old(store, days, at)
    if erased:
        log.info("words_erased", rows=dict(erased))


def write_weekly_report(store: Store, folder: Path) -> None:
    """Write the report of the last whole week, once, by whichever scheduler comes first."""
    write_weekly(store, folder, now())


def look_at_tables(store: Store) -> None:
    """Let PostgreSQL plan by tables that have grown as they are."""
    keep_statistics(store.engine)
