"""The interface of all connectors: search by query, changed since, fetch by id.

A connector knows a source's protocol and no database. It fetches pages and passes their bytes on
unchanged; the ingest stage reads them with the source's parser. So a page is fetched once, kept
until it is read, and read again after a kill.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from knowledge.feeds.queries import MAX_QUERY_CHARS, QueryRefused, plain_query
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery
from workers.ingest.parsers.base import Parsed

Continuation = Mapping[str, Any]
"""JSON that says where the next page begins; stored in PostgreSQL between two pages."""


STEP_SECONDS = 60.0
"""Our time limit for a step that fetches documents one by one; it leaves the rest to the next step.
The running call has a limit of its own, and both together stay well inside the stage's."""


def time_is_up(client: SourceClient, began: datetime) -> bool:
    """True if a step that `began` then must end with what it has."""
    return (client.now() - began).total_seconds() >= STEP_SECONDS


def plain(source: str, query: str, longest: int = MAX_QUERY_CHARS) -> str:
    """The query as one line of single spaces, with brackets and quotation marks in pairs.

    Raises InvalidQuery.
    """
    try:
        line = plain_query(source, query)
    except QueryRefused as error:
        raise InvalidQuery(str(error)) from None
    if len(line) > longest:
        raise InvalidQuery(f"the query is longer than {longest:,} characters: split it")
    return line


@dataclass(frozen=True)
class Payload:
    """Bytes as the source sent them. `name` is short, shown to operators and contains no query."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Page:
    """One step of a refresh."""

    payloads: Sequence[Payload] = ()
    next: Continuation | None = None
    """None: this was the last page."""
    total: int | None = None
    """The number of records in the whole refresh, if the source states it."""
    marks: Mapping[str, Any] = field(default_factory=dict)
    """Stored with the cursor once the refresh is complete, and passed to the next one as `marks`:
    ETags, a dataset's time stamp, versions seen. The last page with marks counts."""
    complete: bool = True
    """False if the source gave less than it should, so that the refresh must not move the freshness
    clock."""
    left_over: Sequence[str] = ()
    """Keys passed to `fetch` that it had no time for; they do not count as missing."""


@dataclass(frozen=True)
class Ask:
    """The request of a refresh."""

    query: str
    since: datetime | None
    """The overlap is already subtracted. None: everything that matches."""
    until: datetime
    """A day after the refresh began: a source's clock may be ahead of ours."""
    marks: Mapping[str, Any] = field(default_factory=dict)


class Connector(Protocol):
    """A source. Stateless: one object serves all threads."""

    name: str

    def check_query(self, query: str) -> str:
        """The query in its normal form. Raises InvalidQuery, which says what to write."""
        ...

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """The first page (`continuation` None) or the next one of records that match `ask.query`
        and changed since `ask.since`. Every page is small enough to be fetched inside a minute.

        Raises workers.http.errors.SourceError.
        """
        ...

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """The documents with these keys (`SourceRecord.key`, as its parser gives them), at most
        `fetch_limit`, in one page. A key that is neither in the answer nor in `left_over` does not
        exist at the source. At least one key is always looked for."""
        ...

    fetch_limit: int

    def parse(self, payload: bytes) -> Parsed:
        """Read a payload of this connector (pure). Raises workers.http.errors.Malformed."""
        ...
