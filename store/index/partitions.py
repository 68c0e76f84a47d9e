"""The other servers that hold a part of the index, and the search of all at once (ADR 0050).

A partition is a database with the tables of the index: vectors, segments of words, and which chunks
these are of. Documents, their chunks and what stands are on the first server only. A session that
reads the first server has a link to each partition when its search begins, a pipeline each: what
is asked of all is sent to all before any is read.

A server that does not answer is named (`without`), or nothing is found at all: by setting.
"""

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import psycopg
import sqlalchemy as sa
import structlog
from sqlmodel import Session

from store.core.database import connect, passes_by_itself
from store.core.postgres_watchdog import is_silent
from store.core.settings import Settings
from store.index.wire import Link, ask, engine_of

if TYPE_CHECKING:  # most commands search nothing, and numpy takes long to import
    from store.index.bm25 import Segment

log = structlog.get_logger(__name__)
T = TypeVar("T")

ANSWER_SECONDS = 10.0
"""A partition that says nothing for so long while somebody waits is away. Ours."""
_LOST = (sa.exc.SQLAlchemyError, psycopg.Error)


class PartitionAway(psycopg.OperationalError, RuntimeError):
    """A partition that has to be searched does not answer; the text names it and nothing else."""


def _away(name: str, error: Exception) -> PartitionAway:
    if isinstance(error, PartitionAway):
        return error
    return PartitionAway(f"the partition {name} of the index is away")


class Moved(psycopg.OperationalError, RuntimeError):
    """Part of the index was moved while a search began, which a retry will find in its place."""


class WrongServer(RuntimeError):
    """The URL of a partition leads to another database."""


_WRITTEN = re.compile(r"([a-z][a-z0-9-]{0,39})=(postgresql(?:\+psycopg)?://\S+)")


def urls_of(written: str) -> dict[str, str]:
    """The URL of each partition, from `ATTEST_PARTITIONS`.

    Raises:
        ValueError: it is not such a list. What it says is not repeated, as it may be a password.
    """
    found = [_WRITTEN.fullmatch(one) for one in written.split()]
    urls = {one[1]: one[2] for one in found if one}
    if len(urls) < len(found) or "main" in urls:
        raise ValueError(
            "ATTEST_PARTITIONS: write NAME=postgresql://USER@HOST/DATABASE for each, with spaces "
            "between; a name has small letters, digits and hyphens, is there once, and not main"
        )
    return urls


@dataclass(eq=False)
class Servers:
    """The servers of the partitions, for one process, and what it keeps of them."""

    urls: Mapping[str, str] = field(default_factory=dict, repr=False)
    waits: bool = True
    """True: a search that a partition does not answer raises; False: it goes on without."""
    segments: defaultdict[str, "dict[int, Segment]"] = field(
        default_factory=lambda: defaultdict(dict), repr=False
    )
    _engines: dict[tuple[str, bool], sa.Engine] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "Servers":
        """Those of the settings. Raises ValueError if they cannot be read."""
        return cls(urls_of(settings.partitions), settings.partition_away == "wait")

    def writing(self, name: str) -> sa.Engine:
        """An engine to write a partition with, without limits of time."""
        return self._engine(name, reads=False)

    def reading(self, name: str) -> sa.Engine:
        """An engine whose transactions read one snapshot, for somebody who waits."""
        return self._engine(name, reads=True)

    def _engine(self, name: str, *, reads: bool) -> sa.Engine:
        with self._lock:
            known = self._engines.get((name, reads))
            if known is None:
                if name not in self.urls:
                    raise PartitionAway(f"ATTEST_PARTITIONS of this process has no URL of {name}")
                seconds = ANSWER_SECONDS if reads else None
                known = connect(self.urls[name], answer_seconds=seconds, snapshots=reads)
                self._engines[name, reads] = known
            return known

    @contextmanager
    def transaction(self, name: str) -> Iterator[Session]:
        """A transaction on a partition, which is committed at the end of the block.

        Raises:
            PartitionAway: it does not answer.
        """
        try:
            with Session(self.writing(name), expire_on_commit=False) as session:
                yield session
                session.commit()
        except _LOST as error:
            if not passes_by_itself(error):
                raise
            raise _away(name, error) from error

    def dispose(self) -> None:
        """Close all connections."""
        for engine in self._engines.values():
            engine.dispose()


@dataclass(eq=False)
class Part:
    """A partition as one session searches it."""

    name: str
    link: Link | None
    """None: it does not answer, or is not to be searched."""

    def open(self, servers: Servers) -> None:
        """Take a connection."""
        self.link = Link(servers.reading(self.name))

    def close(self) -> None:
        """Give the connection back, or drop it if it is broken."""
        link, self.link = self.link, None
        if link is None:
            return
        try:
            link.close()
        except _LOST:
            with suppress(*_LOST):
                link.drop()


