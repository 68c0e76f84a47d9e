"""The pages of a resource: a form and what was sent before, and a page for each that was sent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import ValidationError
from sqlmodel import Session

from api_gateway.auth.access import Caller, InCaller, Scope, needs, needs_own
from api_gateway.pages.clocks import Moment
from api_gateway.pages.forms import Given as GivenForm
from api_gateway.pages.forms import InGiven, refused_form
from api_gateway.pages.once import admit, key_of, keyed, once, sent_before
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import Badge, plainly
from api_gateway.problems import Problem, from_validation
from api_gateway.resources.resource import Given, Resource, Row
from api_gateway.state import Gateway, InGateway


@dataclass(frozen=True)
class SentLine:
    """A row in the list of those that were sent; a name may be a patient's, and only its owner sees
    it."""

    id: str
    name: str
    sent: Moment | None
    badge: Badge
    detail: str = ""


def nothing_beside(_session: Session, _row: Any) -> None:
    """The page of a row needs no other rows."""


@dataclass(frozen=True)
class Pages(Generic[Row, Given]):
    """What the pages of a resource need beside it.

    Args:
        path: of the form and the list.
        form, shown: the templates of the form and of one row.
        fields: those of the form that are filled in again where it is refused.
        given: what a form holds; raises Problem or ValidationError.
        content: what makes a submission another one, as JSON values and bytes.
        choices: further values of the template `form`.
        line: how a row stands in the list; None: there is no list.
        beside: further rows that the page of a row needs, read in its transaction.
        view: the values of the template `shown`, from the row, what is beside it, and the item
            whose words are to stand out.
        chosen: the name of the query parameter with that item; None: nothing can be chosen.
    """

    resource: Resource[Row, Given]
    path: str
    form: str
    shown: str
    fields: Sequence[str]
    given: Callable[[GivenForm], Given]
    content: Callable[[Given], Mapping[str, Any]]
    choices: Mapping[str, Any]
    view: Callable[[Row, Any, str | None], Mapping[str, Any]]
    line: Callable[[Row], SentLine] | None = None
    page_size: int = 25
    beside: Callable[[Session, Row], Any] = nothing_beside
    chosen: str | None = None


def page_router(pages: Pages[Row, Given]) -> APIRouter:
    """The routes of the pages."""
    router = APIRouter(include_in_schema=False)
    resource = pages.resource
    may_see = (Scope.ASK,) if pages.line is None else (Scope.READ, Scope.ASK)

    @router.get(pages.path, dependencies=[needs(*may_see)])
    def form_page(
        request: Request,
        gateway: InGateway,
        caller: InCaller,
        cursor: str | None = None,
        form: UUID | None = None,
    ) -> Response:
        if form is None and Scope.ASK in caller.scopes:
            return keyed(request)
        return _form(pages, request, gateway, caller, {"key": str(form)}, cursor=cursor)

    @router.post(pages.path, dependencies=[needs(Scope.ASK)])
    def send(request: Request, form: InGiven, gateway: InGateway, caller: InCaller) -> Response:
        try:
            return _submit(pages, request, caller, key_of(form.fields), pages.given(form))
        except ValidationError as error:
            problem = from_validation(error.errors(include_input=False))
        except Problem as error:
            problem = error
        shown = _form(pages, request, gateway, caller, form.fields, problem)
        return refused_form(shown, problem)

    @router.get(f"{pages.path}/{{{resource.kind}_id}}", dependencies=[needs_own])
    def row_page(
        request: Request,
        row_id: Annotated[UUID, Path(alias=f"{resource.kind}_id")],
        gateway: InGateway,
        caller: InCaller,
        chosen: Annotated[str | None, Query(max_length=100, alias=pages.chosen)] = None,
    ) -> HTMLResponse:
        with gateway.store.reading() as session:
            row = resource.readable(session, caller, row_id)
            beside = pages.beside(session, row)
            session.expunge_all()
        chosen = chosen if pages.chosen is not None else None
        return page(request, pages.shown, row=row, chosen=chosen, **pages.view(row, beside, chosen))

    return router


def _form(
    pages: Pages[Row, Given],
    request: Request,
    gateway: Gateway,
    caller: Caller,
    fields: Mapping[str, str],
    problem: Problem | None = None,
    cursor: str | None = None,
) -> HTMLResponse:
    key, work = key_of(fields), pages.resource.work
    before = None if problem else sent_before(gateway, caller, work, key)
    lines: Sequence[SentLine] = ()
    more = None
    if pages.line is not None and Scope.READ in caller.scopes:
        with gateway.store.reading() as session:
            listed = pages.resource.table.listing(
                session, owner=caller.owner, cursor=cursor, limit=pages.page_size
            )
            lines = [pages.line(row) for row in listed.rows]
        more = listed.next_cursor
    return page(
        request,
        pages.form,
        status=problem.status_code if problem else 200,
        here=pages.path,
        key=str(key),
        before=before and f"{pages.path}/{before}",
        given={name: fields.get(name, "") for name in pages.fields},
        errors=_errors(problem) if problem else [],
        lines=lines,
        cursor=cursor,
        next_cursor=more,
        **pages.choices,
    )


def _errors(problem: Problem) -> list[str]:
    return [plainly(error.message) for error in problem.errors] or [problem.detail]


def _submit(
    pages: Pages[Row, Given], request: Request, caller: Caller, key: UUID, given: Given
) -> Response:
    """Raises Problem: there is no room for it, or the owner's daily budget is spent."""
    content, resource = pages.content(given), pages.resource
    admit(request, caller, resource.work, key, content)
    row = once(key, content, lambda named: resource.accepted(request, caller, given, named))
    return RedirectResponse(f"{pages.path}/{row.id}", 303)
