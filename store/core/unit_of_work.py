"""One transaction that writes rows, the next messages and the audit events, or none of them.

After the commit, the unit of work hands the new outbox rows to the publisher for speed. A failure
there loses nothing, because the relay sweeps the outbox (invariant 3).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol
from uuid import UUID, uuid4

import sqlalchemy as sa
import structlog
from sqlmodel import Session

from store.audit import audit
from store.index import partitions
from store.pipeline import outbox

log = structlog.get_logger(__name__)


class Publishable(Protocol):
    """The part of a message that the outbox needs."""

    @property
    def request_id(self) -> UUID: ...
    @property
    def stage(self) -> str: ...
    def payload(self) -> dict[str, object]: ...


@dataclass(frozen=True)
class Promise:
    """An outbox row as the publisher needs it: its id becomes the message id."""

    id: UUID
    stage: str
    payload: Mapping[str, Any]


Publisher = Callable[[Sequence[Promise]], None]
_AT_ONCE: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}
_SNAPSHOT: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def no_broker(promises: Sequence[Promise]) -> None:
    """The publisher of a process without a broker: the relay publishes its messages."""
    raise ConnectionError(f"this process has no broker for {len(promises)} messages")


@dataclass
class UnitOfWork:
    """An open transaction. Use `session` for rows, the methods for messages, events and notices.

    Messages whose ids are `kept` are not published: whoever writes them goes on with them.
    """

    session: Session
    actor: str
    request_id: UUID | None = None
    kept: set[UUID] = field(default_factory=set)
    _events: list[audit.Event] = field(default_factory=list)
    _outbox: list[dict[str, Any]] = field(default_factory=list)
    _notices: list[tuple[str, str]] = field(default_factory=list)

    def emit(self, message: Publishable) -> UUID:
        """Write `message` to the outbox; it is published after this transaction has committed."""
        row_id = uuid4()
        self._outbox.append(
            {
                "id": row_id,
                "stage": str(message.stage),
                "payload": message.payload(),
                "request_id": message.request_id,
            }
        )
        return row_id

    @property
    def promises(self) -> list[Promise]:
        """The messages written so far."""
        return [Promise(row["id"], row["stage"], row["payload"]) for row in self._outbox]

    def record(self, event: str, subject: object, **payload: Any) -> None:
        """Write an audit event. `payload` holds ids, hashes and counts, never texts."""
        self._events.append(audit.Event(event, str(subject), self.actor, self.request_id, payload))

    def notify(self, channel: str, payload: object) -> None:
        """Wake listeners on `channel` when this commits."""
        self._notices.append((channel, str(payload)))

    def _finish(self) -> list[Promise]:
        self.session.flush()
        for channel, payload in dict.fromkeys(self._notices):
            self.session.execute(sa.select(sa.func.pg_notify(channel, payload)))
        audit.append(self.session, self._events, self._outbox)
        self.session.commit()
        return [promise for promise in self.promises if promise.id not in self.kept]


@dataclass(frozen=True)
class Store:
    """The database, and the publisher that is called right after a commit."""

    engine: sa.Engine
    publish: Publisher = no_broker
    servers: partitions.Servers = field(default_factory=partitions.Servers)

    @cached_property
    def _at_once(self) -> sa.Engine:
        return self.engine.execution_options(**_AT_ONCE)

    @cached_property
    def _snapshots(self) -> sa.Engine:
        return self.engine.execution_options(**_SNAPSHOT)

    @contextmanager
    def unit_of_work(self, actor: str, request_id: UUID | None = None) -> Iterator[UnitOfWork]:
        """A transaction that commits when the block ends and rolls back when it raises."""
        with Session(self.engine, expire_on_commit=False) as session:
            work = UnitOfWork(session, actor, request_id)
            yield work
            promises = work._finish()
        if promises:
            self._publish(promises)

    def _publish(self, promises: list[Promise]) -> None:
        try:
            self.publish(promises)
        except Exception as error:  # noqa: BLE001  whatever it was, the relay publishes them
            log.warning(
                "publish_after_commit_failed", error=type(error).__name__, rows=len(promises)
            )
            self._give_back(promises)

    def _give_back(self, promises: list[Promise]) -> None:
        """Leave the rows to the relay. Never raises: what was committed is committed."""
        try:
            with Session(self.engine) as session:
                outbox.unpublish(session, [promise.id for promise in promises])
                session.commit()
        except Exception as error:  # noqa: BLE001  the reconciler finds them a little later
            log.warning("give_back_failed", error=type(error).__name__, rows=len(promises))

    @contextmanager
    def at_once(self) -> Iterator[Session]:
        """A session in autocommit: for a single statement that emits no message, or for statements
        that read rows which never change. It saves the round trips of BEGIN and COMMIT."""
        with Session(self._at_once, expire_on_commit=False) as session:
            yield session
            session.commit()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that reads one snapshot; PostgreSQL refuses writes in it.

        It ends with a commit: at a rollback psycopg drops the connection's prepared statements, and
        every statement of the next transaction is parsed again.
        """
        of_search = {"servers": self.servers}
        with Session(self._snapshots, expire_on_commit=False, info=of_search) as session:
            try:
                yield session
            finally:
                partitions.end(session)
            session.expunge_all()  # changes to objects that were read are dropped, not flushed
            session.commit()
