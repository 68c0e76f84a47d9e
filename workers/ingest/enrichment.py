"""What Crossref and OpenAlex say about a work that is held already: its standing and its record.

An enricher gives no documents. It is asked about DOIs and answers with statements; their notices
join those of the document's own source, and any one source suffices (WIRE 5).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import quote

from store.documents.records import Notice, NoticeKind
from workers.http.errors import (
    Malformed,
    NotOurTurn,
    QuotaExhausted,
    Refused,
    SourceError,
    TooLarge,
    Unreachable,
)

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


@dataclass(frozen=True)
class NoWord:
    """The source lives, and was asked about this work in vain; `error` says why."""

    key: str
    error: SourceError


Answer = Statement | NoWord


class RefusesThisWork(Refused):
    """The source refuses this work's identifier, and no other's for that."""


OF_ONE_WORK = (RefusesThisWork, Malformed, TooLarge)
"""Errors that say nothing of the next work, as long as the source answers about another."""
REFUSALS = frozenset({400, 410, 414, 422})
"""Statuses that speak of what was asked for, not of who asks: a DOI as some registers hold them."""


class BudgetSpent(QuotaExhausted):
    """The source wants to be left alone, in the middle of a batch; `statements` came before."""

    def __init__(self, message: str, seconds: float, statements: Sequence[Answer]) -> None:
        super().__init__(message, seconds)
        self.statements = tuple(statements)


class BrokenOff(SourceError):
    """The source failed with `cause` in the middle of a batch; `statements` came before."""

    def __init__(self, cause: SourceError, statements: Sequence[Answer]) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.statements = tuple(statements)


class Enricher(Protocol):
    """A source that is asked about works held already. Stateless: one object serves all threads."""

    name: EnricherName
    fetch_limit: int

    def ask(self, client: Any, works: Sequence[Work]) -> list[Answer]:
        """An answer for each of at most `fetch_limit` works, in their order, or for the first of
        them if it takes too long.

        `client` is a `workers.http.client.SourceClient`; parsers import this module, and so
        it must know no network. Raises as `ask_each`.
        """
        ...


def ask_each(
    works: Sequence[Work], ask: Callable[[Work], Statement], time_is_up: Callable[[], bool]
) -> list[Answer]:
    """What `ask` says about each work, in their order, until it spoke and `time_is_up`; one in vain
    does not end the batch.

    Two works in a row that cannot be reached do: that is the source. Raises BudgetSpent and
    BrokenOff with the answers so far; the error itself where the source answered about no work.
    """
    answers: list[Answer] = []
    spoke = False
    for work in works:
        try:
            if spoke and time_is_up():
                break
            answers.append(ask(work))
            spoke = True
        except NotOurTurn as error:
            raise BrokenOff(error, answers if spoke else ()) from None
        except QuotaExhausted as error:
            raise BudgetSpent(str(error), error.seconds, answers if spoke else ()) from None
        except OF_ONE_WORK as error:
            answers.append(NoWord(work.key, error))
        except SourceError as error:
            last = answers[-1] if answers else None
            down = isinstance(last, NoWord) and isinstance(last.error, Unreachable)
            if isinstance(error, Unreachable) and not down:
                answers.append(NoWord(work.key, error))
                continue
            if not spoke:
                raise
            raise BrokenOff(error, answers[:-1] if down else answers) from None
    if answers and not spoke:
        raise next(one.error for one in answers if isinstance(one, NoWord))
    return answers


_ENDED = re.compile(r"\[?(RETRACTED|WITHDRAWN|REMOVED)(?: ARTICLE)?(?:\]|\s*+[:.–—-])")
_KINDS: dict[str, NoticeKind] = {
    "RETRACTED": "retraction",
    "WITHDRAWN": "withdrawal",
    "REMOVED": "removal",
}


def ended_by_title(title: str) -> NoticeKind | None:
    """What a title's first word says of its work: "RETRACTED: …", "[WITHDRAWN] …".

    A fallback (WIRE 5). Capitals only: "Retracted: …" is how some publishers title the notice.
    """
    found = _ENDED.match(title.lstrip())
    return _KINDS[found[1]] if found else None


def doi_path(doi: str) -> str | None:
    """The DOI as it stands in a URL's path, its slashes kept; None where dots would mean folders
    (`10.1234/../members`), so that no such DOI can be asked about."""
    if any(part in {".", ".."} for part in doi.split("/")):
        return None
    return quote(doi, safe="/")
