"""The one interface of all connectors: search by query, changed since, fetch by id.

A connector knows a source's protocol and no database. It fetches pages and hands their bytes on as
they came; the ingest stage reads them with the source's parser. So a page is fetched once, kept
until it is read, and read again after a kill.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from workers.http.client import SourceClient
from workers.ingest.parsers.base import Parsed

Continuation = Mapping[str, Any]
"""JSON that says where the next page begins; kept in PostgreSQL between two pages."""


STEP_SECONDS = 60.0
"""Ours: after so long a step that fetches documents one by one leaves the rest to the next one. The
call under way then has its own limit, and both together stay well inside the stage's."""


def time_is_up(client: SourceClient, began: datetime) -> bool:
    """Whether a step that `began` then has to end with what it has."""
    return (client.now() - began).total_seconds() >= STEP_SECONDS


@dataclass(frozen=True)
class Payload:
    """Bytes as the source sent them. `name` is short and shown to operators; no query in it."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Page:
    """One step of a refresh."""

    payloads: Sequence[Payload] = ()
    next: Continuation | None = None
    """None: this was the last page."""
    total: int | None = None
    """How many records the whole refresh has, where the source tells."""
    marks: Mapping[str, Any] = field(default_factory=dict)
    """Kept with the cursor once the refresh is complete, and given to the next one as `marks`:
    ETags, a dataset's time stamp, versions seen. Of the last page that has any."""
    complete: bool = True
    """Whether what is followed was really looked at; False where a source only says less than it
    should, so that the refresh must not move the freshness clock."""
    left_over: Sequence[str] = ()
    """Of the keys that `fetch` was given, those for which its time did not suffice: not missing."""


@dataclass(frozen=True)
class Ask:
    """What a refresh wants to know."""

    query: str
    since: datetime | None
    """The overlap is taken off already. None: everything that matches."""
    until: datetime
    """A day after the refresh began: a source's clock may be ahead of ours."""
    marks: Mapping[str, Any] = field(default_factory=dict)


class Connector(Protocol):
    """A source. Stateless: one object serves all threads."""

    name: str

    def check_query(self, query: str) -> str:
        """The query in its one spelling. Raises InvalidQuery, which says what to write."""
        ...

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """The first page (`continuation` None) or the next one, of what matches `ask.query` and
        changed since `ask.since`. Every page is small enough to be fetched inside a minute.

        Raises workers.http.errors.SourceError.
        """
        ...

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """The documents with these keys (`SourceRecord.key`, as its parser gives them), at most
        `fetch_limit`, in one page. What is missing in the answer and not `left_over` does not exist
        at the source; some key is always looked for."""
        ...

    fetch_limit: int

    def parse(self, payload: bytes) -> Parsed:
        """Read a payload of this connector (pure). Raises workers.http.errors.Malformed."""
        ...
