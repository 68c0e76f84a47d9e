"""Rebuilds all queues from PostgreSQL: for a Redis that was lost, corrupted or moved."""

from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlmodel import Session

from messages import Stage
from store.core.unit_of_work import Store
from store.pipeline.circuits import HELD_UNTIL
from workers.runtime.broker import WokenBroker
from workers.runtime.relay import sweep


@dataclass
class Rebuilt:
    """Counts of the messages that were removed from Redis, and of outbox messages by state."""

    dead_copied: int = 0
    removed: dict[str, int] = field(default_factory=dict)
    sent: int = 0
    at_work: int = 0
    not_due: int = 0
    held: int = 0


def rebuild_queues(store: Store, broker: WokenBroker, actor: str) -> Rebuilt:
    """Empty the queues of all stages and send all due outbox messages again.

    Workers may run meanwhile: their work continues under its lease, and a message that reaches two
    of them is processed once. Dead messages that only Redis holds are copied first.

    Raises:
        redis.RedisError: Redis is unavailable; nothing is lost, run it again.
    """
    report = Rebuilt(dead_copied=broker.copy_dead(older_than_ms=0))
    report.removed = {stage.value: broker.empty(stage.value) for stage in Stage}
    with store.unit_of_work(actor) as work:
        work.session.execute(_TAKE_BACK)
        work.record("queues.rebuilt", "queues", removed=sum(report.removed.values()))
    while sent := sweep(store, broker.publish):
        report.sent += sent
    with store.reading() as session:
        _count(session, report)
    return report


_TAKE_BACK = sa.text(
    """
    UPDATE outbox SET status = 'pending', publish_count = 0, not_before = clock_timestamp()
    WHERE status = 'published' AND NOT EXISTS (
        SELECT FROM stage_run AS run WHERE run.outbox_id = outbox.id
            AND run.status = 'running' AND run.lease_until > clock_timestamp())
    """
)
_COUNTS = sa.text(
    """
    SELECT count(*) FILTER (WHERE status = 'pending' AND not_before = :held) AS held,
           count(*) FILTER (WHERE status = 'pending' AND not_before < :held) AS not_due,
           count(*) FILTER (WHERE status = 'published' AND EXISTS (
               SELECT FROM stage_run AS run WHERE run.outbox_id = outbox.id
                   AND run.status = 'running' AND run.lease_until > clock_timestamp())) AS at_work
    FROM outbox WHERE status IN ('pending', 'published')
    """
)


def _count(session: Session, report: Rebuilt) -> None:
    row = session.execute(_COUNTS, {"held": HELD_UNTIL}).one()
    report.held, report.not_due, report.at_work = row.held, row.not_due, row.at_work
