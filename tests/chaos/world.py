"""A little world of sources that change, fail and come back, and the truth about each of them.

The world keeps a history of its own: which revision each record had when. What the system holds is
compared with that, never with what the system says of itself.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply, Request, Service


class Skewed(Clock):
    """The clock of a source that does not go as ours does: always so far ahead, or behind."""

    def __init__(self, ours: Clock, hours: float) -> None:
        super().__init__(ours())
        self._ours, self._ahead = ours, timedelta(hours=hours)

    def __call__(self) -> datetime:
        return self._ours() + self._ahead


class Adapter(Protocol):
    """How the world writes into one fake. `key` is the document's key in our store."""

    source: str
    query: str
    service: Service
    retracts: bool
    deletes: bool

    def put(self, number: int, words: str) -> None: ...
    def change(self, number: int, words: str) -> None: ...
    def retract(self, number: int) -> None: ...
    def delete(self, number: int) -> None: ...
    def key(self, number: int) -> str: ...


@dataclass
class Record:
    """One record's life: when each revision came, and when it ended."""

    number: int
    revisions: list[datetime] = field(default_factory=list)
    retracted_at: datetime | None = None
    deleted_at: datetime | None = None

    def revision_at(self, moment: datetime) -> int:
        """The number of the newest revision at `moment`; -1 before the first."""
        return sum(at <= moment for at in self.revisions) - 1


def words_of(number: int, revision: int) -> str:
    """What a revision says: found again in the stored text."""
    return f"Invented item {number} says marker-{number}-{revision}-end."


@dataclass
class Outage:
    """A time in which a source answers nothing."""

    begin: datetime
    end: datetime


class World:
    """All sources, moved by one seed."""

    def __init__(self, clock: Clock, adapters: list[Adapter], seed: int, days: int) -> None:
        self.clock, self.adapters = clock, adapters
        self.random = random.Random(seed)
        self.records: dict[str, list[Record]] = {one.source: [] for one in adapters}
        self.start = clock()
        self.outages = {one.source: self._outages(days) for one in adapters}
        self.by_origin = {one.service.origin: one.source for one in adapters}
        self.quiet = False
        self.faults = 0

    def _outages(self, days: int) -> list[Outage]:
        """One short outage a week or so, and a long one of days."""
        found = []
        for day in range(days):
            if self.random.random() < 0.15:
                begin = self.start + timedelta(days=day, hours=self.random.uniform(0, 24))
                length = self.random.choice([0.5, 2, 6, 20])
                found.append(Outage(begin, begin + timedelta(hours=length)))
        begin = self.start + timedelta(days=self.random.uniform(10, days - 10))
        found.append(Outage(begin, begin + timedelta(hours=self.random.uniform(30, 60))))
        return found

    def is_down(self, source: str, at: datetime) -> bool:
        """Whether the source answers nothing at `at`."""
        return any(one.begin <= at < one.end for one in self.outages[source])

    def was_down(self, source: str, begin: datetime, end: datetime) -> bool:
        """Whether the source was down at any moment of a time."""
        return any(one.begin < end and begin < one.end for one in self.outages[source])

    def populate(self, count: int) -> None:
        """Give every source some records to begin with."""
        for adapter in self.adapters:
            for _ in range(count):
                self._put(adapter)

    def live_an_hour(self) -> None:
        """Let things happen at the sources."""
        for adapter in self.adapters:
            if self.random.random() < 0.05:
                self._put(adapter)
            living = [
                one
                for one in self.records[adapter.source]
                if one.deleted_at is None and one.retracted_at is None
            ]
            if living and self.random.random() < 0.10:
                record = self.random.choice(living)
                revision = len(record.revisions)
                adapter.change(record.number, words_of(record.number, revision))
                record.revisions.append(self.clock())
            if living and adapter.retracts and self.random.random() < 0.01:
                record = self.random.choice(living)
                adapter.retract(record.number)
                record.retracted_at = self.clock()
            elif living and adapter.deletes and self.random.random() < 0.004:
                record = self.random.choice(living)
                adapter.delete(record.number)
                record.deleted_at = self.clock()

    def _put(self, adapter: Adapter) -> None:
        records = self.records[adapter.source]
        record = Record(1000 + len(records))
        adapter.put(record.number, words_of(record.number, 0))
        record.revisions.append(self.clock())
        records.append(record)

    def fault(self, request: Request) -> Reply | None:
        """What goes wrong with a request: the fault of `FakeWeb`."""
        if self.quiet:
            return None
        if self.is_down(self.by_origin[request.origin], self.clock()):
            return self.random.choice([DROPPED, Reply(503, b"maintenance"), Reply(500, b"")])
        chance = self.random.random()
        self.faults += chance < 0.08
        if chance < 0.02:
            return Reply(429, b'{"error":"slow down"}', {"Retry-After": "7"})
        if chance < 0.04:
            return DROPPED
        if chance < 0.06:
            return Reply(502, b"bad gateway")
        if chance < 0.08:
            whole = self._service(request).answer(request)
            return Reply(whole.status, whole.body, whole.headers, cut=len(whole.body) // 2)
        return None

    def _service(self, request: Request) -> Service:
        return next(one.service for one in self.adapters if one.service.origin == request.origin)

    def web(self) -> FakeWeb:
        """A server for all sources with this world's faults."""
        web = FakeWeb(*[one.service for one in self.adapters])
        web.fault = self.fault
        return web


Killer = Callable[[], None]


class Killed(BaseException):
    """What a process knows of its kill -9: nothing. No handler of ours may catch it."""


def killer(chance: float, seed: int) -> Killer:
    """Raises Killed with the given chance whenever it is called."""
    draw = random.Random(seed)

    def maybe() -> None:
        if draw.random() < chance:
            raise Killed

    return maybe
