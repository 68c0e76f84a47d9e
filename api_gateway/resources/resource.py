"""The description of a resource: a text or file that is submitted, followed, read and erased.

Notes, verifications and extractions are resources. Their folders describe what is their own;
`routes` and `page_routes` here make the API routes and the pages of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from fastapi import Request
from sqlmodel import Session

from api_gateway.auth.access import Caller, owned
from api_gateway.backpressure.load import Work
from api_gateway.problems import erased, request_id_of
from api_gateway.state import Gateway
from store.core.unit_of_work import UnitOfWork
from store.models import ExtractionRow, Note, Verification
from store.texts.text_table import TextTable

Row = TypeVar("Row", bound=Note | Verification | ExtractionRow)
Given = TypeVar("Given")
_Given = TypeVar("_Given", contravariant=True)
_Row = TypeVar("_Row", covariant=True)


class Submit(Protocol[_Given, _Row]):
    """Writes the row of what was given, or returns the one that the key stands for."""

    def __call__(
        self, work: UnitOfWork, given: _Given, /, *, owner: str, idempotency_key: str | None
    ) -> _Row: ...


@dataclass(frozen=True)
class Resource(Generic[Row, Given]):
    """What a resource is, for the API and for the pages."""

    table: TextTable[Row]
    work: Work
    submit: Submit[Given, Row]
    unfinished: tuple[str, ...] = ("queued",)
    """The states in which its stage still has to do something."""

    @property
    def kind(self) -> str:
        """The noun, as in `note`; the row's id is the path parameter `note_id`."""
        return self.table.kind

    def accepted(
        self, request: Request, caller: Caller, given: Given, idempotency_key: str | None
    ) -> Row:
        """The row of a submission, in a transaction of its own."""
        gateway: Gateway = request.app.state.gateway
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            return self.submit(work, given, owner=caller.owner, idempotency_key=idempotency_key)

    def readable(self, session: Session, caller: Caller, row_id: UUID) -> Row:
        """The caller's row.

        Raises:
            Problem: there is no such row of this caller, or its words were erased.
        """
        row = owned(caller, self.table.get(session, row_id), self.kind)
        if row.status == "erased":
            raise erased(self.kind, row.erased_at)
        return row


def always() -> Callable[[Any], bool]:
    """Nothing but its end is news of a resource."""
    return lambda _: False


@dataclass(frozen=True)
class Api(Generic[Row, Given]):
    """What the API routes of a resource need beside it, and what OpenAPI says of them.

    Args:
        given: the dependency that reads the body.
        out: what is shown of a row, an instance of `out_model` with a `status`.
        asks_models: its work calls language models, so a key's budget bounds it.
        news: the dependency whose result tells whether a state that has not ended is news.
    """

    resource: Resource[Row, Given]
    given: Callable[..., Any]
    out: Callable[[Session, Row], Any]
    out_model: type[Any]
    submitting: tuple[str, str]
    """Summary and description of the submission."""
    getting: tuple[str, str]
    """Summary and description of the look at one."""
    asks_models: bool = True
    news: Callable[..., Callable[[Any], bool]] = always
    openapi: Mapping[str, Any] = field(default_factory=dict)
    """Of the submission, where FastAPI cannot know it."""
