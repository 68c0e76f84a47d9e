"""What Crossref and OpenAlex say about a work that is held already: its standing and its record.

An enricher gives no documents. It is asked about DOIs and answers with statements; their notices
join those of the document's own source, and any one source suffices (WIRE 5).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import quote

from store.records import Notice, NoticeKind
from workers.http.errors import QuotaExhausted

EnricherName = Literal["crossref", "openalex"]


@dataclass(frozen=True)
class Work:
    """A held document to ask about: its key and its DOI."""

    key: str
    doi: str


@dataclass(frozen=True)
class Statement:
    """One source's word on one work; `known` is False where it has no such DOI.

    `doi` is in lower case and the source's own: not the one asked about where that is an alias.
    """

    key: str
    source: EnricherName
    known: bool
    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    title: str | None = None
    year: int | None = None
    notices: tuple[Notice, ...] = ()
    cited_by: int | None = None
    """How many works cite it; None: the source does not say."""
    facts: dict[str, Any] = field(default_factory=dict)


class BudgetSpent(QuotaExhausted):
    """The source wants to be left alone, in the middle of a batch; `statements` came before."""

    def __init__(self, message: str, seconds: float, statements: Sequence[Statement]) -> None:
        super().__init__(message, seconds)
        self.statements = tuple(statements)


class Enricher(Protocol):
    """A source that is asked about works held already. Stateless: one object serves all threads."""

    name: EnricherName
    fetch_limit: int

    def ask(self, client: Any, works: Sequence[Work]) -> list[Statement]:
        """A statement for each of at most `fetch_limit` works, in their order.

        `client` is a `workers.http.client.SourceClient`; parsers import this module, and so
        it must know no network. Raises BudgetSpent with the statements so far, and any other
        workers.http.errors.SourceError.
        """
        ...


_ENDED = re.compile(r"\s*+\[?(RETRACTED|WITHDRAWN|REMOVED)(?: ARTICLE)?(?:\]|\s*+[:.–—-])")
_KINDS: dict[str, NoticeKind] = {
    "RETRACTED": "retraction",
    "WITHDRAWN": "withdrawal",
    "REMOVED": "removal",
}


def ended_by_title(title: str) -> NoticeKind | None:
    """What a title's first word says of its work: "RETRACTED: …", "[WITHDRAWN] …".

    A fallback (WIRE 5). Capitals only: "Retracted: …" is how some publishers title the notice.
    """
    found = _ENDED.match(title)
    return _KINDS[found[1]] if found else None


def doi_path(doi: str) -> str | None:
    """The DOI as it stands in a URL's path, its slashes kept; None where dots would mean folders
    (`10.1234/../members`), so that no such DOI can be asked about."""
    if any(part in {".", ".."} for part in doi.split("/")):
        return None
    return quote(doi, safe="/")