def begin(session: Session, registered: Iterable[tuple[str, str, int]]) -> Sequence[Part]:
    """Take a link to each partition, unless this session has.

    The snapshots are later than the one of `session`, and a partition is written before the first
    server is: whatever stands in `session` is there.

    Args:
        registered: names, states and moves, as `session` reads them.
    """
    known: Sequence[Part] | None = session.info.get("parts")
    if known is None:
        states = {name: state for name, state, _ in registered if state != "adding"}
        known = session.info["parts"] = [Part(name, None) for name in states]
        servers = servers_of(session)
        for part in known:
            if states[part.name] == "active":
                _guarded(session, part, lambda part: part.open(servers))
    return known


def parts(session: Session) -> Sequence[Part]:
    """The partitions of the search that `session` makes."""
    known: Sequence[Part] | None = session.info.get("parts")
    return begin(session, ask(session, REGISTERED).fetchall()) if known is None else known


REGISTERED = "SELECT name, state, moves FROM index_partition ORDER BY name"


def servers_of(session: Session) -> Servers:
    """The servers that this session may ask."""
    servers: Servers = session.info.get("servers") or _NONE
    return servers


_NONE = Servers()


def at_each(session: Session, step: Callable[[Part, Link], T]) -> dict[Part, T]:
    """Do something at every partition that answers; without those that cease to.

    Raises:
        PartitionAway: one ceased to, and the setting is to wait.
    """
    done: dict[Part, T] = {}

    def take(part: Part) -> None:
        assert part.link is not None
        done[part] = step(part, part.link)

    for part in parts(session):
        if part.link is not None:
            _guarded(session, part, take)
    return done


def received(session: Session, sent: Mapping[Part, Callable[[], T]]) -> dict[Part, T]:
    """What the partitions answer that were asked something; raises as `at_each` does."""
    return at_each(session, lambda part, _: sent[part]())


def received_last(session: Session, sent: Mapping[Part, Callable[[], T]]) -> dict[Part, T]:
    """As `received`, and ends the snapshots in the same trip; another search takes others."""

    def step(part: Part, link: Link) -> T:
        link.rest()
        return sent[part]()

    return at_each(session, step)


def received_first(
    session: Session, asks: Callable[[Part, Link], Callable[[], T]]
) -> dict[Part, T]:
    """What all partitions answer to the first question of a search; raises as `at_each` does.

    Connections that were idle are not tested: one that turns out to be lost is replaced, once.
    """

    def send(part: Part, link: Link) -> Callable[[], T]:
        try:
            return asks(part, link)
        except _LOST as error:
            return _anew(session, part, asks, error)

    def receive(part: Part, _: Link) -> T:
        try:
            return sent[part]()
        except _LOST as error:
            return _anew(session, part, asks, error)()

    sent = at_each(session, send)
    return at_each(session, receive)


def _anew(
    session: Session,
    part: Part,
    asks: Callable[[Part, Link], Callable[[], T]],
    error: Exception,
) -> Callable[[], T]:
    if is_silent(error) or not passes_by_itself(error):
        raise error
    servers = servers_of(session)
    part.close()
    servers.reading(part.name).dispose()
    part.open(servers)
    assert part.link is not None
    return asks(part, part.link)


def _guarded(session: Session, part: Part, step: Callable[[Part], None]) -> None:
    try:
        step(part)
    except _LOST as error:
        if not passes_by_itself(error):
            raise
        log.warning("partition_away", partition=part.name, error=type(error).__name__)
        part.close()
        if servers_of(session).waits:
            raise _away(part.name, error) from error


def without(session: Session) -> tuple[str, ...]:
    """The partitions that hold a part of the index and did not take part in the search."""
    return tuple(part.name for part in session.info.get("parts", ()) if part.link is None)


def end(session: Session) -> None:
    """Give back the connections of the search."""
    for part in session.info.pop("parts", ()):
        part.close()


def require_name(part: Part, names: Sequence[str]) -> None:
    """Check that a server is the partition that it is taken for.

    Raises:
        WrongServer: it says that it is another one.
    """
    if list(names) != [part.name]:
        other = ", ".join(names) or "no partition"
        raise WrongServer(f"ATTEST_PARTITIONS: the URL of {part.name} leads to {other}")


def require_unmoved(session: Session, moves: int) -> None:
    """Check, once all snapshots are taken, that nothing was moved between servers meanwhile: what
    was copied after the one snapshot and deleted before the other would be in neither.

    Args:
        moves: how many moves there were, as `session` sees.

    Raises:
        Moved: there were more; the search has to begin again.
    """
    beside = Link(engine_of(session))
    try:
        ((now,),) = ask(beside, _MOVES).fetchall()
    finally:
        beside.close()
    if now != moves:
        raise Moved("part of the index was moved while the search began")


_MOVES = "SELECT CAST(coalesce(sum(moves), 0) AS bigint) FROM index_partition"
