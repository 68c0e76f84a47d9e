"""Statements of Crossref and OpenAlex about held works: publication status and metadata.

An enricher brings no documents. It is asked about DOIs and answers with statements. Their notices
are added to those of the document's own source; a notice from any one source suffices (WIRE 5).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import quote

from store.documents.records import Notice
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
    """What one source says about one work; `known` is False if it has no such DOI.

    `doi` is the source's own, in lower case; it differs from the requested one if that is an alias.
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
    """The number of works that cite it; None: the source does not say."""
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NoWord:
    """The source is up but gave no answer about this work; `error` says why."""

    key: str
    error: SourceError


Answer = Statement | NoWord


class RefusesThisWork(Refused):
    """The source refuses this work's identifier; this says nothing about other works."""


OF_ONE_WORK = (RefusesThisWork, Malformed, TooLarge)
"""Errors that concern one work only, as long as the source answers about another."""
REFUSALS = frozenset({400, 410, 414, 422})
"""Statuses caused by the requested DOI, not by the client: some registers hold odd DOIs."""


class BudgetSpent(QuotaExhausted):
    """The source's quota ended in the middle of a batch; `statements` came before."""

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
    """A source that is asked about held works. Stateless: one object serves all threads."""

    name: EnricherName
    fetch_limit: int

    def ask(self, client: Any, works: Sequence[Work]) -> list[Answer]:
        """Ask about at most `fetch_limit` works; returns an answer for each, in their order, or for
        the first of them if it takes too long.

        `client` is a `workers.http.client.SourceClient`; its type is not imported because parsers
        import this module, which must not import network code. Raises as `ask_each`.
        """
        ...


def ask_each(
    works: Sequence[Work], ask: Callable[[Work], Statement], time_is_up: Callable[[], bool]
) -> list[Answer]:
    """Call `ask` for each work; returns the answers in their order.

    The batch ends early when `time_is_up` and the source has answered about at least one work. An
    error about one work does not end it; two unreachable works in a row do, as the source is down.
    Raises BudgetSpent or BrokenOff with the answers so far; if the source answered about no work,
    the error itself.
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
        raise next(answer.error for answer in answers if isinstance(answer, NoWord))
    return answers


def doi_path(doi: str) -> str | None:
    """The DOI encoded for a URL's path, slashes kept; None if dots would mean folders
    (`10.1234/../members`): such a DOI cannot be asked about."""
    if any(part in {".", ".."} for part in doi.split("/")):
        return None
    return quote(doi, safe="/")


def unknown(work: Work, source: EnricherName) -> Statement:
    """The statement on a work whose DOI the source does not have."""
    return Statement(work.key, source, known=False)
